"""Estimates for backgammon positions: five chances, from a small network.

It looks at a position as the seat does that rolls next, so that what it says is for the other seat
the negative.  The five chances are those of winning, of winning a gammon or better, of winning a
backgammon, of losing a gammon or better, and of losing a backgammon.  The expected points follow
from them.

The networks have one hidden layer and are trained by self-play (G. Tesauro, "Temporal difference
learning and TD-Gammon", Communications of the ACM 38, 1995).  The first is for positions in
which both sides have a checker in the other's home or on the bar, the second for others with
contact.  The third is for races, where the sides do not meet any more.  All see also the shapes of
`plyhouse.games.stochastic.backgammon.shapes`.  ``network.toml`` names their training;
``docs/search/evaluation.md`` has the commands that reproduce it.
"""

from __future__ import annotations

import math
import tomllib
from importlib.resources import files
from typing import Any, Final

from mypy_extensions import i64

from plyhouse.games.stochastic.backgammon.shapes import (
    CROSSED,
    SIDED,
    Shape,
    crossing,
    parts_of,
)

__all__ = [
    "FORMAT",
    "UNIT",
    "Network",
    "chances_of",
    "is_race",
    "networks",
    "points_of",
]

FORMAT: Final = "plyhouse-backgammon-network-1"
UNIT: Final = 10_000
"""Scale of the weights, which are stored as whole numbers."""
PLACES: Final = 26
"""Places of a side: borne off, points 1 to 24, the bar."""
COUNTS: Final = 16
"""A place holds from 0 to 15 checkers."""
INPUTS: Final = 4
"""Of each place."""
BAR: Final = 25
BEHIND: Final = 19
"""The first point of the other side's home."""
CHANCES: Final = 5
REMEMBERED: Final = 1024
"""Sums of each kind that a network keeps, at most 60 MB in all: searches meet them again."""
INSIDE: Final = 0.999_999
"""Estimates stay this share inside of the bounds: only the end of the game is certain."""


class Network:
    """The weights, as they are added: a row of the hidden units for each place and count."""

    def __init__(
        self,
        rows: list[list[float]],
        bias: list[float],
        out: list[float],
        out_bias: list[float],
        shapes: list[list[float]] | None = None,
    ) -> None:
        self.rows: list[list[float]] = rows
        """At ``(PLACES * side + place) * COUNTS + count``; side 0 is to roll."""
        self.bias: list[float] = bias
        self.out: list[list[float]] = [out[chance::CHANCES] for chance in range(CHANCES)]
        """The weights of the hidden units in each of the five chances."""
        self.out_bias: list[float] = out_bias
        self.shapes: list[list[float]] = [] if shapes is None else shapes
        """Rows of the inputs of shapes: of the side to roll, of the other side, of what the first
        may do, and of what the second may do.  None if the network does not see shapes."""
        self.first: dict[tuple[int, ...], list[float]] = {}
        """Sums of the hidden units by the side that rolls next, biases included."""
        self.second: dict[tuple[int, ...], list[float]] = {}
        """Sums of the hidden units by the other side."""
        self.third: dict[int, list[float]] = {}
        """Sums of the hidden units by what the side that rolls next may do."""
        self.fourth: dict[int, list[float]] = {}
        """Sums of the hidden units by what the other side may do."""
        self.nothing: list[float] = [0.0] * len(bias)

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
        held: float = 0.0
        holding: list[float] = self.nothing
        if self.shapes:
            at = SIDED if other else 0
            inputs: list[float] = shape_of(side).inputs()
            active.extend(
                [self.shapes[at + number] for number in range(SIDED - 1) if inputs[number] > 0.0]
            )
            held = inputs[SIDED - 1]
            holding = self.shapes[at + SIDED - 1]
        bias: list[float] = self.bias
        units: i64 = len(bias)
        unit: i64 = 0
        total: float = 0.0
        found: list[float] = []
        while unit < units:
            total = 0.0 if other else bias[unit]
            for row in active:
                total += row[unit]
            found.append(total + held * holding[unit])
            unit += 1
        known: dict[tuple[int, ...], list[float]] = self.second if other else self.first
        if len(known) >= REMEMBERED:
            known.clear()
        known[side] = found
        return found

    def crossed(self, crossed: int, other: bool) -> list[float]:
        """Compute and remember what `crossing` of a side adds to the hidden units."""
        parts: list[float] = parts_of(crossed)
        at: i64 = 2 * SIDED + (CROSSED if other else 0)
        hit: list[float] = self.shapes[at]
        far: list[float] = self.shapes[at + 1]
        both: list[float] = self.shapes[at + 2]
        held: list[float] = self.shapes[at + 3]
        one: float = parts[0]
        two: float = parts[1]
        three: float = parts[2]
        four: float = parts[3]
        unit: i64 = 0
        found: list[float] = []
        while unit < len(hit):
            found.append(one * hit[unit] + two * far[unit] + three * both[unit] + four * held[unit])
            unit += 1
        known: dict[int, list[float]] = self.fourth if other else self.third
        if len(known) >= REMEMBERED:
            known.clear()
        known[crossed] = found
        return found

    def chances(self, mine: tuple[int, ...], theirs: tuple[int, ...]) -> list[float]:
        """Return the network's five chances of the seat that rolls next."""
        first: list[float] | None = self.first.get(mine)
        if first is None:
            first = self.sums(mine, False)
        second: list[float] | None = self.second.get(theirs)
        if second is None:
            second = self.sums(theirs, True)
        if not self.shapes:
            return self.combined(first, second, self.nothing, self.nothing)
        one: Shape = shape_of(mine)
        other: Shape = shape_of(theirs)
        may: int = crossing(one, mine[BAR], other)
        third: list[float] | None = self.third.get(may)
        if third is None:
            third = self.crossed(may, False)
        may = crossing(other, theirs[BAR], one)
        fourth: list[float] | None = self.fourth.get(may)
        if fourth is None:
            fourth = self.crossed(may, True)
        return self.combined(first, second, third, fourth)

    def combined(
        self, first: list[float], second: list[float], third: list[float], fourth: list[float]
    ) -> list[float]:
        """Return the five chances of the sums of the hidden units, which have four parts."""
        zero: float = self.out_bias[0]
        one: float = self.out_bias[1]
        two: float = self.out_bias[2]
        three: float = self.out_bias[3]
        four: float = self.out_bias[4]
        win: list[float] = self.out[0]
        gammon: list[float] = self.out[1]
        backgammon: list[float] = self.out[2]
        lost: list[float] = self.out[3]
        badly: list[float] = self.out[4]
        unit: i64 = 0
        units: i64 = len(first)
        while unit < units:
            total: float = first[unit] + second[unit] + third[unit] + fourth[unit]
            # Between -1 and 1, as tanh is, but the same to the last bit everywhere.
            given: float = total / (1.0 + abs(total))
            zero += given * win[unit]
            one += given * gammon[unit]
            two += given * backgammon[unit]
            three += given * lost[unit]
            four += given * badly[unit]
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
    return _read(content, content["hidden"], 0)


