"""How a turn is played on the board: checkers taken from points and put on points."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from plyhouse.games.stochastic.backgammon.turns import BAR, OFF

__all__ = ["Path", "dice_used", "read_steps", "ways"]

Path = tuple[tuple[int, ...], frozenset[int]]
"""Points of one checker from its start, and those written with a star."""


def read_steps(text: str) -> list[Path]:
    """Return the checkers moved in a turn that fits the pattern of actions."""
    paths: list[Path] = []
    for part in text.split():
        body, _, count = part.partition("(")
        points: list[int] = []
        stars: set[int] = set()
        for word in body.split("/"):
            name = word.rstrip("*")
            point = BAR if name == "bar" else OFF if name in ("off", "pass") else int(name)
            points.append(point)
            if word != name:
                stars.add(point)
        paths += [(tuple(points), frozenset(stars))] * int(count.rstrip(")") or 1)
    return paths


def ways(turn: str, dice: Sequence[int], others: Sequence[int]) -> list[tuple[str, ...]]:
    """Pairs of points, from and to, that mean a turn: each checker at once, and die by die.

    ``others`` are the other seat's checkers by its own numbers: nobody rests where they stand.

    >>> ways("13/10 8/7", (3, 1), [0] * 26)
    [('13', '10', '8', '7')]
    >>> ways("13/9", (3, 1), [0] * 26)
    [('13', '9'), ('13', '10', '10', '9'), ('13', '12', '12', '9')]
    >>> ways("6/off(2)", (3, 3), [0] * 26)
    [('6', 'off', '6', 'off'), ('6', '3', '3', 'off', '6', '3', '3', 'off')]
    >>> ways("pass", (3, 1), [0] * 26)
    [()]
    """
    if turn == "pass":
        return [()]
    paths = [points for points, _ in read_steps(turn)]
    found: list[tuple[str, ...]] = []
    for order in (tuple(dice), tuple(reversed(dice))):
        split = [
            points if len(points) > 2 else _rests(points, order, len(paths), others)
            for points in paths
        ]
        for each in ([(points[0], points[-1]) for points in paths], split):
            way: list[str] = []
            for points in each:
                for start, end in itertools.pairwise(points):
                    way += [_name(start), _name(end)]
            if tuple(way) not in found:
                found.append(tuple(way))
    return found


def _rests(
    points: tuple[int, ...], dice: tuple[int, ...], checkers: int, others: Sequence[int]
) -> tuple[int, ...]:
    """Return the points of a checker with those on which it rests between two dice."""
    start, end = points[0], points[-1]
    double = dice[0] == dice[1]
    if not double and checkers > 1:
        return points
    way = [start]
    at = start - dice[0]
    while at > end:
        if others[25 - at]:
            return points
        way.append(at)
        if not double:
            break
        at -= dice[0]
    return (*way, end)


def dice_used(way: Sequence[str], dice: Sequence[int]) -> tuple[int, ...]:
    """Return for each pair of a way the dice that it uses, as bits.

    Bit i is the use of die i; a double has four uses.

    >>> dice_used(("13", "10", "8", "7"), (3, 1)), dice_used(("13", "9"), (3, 1))
    ((1, 2), (3,))
    >>> dice_used(("6", "off", "4", "off"), (6, 5)), dice_used(("6", "off"), (3, 3))
    ((1, 2), (3,))
    """
    left = [(die, 1 << use) for use, die in enumerate(dice if dice[0] != dice[1] else [*dice] * 2)]
    pairs = [(_point(start), _point(end)) for start, end in zip(way[::2], way[1::2], strict=True)]
    found = [0] * len(pairs)
    # A checker that is borne off may use a die that is too large: that is left for the last.
    for index in sorted(range(len(pairs)), key=lambda index: pairs[index][1] == OFF):
        start, end = pairs[index]
        far = start - end
        exact = [use for use in left if use[0] == far]
        larger = sorted(use for use in left if end == OFF and use[0] > far)
        used = (exact or larger)[:1]
        while len(used) < len(left) and sum(die for die, _ in used) < far:
            used = left[: len(used) + 1]
        left = [use for use in left if use not in used]
        found[index] = sum(bit for _, bit in used)
    return tuple(found)


def _point(name: str) -> int:
    return BAR if name == "bar" else OFF if name == "off" else int(name)


def _name(point: int) -> str:
    return "bar" if point == BAR else "off" if point == OFF else str(point)
