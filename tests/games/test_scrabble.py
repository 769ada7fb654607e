"""Scrabble: plays against a slow generator, scores, the end of the game, and what seats know."""

from __future__ import annotations

import itertools
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plyhouse.games import CHANCE, TERMINAL, IllegalAction, InvalidAction, get_game
from plyhouse.games.errors import InvalidParameter
from plyhouse.games.hidden.scrabble.legality import broken_rule, canonical_play
from plyhouse.games.hidden.scrabble.plays import Plays, placed_squares, play_parts, play_score
from plyhouse.games.hidden.scrabble.rules import FewPlays
from plyhouse.games.hidden.scrabble.sampling import unseen_tiles
from plyhouse.games.hidden.scrabble.state import ScrabbleState, rules_of, tiles_named
from plyhouse.games.hidden.scrabble.tiles import (
    COUNTS,
    PREMIUMS,
    SIZE,
    SQUARES,
    VALUES,
    square_name,
    transposed,
)
from plyhouse.games.hidden.scrabble.words import FOLDER, build_words, packed, word_list
from plyhouse.games.native import COMPILED
from plyhouse.games.scene import Placing

TWO: Any = get_game("scrabble")
SEEDS = st.integers(0, 2**32)
EXAMPLES = 40 if COMPILED else 4
WORDS = word_list("enable")


def drawn(tiles: str, game: Any = TWO) -> Any:
    """Return the state after these tiles were drawn, those of seat 0 first."""
    state = game.initial_state()
    for tile in tiles:
        state = state.after(game.parse_chance(state, tile))
    return state


def after(state: Any, *texts: str, game: Any = TWO) -> Any:
    """Return the state after actions, and after draws (``+ABC``) between them."""
    for text in texts:
        if text.startswith("+"):
            for tile in text[1:]:
                state = state.after(game.parse_chance(state, tile))
        else:
            state = state.after(game.parse(state, text))
    return state


def position(rows: str, rack: str, bag: str = "", other: str = "E", scores: Any = (0, 0)) -> Any:
    """Return a state with seat 0 to move; rows of the board are separated by blanks."""
    board = bytearray(SQUARES)
    for row, line in enumerate(rows.split()):
        for column, letter in enumerate(line):
            board[SIZE * row + column] = 0 if letter == "." else ord(letter) - 64
    counts = bytearray(27)
    for tile in tiles_named(bag):
        counts[tile] += 1
    racks = (tiles_named(rack), tiles_named(other))
    rules = rules_of(2, "enable", False)
    return ScrabbleState(0, rules, bytes(board), racks, bytes(counts), scores, 0, 0, b"", ("", ""))


