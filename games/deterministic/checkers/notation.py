"""Checkers as text: PDN squares and actions, FEN positions, boards of characters."""

from __future__ import annotations

import re
from collections.abc import Sequence

from plyhouse.games.deterministic.checkers.moves import (
    FAR,
    SQUARE_BIT,
    can_act,
    route_squares,
    squares_of,
)
from plyhouse.games.errors import InvalidPosition

__all__ = [
    "board_rows",
    "read_action",
    "read_board",
    "read_position",
    "write_action",
    "write_position",
]


def write_action(action: int, others: Sequence[int]) -> str:
    """PDN of an action; ``others`` are the legal ones that could be mistaken for it."""
    squares = route_squares(action)
    if action < 256:
        return f"{squares[0]}-{squares[1]}"
    ends = (squares[0], squares[-1])
    rivals = 0
    for other in others:
        if other >= 256 and other % 64 == action % 64:
            path = route_squares(other)
            if (path[0], path[-1]) == ends:
                rivals += 1
    shown = squares if rivals > 1 else list(ends)
    return "x".join([str(square) for square in shown])


def read_action(text: str, legal: Sequence[int]) -> list[int]:
    """Return the legal actions that ``text`` may mean: the one with all of these squares, else
    those with these ends.

    A path that is written in full means itself, though others may share its ends.  Numbers may
    have leading zeros.
    """
    squares = [int(number) for number in re.split("[-x]", text)]
    same_ends: list[int] = []
    for action in legal:
        path = route_squares(action)
        if (action < 256) == ("-" in text):
            if squares == path:
                return [action]
            if squares == [path[0], path[-1]]:
                same_ends.append(action)
    return same_ends


def _square(row: int, column: int) -> int:
    """Return the number of a dark square, row 0 being Black's first; 0 for light squares."""
    return 4 * row + column // 2 + 1 if (row + column) % 2 else 0


def board_rows(black: int, white: int, kings: int) -> tuple[str, ...]:
    """Return the board as eight texts, Black's first row on top."""
    rows: list[str] = []
    for row in range(8):
        text = ""
        for column in range(8):
            bit = SQUARE_BIT[_square(row, column)]
            mark = "b" if black & bit else "w" if white & bit else "."
            text += mark.upper() if kings & bit else mark
        rows.append(text)
    return tuple(rows)


def read_board(rows: Sequence[str]) -> tuple[int, int, int]:
    """Black's pieces, White's and the kings that `board_rows` wrote."""
    black = white = kings = 0
    for row, text in enumerate(rows):
        for column, mark in enumerate(text):
            bit = SQUARE_BIT[_square(row, column)]
            if mark in "bB":
                black |= bit
            elif mark in "wW":
                white |= bit
            if mark in "BW":
                kings |= bit
    return black, white, kings


def write_position(mover: int, black: int, white: int, kings: int) -> str:
    """Return the FEN of PDN."""
    sides = [
        ",".join([("K" if kings & SQUARE_BIT[s] else "") + str(s) for s in squares_of(pieces)])
        for pieces in (white, black)
    ]
    return f"{'BW'[mover]}:W{sides[0]}:B{sides[1]}"


def read_position(text: str) -> tuple[int, int, int, int]:
    """Mover, Black's pieces, White's and the kings of a FEN; raises `InvalidPosition`."""
    compact = re.sub(r"\s", "", text).upper().removesuffix(".")
    parts = compact.split(":")
    if len(parts) != 3 or {parts[1][:1], parts[2][:1]} != {"W", "B"}:
        reason = "write who is to move and the squares of both sides, like B:W18,K24:B1-4,12"
        raise InvalidPosition("checkers", text, reason)
    if parts[0] not in ("B", "W"):
        raise InvalidPosition("checkers", text, f"{parts[0]!r} is to move; write B or W")
    pieces = [0, 0]
    kings = 0
    for part in parts[1:]:
        seat = "BW".index(part[0])
        for word in part[1:].split(",") if part[1:] else []:
            found = re.fullmatch(r"(K?)([0-9]{1,2})(?:-([0-9]{1,2}))?", word)
            if found is None:
                raise InvalidPosition("checkers", text, f"{word!r} is not a square like 18 or K18")
            first, last = int(found[2]), int(found[3] or found[2])
            if not 1 <= first <= last <= 32:
                raise InvalidPosition("checkers", text, f"{word} is not within squares 1 to 32")
            for square in range(first, last + 1):
                bit = SQUARE_BIT[square]
                if (pieces[0] | pieces[1]) & bit:
                    raise InvalidPosition("checkers", text, f"two pieces stand on {square}")
                if not found[1] and bit & FAR[seat]:
                    name = ("Black", "White")[seat]
                    reason = f"a man of {name} stands on {square}, where it would be a king"
                    raise InvalidPosition("checkers", text, reason)
                pieces[seat] |= bit
                if found[1]:
                    kings |= bit
    for name, own in zip(("Black", "White"), pieces, strict=True):
        if not 1 <= own.bit_count() <= 12:
            reason = f"{name} has {own.bit_count()} pieces, not 1 to 12"
            raise InvalidPosition("checkers", text, reason)
    mover = "BW".index(parts[0])
    if not can_act(mover, pieces[mover], pieces[1 - mover], kings):
        name = ("Black", "White")[mover]
        raise InvalidPosition("checkers", text, f"{name} is to move but cannot")
    return mover, pieces[0], pieces[1], kings
