"""Sequential tests on mirrored pairs that find the better version.

A test compares two hypotheses about the mean value of a pair.  H0 is "the mean is `mean0`", such as
no difference; H1 is "the mean is `mean1`", such as 10 Elo more.  After every pair the logarithm of
the likelihood ratio (LLR) says how much better H1 explains the pairs than H0.  At the upper bound
H1 is accepted, at the lower one H0 (Wald, "Sequential Tests of Statistical Hypotheses", Annals of
Mathematical Statistics 16, 1945).  A bot no better than H0 says is accepted as better with
probability alpha.  A bot at least as good as H1 says is missed with probability beta.

The pair is the unit because its games are not independent.  The distribution of pair values is not
known, so each hypothesis gets the distribution with its mean that explains the pairs best.  This is
the generalised test (GSPRT) of Van den Bergh, "A practical introduction to the GSPRT"
(cantate.be/Fishtest, 2020), as chess engine testing uses it with five outcomes a pair.  The best
distribution gives an outcome a with share p the share ``p / (1 + t (a - mean))``, where t makes the
mean right (Owen, "Empirical Likelihood", 2001).  This works for any finite number of outcomes.
Error rates are therefore not exact but asymptotic; tests and `benchmarks/sequential.py` measure
them.

`Sprt` tests several candidates against one base with one error budget.  With probability at most
alpha, *any* candidate that is no better is accepted as better (Holm, "A simple sequentially
rejective multiple test procedure", Scandinavian J. Statistics 6, 1979; for sequential tests:
Bartroff and Song, "Sequential tests of multiple hypotheses controlling type I and II familywise
error rates", J. Statistical Planning and Inference 153, 2014).  Each of k candidates begins with
alpha / k; once one is accepted, those left share alpha among one fewer.  This is never weaker than
Bonferroni's split.  It needs no independence, which candidates with the same base do not have.
Beta holds for each candidate.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

UNSEEN: Final = 1e-3
"""The number of virtual pairs at the least and at the greatest value, if none was seen there.  A
distribution over the seen values alone need not have the mean of a hypothesis."""


class Verdict(StrEnum):
    """The accepted hypothesis."""

    H0 = "H0"
    H1 = "H1"


def elo_score(elo: float) -> float:
    """Return the expected score of a player who is ``elo`` points stronger.

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
    """Return the log-likelihood ratio of the means ``mean1`` and ``mean0``.

    ``counts`` has the frequency of each value.  Values are within ``least`` and ``greatest``, and
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
    """Return the t for which shares ``w / (1 + t (a - mean))`` have this mean.

    See the module.  The sum that must vanish falls as t rises between the two poles.  Newton's
    steps find the root; bisection replaces a step that would leave the bracket.
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
    """The hypotheses of a test and its error rates.

    >>> test = Hypotheses(elo_score(0), elo_score(10))
    >>> [f"{bound:+.2f}" for bound in test.bounds()]
    ['-2.94', '+2.94']
    """

    mean0: float
    """Mean value of a pair under H0."""
    mean1: float
    """Mean value of a pair under H1."""
    alpha: float = 0.05
    """The probability of accepting H1 if H0 is true."""
    beta: float = 0.05
    """The probability of accepting H0 if H1 is true."""
    least: float = 0.0
    greatest: float = 1.0
    """``least`` and ``greatest`` are the limits of a pair's value."""

    def __post_init__(self) -> None:
        """Raise `ValueError` for hypotheses or rates that cannot be tested."""
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
        """Return the LLR that accepts H0 and the LLR that accepts H1.

        ``share`` is the share of alpha.
        """
        alpha = self.alpha * share
        return math.log(self.beta / (1.0 - alpha)), math.log((1.0 - self.beta) / alpha)

    def llr(self, counts: Mapping[float, float]) -> float:
        """Return the log-likelihood ratio of these pairs."""
        return log_likelihood_ratio(counts, self.mean0, self.mean1, self.least, self.greatest)


@dataclass(frozen=True)
class SprtState:
    """The state of the test of one candidate."""

    pairs: int
    """The number of pairs that count."""
    llr: float
    lower: float
    """H0 is accepted at this LLR or below."""
    upper: float
    """H1 is accepted at this LLR or above."""
    verdict: Verdict | None


class Sprt:
    """Sequential tests of candidates against one base.

    Pairs may end in any order.  They are processed in rounds, with one pair of each undecided
    candidate, in the order of their indices.  So short games do not count before long ones, and the
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
        """Raise `ValueError` unless there is a candidate, and a pair to be played."""
        if candidates < 1 or max_pairs < 1:
            raise ValueError("a test needs a candidate and a pair at least")
        self.hypotheses = hypotheses
        self.max_pairs = max_pairs
        self.rounds = 0
        """The number of rounds processed."""
        self._waiting: list[dict[int, float | None]] = [{} for _ in range(candidates)]
        self._values: list[list[float]] = [[] for _ in range(candidates)]
        self._counts: list[Counter[float]] = [Counter() for _ in range(candidates)]
        self._llrs = [0.0] * candidates
        self._taken = [0] * candidates
        self._verdicts: list[Verdict | None] = [None] * candidates
        self._bounds = [hypotheses.bounds(1.0 / candidates)] * candidates
        self._stopped: set[int] = set()

    def add(self, candidate: int, index: int, value: float | None) -> None:
        """Add the value of a candidate's pair ``index``; None: it does not count.

        Pairs that end after the verdict are ignored.
        """
        if self.is_open(candidate):
            self._waiting[candidate][index] = value
            while self._take_round():
                pass

    def is_open(self, candidate: int) -> bool:
        """Return whether this candidate needs more pairs."""
        return (
            self._verdicts[candidate] is None
            and self.rounds < self.max_pairs
            and candidate not in self._stopped
        )

    def stop(self, candidate: int) -> None:
        """Give a candidate up, undecided."""
        self._stopped.add(candidate)
        while self._take_round():
            pass

    @property
    def is_over(self) -> bool:
        """True if no candidate needs more pairs."""
        return not any(self.is_open(candidate) for candidate in range(len(self._verdicts)))

    def state(self, candidate: int) -> SprtState:
        """Return the state of a candidate's test."""
        lower, upper = self._bounds[candidate]
        return SprtState(
            len(self._values[candidate]),
            self._llrs[candidate],
            lower,
            upper,
            self._verdicts[candidate],
        )

    def values(self, candidate: int) -> Sequence[float]:
        """Return the values of the pairs that count, in order."""
        return self._values[candidate]

    def taken(self, candidate: int) -> int:
        """Return how many pairs of a candidate were processed, counted or not.

        These are always its first ones.
        """
        return self._taken[candidate]

    def _take_round(self) -> bool:
        """Process the next pair of all open candidates, if all have one."""
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
        """Apply Holm's steps: the best candidate comes first.

        Each acceptance leaves the others a larger share.
        """
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
