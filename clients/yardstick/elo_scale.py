"""A rating from results against opponents of known ratings.

The rating is the most likely one under the logistic model of Elo.  Its interval has all ratings
that a likelihood-ratio test at 5 % does not reject.  A draw counts as half a win and half a loss;
this makes the interval wider than it has to be.  The ratings of the opponents count as exact.
The two matches of a mirrored pair count as independent.  Their common opening favours each bot
once, so the interval tends to be too wide.

>>> found = rating([(1600, 1.0), (1600, 0.0), (1700, 0.5)])
>>> f"{found.value:.0f} from {found.low:.0f} to {found.high:.0f}"
'1633 from 1194 to 2072'
>>> rating([(1600, 1.0)]).high
inf
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from plyhouse.clients.arena.tally import Interval

__all__ = ["nearest", "rating"]

HALF_DROP: Final = 1.920729410347062
"""Half of the 95 % point of chi-square with one degree of freedom."""
SEARCH_MARGIN: Final = 2000.0
"""Largest distance of a rating from those of the opponents."""
STEPS: Final = 60
"""Bisections: the result is exact to far less than a point."""


def _expected(difference: float) -> float:
    return 1.0 / (1.0 + math.pow(10.0, -difference / 400.0))


def rating(results: Sequence[tuple[float, float]]) -> Interval:
    """Return the rating with its 95 % interval; each result is an opponent's rating and a score.

    Scores are from 0 to 1.  If all were won, rating and upper bound are infinite; if all were lost,
    rating and lower bound are.  Raises `ValueError` without results.
    """
    if not results:
        raise ValueError("a rating needs at least one result")
    low = min(opponent for opponent, _ in results) - SEARCH_MARGIN
    high = max(opponent for opponent, _ in results) + SEARCH_MARGIN

    def slope(value: float) -> float:
        return math.fsum(score - _expected(value - opponent) for opponent, score in results)

    def likelihood(value: float) -> float:
        parts = [(score, _expected(value - opponent)) for opponent, score in results]
        return math.fsum(
            (score * math.log(chance) if score else 0.0)
            + ((1.0 - score) * math.log1p(-chance) if score < 1.0 else 0.0)
            for score, chance in parts
        )

    if all(score == 1.0 for _, score in results):
        return Interval(math.inf, _root(lambda at: likelihood(at) + HALF_DROP, low, high), math.inf)
    if all(score == 0.0 for _, score in results):
        bound = _root(lambda at: -likelihood(at) - HALF_DROP, low, high)
        return Interval(-math.inf, -math.inf, bound)
    best = _root(lambda at: -slope(at), low, high)
    least = likelihood(best) - HALF_DROP
    return Interval(
        best,
        _root(lambda at: likelihood(at) - least, low, best),
        _root(lambda at: least - likelihood(at), best, high),
    )


def _root(rising: Callable[[float], float], low: float, high: float) -> float:
    """Return where a rising function passes zero."""
    for _ in range(STEPS):
        middle = (low + high) / 2.0
        low, high = (low, middle) if rising(middle) > 0.0 else (middle, high)
    return (low + high) / 2.0


def nearest(ratings: Iterable[float], results: Sequence[tuple[float, float]]) -> float:
    """Return the opponent's rating that is nearest to what the results so far suggest.

    The first opponent is the one in the middle.  After that a draw against it is added, so that a
    first win does not lead to the strongest opponent.

    >>> nearest([1400, 1600, 1800], []), nearest([1400, 1600, 1800], [(1600, 1.0)])
    (1600, 1800)
    """
    known = sorted(ratings)
    middle = known[len(known) // 2]
    if not results:
        return middle
    found = rating([*results, (middle, 0.5)]).value
    return min(known, key=lambda each: abs(each - found))