def read_networks(text: str) -> list[Network]:
    """Return the networks of the game's own file, which look at shapes, too."""
    content = tomllib.loads(text)
    return [_read(part, content["hidden"], 2 * (SIDED + CROSSED)) for part in content["networks"]]


def _read(content: dict[str, Any], hidden: int, shapes: int) -> Network:
    """Read a network that has so many inputs of shapes."""
    lines: list[str] = content["inputs"].split("\n")[:-1]
    expected = 2 * PLACES * INPUTS + shapes
    if len(lines) != expected:
        raise ValueError(f"network.toml: {len(lines)} inputs, expected {expected}")
    weights: list[list[float]] = [_numbers(line, hidden, "an input") for line in lines]
    rows: list[list[float]] = []
    for place in range(2 * PLACES):
        four = weights[INPUTS * place : INPUTS * place + INPUTS]
        for count in range(COUNTS):
            seen = inputs_of(place % PLACES, count, shapes > 0)
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
        weights[2 * PLACES * INPUTS :],
    )


def inputs_of(place: int, count: int, steps: bool) -> tuple[float, float, float, float]:
    """Return the network's inputs for a place (0 borne off, 25 the bar) with ``count`` checkers.

    On a point: a blot, a made point, a spare checker, and halves of the others.  All are about
    as large as 1.  With ``steps``, those borne off and on the bar are also seen in steps.
    """
    if place == 0 or place == BAR:
        share = count / 15 if place == 0 else count / 2
        if not steps:
            return (share, 0.0, 0.0, 0.0)
        second, third = (5, 10) if place == 0 else (2, COUNTS)
        return (share, float(count >= 1), float(count >= second), float(count >= third))
    return (
        1.0 if count == 1 else 0.0,
        1.0 if count >= 2 else 0.0,
        1.0 if count >= 3 else 0.0,
        (count - 3) / 2 if count > 3 else 0.0,
    )


_LOADED: Final[list[Network]] = []
_SHAPES: Final[dict[tuple[int, ...], Shape]] = {}


def networks() -> list[Network]:
    """Return the networks of the game, read when they are first asked for.

    They are for positions in which both sides have a checker in the other's home or on the bar, for
    others with contact, and for races.
    """
    if not _LOADED:
        file = files("plyhouse.games.stochastic.backgammon") / "network.toml"
        _LOADED.extend(read_networks(file.read_text(encoding="utf-8")))
    return _LOADED


def shape_of(side: tuple[int, ...]) -> Shape:
    """Return the shape of a side, computed when it is first asked for."""
    shape: Shape | None = _SHAPES.get(side)
    if shape is None:
        if len(_SHAPES) >= REMEMBERED:
            _SHAPES.clear()
        shape = Shape(side)
        _SHAPES[side] = shape
    return shape


def is_race(mine: tuple[int, ...], theirs: tuple[int, ...]) -> bool:
    """Return whether the sides have passed each other, so that nobody can be hit any more."""
    return shape_of(mine).highest + shape_of(theirs).highest < BAR


def chances_of(
    mine: tuple[int, ...], theirs: tuple[int, ...], weights: Network | None = None
) -> list[float]:
    """Return the five chances of the seat that rolls next, whose checkers are given first.

    With contact they are those of ``weights``, by default the game's own networks.  Those of races
    are always of the game's own.

    The chances of a gammon are 0 where the other side has borne a checker off, and each chance is
    at most as large as the one that includes it.
    """
    first: i64 = shape_of(mine).highest
    second: i64 = shape_of(theirs).highest
    if first + second < BAR:
        weights = networks()[2]
    elif weights is None:
        weights = networks()[1 if first < BEHIND or second < BEHIND else 0]
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
