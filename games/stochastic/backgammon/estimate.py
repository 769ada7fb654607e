"""Estimates for backgammon positions: five chances, from a formula or a small network.

Both look at a position as the seat does that rolls next, so that what they say of it is for the
other seat the negative.  The five chances are those of winning, of winning a gammon or better, of
winning a backgammon, of losing a gammon or better, and of losing a backgammon.  The expected points
follow from them.

*   Without contact (a race) the sides do not meet any more.  Checkers cost more than their
    pips, because bearing off wastes dice.  `COST` is a least squares fit to the mean number of
    rolls to bear off, over the 54,264 positions of up to fifteen checkers at home.  A position
    has less weight if many have the same number of checkers, and more weight if it is even.
    The difference of the two sides is then compared with the variance of the dice
    (D. Kleinman, "Vision Laughs at Counting", 1980).  A gammon is saved by bringing all checkers
    home and bearing off one.  A checker costs as much to bring home as to bear off from the same
    distance, because a short way also takes a whole die.
*   With contact, a network of one hidden layer, trained by self-play (G. Tesauro, "Temporal
    difference learning and TD-Gammon", Communications of the ACM 38, 1995).  ``network.toml``
    names its training; ``docs/search/evaluation.md`` has the command that reproduces it.
"""

from __future__ import annotations

import math
import tomllib
from importlib.resources import files
from typing import Final

from mypy_extensions import i64

__all__ = ["FORMAT", "UNIT", "Network", "chances_of", "is_race", "network", "points_of", "race"]

FORMAT: Final = "plyhouse-backgammon-network-1"
UNIT: Final = 10_000
"""Scale of the weights, which are stored as whole numbers."""
PLACES: Final = 26
"""Places of a side: borne off, points 1 to 24, the bar."""
COUNTS: Final = 16
"""A place holds from 0 to 15 checkers."""
INPUTS: Final = 4
"""Of each place."""
CHANCES: Final = 5
REMEMBERED: Final = 1024
"""Sides of each kind whose sums a network keeps, about 10 MB in all: searches meet them again."""
INSIDE: Final = 0.999_999
"""Estimates stay this share inside of the bounds: only the end of the game is certain."""

COST: Final[tuple[float, ...]] = (
    *(0.0, 3.1, 3.4, 3.9, 4.4, 5.2, 6.2),
    *[float(point) for point in range(7, 26)],
)
"""Pips that a checker costs by its point, dice that are wasted and all."""
WASTE: Final = 3.0
"""Pips that are wasted at the end of any bear-off."""
ON_ROLL: Final = 4.0
"""Pips that rolling first is worth: half a roll."""


class Network:
    """The weights, as they are added: a row of the hidden units for each place and count."""

    def __init__(
        self, rows: list[list[float]], bias: list[float], out: list[float], out_bias: list[float]
    ) -> None:
        self.rows: list[list[float]] = rows
        """At ``(PLACES * side + place) * COUNTS + count``; side 0 is to roll."""
        self.bias: list[float] = bias
        self.out: list[float] = out
        """Five weights of each hidden unit."""
        self.out_bias: list[float] = out_bias
        self.first: dict[tuple[int, ...], list[float]] = {}
        """Sums of the hidden units by the side that rolls next, biases included."""
        self.second: dict[tuple[int, ...], list[float]] = {}
        """Sums of the hidden units by the other side."""

    def sums(self, side: tuple[int, ...], other: bool) -> list[float]:
        """Compute and remember what a side adds to the hidden units."""
        active: list[list[float]] = []
        at: i64 = PLACES * COUNTS if other else 0
        count: i64 = 0
        for checkers in side:
            count = checkers
            if count > 0:
                active.append(self.rows[at + count])
            at += COUNTS
        bias: list[float] = self.bias
        units: i64 = len(bias)
        unit: i64 = 0
        total: float = 0.0
        found: list[float] = []
        while unit < units:
            total = 0.0 if other else bias[unit]
            for row in active:
                total += row[unit]
            found.append(total)
            unit += 1
        known: dict[tuple[int, ...], list[float]] = self.second if other else self.first
        if len(known) >= REMEMBERED:
            known.clear()
        known[side] = found
        return found

    def chances(self, mine: tuple[int, ...], theirs: tuple[int, ...]) -> list[float]:
        """Return the network's five chances of the seat that rolls next."""
        first: list[float] | None = self.first.get(mine)
        if first is None:
            first = self.sums(mine, False)
        second: list[float] | None = self.second.get(theirs)
        if second is None:
            second = self.sums(theirs, True)
        out: list[float] = self.out
        zero: float = self.out_bias[0]
        one: float = self.out_bias[1]
        two: float = self.out_bias[2]
        three: float = self.out_bias[3]
        four: float = self.out_bias[4]
        unit: i64 = 0
        at: i64 = 0
        units: i64 = len(first)
        while unit < units:
            total: float = first[unit] + second[unit]
            # Between -1 and 1, as tanh is, but the same to the last bit everywhere.
            given: float = total / (1.0 + abs(total))
            zero += given * out[at]
            one += given * out[at + 1]
            two += given * out[at + 2]
            three += given * out[at + 3]
            four += given * out[at + 4]
            at += CHANCES
            unit += 1
        return [_logistic(zero), _logistic(one), _logistic(two), _logistic(three), _logistic(four)]


