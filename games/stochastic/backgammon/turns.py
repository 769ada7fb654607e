"""Whole turns of backgammon: which there are, what they do, and how they are written.

A side is a list of 26 counts in its owner's numbering.  Points are 1 to 24: 24 is the farthest,
and 1 to 6 are the home board.  ``OFF`` (0) holds checkers borne off and ``BAR`` (25) those hit.
Point p of one side is point 25 - p of the other.

A turn is one number.  With different dice it is ``x + 32 * y``: the larger die is played
from x and the smaller from y, in the order that is possible.  A die that cannot be played has
0.  With a double it is ``a + 32 * b + 32**2 * c + 32**3 * d``, with the points of the
dice in descending order and 0 for dice that cannot be played.  The turn in which nothing
can be played is 0.  No two turns of a position have the same result:

-   With a double, equal results come from the same points, each as often: the change at the
    farthest point tells how often it was left, and so on down.
-   With dice x != y, one checker played with both dice gives the same result on both ways
    unless a checker is hit on the way, and so do two checkers borne off with either dice.
    All other equal results come from the same points.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Final

from mypy_extensions import i64

__all__ = [
    "BAR",
    "OFF",
    "PASS",
    "Path",
    "apply_turn",
    "dice_used",
    "farthest",
    "read_steps",
    "steps_of",
    "turns_of",
    "ways",
    "written",
]

OFF: Final = 0
BAR: Final = 25
PASS: Final = 0

_FLAGS: Final[tuple[int, ...]] = tuple([1 << point for point in range(26)])
_PLACES: Final[tuple[int, ...]] = (1, 32, 1024, 32768)
_FROM: Final[tuple[str, ...]] = (*[str(point) for point in range(25)], "bar")
_TO: Final[tuple[str, ...]] = ("/off", *[f"/{point}" for point in range(1, 25)])


def highest(mine: list[int]) -> i64:
    """Return the farthest point (or the bar) with a checker; 0 if there is none."""
    point: i64 = 25
    while point > 0:
        if mine[point] > 0:
            return point
        point -= 1
    return 0


def can_play(mine: list[int], theirs: list[int], point: i64, die: i64, top: i64) -> bool:
    """Return whether a checker on ``point`` can be played with one die; ``top`` is `highest`."""
    if mine[point] == 0 or (top == 25 and point != 25):
        return False
    to: i64 = point - die
    if to > 0:
        return theirs[25 - to] < 2
    if top > 6:
        return False
    return to == 0 or point == top


def _move(mine: list[int], point: i64, die: i64) -> None:
    """Play one die of the own side; hits are not looked at."""
    to: i64 = point - die
    if to < 0:
        to = 0
    mine[point] = mine[point] - 1
    mine[to] = mine[to] + 1


def _unmove(mine: list[int], point: i64, die: i64) -> None:
    """Take `_move` back."""
    to: i64 = point - die
    if to < 0:
        to = 0
    mine[point] = mine[point] + 1
    mine[to] = mine[to] - 1


def _repeats(theirs: list[int], got: list[int], x: i64, y: i64, large: i64, small: i64) -> bool:
    """Return whether a pair of points gives the result of an earlier pair."""
    flag: int = 0
    if x == y - small:
        # One checker, the smaller die first: the larger first is the same without hits.
        way: i64 = y - large
        if way > 0:
            flag = _FLAGS[way]
            if got[y] & flag != 0 and theirs[25 - way] == 0 and theirs[25 - x] == 0:
                return True
    if x <= small and y <= small:
        # Two checkers that either die bears off.
        flag = _FLAGS[x]
        if got[y] & flag != 0:
            return True
    return False


def _different(mine: list[int], theirs: list[int], large: i64, small: i64) -> list[int]:
    """Return the turns with two dice that differ; ``mine`` is left as it was."""
    found: list[int] = []
    got: list[int] = [0] * 26
    singles: list[int] = []
    top: i64 = highest(mine)
    below: i64 = 0
    x: i64 = 0
    y: i64 = 0
    flag: int = 0
    x = top
    while x > 0:
        if mine[x] > 0 and can_play(mine, theirs, x, large, top):
            singles.append(int(x))
            _move(mine, x, large)
            below = highest(mine)
            y = below
            while y > 0:
                if mine[y] > 0 and can_play(mine, theirs, y, small, below):
                    if not _repeats(theirs, got, x, y, large, small):
                        found.append(int(x + 32 * y))
                    # Marked also when left out, so that the other order does not add it.
                    flag = _FLAGS[y]
                    got[x] = got[x] | flag
                y -= 1
            _unmove(mine, x, large)
        x -= 1
    only_small: bool = len(singles) == 0
    y = top
    while y > 0:
        if mine[y] > 0 and can_play(mine, theirs, y, small, top):
            if only_small:
                singles.append(int(32 * y))
            _move(mine, y, small)
            below = highest(mine)
            x = below
            while x > 0:
                flag = _FLAGS[y]
                if (
                    mine[x] > 0
                    and got[x] & flag == 0
                    and can_play(mine, theirs, x, large, below)
                    and not _repeats(theirs, got, x, y, large, small)
                ):
                    found.append(int(x + 32 * y))
                x -= 1
            _unmove(mine, y, small)
        y -= 1
    if found:
        return found
    return singles


def _outside(mine: list[int], theirs: list[int], large: i64, small: i64) -> list[int]:
    """`_different` while nothing is on the bar and nothing can be borne off in this turn.

    Then whether a checker can be played depends on where it lands only, so that any two
    checkers go together.
    """
    found: list[int] = []
    larges: list[int] = []
    smalls: list[int] = []
    point: i64 = 24
    while point > small:
        if mine[point] > 0:
            if theirs[25 - point + small] < 2:
                smalls.append(int(point))
            if point > large and theirs[25 - point + large] < 2:
                larges.append(int(point))
        point -= 1
    x: i64 = 0
    y: i64 = 0
    for first in larges:
        x = first
        for second in smalls:
            y = second
            if x == y:
                if mine[x] < 2:
                    continue
            elif x == y - small and y > large and theirs[25 - y + large] == 0:
                continue  # as the checker on y with both dice, the larger first
            found.append(first + 32 * second)
        y = x - large
        if y > small and mine[y] == 0 and theirs[25 - y + small] < 2:
            found.append(int(x + 32 * y))
    for second in smalls:
        y = second
        x = y - small
        if x > large and mine[x] == 0 and theirs[25 - x + large] < 2:
            if theirs[25 - x] == 0 and theirs[25 - y + large] == 0:
                continue  # the larger die first is the same without hits
            found.append(int(x + 32 * y))
    if not found:
        if larges:
            return larges
        return [32 * second for second in smalls]
    return found


def _deeper(
    mine: list[int],
    theirs: list[int],
    die: i64,
    start: i64,
    depth: i64,
    packed: int,
    found: list[int],
    best: i64,
) -> i64:
    """Extend a turn with a double by points from ``start`` down; returns the most dice played.

    The first way down plays the most dice, because a move from the farthest possible point takes no
    other move away.  ``found`` gets that turn and all that play as many dice.
    """
    point: i64 = start
    to: i64 = 0
    top: i64 = 0
    place: int = _PLACES[depth]
    while point > 0:
        if mine[point] > 0:
            to = point - die
            if to > 0:
                if theirs[25 - to] > 1:
                    point -= 1
                    if mine[25] > 0:
                        return best
                    continue
            else:
                top = highest(mine)
                if top > 6 or (to < 0 and top > point):
                    return best
            following: int = packed + int(point) * place
            if depth == 3:
                best = 4
                found.append(following)
            else:
                _move(mine, point, die)
                best = _deeper(mine, theirs, die, point, depth + 1, following, found, best)
                _unmove(mine, point, die)
                if depth + 1 > best:
                    best = depth + 1
                if depth + 1 == best:
                    found.append(following)
            if mine[25] > 0:
                return best
        point -= 1
    return best


def turns_of(mine: list[int], theirs: list[int], dice: int) -> list[int]:
    """Return all turns with ``dice`` (larger * 10 + smaller); both sides are left as they were.

    As many dice as possible must be played; of two dice of which only one can, the larger.
    """
    large: i64 = dice // 10
    small: i64 = dice % 10
    found: list[int] = []
    if large != small:
        away: i64 = 0
        point: i64 = 7
        while point < 25 and away < 2:
            away += mine[point]
            point += 1
        if away > 1 and mine[25] == 0:
            found = _outside(mine, theirs, large, small)
        else:
            found = _different(mine, theirs, large, small)
    else:
        _deeper(mine, theirs, large, 25, 0, 0, found, 0)
    if not found:
        found.append(PASS)
    return found


def apply_turn(mine: list[int], theirs: list[int], dice: int, turn: int) -> None:
    """Play a turn on both sides, in place."""
    large: i64 = dice // 10
    small: i64 = dice % 10
    rest: i64 = turn
    number: i64 = 0
    while rest != 0:
        point: i64 = rest & 31
        rest = rest >> 5
        if point != 0:
            die: i64 = large
            if number == 1:
                die = small
            to: i64 = point - die
            if to < 0:
                to = 0
            mine[point] = mine[point] - 1
            mine[to] = mine[to] + 1
            if to > 0 and theirs[25 - to] == 1:
                theirs[25 - to] = 0
                theirs[25] = theirs[25] + 1
        number += 1


def farthest(turn: i64) -> i64:
    """Return the farthest point that a turn leaves, which its notation begins with; 0 to pass."""
    most: i64 = 0
    while turn != 0:
        point: i64 = turn & 31
        if point > most:
            most = point
        turn = turn >> 5
    return most


def steps_of(dice: int, turn: int) -> list[tuple[int, int]]:
    """Return the single moves of a turn as points left and reached (`OFF` for beyond)."""
    large: i64 = dice // 10
    small: i64 = dice % 10
    rest: i64 = turn
    number: i64 = 0
    steps: list[tuple[int, int]] = []
    while rest != 0:
        point: i64 = rest & 31
        rest = rest >> 5
        if point != 0:
            to: i64 = point - (small if number == 1 else large)
            if to < 0:
                to = 0
            steps.append((int(point), int(to)))
        number += 1
    return steps


def _leaving(steps: list[tuple[int, int]], point: int) -> int:
    """Index of the first step that leaves a point; -1 if none does."""
    for index, step in enumerate(steps):
        if step[0] == point:
            return index
    return -1


def written(theirs: tuple[int, ...], dice: int, turn: int) -> str:
    """Return a turn in standard notation: ``24/18 13/11*``, ``bar/20*/16``, ``8/4(2)``, ``6/off``.

    Checkers are followed as far as they go, the farthest first; points on the way are
    written only where a checker is hit.

    >>> written((0,) * 26, 62, 24 + 32 * 13)
    '24/18 13/11'
    >>> written((0,) * 26, 44, 8 + 32 * 8)
    '8/4(2)'
    """
    steps = steps_of(dice, turn)
    steps.sort(reverse=True)
    paths: list[str] = []
    while steps:
        point, to = steps.pop(0)
        text = _FROM[point]
        onward = _leaving(steps, to)
        while onward >= 0:
            if theirs[25 - to] == 1:
                text += _TO[to] + "*"
            to = steps.pop(onward)[1]
            onward = _leaving(steps, to)
        hit = to > 0 and theirs[25 - to] == 1
        paths.append(text + _TO[to] + "*" if hit else text + _TO[to])
    if len(set(paths)) < len(paths):
        paths = [
            path if paths.count(path) == 1 else f"{path}({paths.count(path)})"
            for path in dict.fromkeys(paths)
        ]
    return " ".join(paths) or "pass"


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
