"""The grouping of bots into sides, for competitions of teams.

A side is a tuple of bot ids, its captain first.  The *owner* of a bot is a player, once as staff
and once as a student, so that a student's bot never plays with a baseline.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TypeAlias

__all__ = ["Side", "grouped", "renewed_sides"]

Side: TypeAlias = tuple[int, ...]


def grouped(bots: Iterable[int], owners: Mapping[int, object], size: int) -> list[Side]:
    """Return the sides of ``size`` bots that each owner's bots make, in their order.

    >>> grouped([1, 2, 3, 4, 5], {1: "a", 2: "b", 3: "a", 4: "a", 5: "b"}, 2)
    [(1, 3), (2, 5)]
    """
    own: dict[object, list[int]] = defaultdict(list)
    for bot in bots:
        own[owners[bot]].append(bot)
    return [
        tuple(mine[start : start + size])
        for mine in own.values()
        for start in range(0, len(mine) - size + 1, size)
    ]


def renewed_sides(
    sides: Sequence[Side], owners: Mapping[int, object], playing: Collection[int]
) -> list[Side]:
    """Return the sides of a rerun.

    ``owners`` has all bots that are entered, and ``playing`` those that can play.  New bots take
    the places of bots that are no longer entered, then of bots that cannot play.  All others keep
    their partners.  Bots without a side then make sides of their own.

    >>> owners = {1: "a", 2: "a", 3: "a", 4: "a", 5: "a"}
    >>> without_2 = {bot: "a" for bot in (1, 3, 4, 5)}
    >>> renewed_sides([(1, 2), (3, 4)], without_2, without_2)
    [(1, 5), (3, 4)]
    >>> renewed_sides([(1, 2), (3, 4)], owners, {1, 2, 3, 5})
    [(1, 2), (3, 5)]
    >>> renewed_sides([(1, 2), (3, 4)], {1: "a", 3: "a"}, {1, 3})
    [(1, 3)]
    """
    known = {bot for side in sides for bot in side}
    new: dict[object, list[int]] = defaultdict(list)
    for bot in sorted(set(playing) - known, reverse=True):
        new[owners[bot]].append(bot)
    made = [list(side) for side in sides]
    for good in (owners, playing):
        for side in made:
            mine = new[next((owners[bot] for bot in side if bot in owners), None)]
            for place, bot in enumerate(side):
                if bot not in good and mine:
                    side[place] = mine.pop()
    found = [tuple(side) for side in made if all(bot in owners for bot in side)]
    left = sorted(set(playing).difference(*found))
    return found + grouped(left, owners, len(sides[0]) if sides else 1)
