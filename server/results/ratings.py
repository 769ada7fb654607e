"""Ratings from results, always with an interval.

`fit` is a whole-history Bradley-Terry fit on the Elo scale.  It finds the strengths that best
explain all results together, so the order of games does not matter and nothing drifts.  It fits the
score of a game, from 0 to 1.  Scores are 1, 1/2 or 0 if only winning counts (a draw is half a win),
and any share if the size of the return counts (`plyhouse.server.results.scoring`).  For shares this
is the fractional logit of Papke and Wooldridge ("Econometric methods for fractional response
variables", J. Applied Econometrics 11, 1996): the same equations, which only need the expected
score to be right.  If all players have met equally often, ratings rank as total scores do.

A prior (`plyhouse.server.results.spread`) keeps strengths finite after a clean sweep, and ties
groups that never met to the same level.  It is as wide as the results of the field suggest.

Ratings and their 95 % intervals are relative to the average of all players, which is 1500.  A score
with mean ``m`` varies at most as a coin does, by ``m (1 - m)``, and exactly so if it is always 0 or
1.  Draws and middling returns make it vary less.  The factor, the dispersion (Wedderburn,
"Quasi-likelihood functions", Biometrika 61, 1974), is estimated for each two players from the sum
of squares of their scores.  It enters the intervals by the sandwich formula.

Few games say little about the dispersion.  Estimates are therefore shrunk to that of all players,
and to a coin (`CAUTION`, `POOLED`), so a few equal results do not pass for certainty.  Results of
wins and losses alone give the variation of the ordinary Bradley-Terry fit.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import Final, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from plyhouse.server.results.intervals import Z95
from plyhouse.server.results.spread import common, covariance_of, fit_field, leaning

ANCHOR: Final = 1500.0
"""The rating of the average player."""
SCALE: Final = 400.0 / math.log(10.0)
"""Elo points per unit of the logistic strength: 400 points are ten to one."""
SLACK: Final = 1e-6
"""The largest rounding error accepted in sums of fractions."""

Floats = NDArray[np.float64]
NameT = TypeVar("NameT", bound=Hashable)


class PairScore(NamedTuple, Generic[NameT]):
    """All games between two players, from the first's side, maybe fractions."""

    a: NameT
    b: NameT
    games: float
    score: float
    """The sum of the first player's scores, each from 0 to 1; the second one has the rest."""
    squares: float
    """The sum of the squares of the first player's scores."""


class Rating(NamedTuple):
    """A fitted strength."""

    elo: float
    low: float
    high: float
    """``low`` and ``high`` bound the 95 % interval."""
    games: float
    score: float
    """The sum of the scores: wins and half of the draws, or shares of the possible return."""


def fit(
    results: Iterable[PairScore[NameT]],
    *,
    players: Iterable[NameT] = (),
) -> dict[NameT, Rating]:
    """Fit ratings to results; ``players`` adds some without results.

    The order of the results does not matter.  Cost grows with the cube of the number of players: a
    thousand take about a second.

    The intervals treat games as independent.  In mirrored matches luck usually evens out: what a
    seat gained by its cards, the other one gains in the mirror.  The intervals are then wider than
    necessary.  For two bots that repeat one game move by move they are too narrow.
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

    # The prior treats scores as those of a coin, so only their sums count for the ratings.
    field = fit_field(_Likelihood(games, won), np.zeros(count), count)
    varied = _variation(games, won, middling, field.at)
    spread = covariance_of(field, count, varied, centred=count > 1).diagonal()
    errors = Z95 * SCALE * np.sqrt(np.maximum(spread, 0.0))
    elos = ANCHOR + SCALE * field.at
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


def _squares(
    games: Floats, won: Floats, middling: Floats, strength: Floats
) -> tuple[Floats, Floats]:
    """Return squares of scores about expectations, and a coin's variance.

    ``middling`` sums ``s (1 - s)`` over the scores ``s`` of each two players.  It is 0 for wins and
    losses; otherwise it is the excess of the variation of a coin of the same mean over that of the
    scores.
    """
    expected = _expected(strength)
    coin = expected * (1 - expected)
    most = games * coin
    # The sum of squares is `most - middling` where the fit meets the mean scores.  It is larger for
    # results that the fit cannot explain, because strengths are no single numbers.
    within = most - middling
    about = within + (won - games * expected) * (1 - 2 * expected)
    return np.clip(np.maximum(within, about), 0.0, most), coin


def _variation(games: Floats, won: Floats, middling: Floats, strength: Floats) -> Floats:
    """Return the covariance of the players' total scores."""
    squares, coin = _squares(games, won, middling, strength)
    factor, count = common(float(squares.sum()) / 2.0, games.ravel() / 2.0, coin.ravel())
    weight, cautious, pooled = leaning(games, count)
    varied = weight * squares + (cautious + pooled * factor) * coin
    result: Floats = np.diag(varied.sum(axis=1)) - varied
    return result


def _expected(strength: Floats) -> Floats:
    """Return the expected score of each row's player against each column's."""
    expected: Floats = 0.5 * (1.0 + np.tanh(0.5 * (strength[:, None] - strength[None, :])))
    return expected


class _Likelihood:
    """The logarithm of the likelihood with the prior, up to a constant."""

    def __init__(self, games: Floats, won: Floats) -> None:
        self.games = games
        self.total = won.sum(axis=1)
        self.played = games.sum(axis=1)

    def __call__(self, at: Floats, /, precision: float) -> tuple[float, Floats, Floats]:
        """Return the value at some strengths, its gradient, and the information."""
        gaps = at[:, None] - at[None, :]
        pairs = float((self.games * np.logaddexp(0.0, gaps)).sum()) / 2.0
        # `pairs` includes half of every game, which belongs to the loser, so subtract it.
        value = float((self.total - self.played / 2.0) @ at) - pairs
        expected = _expected(at)
        weights = self.games * expected * expected.T
        gradient = self.total - (self.games * expected).sum(axis=1) - precision * at
        information = np.diag(weights.sum(axis=1) + precision) - weights
        return value - precision * float(at @ at) / 2.0, gradient, information
