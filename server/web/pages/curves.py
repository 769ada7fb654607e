"""Ratings over time as points of a drawing, one for each game.  Pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Final, NamedTuple

from plyhouse.storage.bot_profiles import RatingPoint

__all__ = ["HIGH", "WIDE", "Curve", "Line", "curves"]

WIDE: Final = 400
HIGH: Final = 120
"""Size of a drawing, in its own units."""
WIDEST: Final = 400.0
"""Elo that are drawn beyond the ratings at least, if intervals go there."""


class Line(NamedTuple):
    """The ratings of one version: points as SVG has them."""

    version: str
    latest: bool
    line: str
    band: str
    """Around the 95 % intervals."""
    end: tuple[float, float]


class Curve(NamedTuple):
    """The ratings of a bot in a game."""

    game: str
    lines: tuple[Line, ...]
    low: float
    high: float
    """The scale: Elo at the lower and the upper edge."""
    begun_ms: int
    ended_ms: int
    last: RatingPoint
    points: int


def curves(ratings: Sequence[RatingPoint]) -> list[Curve]:
    """Draw ratings, which come by game and in the order of time; one point draws nothing."""
    made = []
    for game, points in groupby(ratings, lambda each: each.game):
        found = list(points)
        if len(found) > 1:
            made.append(_curve(game, found))
    return made


def _curve(game: str, points: Sequence[RatingPoint]) -> Curve:
    # An interval of hardly any matches is as wide as all ratings: it would flatten the curve.
    least, most = min(each.rating for each in points), max(each.rating for each in points)
    room = max(WIDEST, most - least)
    low = max(min(each.low for each in points), least - room)
    high = min(max(each.high for each in points), most + room)
    begun, ended = points[0].taken_ms, max(points[-1].taken_ms, points[0].taken_ms + 1)

    def at(point: RatingPoint, value: float) -> tuple[float, float]:
        x = (point.taken_ms - begun) / (ended - begun) * WIDE
        y = HIGH * (1 - (min(max(value, low), high) - low) / max(high - low, 1e-9))
        return round(x, 1), round(y, 1)

    def text(places: Sequence[tuple[float, float]]) -> str:
        return " ".join(f"{x:g},{y:g}" for x, y in places)

    lines = []
    for version in dict.fromkeys(each.version for each in points):
        own = [each for each in points if each.version == version]
        upper = [at(each, each.high) for each in own]
        lower = [at(each, each.low) for each in reversed(own)]
        lines.append(
            Line(
                version,
                version == points[-1].version,
                text([at(each, each.rating) for each in own]),
                text([*upper, *lower]),
                at(own[-1], own[-1].rating),
            )
        )
    return Curve(game, tuple(lines), low, high, begun, points[-1].taken_ms, points[-1], len(points))
