"""Is the new version better?  Sequential tests on mirrored pairs that stop when it is clear.

Two hypotheses are weighed about the mean value of a pair: H0, "the mean is `mean0`", such as no
difference, and H1, "the mean is `mean1`", such as 10 Elo more.  After every pair the logarithm of
the likelihood ratio (LLR) says how much better H1 explains the pairs than H0.  At the upper bound
H1 is accepted, at the lower one H0 (Wald, "Sequential Tests of Statistical Hypotheses", Annals of
Mathematical Statistics 16, 1945).  A bot no better than H0 says is taken for better with
probability alpha, one at least as good as H1 says is missed with probability beta.

The pair is the unit because its games are not independent.  Which values pairs take, and how
often, is not known, so each hypothesis is given the distribution with its mean that explains the
pairs best: the generalised test (GSPRT) of Van den Bergh, "A practical introduction to the GSPRT"
(cantate.be/Fishtest, 2020), as the testing of chess programs uses it with five outcomes a pair.
The best distribution gives an outcome a with share p the share ``p / (1 + t (a - mean))``, t such
that the mean is right (Owen, "Empirical Likelihood", 2001), which works for any finite number of
outcomes.  Error rates are therefore not exact but asymptotic; tests and
`benchmarks/sequential.py` measure them.

`Sprt` tests several candidates against one base with one error budget: with probability alpha at
most, *any* that is no better is taken for better (Holm, "A simple sequentially rejective multiple
test procedure", Scandinavian J. Statistics 6, 1979; for sequential tests: Bartroff and Song,
"Sequential tests of multiple hypotheses controlling type I and II familywise error rates",
J. Statistical Planning and Inference 153, 2014).  Each of k candidates begins with alpha / k; once
one is accepted, those left share alpha among one fewer.  It is never weaker than Bonferroni's
split, and needs no independence, which candidates that meet the same base do not have.  Beta is
that of each candidate.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

__all__ = [
    "Hypotheses",
    "Sprt",
    "SprtState",
    "Verdict",
    "elo_score",
    "log_likelihood_ratio",
]

UNSEEN: Final = 1e-3
"""How many pairs are imagined at the least and at the greatest value, where there was none: no
distribution over what was seen alone need have the mean of a hypothesis."""


class Verdict(StrEnum):
    """Which hypothesis was accepted."""

    H0 = "H0"
    H1 = "H1"


def elo_score(elo: float) -> float:
    """The mean score that is expected of a player who is ``elo`` points stronger.

    >>> elo_score(0), round(elo_score(100), 2)
    (0.5, 0.64)
    """
    return float(1.0 / (1.0 + 10.0 ** (-elo / 400.0)))


def log_likelihood_ratio(
    counts: Mapping[float, float],
    mean0: float,
    mean1: float,
    least: float = 0.0,
    greatest: float = 1.0,
) -> float:
    """How much better a mean of ``mean1`` explains pairs than ``mean0``: log of the ratio.

    ``counts`` says how often each value came; values are within ``least`` and ``greatest``, and
    the means strictly.

    >>> counts = {1.0: 30, 0.0: 20}  # no draws: 30 log(0.6 / 0.5) + 20 log(0.4 / 0.5)
    >>> f"{log_likelihood_ratio(counts, 0.5, 0.6):.4f}"
    '1.0068'
    """
    if not any(counts.values()):
        return 0.0
    full = {value: count for value, count in counts.items() if count}
    for value in (least, greatest):
        full.setdefault(value, UNSEEN)
    values, weights = tuple(full), tuple(full.values())
    tilt0, tilt1 = _tilt(values, weights, mean0), _tilt(values, weights, mean1)
    return math.fsum(
        weight * (math.log1p(tilt0 * (value - mean0)) - math.log1p(tilt1 * (value - mean1)))
        for value, weight in zip(values, weights, strict=True)
    )


def _tilt(values: Sequence[float], weights: Sequence[float], mean: float) -> float:
    """The t for which shares ``w / (1 + t (a - mean))`` have this mean (see the module).

    The sum that has to vanish falls as t rises between the two poles: Newton's steps, and
    bisection where they would leave what brackets the root.
    """
    offsets = [value - mean for value in values]
    low, high = -1.0 / max(offsets), -1.0 / min(offsets)
    tilt = 0.0
    for _ in range(200):
        total = slope = 0.0
        for offset, weight in zip(offsets, weights, strict=True):
            part = offset / (1.0 + tilt * offset)
            total += weight * part
            slope -= weight * part * part
        if total > 0.0:
            low = tilt
        else:
            high = tilt
        step = tilt - total / slope
        if not low < step < high:
            step = (low + high) / 2.0
        if abs(step - tilt) <= 1e-13 * (1.0 + abs(tilt)):
            break
        tilt = step
    return tilt


@dataclass(frozen=True)
class Hypotheses:
    """What is weighed, and how often it may be wrong.

    >>> test = Hypotheses(elo_score(0), elo_score(10))
    >>> [f"{bound:+.2f}" for bound in test.bounds()]
    ['-2.94', '+2.94']
    """

    mean0: float
    """Mean value of a pair under H0."""
    mean1: float
    """Mean value of a pair under H1."""
    alpha: float = 0.05
    """How often H1 may be accepted where H0 is true."""
    beta: float = 0.05
    """How often H0 may be accepted where H1 is true."""
    least: float = 0.0
    greatest: float = 1.0
    """Values of pairs are within ``least`` and ``greatest``."""

    def __post_init__(self) -> None:
        """Raise `ValueError` for what cannot be tested."""
        if not self.mean0 < self.mean1:
            raise ValueError(f"H1 is about a greater mean than H0, not {self.mean1:g}")
        if not self.least < self.mean0 or not self.mean1 < self.greatest:
            raise ValueError(
                f"the hypotheses lie between {self.least:g} and {self.greatest:g}, "
                f"not at {self.mean0:g} and {self.mean1:g}"
            )
        for name, rate in (("alpha", self.alpha), ("beta", self.beta)):
            if not 0.0 < rate < 0.5:
                raise ValueError(f"{name} is an error rate between 0 and 0.5, not {rate:g}")

    def bounds(self, share: float = 1.0) -> tuple[float, float]:
        """The LLR at which H0 and at which H1 is accepted, for this share of alpha."""
        alpha = self.alpha * share
        return math.log(self.beta / (1.0 - alpha)), math.log((1.0 - self.beta) / alpha)

    def llr(self, counts: Mapping[float, float]) -> float:
        """The log-likelihood ratio of these pairs."""
        return log_likelihood_ratio(counts, self.mean0, self.mean1, self.least, self.greatest)


@dataclass(frozen=True)
class SprtState:
    """How the test of one candidate stands."""

    pairs: int
    """Pairs that count."""
    llr: float
    lower: float
    """At this LLR or below H0 is accepted."""
    upper: float
    """At this LLR or above H1 is accepted."""
    verdict: Verdict | None


class Sprt:
    """Sequential tests of candidates against one base.

    Pairs may end in any order.  They are taken in rounds, one pair of each candidate that is not
    decided, in the order of their indices: short games are not heard before long ones, and the
    verdicts depend on the results alone.

    >>> sprt = Sprt(Hypotheses(0.5, 0.75), max_pairs=50)
    >>> index = 0
    >>> while sprt.is_open(0):
    ...     sprt.add(0, index, 1.0)
    ...     index += 1
    >>> sprt.state(0).verdict, index
    (<Verdict.H1: 'H1'>, 8)
    """

    def __init__(self, hypotheses: Hypotheses, candidates: int = 1, *, max_pairs: int) -> None:
        """Raises `ValueError` unless there is a candidate, and a pair to be played."""
        if candidates < 1 or max_pairs < 1:
            raise ValueError("a test needs a candidate and a pair at least")
        self.hypotheses = hypotheses
        self.max_pairs = max_pairs
        self.rounds = 0
        """Rounds that were taken."""
        self._waiting: list[dict[int, float | None]] = [{} for _ in range(candidates)]
        self._values: list[list[float]] = [[] for _ in range(candidates)]
        self._counts: list[Counter[float]] = [Counter() for _ in range(candidates)]
        self._llrs = [0.0] * candidates
        self._taken = [0] * candidates
        self._verdicts: list[Verdict | None] = [None] * candidates
        self._bounds = [hypotheses.bounds(1.0 / candidates)] * candidates

    def add(self, candidate: int, index: int, value: float | None) -> None:
        """Take the value of a candidate's pair ``index``; None where it could not be counted.

        Pairs that end after the verdict are left out of account.
        """
        if self.is_open(candidate):
            self._waiting[candidate][index] = value
            while self._take_round():
                pass

    def is_open(self, candidate: int) -> bool:
        """Whether more pairs of this candidate are wanted."""
        return self._verdicts[candidate] is None and self.rounds < self.max_pairs

    @property
    def is_over(self) -> bool:
        """Whether no more pairs are wanted."""
        return not any(self.is_open(candidate) for candidate in range(len(self._verdicts)))

    def state(self, candidate: int) -> SprtState:
        """How the test of a candidate stands."""
        lower, upper = self._bounds[candidate]
        return SprtState(
            len(self._values[candidate]),
            self._llrs[candidate],
            lower,
            upper,
            self._verdicts[candidate],
        )

    def values(self, candidate: int) -> Sequence[float]:
        """The values of the pairs that count, in order."""
        return self._values[candidate]

    def taken(self, candidate: int) -> int:
        """How many pairs of a candidate, from the first, were taken, counted or not."""
        return self._taken[candidate]

    def _take_round(self) -> bool:
        """Take the next pair of all who are open, if they are there."""
        playing = [c for c in range(len(self._verdicts)) if self.is_open(c)]
        if not playing or any(self.rounds not in self._waiting[c] for c in playing):
            return False
        for candidate in playing:
            value = self._waiting[candidate].pop(self.rounds)
            self._taken[candidate] += 1
            if value is not None:
                self._values[candidate].append(value)
                self._counts[candidate][value] += 1
                self._llrs[candidate] = self.hypotheses.llr(self._counts[candidate])
        self.rounds += 1
        self._decide(playing)
        return True

    def _decide(self, playing: Sequence[int]) -> None:
        """Holm's steps: the best first; each that is accepted leaves the others a larger share."""
        open_ = sorted(playing, key=lambda candidate: -self._llrs[candidate])
        while open_:
            left = len(self._verdicts) - self._verdicts.count(Verdict.H1)
            lower, upper = self.hypotheses.bounds(1.0 / left)
            for candidate in open_:
                self._bounds[candidate] = lower, upper
            if self._llrs[open_[0]] < upper:
                break
            self._verdicts[open_.pop(0)] = Verdict.H1
        for candidate in open_:
            if self._llrs[candidate] <= self._bounds[candidate][0]:
                self._verdicts[candidate] = Verdict.H0