def _logistic(odds: float) -> float:
    return 1.0 / (1.0 + math.exp(-odds))


def _numbers(text: str, wanted: int, name: str) -> list[float]:
    """Weights of one line; raises `ValueError`."""
    found: list[float] = [int(word) / UNIT for word in text.split()]
    if len(found) != wanted:
        raise ValueError(f"network.toml: {len(found)} numbers in {name}, expected {wanted}")
    return found


def read_network(text: str) -> Network:
    """Return the network that a file describes; raises `ValueError` for one that is none."""
    content = tomllib.loads(text)
    if content.get("format") != FORMAT:
        raise ValueError(f"network.toml: format {content.get('format')!r}, expected {FORMAT!r}")
    hidden: int = content["hidden"]
    lines: list[str] = content["inputs"].split("\n")[:-1]
    if len(lines) != 2 * PLACES * INPUTS:
        raise ValueError(f"network.toml: {len(lines)} inputs, expected {2 * PLACES * INPUTS}")
    weights: list[list[float]] = [_numbers(line, hidden, "an input") for line in lines]
    rows: list[list[float]] = []
    for place in range(2 * PLACES):
        four = weights[INPUTS * place : INPUTS * place + INPUTS]
        for count in range(COUNTS):
            seen = inputs_of(place % PLACES, count)
            rows.append(
                [
                    seen[0] * four[0][unit]
                    + seen[1] * four[1][unit]
                    + seen[2] * four[2][unit]
                    + seen[3] * four[3][unit]
                    for unit in range(hidden)
                ]
            )
    return Network(
        rows,
        _numbers(content["hidden_bias"], hidden, "hidden_bias"),
        _numbers(content["chances"], CHANCES * hidden, "chances"),
        _numbers(content["chances_bias"], CHANCES, "chances_bias"),
    )


def inputs_of(place: int, count: int) -> tuple[float, float, float, float]:
    """Return the network's inputs for a place (0 borne off, 25 the bar) with ``count`` checkers.

    On a point: a blot, a made point, a spare checker, and halves of the others.  All are about
    as large as 1.
    """
    if place == 0:
        return (count / 15, 0.0, 0.0, 0.0)
    if place == PLACES - 1:
        return (count / 2, 0.0, 0.0, 0.0)
    return (
        1.0 if count == 1 else 0.0,
        1.0 if count >= 2 else 0.0,
        1.0 if count >= 3 else 0.0,
        (count - 3) / 2 if count > 3 else 0.0,
    )


_LOADED: Final[list[Network]] = []


def network() -> Network:
    """Return the network of the game, read when it is first asked for."""
    if not _LOADED:
        file = files("plyhouse.games.stochastic.backgammon") / "network.toml"
        _LOADED.append(read_network(file.read_text(encoding="utf-8")))
    return _LOADED[0]


