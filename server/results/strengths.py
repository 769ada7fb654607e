"""Ratings of a field from all its games at once: Bradley-Terry with draws.

There are two models, chosen per game:

* Where wins, draws and losses count, the model is Davidson's, with the first-seat advantage of
  Davidson and Beaver (Biometrics 33, 1977).  Source: "On extending the Bradley-Terry model to
  accommodate ties in paired comparison experiments", JASA 65, 1970.  With strengths ``s``,
  advantage ``g`` and drawishness ``d``, the logarithms of win, draw and loss of the first seat are
  as ``t/2 : d : -t/2`` where ``t = s(first) - s(second) + g``.  We prefer it to Rao and Kupper's
  because a draw is then exactly half a win.  Total scores are all that the fit needs, and after a
  balanced round robin ratings rank as scores do, which a lecturer must be able to explain.
* Where the size of the points counts (``shares``), only the expected score is modelled, by the
  fractional logit of Papke and Wooldridge (J. Applied Econometrics 11, 1996).  A law of wins and
  draws says nothing about shares such as 0.3.

Strengths are on the Elo scale: 400 points are ten wins to one loss.  Where draws occur, the
expected score depends less on strength than the logistic curve says, since draws take their part.

The prior of strengths is normal about the centre (1500, or the mean of the anchors), as wide as the
results suggest (`plyhouse.server.results.spread`).  The prior of a seat's advantage is one drawn
game between equals.  The prior of the rate of draws is one game between equals that is a third of
each result.  Without anchors the mean of the strengths is 1500.  Anchors are entries whose rating
is fixed; all others are then relative to them, and their intervals are from them, not from the
average.

Errors come from the observed information (``"hessian"``), which is right if games are independent
and the model holds.  Or they come from the observed variation of units (``"pairs"``), the sandwich
with mirrored pairs as clusters (Liang and Zeger, Biometrika 73, 1986), which needs neither
condition.  Two games of a mirrored pair share their luck, so the second is the default if there are
pairs or shares.  A few units say little about their variation.  Estimates are shrunk to the
dispersion of all units and to the model (`plyhouse.server.results.spread`), separately for
strengths, seats and draws.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Mapping
from typing import Final, Generic, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from plyhouse.server.results.fitted import Fitted, Term
from plyhouse.server.results.intervals import Z95
from plyhouse.server.results.pair_results import Cells, ResultError, Units, sum_up, totals
from plyhouse.server.results.ratings import ANCHOR, SCALE
from plyhouse.server.results.separation import notes_on
from plyhouse.server.results.spread import (
    Field,
    common,
    covariance_of,
    degrees_used,
    fit_field,
    leaning,
)

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
NameT = TypeVar("NameT", bound=Hashable)
Errors = Literal["hessian", "pairs"]

FARTHEST: Final = 100_000.0
"""The largest distance of an anchor from zero, in Elo points."""
PLACES: Final = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
"""Products of a unit's sums: points of one entry (0), of the first seat (1), draws (2)."""


