"""The text of a prompt determines the legal actions: second implementations read nothing else.

Each reader below gets the rules' notation, what has happened and the position as a model gets them,
and works out the legal actions by rules of its own.
"""

from __future__ import annotations

import random
import re
from typing import Any

import chess
import pytest
from tests.harness.bot_turns import turn_at

from plyhouse.bots.llm.answers import forms, read
from plyhouse.bots.llm.prompts import question, system
from plyhouse.games import CHANCE, TERMINAL, get_game
from plyhouse.protocol.messages import CHANCE_SEAT, Event

POINT = re.compile(r"[.XOxo\u2654-\u265f]")
"""What stands on a point of a board: nothing, a mark or a chess piece."""


def part(text: str, title: str) -> list[str]:
    """The lines of a part of a prompt."""
    return text.split(f"{title}:\n", 1)[1].split("\n\n", 1)[0].splitlines()


def rows(text: str) -> list[list[str]]:
    """The points of a board, from its top row, without the numbers at its side."""
    lines = [line.removeprefix("|").split() for line in part(text, "The position")[1:]]
    lines = [line[1:] if re.fullmatch(r"\d", line[0]) else line for line in lines]
    return [line for line in lines if all(POINT.fullmatch(point) for point in line)]


def tic_tac_toe(text: str) -> set[str]:
    board = rows(text)
    return {
        f"{'abc'[column]}{3 - row}"
        for row, line in enumerate(board)
        for column, point in enumerate(line)
        if point == "."
    }


def connect_four(text: str) -> set[str]:
    top = rows(text)[0]
    return {str(column) for column, point in enumerate(top, 1) if point == "."}


def kuhn_poker(text: str) -> set[str]:
    bets = [line for line in part(text, "What has happened") if line.endswith(": bet")]
    return {"call", "fold"} if bets else {"check", "bet"}


def chess_moves(text: str) -> set[str]:
    board = chess.Board()
    for event in part(text, "What has happened"):
        if event != "nothing yet":
            board.push_uci(event.partition(": ")[2])
    pieces = {glyph: symbol for symbol, glyph in chess.UNICODE_PIECE_SYMBOLS.items()}
    for rank, line in zip(range(7, -1, -1), rows(text), strict=True):
        for file, point in enumerate(line):
            piece = board.piece_at(chess.square(file, rank))
            assert pieces.get(point) == (piece.symbol() if piece else None), "as the moves say"
    return {move.uci() for move in board.legal_moves}


READERS = {
    "tic_tac_toe": tic_tac_toe,
    "connect_four": connect_four,
    "kuhn_poker": kuhn_poker,
    "chess": chess_moves,
}


@pytest.mark.parametrize("name", ["tic_tac_toe", "chess", "pig", "backgammon", "kuhn_poker"])
def test_model_reads_and_writes_the_other_names_of_a_renamed_game(name: str) -> None:
    game: Any = get_game(f"{name}(renamed=7)")
    state, rng = game.initial_state(), random.Random(3)
    while state.to_move == CHANCE:
        state = state.after(rng.choice(state.chance_outcomes())[0])
    turn = turn_at(game, state)
    assert game.names in system(turn, "position")
    legal = {game.format(state, action) for action in state.actions()}
    assert set(part(question(turn, "actions"), "Your legal actions")) == legal
    for form, actions in forms(turn).items():
        if len(actions) == 1:
            assert read(turn, f'{{"action": "{form}"}}').action in legal
    usual = get_game(name)
    old = {usual.format(state, action) for action in state.actions()} - legal
    assert all(read(turn, f'{{"action": "{each}"}}').action not in old for each in old)


@pytest.mark.parametrize("spec", READERS)
def test_text_of_a_prompt_determines_the_legal_actions(spec: str) -> None:
    game: Any = get_game(spec)
    rng = random.Random(spec)
    plies = 0
    for _ in range(12):
        state, history = game.initial_state(), list[Event]()
        while state.to_move != TERMINAL and len(history) < 60:
            if state.to_move == CHANCE:
                outcomes, weights = zip(*state.chance_outcomes(), strict=True)
                state = state.after(rng.choices(outcomes, weights)[0])
                history.append(Event(len(history), CHANCE_SEAT, None))
                continue
            turn = turn_at(game, state, ply=len(history), history=history)
            legal = {turn.text_of(action)[0] for action in state.actions()}
            assert READERS[spec](question(turn, "position")) == legal
            action = game.random_action(state, rng)
            history.append(Event(len(history), state.to_move, game.format(state, action)))
            state = state.after(action)
            plies += 1
    assert plies >= 24
