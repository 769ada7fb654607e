"""Intervals of a mean: Student's t, or Wilson's for bounded scores.

They are separate from the fits, which need numpy, so code that only shows a mean need not import
it.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Final, NamedTuple

Z95: Final = 1.959963984540054
"""The standard normal's 97.5 % quantile."""


class Interval(NamedTuple):
    """A mean and its interval."""

    mean: float
    low: float
    high: float
    size: int
    """The number of scores."""


def mean_interval(
    scores: Sequence[float], *, bounds: tuple[float, float] | None = None
) -> Interval:
    """Return the mean of independent scores with its 95 % interval.

    For mirrored matches give one score per pairing (the average of its matches): the matches of a
    pairing are not independent.

    Without ``bounds`` the interval is Student's t.  Equal scores then give an interval of no
    width, and a single score one of infinite width.

    ``bounds`` are the least and greatest possible score.  Near a bound Student's t is too short on
    the far side, so the interval is Wilson's ("Probable inference, the law of succession, and
    statistical inference", J. American Statistical Association 22, 1927).  It contains each mean m'
    that is within t standard errors of the observed one, where the variance is proportional to
    ``(m' - least) (greatest - m')``.  The scores determine the factor.  If all scores are equal,
    the interval reaches as far as a deviation could be unseen: ``(1 - 0.025 ** (1 / n))`` of the
    range.
    """
    count = len(scores)
    if not count:
        raise ValueError("no scores")
    mean = math.fsum(scores) / count
    return _interval(count, mean, math.fsum((score - mean) ** 2 for score in scores), bounds)


def interval_of_difference(one: Sequence[float], other: Sequence[float]) -> Interval:
    """Return the mean of ``one`` minus that of ``other`` with its 95 % interval.

    The scores are independent, and each side may have another variance (Welch, "The generalization
    of 'Student's' problem when several different population variances are involved", Biometrika
    34, 1947).  ``size`` is the number of scores of both sides.  The interval is of infinite width
    if a side has one score only.  Raises `ValueError` if a side has none.
    """
    means, errors = [], []
    for scores in (one, other):
        found = mean_interval(scores)
        count = len(scores)
        about = math.fsum((score - found.mean) ** 2 for score in scores)
        means.append(found.mean)
        errors.append(about / (count - 1) / count if count > 1 else math.inf)
    error = sum(errors)
    if math.isinf(error):
        half = math.inf
    elif error == 0:
        half = 0.0
    else:
        shares = [e * e / (len(s) - 1) for e, s in zip(errors, (one, other), strict=True)]
        half = t_quantile(max(1, int(error * error / sum(shares)))) * math.sqrt(error)
    difference = means[0] - means[1]
    return Interval(difference, difference - half, difference + half, len(one) + len(other))


def interval_of_sums(
    count: int, total: float, squares: float, *, bounds: tuple[float, float] | None = None
) -> Interval:
    """Return `mean_interval` from the number, sum and squares' sum of scores."""
    if not count:
        raise ValueError("no scores")
    mean = total / count
    about = squares - total * mean
    if about < 1e-9 * squares:  # The remainder is rounding error.
        about = 0.0
    return _interval(count, mean, about, bounds)


def _interval(
    count: int, mean: float, about: float, bounds: tuple[float, float] | None
) -> Interval:
    """Return the interval of a mean, from the sum of squares ``about`` it."""
    if count > 1:
        variance = about / (count - 1)
        half = t_quantile(count - 1) * math.sqrt(variance / count)
    else:
        variance, half = 0.0, math.inf
    if bounds is None:
        return Interval(mean, mean - half, mean + half, count)
    least, most = bounds
    if variance <= 1e-24 * max(1.0, mean * mean):
        half = (most - least) * (1.0 - 0.025 ** (1.0 / count))
    elif least < mean < most:
        span = most - least
        share = (mean - least) / span
        coin = share * (1.0 - share)
        # `extra` is the squared half-width of Student's interval, divided by the variance of a
        # coin.
        extra = (half / span) ** 2 / coin
        centre = (share + extra / 2.0) / (1.0 + extra)
        reach = math.sqrt(extra * (coin + extra / 4.0)) / (1.0 + extra)
        return Interval(
            mean,
            least + span * max(0.0, centre - reach),
            least + span * min(1.0, centre + reach),
            count,
        )
    return Interval(mean, max(least, mean - half), min(most, mean + half), count)


@functools.lru_cache(maxsize=1024)
def t_quantile(freedom: int) -> float:
    """Return the 97.5 % quantile of Student's t, to ten digits."""
    if freedom > 300:
        # Use Cornish and Fisher's expansion about the normal quantile (Abramowitz and Stegun
        # 26.7.5).
        z = Z95
        terms = (
            (z**3 + z) / 4,
            (5 * z**5 + 16 * z**3 + 3 * z) / 96,
            (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
            (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
        )
        return z + math.fsum(term / freedom**n for n, term in enumerate(terms, start=1))
    low, high = 1.9, 13.0
    for _ in range(60):
        middle = (low + high) / 2
        if _t_within(middle, freedom) < 0.95:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _t_within(t: float, freedom: int) -> float:
    """Return P(-t < T < t), by the finite sums of Abramowitz and Stegun 26.7.3 and 26.7.4."""
    angle = math.atan(t / math.sqrt(freedom))
    odd = freedom % 2
    term = math.cos(angle) if odd else 1.0
    total = term if freedom > 1 else 0.0
    for k in range(2 + odd, freedom - 1, 2):
        term *= (k - 1) / k * math.cos(angle) ** 2
        total += term
    inside = math.sin(angle) * total
    return 2 / math.pi * (angle + inside) if odd else inside
