"""What a fit of ratings says: strengths, how sure they are, and who may stand where.

Everything here follows from the strengths and their covariance, whichever model was fitted
(`plyhouse.server.results.strengths` for two seats, `plyhouse.server.results.plackett_luce` for
more).  All of it is asymptotic: the estimate is taken as normal, as it becomes with the games.

*Fixed-time* intervals hold for one look at a number of games chosen before.  *Any-time* ones hold
for all looks together, so one may watch a board and stop when one likes: they are the normal
mixture of Robbins ("Statistical methods related to the law of the iterated logarithm", Annals of
Mathematical Statistics 41, 1970; Howard, Ramdas, McAuliffe and Sekhon, "Time-uniform,
nonparametric, nonasymptotic confidence sequences", Annals of Statistics 49, 2021, eq. 14) with the
information of the fit as time.  For an estimate, that is an asymptotic confidence sequence in the
sense of Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas ("Time-uniform central limit theory and
asymptotic confidence sequences", Annals of Statistics 52, 2024): it holds as the first look comes
late, not from the first game on.  Here it is one step further off: the strength of one entry is a
martingale only as long as the pairing stays about the same mixture of opponents.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Final, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["Estimate", "Fitted", "Term", "any_time_factor"]

Floats = NDArray[np.float64]
NameT = TypeVar("NameT", bound=Hashable)

SHARPEST: Final = 30.0
"""The standard error, in Elo points, at which any-time intervals are least wider than fixed-time
ones: about that of 130 games against an equal.  It has to be chosen before looking."""


class Term(NamedTuple):
    """What a seat of a game is worth, in Elo points, with its fixed-time interval."""

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
    """The fixed-time interval."""
    any_low: float
    any_high: float
    """The any-time interval."""
    rank_low: int
    rank_high: int
    """The best and the worst rank it may have."""
    games: float
    score: float


def any_time_factor(error: float, alpha: float = 0.05, sharpest: float = SHARPEST) -> float:
    """How many standard errors an any-time interval reaches, at this standard error.

    With information ``v = 1 / error²`` the two-sided normal mixture bounds a martingale of
    variance ``v`` by ``sqrt((v + r) log((v + r) / (r alpha²)))`` at all times at once; ``r`` is
    chosen so that this is least beside ``sqrt(v)`` near ``error = sharpest``.
    """
    if not 0.0 < alpha < 1.0:
        raise ValueError(f"{alpha} is no error rate: it lies between 0 and 1")
    if error <= 0.0:
        return 0.0
    spent = -2.0 * math.log(alpha)
    # Howard et al., eq. 22: the best ratio of r to v, up to a negligible term.
    r = 1.0 / (sharpest * sharpest * (spent + math.log(1.0 + spent)))
    v = 1.0 / (error * error)
    return math.sqrt((1.0 + r / v) * (spent + math.log1p(v / r)))


@dataclass(frozen=True)
class Fitted(Generic[NameT]):
    """Fitted strengths; arrays are in the order of ``names``."""

    names: tuple[NameT, ...]
    elo: Floats
    covariance: Floats
    """In squared Elo points; of the distances from the average where there is no anchor."""
    games: Floats
    score: Floats
    seats: Mapping[str, tuple[Term, ...]]
    """By game what seats are worth beside the last one; with two seats, the first one's worth."""
    draws: Mapping[str, float]
    """By game how often equals draw, on equal seats; only games in which a draw occurred."""
    notes: tuple[str, ...]
    """What a reader must know: who is separated from whom, who won everything."""
    steps: int
    """Steps of Newton's method: a refit that starts from the last fit needs few."""

    def index(self, name: NameT) -> int:
        """The place of a name in the arrays; raises `KeyError` with the name."""
        try:
            return self.names.index(name)
        except ValueError:
            raise KeyError(f"{name!r} has no rating") from None

    def among(self, names: Sequence[NameT]) -> Fitted[NameT]:
        """What it says of these entries alone, in this order: ranks are then among them."""
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
        """By how much ``one`` is stronger, and the standard error of that, in Elo points."""
        i, j = self.index(one), self.index(other)
        c = self.covariance
        return float(self.elo[i] - self.elo[j]), math.sqrt(
            max(0.0, float(c[i, i] + c[j, j] - 2.0 * c[i, j]))
        )

    def superiority(self, one: NameT, other: NameT) -> float:
        """How likely it is, seeing the results, that ``one`` is the stronger of the two.

        The normal approximation of the posterior under the weak prior; 1/2 for equals.
        """
        gap, error = self.difference(one, other)
        if error == 0.0:
            return 0.5 if gap == 0.0 else float(gap > 0.0)
        return NormalDist().cdf(gap / error)

    def ranks(self, level: float = 0.95) -> list[tuple[int, int]]:
        """For every entry the best and worst rank that it may have, at this level for each.

        An entry's rank is one more than the number of those stronger.  Each entry is compared
        with all others at once, by Šidák's inequality ("Rectangular confidence regions for the
        means of multivariate normal distributions", JASA 62, 1967), which holds however the
        estimates hang together; see Mogstad, Romano, Shaikh and Wilhelm, "Inference for ranks
        with applications to mobility across neighbourhoods", Review of Economic Studies 91, 2024.
        """
        count = len(self.names)
        if count < 2:
            return [(1, 1)] * count
        reach = NormalDist().inv_cdf(0.5 + 0.5 * level ** (1.0 / (count - 1)))
        own = self.covariance.diagonal()
        spread = np.sqrt(np.maximum(0.0, own[:, None] + own[None, :] - 2.0 * self.covariance))
        above = (self.elo[None, :] - self.elo[:, None]) > reach * spread
        np.fill_diagonal(above, val=False)
        stronger, weaker = above.sum(axis=1), above.sum(axis=0)
        return [(int(1 + up), int(count - down)) for up, down in zip(stronger, weaker, strict=True)]

    def estimates(
        self, level: float = 0.95, *, sharpest: float = SHARPEST
    ) -> list[Estimate[NameT]]:
        """All entries, the strongest first; ``sharpest`` as in `any_time_factor`."""
        reach = NormalDist().inv_cdf(0.5 + level / 2.0)
        ranks = self.ranks(level)
        made = []
        for i, name in enumerate(self.names):
            elo, error = float(self.elo[i]), math.sqrt(max(0.0, float(self.covariance[i, i])))
            wide = error * any_time_factor(error, 1.0 - level, sharpest)
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