def random_position(rng: random.Random, plies: int, game: Any = TWO) -> Any:
    """Return a state of a seat to move, after plies of mixed plays, exchanges and passes."""
    state = game.initial_state()
    while plies or state.to_move == CHANCE:
        if state.to_move == TERMINAL:
            return random_position(rng, plies // 2, game)
        if state.to_move == CHANCE:
            state = state.after(state.drawn(rng.random()))
            continue
        plays = state.plays()
        if plays.texts and rng.random() < 0.95:
            some = rng.sample(range(len(plays.texts)), min(4, len(plays.texts)))
            state = state.after(plays.texts[max(some, key=plays.scores.__getitem__)])
        else:
            state = state.after(rng.choice(state.actions()))
        plies -= 1
    return state if state.to_move != TERMINAL else random_position(rng, plies, game)


# The generator against every way to lay tiles, tried one by one


def slow_plays(state: Any, most: int) -> set[str]:
    """Return all plays of at most this number of tiles: every line, place and order of tiles."""
    rack = state.racks[state.turn]
    found = set()
    for start, down in itertools.product(range(SQUARES), (False, True)):
        for count in range(1, most + 1):
            line = range(start % SIZE, SIZE)
            squares = [SIZE * (start // SIZE) + at for at in line]
            if down:
                squares = [transposed(square) for square in squares]
            empty = [square for square in squares if not state.board[square]]
            if squares[0] not in empty or len(empty) < count:
                continue
            for tiles in set(itertools.permutations(rack, count)):
                choices = [range(1, 27) if tile == 0 else [tile] for tile in tiles]
                for letters in itertools.product(*choices):
                    codes = [
                        letter + (32 if tile == 0 else 0)
                        for letter, tile in zip(letters, tiles, strict=True)
                    ]
                    if text := slow_text(state.board, empty[:count], codes, down):
                        found.add(text)
    return found


def slow_text(board: bytes, squares: list[int], codes: list[int], down: bool) -> str:
    """Return the play that lays these tiles; "" if it breaks a rule."""
    grid = {square: code for square, code in enumerate(board) if code}
    grid.update(zip(squares, codes, strict=True))
    if not any(board):
        if 112 not in squares or len(squares) < 2:
            return ""
    elif not any(
        0 <= r < 15 and 0 <= c < 15 and board[15 * r + c]
        for square in squares
        for r, c in (
            (square // 15 - 1, square % 15),
            (square // 15 + 1, square % 15),
            (square // 15, square % 15 - 1),
            (square // 15, square % 15 + 1),
        )
    ):
        return ""
    main = ""
    for square, way in [(squares[0], down)] + [(square, not down) for square in squares]:
        row, column = divmod(square, 15)
        step = (1, 0) if way else (0, 1)
        while (row - step[0], column - step[1]) >= (0, 0) and (
            15 * (row - step[0]) + column - step[1] in grid and column - step[1] >= 0
        ):
            row, column = row - step[0], column - step[1]
        first = 15 * row + column
        word = ""
        while row < 15 and column < 15 and 15 * row + column in grid:
            square_now = 15 * row + column
            letter = chr(grid[square_now] + 64)
            word += letter if square_now in squares else letter.upper()
            row, column = row + step[0], column + step[1]
        if len(word) > 1 and word.upper() not in WORDS:
            return ""
        if way == down and not main:
            if len(word) < 2:
                return ""
            main = f"{square_name(first, down)} {word}"
    return canonical_play(board, main)


@pytest.mark.parametrize("seed", range(6))
def test_plays_of_few_tiles_are_those_of_a_slow_generator(seed: int) -> None:
    rng = random.Random(seed)
    state = random_position(rng, seed * 4)
    most = 3 if 0 not in state.racks[state.turn] else 2
    fast = {
        text
        for text in state.plays().texts
        if len(placed_squares(state.board, *play_parts(text))) <= most  # type: ignore[misc]
    }
    assert fast == slow_plays(state, most)


def whole_words(state: Any) -> set[str]:
    """Return all legal plays by trying every word of the list at every place."""
    found = set()
    letters = {chr(64 + code % 32) for code in state.board if code}
    rack = state.racks[state.turn]
    own = {chr(64 + tile) for tile in rack if tile}
    blanks = rack.count(0)
    for word in WORDS.words():
        if len(set(word) - own - letters) > blanks:
            continue
        for start in range(2 * SQUARES):
            if start % SIZE + len(word) > SIZE:
                continue
            found |= {text for text in spellings(state, start, word) if not broken_rule(state, text)}
    return {canonical_play(state.board, text) for text in found}


def spellings(state: Any, start: int, word: str) -> list[str]:
    """Return how a word can be laid from a place: which letters are blanks."""
    down = start >= SQUARES
    first = start % SQUARES
    line = [transposed(first + at) if down else first + at for at in range(len(word))]
    need = list(state.racks[state.turn])
    free = []
    for at, square in enumerate(line):
        if state.board[square]:
            if state.board[square] % 32 != ord(word[at]) - 64:
                return []
        else:
            free.append(at)
    if not free or len(free) > len(need):
        return []
    name = square_name(line[0], down)
    found = []
    for count in range(need.count(0) + 1):
        for small in itertools.combinations(free, count):
            text = "".join(c.lower() if at in small else c for at, c in enumerate(word))
            found.append(f"{name} {text}")
    return found


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_plays_are_all_words_of_the_list_that_break_no_rule(seed: int) -> None:
    rng = random.Random(100 + seed)
    state = random_position(rng, 3 + 5 * seed)
    assert set(state.plays().texts) == whole_words(state)


@settings(max_examples=EXAMPLES, deadline=None)
@given(SEEDS)
def test_plays_break_no_rule_and_score_as_counted_apart(seed: int) -> None:
    rng = random.Random(seed)
    state = random_position(rng, rng.randrange(20))
    plays = state.plays()
    assert len(set(plays.texts)) == len(plays.texts)
    for text, score in zip(plays.texts, plays.scores, strict=True):
        assert broken_rule(state, text) == ""
        assert play_score(state.board, *play_parts(text)) == score  # type: ignore[misc]
    best = Plays(WORDS.edges, state.board, state.racks[state.turn], True)
    if plays.texts:
        assert best.scores[-1] == max(plays.scores)
        assert best.texts[-1] in plays.texts


# Scores, counted by hand


EMPTY = "." * 15


@pytest.mark.parametrize(
    ("rows", "rack", "text", "score"),
    [
        # H8 doubles the word: 2 * (4 + 1 + 1 + 1)
        ("", "HORNS??", "8H HOR", 12),
        # A double letter at 8D, the centre doubles, and seven tiles: 2 * (3 * 2 + 9) + 50
        ("", "CRANIES", "8D CRANIES", 2 * (6 + 6) + 50),
        # A blank counts nothing, and the centre still doubles.
        ("", "A?", "8H aA", 2),
        # The S makes two words and lies on no premium square of its own.
        (f"{EMPTY} " * 7 + ".......CAT.....", "S", "8H CATS", 6),
        # 1A to 1O would be three triple words: 27 times; here one triple and a double letter.
        ("", "QUIZ", "8G QUIZ", 2 * 22),
    ],
)
def test_scores_are_those_counted_by_hand(rows: str, rack: str, text: str, score: int) -> None:
    state = position(rows, rack)
    assert text in state.plays().texts
    assert state.after(text).scores[0] - 0 == score or state.after(text).to_move == TERMINAL
    assert play_score(state.board, *play_parts(text)) == score  # type: ignore[misc]
