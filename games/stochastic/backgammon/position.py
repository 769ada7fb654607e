"""Positions of backgammon as text: ``24x2 13x5 8x3 6x5; bar 13x5 8x3 6x5; 0 31``."""

from __future__ import annotations

import re
from typing import Final

from plyhouse.games.errors import InvalidPosition

__all__ = ["position_text", "read_position"]

_GAME: Final = "backgammon"
_CHECKERS: Final = 15
_PLACE: Final = re.compile(r"(bar|[0-9]{1,2})(?:x([0-9]{1,3}))?")
_TURN: Final = re.compile(r"([01])(?:\s+([1-6])([1-6]))?")

Position = tuple[tuple[int, ...], tuple[int, ...], int, int]
"""Both sides, the seat on turn, and the dice (larger * 10 + smaller) or 0."""


def _side(text: str, part: str, seat: int) -> tuple[int, ...]:
    """Counts of one seat; raises `InvalidPosition`."""
    counts = [0] * 26
    for word in part.split():
        found = _PLACE.fullmatch(word)
        if found is None:
            raise InvalidPosition(
                _GAME, text, f"{word!r} of seat {seat} is not like 13x5, 6 or barx2"
            )
        point = 25 if found[1] == "bar" else int(found[1])
        if found[1] != "bar" and not 1 <= point <= 24:
            raise InvalidPosition(_GAME, text, f"seat {seat} has no point {point}, only 1 to 24")
        if counts[point]:
            raise InvalidPosition(_GAME, text, f"{found[1]} of seat {seat} is written twice")
        count = int(found[2] or 1)
        if not 1 <= count <= _CHECKERS:
            raise InvalidPosition(
                _GAME,
                text,
                f"{count} checkers on {found[1]} of seat {seat}: there are {_CHECKERS} in all",
            )
        counts[point] = count
    total = sum(counts)
    if total > _CHECKERS:
        raise InvalidPosition(
            _GAME, text, f"seat {seat} has {total} checkers, more than {_CHECKERS}"
        )
    if total == 0:
        raise InvalidPosition(_GAME, text, f"seat {seat} has no checkers left, it has won")
    counts[0] = _CHECKERS - total
    return tuple(counts)


def read_position(text: str) -> Position:
    """Return the position that a text describes; raises `InvalidPosition`."""
    parts = text.split(";")
    if len(parts) != 3:
        raise InvalidPosition(
            _GAME, text, "it must be checkers of seat 0; checkers of seat 1; seat to roll"
        )
    one, two = _side(text, parts[0], 0), _side(text, parts[1], 1)
    for point in range(1, 25):
        if one[point] and two[25 - point]:
            raise InvalidPosition(
                _GAME,
                text,
                f"both seats have checkers on point {point} of seat 0, "
                f"which is point {25 - point} of seat 1",
            )
    if all(side[25] and min(side[1:7]) > 1 for side in (one, two)):
        raise InvalidPosition(
            _GAME, text, "both seats are on the bar before a closed board and could never move"
        )
    turn = _TURN.fullmatch(parts[2].strip())
    if turn is None:
        raise InvalidPosition(
            _GAME, text, f"{parts[2].strip()!r} is not the seat to roll, 0 or 1, or like 0 31"
        )
    dice = 0
    if turn[2]:
        small, large = sorted((int(turn[2]), int(turn[3])))
        dice = 10 * large + small
    return one, two, int(turn[1]), dice


def _side_text(counts: tuple[int, ...]) -> str:
    """One side as text, from the bar down."""
    words: list[str] = []
    for point in range(25, 0, -1):
        count = counts[point]
        if count:
            name = "bar" if point == 25 else str(point)
            words.append(name if count == 1 else f"{name}x{count}")
    return " ".join(words) or "all off"


def position_text(one: tuple[int, ...], two: tuple[int, ...], turn: int, dice: int) -> str:
    """Return the text of a position; without a seat before the opening roll."""
    text = f"{_side_text(one)}; {_side_text(two)}; {turn if turn >= 0 else 'opening roll'}"
    return f"{text} {dice}" if dice else text
