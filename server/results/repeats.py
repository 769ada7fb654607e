"""Detection of games that repeat, as those of deterministic bots do.

A hundred copies of one game are one observation.  A match repeats an earlier one if game, versions
by seat, actions and outcome are the same and chance had no part.  In a small game this may also
happen to bots that randomise, and then each match counts.  So a version counts as repeating itself
only while no record shows it acting in two ways after the same actions.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

__all__ = ["PlayedLine", "repeat_weights"]


class PlayedLine(NamedTuple):
    """The properties of a match that a repeat shares."""

    game: str
    seats: tuple[Hashable, ...]
    """The version in each seat."""
    actions: tuple[tuple[int, str], ...]
    end: tuple[object, ...]
    chance: bool
    """True if chance had a part."""


def repeat_weights(lines: Sequence[PlayedLine]) -> list[float]:
    """Return the weight of each match: 1, or 0 if it repeats an earlier one."""
    varied = _varied(lines)
    seen: set[PlayedLine] = set()
    weights = []
    for line in lines:
        able = not line.chance and not any((line.game, seat) in varied for seat in line.seats)
        weights.append(0.0 if able and line in seen else 1.0)
        seen.add(line)
    return weights


def _varied(lines: Sequence[PlayedLine]) -> set[tuple[str, Hashable]]:
    """Return versions that acted in two ways after the same actions, by game."""
    acted: dict[tuple[object, ...], str] = {}
    # Histories are numbered so that comparing them takes constant time.
    following: dict[tuple[object, ...], int] = {}
    varied = set()
    for line in lines:
        if line.chance:
            continue
        history = -1
        for seat, text in line.actions:
            if 0 <= seat < len(line.seats):
                who = line.seats[seat]
                if acted.setdefault((line.game, who, seat, history), text) != text:
                    varied.add((line.game, who))
            history = following.setdefault((history, seat, text), len(following))
    return varied