def is_race(mine: tuple[int, ...], theirs: tuple[int, ...]) -> bool:
    """Return whether the sides have passed each other, so that nobody can be hit any more."""
    first: i64 = 25
    while first > 0 and mine[first] == 0:
        first -= 1
    second: i64 = 25
    while second > 0 and theirs[second] == 0:
        second -= 1
    return first + second < 25


def race(mine: tuple[int, ...], theirs: tuple[int, ...]) -> list[float]:
    """Return the five chances without contact, for the seat that rolls next."""
    ours: float = WASTE
    others: float = WASTE
    for point in range(1, 25):
        ours += mine[point] * COST[point]
        others += theirs[point] * COST[point]
    win: float = first_home(ours, others)
    # A gammon if the loser bears no checker off in time, a backgammon if one also stays in the
    # winner's home.
    gammon: float = 0.0
    backgammon: float = 0.0
    if theirs[0] == 0:
        gammon = min(win, first_home(ours, _to_save(theirs)))
        left: float = _to_leave(theirs, 18)
        if left > 0.0:
            backgammon = min(gammon, first_home(ours, left + WASTE))
    lost: float = 0.0
    badly: float = 0.0
    if mine[0] == 0:
        lost = min(1.0 - win, 1.0 - first_home(_to_save(mine), others))
        left = _to_leave(mine, 18)
        if left > 0.0:
            badly = min(lost, 1.0 - first_home(left + WASTE, others))
    return [win, gammon, backgammon, lost, badly]


def _to_leave(side: tuple[int, ...], home: int) -> float:
    """Return the cost of moving all checkers of a side to a point or nearer, waste included."""
    total: float = 0.0
    for point in range(home + 1, 25):
        total += COST[point - home] * side[point]
    return total


def _to_save(side: tuple[int, ...]) -> float:
    """Return the cost of bringing all checkers of a side home and bearing off one.

    It includes the waste of a whole bear-off. In the last roll or two that is too much, so the
    chance to save the gammon is too low there.
    """
    nearest: int = 1
    while nearest < 7 and side[nearest] == 0:
        nearest += 1
    # With none at home, some checker will land in the middle of it.
    last: float = COST[nearest] if nearest < 7 else COST[4]
    return WASTE + last + _to_leave(side, 6)


def first_home(ours: float, others: float) -> float:
    """Return the chance to have moved so many pips before the other side has moved its own.

    The variance of the dice grows with the number of rolls, but less in the last ones, most of
    which have the same effect.
    """
    both: float = ours + others
    variance: float = 1.75 * both * both / (both + 50.0)
    return 0.5 * (1.0 + math.erf((others - ours + ON_ROLL) / math.sqrt(2.0 * variance)))


def chances_of(
    mine: tuple[int, ...], theirs: tuple[int, ...], weights: Network | None = None
) -> list[float]:
    """Return the five chances of the seat that rolls next, whose checkers are given first.

    With contact they are those of ``weights``, by default the game's own network.

    The chances of a gammon are 0 where the other side has borne a checker off, and each chance is
    at most as large as the one that includes it.
    """
    if is_race(mine, theirs):
        return race(mine, theirs)
    if weights is None:
        weights = network()
    found: list[float] = weights.chances(mine, theirs)
    if theirs[0] > 0:
        found[1] = 0.0
    if mine[0] > 0:
        found[3] = 0.0
    found[1] = min(found[1], found[0])
    found[2] = min(found[2], found[1])
    found[3] = min(found[3], 1.0 - found[0])
    found[4] = min(found[4], found[3])
    return found


def points_of(
    mine: tuple[int, ...], theirs: tuple[int, ...], weights: Network | None = None
) -> float:
    """Points that the seat that rolls next may expect, strictly between -3 and 3."""
    found: list[float] = chances_of(mine, theirs, weights)
    points: float = 2.0 * found[0] - 1.0 + found[1] + found[2] - found[3] - found[4]
    return INSIDE * points
