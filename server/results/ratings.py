"""Ratings from results, always with an interval.

`fit` is a whole-history Bradley-Terry fit on the Elo scale: strengths are those that explain all
results together best, so the order of games does not matter and nothing drifts.  What is fitted
is the score of a game, a number from 0 to 1: 1, 1/2 or 0 where only winning counts (a draw is
half a win), any share where the size of the return counts (`plyhouse.server.results.scoring`).
For shares this is the fractional logit of Papke and Wooldridge ("Econometric methods for
fractional response variables", J. Applied Econometrics 11, 1996): the same equations, which need
the expected score to be right and nothing else.  When everybody has played everybody equally
often, ratings rank as total scores do.

A weak prior (one drawn game of everybody against a player of rating 1500) keeps strengths finite
after a clean sweep and ties groups that never met to the same level.

Intervals are 95 %, relative to the average of all players.  A score whose mean is ``m`` varies
at most as a coin does, by ``m (1 - m)``, and exactly so if it is always 0 or 1; draws and
middling returns make it vary less.  How much less, the dispersion (Wedderburn, "Quasi-likelihood
functions", Biometrika 61, 1974), is estimated for each two players from the sum of squares of
their scores, and goes into the intervals by the sandwich formula.  Few games say little about
it: estimates lean to that of all players, and to a coin (`CAUTION`, `POOLED`), so that a few
equal results do not pass for certainty.  Results of wins and losses alone give the intervals of
the ordinary Bradley-Terry fit.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import Final, Generic, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from plyhouse.server.results.intervals import Z95

__all__ = [
    "PairScore",
    "Rating",
    "fit",
]

ANCHOR: Final = 1500.0
"""The rating of the average player."""
SCALE: Final = 400.0 / math.log(10.0)
"""Elo points per unit of the logistic strength: 400 points are ten to one."""
PRIOR: Final = 1.0
"""Weight of the prior, in games."""
CAUTION: Final = 4.0
"""How many imagined games that vary as a coin go into the dispersion of each two players.  After
many equal scores the interval is then about as wide as that of an event never seen in as many
games: four games' variance in n is 1.96 / n of the score, the event's bound is 1.84 / n."""
POOLED: Final = 16.0
"""How many imagined games that vary as all players' games do go into it."""

SLACK: Final = 1e-6
"""By how much sums of fractions may be off."""

NameT = TypeVar("NameT", bound=Hashable)


class PairScore(NamedTuple, Generic[NameT]):
    """All games between two players, from the first one's side; numbers may be fractions."""

    a: NameT
    b: NameT
    games: float
    score: float
    """Sum of the first player's scores, each from 0 to 1; the second one has the rest."""
    squares: float
    """Sum of the squares of the first player's scores."""

    @classmethod
    def counted(cls, a: NameT, b: NameT, wins: float, draws: float, losses: float) -> Self:
        """Make it from wins, draws and losses of the first player."""
        return cls(a, b, wins + draws + losses, wins + draws / 2, wins + draws / 4)


class Rating(NamedTuple):
    """A fitted strength."""

    elo: float
    low: float
    high: float
    """``low`` and ``high`` bound the 95 % interval."""
    games: float
    score: float
    """Sum of the scores: wins, and half of the draws, or shares of what could be won."""


def fit(
    results: Iterable[PairScore[NameT]],
    *,
    players: Iterable[NameT] = (),
    prior: float = PRIOR,
    anchor: float = ANCHOR,
) -> dict[NameT, Rating]:
    """Fit ratings to results; ``players`` adds some that may not have played yet.

    The same results give the same ratings in whatever order they come.  Cost grows with the
    cube of the number of players: a thousand take about a second.

    The intervals take games as independent.  In mirrored matches luck usually evens out (what
    a seat gained by its cards, the other one gains in the mirror), so that the intervals are
    wider than they need be; for two bots that repeat one game move by move they are too narrow.
    """
    scores = list(results)
    names: list[NameT] = list(
        dict.fromkeys([*players, *(name for pair in scores for name in (pair.a, pair.b))])
    )
    names.sort(key=lambda name: (str(type(name)), repr(name)))
    count = len(names)
    if not count:
        return {}
    index = {name: number for number, name in enumerate(names)}
    games = np.zeros((count, count))
    won = np.zeros((count, count))
    middling = np.zeros((count, count))
    for pair in sorted(scores, key=lambda each: (index[each.a], index[each.b], each[2:])):
        i, j = index[pair.a], index[pair.b]
        if i == j:
            raise ValueError(f"{pair.a!r} cannot have played against itself")
        if pair.games < 0 or not -SLACK <= pair.score <= pair.games + SLACK:
            raise ValueError(f"{pair.score} is no score of {pair.games} games")
        games[i, j] += pair.games
        games[j, i] += pair.games
        won[i, j] += pair.score
        won[j, i] += pair.games - pair.score
        middling[i, j] += pair.score - pair.squares
        middling[j, i] += pair.score - pair.squares
    total = won.sum(axis=1)
    strength = _most_likely(games, total, prior)
    # The sandwich: how much the scores vary, seen through the curvature of the likelihood.
    bread = np.linalg.inv(_curvature(games, strength, prior))
    covariance = bread @ _variation(games, won, middling, strength, prior) @ bread
    if count > 1:
        # Only differences mean anything: take out the common shift.
        spread = covariance.diagonal() - 2 * covariance.mean(axis=1) + covariance.mean()
    else:
        spread = covariance.diagonal()
    errors = Z95 * SCALE * np.sqrt(np.maximum(spread, 0.0))
    elos = anchor + SCALE * strength
    played = games.sum(axis=1)
    return {
        name: Rating(
            float(elos[i]),
            float(elos[i] - errors[i]),
            float(elos[i] + errors[i]),
            float(played[i]),
            float(total[i]),
        )
        for name, i in index.items()
    }


