"""Checks of chess: whether a king is attacked, now or after an action."""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

from plyhouse.games.deterministic.chess.board import (
    BISHOP,
    KING,
    KINGS_AT,
    KNIGHT,
    PAWN,
    QUEEN,
    ROOK,
    SIDE_AT,
    SQUARE,
    apply_action,
    is_attacked,
)

__all__ = ["gives_check", "in_check"]

_ZERO: Final = 32
"""Added to steps, as bytes cannot be negative."""
_STEPS: Final[tuple[int, ...]] = (1, -1, 10, -10, 9, 11, -9, -11)
_WAYS: Final[bytes] = bytes(
    [
        sum([_ZERO + step for step in _STEPS for far in range(1, 8) if far * step == by])
        for by in range(-77, 78)
    ]
)
"""The step that leads from one place to another, by their difference plus 77; 0 if there is none.
"""


def in_check(position: bytes) -> bool:
    """Return whether the king of the seat to move is attacked."""
    side: i64 = position[SIDE_AT]
    king: i64 = position[KINGS_AT + side]
    return is_attacked(position, king, 9 - 8 * side, 0, 0)


def gives_check(position: bytes, action: i64) -> bool:
    """Return whether a legal action attacks the king of the other side."""
    kind: i64 = action >> 12
    if kind != 0:
        return in_check(apply_action(position, action))
    side: i64 = position[SIDE_AT]
    king: i64 = position[KINGS_AT + 1 - side]
    at: i64 = SQUARE[action & 63]
    to: i64 = SQUARE[(action >> 6) & 63]
    moved: i64 = position[at] - 8 * side
    by: i64 = to - king
    if moved == KNIGHT:
        if by in (21, 19, 12, 8, -21, -19, -12, -8):
            return True
    elif moved == PAWN:
        forward: i64 = 10 - 20 * side
        if by in (-forward - 1, -forward + 1):
            return True
    elif moved != KING and slides(position, king, to, at, moved):
        return True
    # The piece may have stood between the king and a slider, and left their line.
    way: i64 = _WAYS[at - king + 77]
    if way == 0 or way == _WAYS[by + 77]:
        return False
    place: i64 = king + way - _ZERO
    while place != at and position[place] == 0:
        place += way - _ZERO
    if place != at:
        return False
    place += way - _ZERO
    while position[place] == 0:
        place += way - _ZERO
    behind: i64 = position[place] - 8 * side
    return slides(position, king, place, at, behind)


def slides(position: bytes, king: i64, place: i64, lifted: i64, kind: i64) -> bool:
    """Return whether a piece of the kind would attack the king from the place: as a bishop, rook
    or queen, and across the lifted place as if that were empty.
    """
    if not BISHOP <= kind <= QUEEN:
        return False
    way: i64 = _WAYS[place - king + 77]
    if way == 0:
        return False
    by: i64 = way - _ZERO
    straight = by == 1 or by == -1 or by == 10 or by == -10
    if kind == (BISHOP if straight else ROOK):
        return False
    king += by
    while king != place and (position[king] == 0 or king == lifted):
        king += by
    return king == place
