"""The conclusions of a rating fit: strengths, their certainty and ranks.

They follow from the strengths and their covariance, whichever model was fitted
(`plyhouse.server.results.strengths` for two seats, `plyhouse.server.results.plackett_luce` for
more).  They are asymptotic: the estimate is treated as normal, which it becomes with the number of
games.

*Fixed-time* intervals hold for one look at a number of games chosen in advance.  *Any-time*
intervals hold for all looks together, so you may watch a board and stop at any moment.  They are
the normal mixture of Robbins with the information of the fit as time.  Sources: "Statistical
methods related to the law of the iterated logarithm", Annals of Mathematical Statistics 41, 1970.
Howard, Ramdas, McAuliffe and Sekhon, "Time-uniform, nonparametric, nonasymptotic confidence
sequences", Annals of Statistics 49, 2021, eq. 14.

For an estimate, this is an asymptotic confidence sequence: it holds if the first look comes late,
not from the first game on.  Source: Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, "Time-uniform
central limit theory and asymptotic confidence sequences", Annals of Statistics 52, 2024.  One more
approximation applies here.  The strength of one entry is a martingale only while its opponents stay
about the same mixture.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Final, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
NameT = TypeVar("NameT", bound=Hashable)

LEVEL: Final = 0.95
"""The confidence of intervals and ranks."""
SHARPEST: Final = 30.0
"""The standard error, in Elo points, at which any-time intervals are closest to fixed-time ones.
It is about that of 130 games against an equal.  It must be chosen before looking."""


class Term(NamedTuple):
    """The advantage of a seat, in Elo points, with its fixed-time interval."""

    elo: float
    low: float
    high: float


class Estimate(NamedTuple, Generic[NameT]):
    """One entry's rating, in Elo points."""

    name: NameT
    elo: float
    error: float
    """The standard error; 0 for an anchor."""
    low: float
    high: float
    """``low`` and ``high`` are the fixed-time interval."""
    any_low: float
    any_high: float
    """``any_low`` and ``any_high`` are the any-time interval."""
    rank_low: int
    rank_high: int
    """``rank_low`` and ``rank_high`` are the best and the worst rank it may have."""
    games: float
    score: float


def any_time_factor(error: float, alpha: float = 0.05, sharpest: float = SHARPEST) -> float:
    """Return the half-width of an any-time interval, in standard errors.

    With information ``v = 1 / error²`` the two-sided normal mixture bounds a martingale of variance
    ``v`` by ``sqrt((v + r) log((v + r) / (r alpha²)))`` at all times at once.  ``r`` is chosen so
    that the ratio to ``sqrt(v)`` is least near ``error = sharpest``.
    """
    if not 0.0 < alpha < 1.0:
        raise ValueError(f"{alpha} is no error rate: it lies between 0 and 1")
    if error <= 0.0:
        return 0.0
    spent = -2.0 * math.log(alpha)
    # Howard et al., eq. 22, give the best ratio of r to v, up to a negligible term.
    r = 1.0 / (sharpest * sharpest * (spent + math.log(1.0 + spent)))
    v = 1.0 / (error * error)
    return math.sqrt((1.0 + r / v) * (spent + math.log1p(v / r)))


@dataclass(frozen=True)
class Fitted(Generic[NameT]):
    """Fitted strengths; arrays are in the order of ``names``."""

    names: tuple[NameT, ...]
    elo: Floats
    covariance: Floats
    """The covariance in squared Elo points; without anchors, that of the distances from the
    average."""
    games: Floats
    score: Floats
    seats: Mapping[str, tuple[Term, ...]]
    """By game, the advantage of each seat over the last one; with two seats, only the first one's.
    """
    draws: Mapping[str, float]
    """By game, the share of draws between equals on equal seats; only games in which a draw
    occurred."""
    notes: tuple[str, ...]
    """Notes for readers: groups without a comparison, entries that won everything."""
    steps: int
    """The number of Newton steps: a refit that starts from the last fit needs few."""

    def index(self, name: NameT) -> int:
        """Return a name's place in the arrays; raises `KeyError` with the name."""
        try:
            return self.names.index(name)
        except ValueError:
            raise KeyError(f"{name!r} has no rating") from None

    def among(self, names: Sequence[NameT]) -> Fitted[NameT]:
        """Return the fit for these entries only, in this order.

        Ranks are then among these entries.
        """
        rows = np.array([self.index(name) for name in names], dtype=np.int64)
        return replace(
            self,
            names=tuple(names),
            elo=self.elo[rows],
            covariance=self.covariance[np.ix_(rows, rows)],
            games=self.games[rows],
            score=self.score[rows],
        )

    def difference(self, one: NameT, other: NameT) -> tuple[float, float]:
        """Return how much stronger ``one`` is, and the standard error, in Elo."""
        i, j = self.index(one), self.index(other)
        c = self.covariance
        return float(self.elo[i] - self.elo[j]), math.sqrt(
            max(0.0, float(c[i, i] + c[j, j] - 2.0 * c[i, j]))
        )

    def superiority(self, one: NameT, other: NameT) -> float:
        """Return the probability, given the results, that ``one`` is the stronger.

        It is the normal approximation of the posterior under the weak prior; 1/2 for equals.
        """
        gap, error = self.difference(one, other)
        if error == 0.0:
            return 0.5 if gap == 0.0 else float(gap > 0.0)
        return NormalDist().cdf(gap / error)

    def ranks(self) -> list[tuple[int, int]]:
        """Return the best and worst possible rank of each entry at `LEVEL`.

        An entry's rank is one more than the number of stronger entries.  Each entry is compared
        with all others at once, by Šidák's inequality ("Rectangular confidence regions for the
        means of multivariate normal distributions", JASA 62, 1967).  The inequality holds for any
        correlation of the estimates; see Mogstad, Romano, Shaikh and Wilhelm, "Inference for ranks
        with applications to mobility across neighbourhoods", Review of Economic Studies 91, 2024.
        """
        count = len(self.names)
        if count < 2:
            return [(1, 1)] * count
        reach = NormalDist().inv_cdf(0.5 + 0.5 * LEVEL ** (1.0 / (count - 1)))
        own = self.covariance.diagonal()
        spread = np.sqrt(np.maximum(0.0, own[:, None] + own[None, :] - 2.0 * self.covariance))
        above = (self.elo[None, :] - self.elo[:, None]) > reach * spread
        np.fill_diagonal(above, val=False)
        stronger, weaker = above.sum(axis=1), above.sum(axis=0)
        return [(int(1 + up), int(count - down)) for up, down in zip(stronger, weaker, strict=True)]

    def estimates(self) -> list[Estimate[NameT]]:
        """Return all entries, strongest first; see `any_time_factor`."""
        reach = NormalDist().inv_cdf(0.5 + LEVEL / 2.0)
        ranks = self.ranks()
        made = []
        for i, name in enumerate(self.names):
            elo, error = float(self.elo[i]), math.sqrt(max(0.0, float(self.covariance[i, i])))
            wide = error * any_time_factor(error, 1.0 - LEVEL)
            made.append(
                Estimate(
                    name,
                    elo,
                    error,
                    elo - reach * error,
                    elo + reach * error,
                    elo - wide,
                    elo + wide,
                    *ranks[i],
                    float(self.games[i]),
                    float(self.score[i]),
                )
            )
        made.sort(key=lambda each: -each.elo)
        return made