def _variation(
    games: NDArray[np.float64],
    won: NDArray[np.float64],
    middling: NDArray[np.float64],
    strength: NDArray[np.float64],
    prior: float,
) -> NDArray[np.float64]:
    """The covariance of the players' total scores, prior included.

    ``middling`` sums ``s (1 - s)`` over the scores ``s`` of each two players: it is 0 for wins
    and losses, and what a coin of the same mean varies more than the scores do.
    """
    expected = _expected(strength)
    coin = expected * (1 - expected)
    most = games * coin
    # The sum of squares about the expected scores: `most - middling` where the fit meets them.
    # Results that the fit cannot explain (nobody's strength is one number) leave more.
    within = most - middling
    about = within + (won - games * expected) * (1 - 2 * expected)
    squares = np.clip(np.maximum(within, about), 0.0, most)
    imagined = CAUTION / 4
    common = (squares.sum() / 2 + imagined) / (most.sum() / 2 + imagined)
    weight = CAUTION + POOLED
    dispersed = squares + (CAUTION + POOLED * common) * coin
    varied = games / (games + weight) * dispersed
    own = 0.5 * (1.0 + np.tanh(0.5 * strength))
    result: NDArray[np.float64] = np.diag(varied.sum(axis=1) + prior * own * (1 - own)) - varied
    return result


def _expected(strength: NDArray[np.float64]) -> NDArray[np.float64]:
    """Expected score of each row's player against each column's."""
    return 0.5 * (1.0 + np.tanh(0.5 * (strength[:, None] - strength[None, :])))


def _likelihood(
    games: NDArray[np.float64],
    won: NDArray[np.float64],
    strength: NDArray[np.float64],
    prior: float,
) -> float:
    """Logarithm of the likelihood with the prior, up to a constant."""
    gaps = strength[:, None] - strength[None, :]
    pairs = games * np.logaddexp(0.0, gaps)
    anchored = prior * (np.logaddexp(0.0, strength) - strength / 2)
    return float(
        (won * strength).sum() - pairs.sum() / 2 - _offset(games, strength) - anchored.sum()
    )


def _offset(games: NDArray[np.float64], strength: NDArray[np.float64]) -> float:
    """What `_likelihood` counts of the losers' strengths: half of every game each."""
    return float((games.sum(axis=1) * strength).sum() / 2)


def _curvature(
    games: NDArray[np.float64], strength: NDArray[np.float64], prior: float
) -> NDArray[np.float64]:
    """The negative Hessian of the likelihood."""
    expected = _expected(strength)
    weights = games * expected * expected.T
    own = 0.5 * (1.0 + np.tanh(0.5 * strength))
    result: NDArray[np.float64] = np.diag(weights.sum(axis=1) + prior * own * (1 - own)) - weights
    return result


def _most_likely(
    games: NDArray[np.float64], won: NDArray[np.float64], prior: float
) -> NDArray[np.float64]:
    """Newton's method with halved steps; the likelihood is concave, so it has one maximum."""
    strength = np.zeros(len(won))
    value = _likelihood(games, won, strength, prior)
    for _ in range(100):
        own = 0.5 * (1.0 + np.tanh(0.5 * strength))
        gradient = won - (games * _expected(strength)).sum(axis=1) + prior * (0.5 - own)
        step = np.linalg.solve(_curvature(games, strength, prior), gradient)
        while True:
            after = strength + step
            better = _likelihood(games, won, after, prior)
            if better >= value or np.abs(step).max() < 1e-12:
                break
            step = step / 2
        strength, value = after, better
        if np.abs(step).max() < 1e-10:
            break
    return strength