def fit_strengths(
    results: Units[NameT] | Cells[NameT],
    *,
    shares: Collection[str] = (),
    anchors: Mapping[NameT, float] | None = None,
    spread: float | None = None,
    errors: Errors | None = None,
) -> Fitted[NameT]:
    """Fit strengths, seat advantages and rates of draws to all results.

    ``shares`` names the games whose scores are shares of points.  ``spread`` is the standard
    deviation of the field in Elo points, estimated by default.  Work grows with the cube of the
    number of entries, and hardly with the games.

    Raises `ResultError` for a share in a game of wins, draws and losses, and for a spread that is
    not above zero.  It also raises it for an anchor that is not finite or not among the entries.
    """
    cells = sum_up(results) if isinstance(results, Units) else results
    fixed = check_anchors(cells.names, anchors or {}, spread)
    if odd := sorted(cells.shares - set(shares)):
        raise ResultError(
            f"Scores of {odd[0] or 'the game'!r} are not only wins, draws and losses: name it "
            "among `shares` if the size of the points counts."
        )
    model = _Model(cells, frozenset(shares), fixed)
    if errors is None:
        paired = bool(((cells.ahead + cells.behind) > 1).any())
        errors = "pairs" if paired or cells.shares else "hessian"
    found = fit_field(
        model.objective,
        np.zeros(len(model.keep)),
        model.loose,
        spread=None if spread is None else spread / SCALE,
        dispersion=model.dispersion if errors == "pairs" else None,
    )
    strength = model.strengths(found.at)
    varied = model.variation(found) if errors == "pairs" else None
    covariance = covariance_of(found, model.loose, varied, centred=not fixed)
    whole = np.zeros((len(cells.names),) * 2)
    whole[np.ix_(model.free, model.free)] = covariance[: model.loose, : model.loose]
    drawish = found.at[model.loose + len(cells.games) :]
    own = np.sqrt(np.maximum(covariance.diagonal()[model.loose :], 0.0)) * Z95 * SCALE
    advantage = found.at[model.loose :][: len(cells.games)] * SCALE
    size = len(cells.names)
    played = (cells.ahead + cells.behind) * cells.units
    return Fitted(
        cells.names,
        model.centre + SCALE * strength,
        whole * SCALE * SCALE,
        totals(cells.one, played, size) + totals(cells.other, played, size),
        totals(cells.one, cells.sums[0], size) + totals(cells.other, played - cells.sums[0], size),
        {
            game: (Term(float(value), float(value - half), float(value + half)),)
            for game, value, half in zip(cells.games, advantage, own, strict=False)
        },
        model.draws(drawish),
        notes_on(cells.names, _took(cells, sorted(fixed))),
        found.steps,
    )


def check_anchors(
    names: tuple[NameT, ...], anchors: Mapping[NameT, float], spread: float | None
) -> dict[int, float]:
    """Return anchors by entry number; raise `ResultError` for bad ones or spread."""
    if spread is not None and not (math.isfinite(spread) and spread > 0.0):
        raise ResultError(f"A spread of {spread} Elo points: give one above zero, such as 350.")
    place = {name: index for index, name in enumerate(names)}
    fixed = {}
    for name, elo in anchors.items():
        if name not in place:
            raise ResultError(f"The anchor {name!r} is not among the entries.")
        if not abs(elo) <= FARTHEST:
            raise ResultError(f"The anchor {name!r} at {elo}: give a rating such as 1500.")
        fixed[place[name]] = float(elo)
    return fixed


def _took(cells: Cells[NameT], anchored: list[int]) -> NDArray[np.bool_]:
    """Return who took something from whom; anchors count as compared."""
    count = (cells.ahead + cells.behind) * cells.units
    size = len(cells.names)
    took = np.zeros((size, size), dtype=bool)
    won, lost = cells.sums[0] > 0.0, cells.sums[0] < count
    took[cells.one[won], cells.other[won]] = True
    took[cells.other[lost], cells.one[lost]] = True
    took[np.ix_(anchored, anchored)] = True
    return took


