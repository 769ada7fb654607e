"""Bounds on a mean that hold at every moment, for any number of looks.

An ordinary 95 % interval is right for a number of games fixed in advance.  If you look after every
game and stop at a favourable moment, it misleads you far more often than one time in twenty.  A
*confidence sequence* is an interval after every observation such that, with probability 1 - alpha,
not one of them ever misses the mean.

`ConfidenceSequence` bets against each possible mean: Waudby-Smith and Ramdas, "Estimating means of
bounded random variables by betting" (J. Royal Statistical Society B 86, 2024), theorem 3 with the
hedged capital.  The bets are those of their section B on a grid, a mixture over fixed fractions.
This is a universal portfolio: Orabona and Jun, "Tight concentrations and confidence sequences from
the regret of universal portfolio", IEEE Trans. Information Theory 70, 2024.

A gambler tests the claim "the mean is m" with a starting capital of 1.  The gambler stakes, on
scores above m, the fraction f of the largest stake that cannot lead to bankruptcy.  Each score x
multiplies the capital by ``1 + f (x / m - 1)``.  If the mean is m, the game is fair, and by Ville's
inequality the capital ever reaches C with probability at most 1 / C.  Capital is split over several
f, and over bets on above and below.  An m against which either side has won 2 / alpha is refuted.
If only one of the two bounds can lead to a wrong decision, 1 / alpha is enough (``one_sided``).

The method assumes only that scores are bounded and that each has the same mean given the earlier
ones.  They may take any values, and may all be equal.  One observation is a mirrored pair (or
pairing), because its games are not independent of each other.

`Grading` stops a student's games against a baseline as soon as the grade is certain.  Each band of
grades is a range of mean scores; the bands that the confidence sequence meets are possible.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import exp, log, log1p
from typing import Final

FRACTIONS: Final = tuple(0.9 * 2.0**-step for step in range(6))
"""Fractions of the possible stake among which the capital is split evenly.  Small ones find small
differences after many scores, large ones find large differences soon.  Differences between two
of them are found nearly as soon, and each further fraction would cost all others a share."""
PRECISION: Final = 1e-6
"""The precision of a bound, as a share of the range; errors widen the interval."""

FEW: Final = 6
"""Number of different scores up to which a loop is faster than arrays.  A game that is won, drawn
or lost has five in a pair."""

_LOGS: Final = math.log(len(FRACTIONS))


def _capital(values: Sequence[float], counts: Sequence[int]) -> Callable[[float], float]:
    """Return the log capital of bets above a mean, for every mean in (0, 1]."""
    if len(values) > FEW:
        # Import numpy only here, as it is slow to load and most games never need it.
        import numpy as np

        shares = np.array(FRACTIONS)
        vector, weights = np.array(values), np.array(counts, dtype=np.float64)

        def logarithms(mean: float) -> list[float]:
            grown = np.log1p(np.outer(shares, vector / mean - 1.0)) @ weights
            return [*map(float, grown)]
    else:
        scores = list(zip(values, counts, strict=True))

        def logarithms(mean: float) -> list[float]:
            gains = [(value / mean - 1.0, count) for value, count in scores]
            return [sum([log1p(share * gain) * n for gain, n in gains]) for share in FRACTIONS]

    def capital(mean: float) -> float:
        growth = logarithms(mean)
        most = max(growth)
        return most + log(sum([exp(each - most) for each in growth])) - _LOGS

    return capital


class ConfidenceSequence:
    """Bounds on the mean of scores within a range, valid at every moment.

    Scores are from ``least`` to ``greatest``.  With probability ``1 - alpha`` the mean is within
    ``[low, high]`` after each `add`, for all of them together.  If ``one_sided``, each of the two
    bounds holds with that probability, and both together with ``1 - 2 alpha``.  Bounds only ever
    come closer: a refuted mean stays refuted.

    >>> bounds = ConfidenceSequence(alpha=0.05)
    >>> for score in (1.0, 0.5, 1.0, 1.0, 1.0, 0.5, 1.0, 1.0, 1.0, 1.0):
    ...     bounds.add(score)
    >>> f"{bounds.mean:.2f} from {bounds.low:.2f} to {bounds.high:.2f}"
    '0.90 from 0.49 to 0.99'
    """

    def __init__(
        self,
        alpha: float = 0.05,
        least: float = 0.0,
        greatest: float = 1.0,
        *,
        one_sided: bool = False,
    ) -> None:
        """Raise `ValueError` unless 0 < alpha < 1 and least < greatest, finite."""
        if not 0.0 < alpha < 1.0:
            raise ValueError(f"alpha is an error rate between 0 and 1, not {alpha}")
        if not (math.isfinite(least) and math.isfinite(greatest) and least < greatest):
            raise ValueError(f"scores need a finite range, not {least} to {greatest}")
        self.alpha = alpha
        self.least = least
        self.greatest = greatest
        self.size = 0
        """The number of scores so far."""
        self._threshold = math.log((1.0 if one_sided else 2.0) / alpha)
        self._counts: Counter[float] = Counter()
        self._low, self._high = 0.0, 1.0

    def add(self, score: float) -> None:
        """Add a score; raises `ValueError` if it is out of the range."""
        self._count(score)
        self._narrow()

    @property
    def mean(self) -> float:
        """The mean of the scores so far; without scores, the middle of the range."""
        if not self.size:
            return (self.least + self.greatest) / 2
        total = math.fsum(value * count for value, count in self._counts.items())
        return self._scaled(total / self.size)

    @property
    def low(self) -> float:
        """The lower bound of the mean."""
        return self._scaled(self._low)

    @property
    def high(self) -> float:
        """The upper bound of the mean."""
        return self._scaled(self._high)

    def _scaled(self, share: float) -> float:
        return self.least + share * (self.greatest - self.least)

    def extend(self, scores: Iterable[float]) -> None:
        """Add many scores at once, which is faster than one by one.

        The result is valid too, but ignores bounds between the scores, which may have been closer.
        """
        for score in scores:
            self._count(score)
        if self.size:
            self._narrow()

    def _count(self, score: float) -> None:
        if not self.least <= score <= self.greatest:  # This also refuses NaN.
            raise ValueError(f"a score is from {self.least:g} to {self.greatest:g}, not {score}")
        self._counts[(score - self.least) / (self.greatest - self.least)] += 1
        self.size += 1

    def _narrow(self) -> None:
        """Move the bounds closer if the scores allow it.

        The evidence for "above m" falls as m grows, for any fraction.  It therefore refutes all m
        up to one point, which bisection finds.
        """
        counts = [*self._counts.values()]
        low = self._refuted(_capital([*self._counts], counts), self._low)
        mirrored = [1.0 - value for value in self._counts]
        high = 1.0 - self._refuted(_capital(mirrored, counts), 1.0 - self._high)
        # If they cross, the improbable has happened, and the older bounds are as good.
        if low <= high:
            self._low, self._high = low, high

    def _refuted(self, capital: Callable[[float], float], known: float) -> float:
        """Return the greatest mean refuted as too low, at least ``known``."""
        inside, outside, step = known, 1.0, PRECISION
        # The bound usually stays or moves little, so search near it first.
        while inside + step < outside:
            if capital(inside + step) < self._threshold:
                outside = inside + step
                break
            inside += step
            step *= 4.0
        while outside - inside > PRECISION:
            middle = (inside + outside) / 2
            if capital(middle) >= self._threshold:
                inside = middle
            else:
                outside = middle
        return inside


class GradingState(StrEnum):
    """The state of a grading."""

    OPEN = "open"
    """Several bands are possible, and games continue."""
    DECIDED = "decided"
    """Only one band is possible, at the stated error rate."""
    MAXIMUM = "maximum"
    """The maximum of games is reached while several bands are possible: the mean decides,
    uncertified."""


@dataclass(frozen=True)
class BandDecision:
    """The decision on a grade.  Bands count up from 0, below all thresholds."""

    state: GradingState
    pairs: int
    """The number of pairs played and counted."""
    mean: float
    low: float
    high: float
    """Bounds of the mean score that hold at every moment.  With one threshold each bound holds at
    the stated error rate separately, with several thresholds both hold together."""
    possible: range
    """The bands that may contain the mean."""
    estimate: int
    """The band of the mean so far; if ``state`` is `DECIDED`, the only possible one."""

    @property
    def band(self) -> int | None:
        """The band if it is certain, else None."""
        return self.possible[0] if self.state is GradingState.DECIDED else None


class Grading:
    """Games against a baseline that continue until the grade is certain.

    ``thresholds`` are rising mean scores: a score of the first or more leaves band 0, and so on.
    ``alpha`` bounds the probability that the band is wrong, for any strength and any number of
    games.  With one threshold only one of the two bounds can be wrong in a way that matters, so
    each of them takes all of ``alpha``.  This saves about 15 % of the pairs.  ``one_sided=False``
    splits ``alpha`` even then, for finals that began with this rule.

    A student whose strength is exactly at a threshold would play for ever.  So there is a
    ``maximum`` of pairs, after which the band of the mean is an estimate.

    >>> grading = Grading([0.4, 0.6], maximum=200)
    >>> while grading.decision.state is GradingState.OPEN:
    ...     decision = grading.add(1.0)
    >>> decision.band, decision.pairs
    (2, 12)
    """

    def __init__(
        self,
        thresholds: Sequence[float],
        *,
        maximum: int,
        alpha: float = 0.05,
        one_sided: bool = True,
    ) -> None:
        """Raise `ValueError` for thresholds that do not rise or are not in (0, 1)."""
        self.thresholds = tuple(thresholds)
        rising = all(a < b for a, b in zip(self.thresholds, self.thresholds[1:], strict=False))
        if not rising or not all(0.0 < threshold < 1.0 for threshold in self.thresholds):
            text = ", ".join(f"{threshold:g}" for threshold in self.thresholds)
            raise ValueError(f"thresholds of grades rise between 0 and 1; these are {text}")
        if maximum < 1:
            raise ValueError(f"the maximum is a number of pairs from 1, not {maximum}")
        self.maximum = maximum
        alone = one_sided and len(self.thresholds) == 1
        self._bounds = ConfidenceSequence(alpha, one_sided=alone)
        self._decision = self._judge()

    @property
    def decision(self) -> BandDecision:
        """The current decision."""
        return self._decision

    def add(self, score: float) -> BandDecision:
        """Add the mean score of one more pair, from 0 to 1.

        After the decision, further scores change nothing: games already running then do not undo
        it.
        """
        if self._decision.state is GradingState.OPEN:
            self._bounds.add(score)
            self._decision = self._judge()
        return self._decision

    def _judge(self) -> BandDecision:
        bounds = self._bounds
        # All means up to `low` are refuted, including `low` itself, unless nothing is refuted yet.
        possible = range(
            bisect_right(self.thresholds, bounds.low),
            bisect_right(self.thresholds, bounds.high) + 1,
        )
        state = GradingState.OPEN
        if len(possible) == 1:
            state = GradingState.DECIDED
        elif bounds.size >= self.maximum:
            state = GradingState.MAXIMUM
        return BandDecision(
            state=state,
            pairs=bounds.size,
            mean=bounds.mean,
            low=bounds.low,
            high=bounds.high,
            possible=possible,
            estimate=min(
                max(bisect_right(self.thresholds, bounds.mean), possible[0]), possible[-1]
            ),
        )
