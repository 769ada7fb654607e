"""Records in the formats of their games, read back by what knows them."""

from __future__ import annotations

import io
import random
import re
from typing import Any

import chess.pgn
import pytest

from plyhouse.games.base import CHANCE, TERMINAL
from plyhouse.games.position import Position
from plyhouse.games.registry import BUILT_IN, get_game
from plyhouse.protocol.messages import Outcome
from plyhouse.server.match.time_control import LagPolicy
from plyhouse.server.results.notations import NOTATIONS, TEXT, notation
from plyhouse.server.results.record import (
    RECORD_FORMAT,
    Record,
    RecordChance,
    RecordEvent,
    RecordSeat,
)


def played(spec: str, seed: int, most: int = 1000, termination: Any = "normal") -> Record:
    """A match at random, to its end or so many plies."""
    game = get_game(spec)
    position, rng = Position(game), random.Random(seed)
    events: list[RecordEvent] = []
    while position.mover != TERMINAL and position.ply < most:
        state, mover = position.state, position.mover
        if mover == CHANCE:
            outcomes, shares = zip(*state.chance_outcomes(), strict=True)
            text = game.format_chance(state, rng.choices(outcomes, shares)[0])
            events.append(RecordEvent("chance", position.ply, -1, text))
        else:
            text = game.format(state, rng.choice(state.actions()))
            events.append(RecordEvent("action", position.ply, mover, text))
        position.apply(mover, text)
    over = position.mover == TERMINAL
    returns = list(position.state.returns()) if over else [-1.0, 1.0]
    outcome = Outcome(termination if not over else "normal", returns, None, "late" * (not over))
    return Record(
        *(RECORD_FORMAT, "m1", "p1", game.spec, dict(game.parameters), "move:1", False, "forfeit"),
        LagPolicy(),
        [RecordSeat("ann", "x"), RecordSeat("bob", "y")],
        RecordChance(1, "", "", ["", ""]),
        *(events, outcome),
        started_ms=1_700_000_000_000,
    )


@pytest.mark.parametrize(
    "spec", ["chess", "chess(start=17)", 'chess(fen="8/P6k/8/8/8/8/8/K7 b - - 3 40")']
)
def test_chess_is_read_back_by_another_program(spec: str) -> None:
    for seed in range(4):
        record = played(spec, seed, 120, "flag_fall")
        text = notation(record, "pgn", "Cup")
        assert text is not None
        read = chess.pgn.read_game(io.StringIO(text))
        assert read is not None
        assert read.errors == []
        moves = [each.text for each in record.events]
        for text_move, move in zip(moves, read.mainline_moves(), strict=True):
            assert move.uci()[:2] == text_move[:2]
        assert read.headers["White"] == "ann/x"
        assert read.headers["Black"] == "bob/y"
        if record.outcome is not None and record.outcome.termination != "normal":
            assert read.headers["Result"] == "0-1"
            assert "flag fall. late" in text.replace("\n", " ")


def test_go_has_its_points_from_above_and_how_it_was_won() -> None:
    record = played("go(size=5)", 1, 6, "resignation")
    text = notation(record, "sgf")
    assert text is not None
    assert text.startswith("(;GM[1]FF[4]CA[UTF-8]AP[Plyhouse]SZ[5]KM[7.5]PB[ann/x]")
    assert "RE[W+R]" in text
    nodes = re.findall(r";([BW])\[([a-e]{2}|)\]", text)
    assert [colour for colour, _ in nodes] == ["B", "W"] * 3
    for (_, point), event in zip(nodes, record.events, strict=True):
        column, row = "ABCDE".index(event.text[0]), int(event.text[1:])
        assert point == f"{'abcde'[column]}{'abcde'[5 - row]}"


def test_othello_has_its_squares_from_above() -> None:
    record = played("othello", 2)
    text = notation(record, "sgf")
    assert text is not None
    assert text.startswith("(;GM[2]FF[4]CA[UTF-8]AP[Plyhouse]SZ[8]PB[ann/x]")
    nodes = re.findall(r";([BW])\[([a-h]{2}|)\]", text)
    assert len(nodes) == len(record.events)
    for (colour, point), event in zip(nodes, record.events, strict=True):
        assert colour == "BW"[event.seat]
        row = "" if event.text == "pass" else "abcdefgh"[int(event.text[1]) - 1]
        assert point == (event.text[0] + row if row else "")


def test_checkers_is_numbered_with_black_first_and_scored_for_white() -> None:
    record = played("checkers", 3, 5, "resignation")
    text = notation(record, "pdn", "Cup")
    assert text is not None
    assert '[GameType "21"]' in text
    assert '[Black "ann/x"]' in text
    assert '[Result "1-0"]' in text, "seat 1, White, has won"
    moves = [each.text for each in record.events]
    flat = " ".join(text.split())
    assert f"1. {moves[0]} {moves[1]} 2. {moves[2]} {moves[3]} 3. {moves[4]}" in flat
    assert flat.endswith("1-0")


def test_backgammon_has_both_columns_and_the_points() -> None:
    record = played("backgammon", 5)
    text = notation(record, "mat")
    assert text is not None
    lines = text.splitlines()
    assert " 0 point match" in lines
    turns = [line for line in lines if re.match(r" *\d+\)", line)]
    actions = [each for each in record.events if each.kind == "action"]
    shown = re.findall(
        r"\d\d: (?:Cannot Move|(?:(?:bar|\d+)(?:/(?:off|\d+)\*?)+(?:\(\d\))? ?)+)", text
    )
    assert len(shown) == len(actions)
    if actions[0].seat == 1:
        assert re.match(r"  1\) {30,}", turns[0])
    assert record.outcome is not None
    assert f"Wins {max(record.outcome.returns):g} point" in lines[-1]


def test_a_format_is_for_its_own_game() -> None:
    record: Any = played("go(size=5)", 1, 4)
    assert {form: notation(record, form) is None for form in NOTATIONS} == {
        "pgn": True,
        "sgf": False,
        "pdn": True,
        "mat": True,
    }


@pytest.mark.parametrize("spec", sorted(BUILT_IN))
def test_every_game_is_written_as_text_with_a_line_for_each_ply(spec: str) -> None:
    record = played(spec, 3)
    text = notation(record, TEXT)
    assert text is not None
    plies = [each for each in record.events if each.kind == "action"]
    numbers = re.findall(r"^ *(\d+)\. ", text, re.MULTILINE)
    assert numbers == [str(ply + 1) for ply in range(len(plies))]
    chances = re.findall(r"(?<= )\((?:[^()]|\(\d\))+\)", text.split("\n\n")[1])
    assert len(chances) == len(record.events) - len(plies)
    assert f"Result: {get_game(spec).seat_name(0)}" in text