class _Model(Generic[NameT]):
    """The likelihood of strengths, seats and drawishness in one vector."""

    def __init__(
        self, cells: Cells[NameT], shares: frozenset[str], fixed: dict[int, float]
    ) -> None:
        self.cells = cells
        self.centre = sum(fixed.values()) / len(fixed) if fixed else ANCHOR
        size = len(cells.names)
        self.free = np.array([i for i in range(size) if i not in fixed], dtype=np.int64)
        self.loose = len(self.free)
        self.known = np.zeros(size)
        for index, elo in fixed.items():
            self.known[index] = (elo - self.centre) / SCALE
        draws = totals(cells.game, cells.sums[2], len(cells.games))
        self.drawn = [
            number
            for number, game in enumerate(cells.games)
            if game not in shares and draws[number] > 0
        ]
        self.keep = np.concatenate(
            [self.free, np.arange(size, size + len(cells.games) + len(self.drawn))]
        )
        self.drawing = np.isin(cells.game, self.drawn)
        slot = np.zeros(len(cells.games), dtype=np.int64)
        slot[self.drawn] = np.arange(len(self.drawn))
        self.slot = slot[cells.game]

    def draws(self, drawish: Floats) -> dict[str, float]:
        """Return the probability that equal bots draw, by game."""
        return {
            self.cells.games[game]: 1.0 / (1.0 + 2.0 * math.exp(-value))
            for game, value in zip(self.drawn, drawish, strict=True)
        }

    def strengths(self, at: Floats) -> Floats:
        """Return all strengths, in logits from the centre."""
        strength = self.known.copy()
        strength[self.free] = at[: self.loose]
        return strength

    def objective(self, at: Floats, /, precision: float) -> tuple[float, Floats, Floats]:
        """Return the log-likelihood with prior, its gradient and information."""
        cells = self.cells
        strength, advantage, drawish = self._split(at)
        expected, variance, cost = self._moments(at)
        half = cells.units * (cells.ahead + cells.behind) / 2.0
        gap = strength[cells.one] - strength[cells.other]
        value = (
            gap @ (cells.sums[0] - half)
            + advantage[cells.game] @ (cells.sums[1] - half)
            + drawish[self.slot[self.drawing]] @ cells.sums[2][self.drawing]
            - cost
        )
        rest = [seen - cells.units * mean for seen, mean in zip(cells.sums, expected, strict=True)]
        gradient = self._gather(rest)
        information = self._assemble([cells.units * each for each in variance])
        own = strength[self.free]
        centre = precision * float(own @ own) / 2.0
        seats = (np.logaddexp(0.0, advantage) - advantage / 2.0).sum()
        draws = (np.logaddexp(math.log(2.0), drawish) - drawish / 3.0).sum()
        slope, bend = self._prior(advantage, drawish)
        gradient[: self.loose] -= precision * own
        gradient[self.loose :] += slope
        pull = np.concatenate([np.full(self.loose, precision), bend])
        return float(value - centre - seats - draws), gradient, information + np.diag(pull)

    def dispersion(self, field: Field) -> float:
        """Return the dispersion of the points of entries."""
        seen, variance = self._squares(field.at)
        used = degrees_used(field, self.loose)
        return common(float(seen[0].sum()), self.cells.units, variance[0], used)[0]

    def variation(self, field: Field) -> Floats:
        """Return the covariance of the gradient, from units shrunk to the model."""
        seen, variance = self._squares(field.at)
        games, draws = len(self.cells.games), len(self.drawn)
        factor = {}
        count = 0.0
        for term, used in (
            (0, degrees_used(field, self.loose)),
            (1, float(games)),
            (2, float(draws)),
        ):
            place = PLACES.index((term, term))
            # Halves are no draws in games whose points count.
            total = float(seen[place][self.drawing | (term < 2)].sum())
            factor[term], rests = common(total, self.cells.units, variance[place], used)
            count = count or rests
        weight, cautious, pooled = leaning(self.cells.units, count)
        varied = [
            weight * each + (cautious + pooled * math.sqrt(factor[i] * factor[j])) * model
            for each, model, (i, j) in zip(seen, variance, PLACES, strict=True)
        ]
        _, advantage, drawish = self._split(field.at)
        _, bend = self._prior(advantage, drawish)
        return self._assemble(varied) + np.diag(np.concatenate([np.zeros(self.loose), bend]))

    def _squares(self, at: Floats) -> tuple[list[Floats], list[Floats]]:
        """Return products about expectations, and the model's for one unit.

        Both are for each cell.
        """
        cells = self.cells
        expected, variance, _ = self._moments(at)
        e = np.stack(expected)
        m, s, p = cells.units, cells.sums, cells.products
        seen = [
            p[k] - s[i] * e[j] - s[j] * e[i] + m * e[i] * e[j] for k, (i, j) in enumerate(PLACES)
        ]
        return seen, variance

    def _split(self, at: Floats) -> tuple[Floats, Floats, Floats]:
        games = self.loose + len(self.cells.games)
        return self.strengths(at), at[self.loose : games], at[games:]

    def _prior(self, advantage: Floats, drawish: Floats) -> tuple[Floats, Floats]:
        """Return slope and curvature of the prior of the seats and draws."""
        seat = 0.5 * (1.0 + np.tanh(0.5 * advantage))
        draw = 0.5 * (1.0 + np.tanh(0.5 * (drawish - math.log(2.0))))
        slope = [0.5 - seat, 1.0 / 3.0 - draw]
        bend = [seat * (1.0 - seat), draw * (1.0 - draw)]
        return np.concatenate(slope), np.concatenate(bend)

    def _moments(self, at: Floats) -> tuple[list[Floats], list[Floats], float]:
        """Return each cell's expected sums and covariances per unit, and the cost.

        The cost is the normalisation of the likelihood.
        """
        cells = self.cells
        strength, advantage, drawish = self._split(at)
        gap = strength[cells.one] - strength[cells.other]
        seat = advantage[cells.game]
        draw = np.full(len(gap), -np.inf)
        draw[self.drawing] = drawish[self.slot[self.drawing]]
        cost = 0.0
        parts = []
        for count, t in ((cells.ahead, gap + seat), (cells.behind, seat - gap)):
            rows = np.flatnonzero(count)
            games, t, drawing = count[rows], t[rows], draw[rows]
            # Divide by the likeliest result, so that nothing overflows.
            half = np.abs(t) / 2.0
            top = np.maximum(half, drawing)
            tie, more, less = np.exp(drawing - top), np.exp(half - top), np.exp(-half - top)
            total = more + less + tie
            cost += float((cells.units[rows] * games) @ (top + np.log(total)))
            tie, more, less = tie / total, more / total, less / total
            win = np.where(t > 0.0, more, less)
            decided = more + less
            found = np.zeros((5, len(gap)))
            found[:, rows] = games * np.stack(
                [
                    win + tie / 2.0,
                    tie,
                    more * less + tie * decided / 4.0,
                    tie * (decided - 2.0 * win) / 2.0,
                    tie * decided,
                ]
            )
            parts.append(found)
        (score, tie, own, cross, flat), (score2, tie2, own2, cross2, flat2) = parts
        expected = [score + cells.behind - score2, score + score2, tie + tie2]
        variance = [
            own + own2,
            own - own2,
            cross - cross2,
            own + own2,
            cross + cross2,
            flat + flat2,
        ]
        return expected, variance, cost

    def _gather(self, rest: list[Floats]) -> Floats:
        """Return the gradient from each cell's excess over the expected sums."""
        cells = self.cells
        size = len(cells.names)
        strength = totals(cells.one, rest[0], size) - totals(cells.other, rest[0], size)
        seat = totals(cells.game, rest[1], len(cells.games))
        chosen = self.drawing
        draw = totals(self.slot[chosen], rest[2][chosen], len(self.drawn))
        return np.concatenate([strength[self.free], seat, draw[: len(self.drawn)]])

    def _assemble(self, v: list[Floats]) -> Floats:
        """Return the block matrix of the covariances ``v``, summed over cells."""
        cells = self.cells
        size, games, draws = len(cells.names), len(cells.games), len(self.drawn)
        whole = np.zeros((size + games + draws,) * 2)
        met = totals(cells.one * size + cells.other, v[0], size * size).reshape(size, size)
        met = met + met.T
        whole[:size, :size] = np.diag(met.sum(axis=1)) - met

        def cross(column: Whole, values: Floats, width: int, rows: Whole | None = None) -> Floats:
            one, other = cells.one, cells.other
            if rows is not None:
                one, other, column, values = one[rows], other[rows], column[rows], values[rows]
            up = totals(one * width + column, values, size * width)
            down = totals(other * width + column, values, size * width)
            return (up - down).reshape(size, width)

        seat = slice(size, size + games)
        whole[:size, seat] = cross(cells.game, v[1], games)
        whole[seat, seat] = np.diag(totals(cells.game, v[3], games))
        if draws:
            draw = slice(size + games, size + games + draws)
            rows = np.flatnonzero(self.drawing)
            whole[:size, draw] = cross(self.slot, v[2], draws, rows)
            each = np.array(self.drawn), np.arange(draws)
            whole[seat, draw][each] = totals(self.slot[rows], v[4][rows], draws)
            whole[draw, draw] = np.diag(totals(self.slot[rows], v[5][rows], draws))
        lower = np.tril_indices(len(whole), -1)
        whole[lower] = whole.T[lower]
        kept: Floats = whole[np.ix_(self.keep, self.keep)]
        return kept
