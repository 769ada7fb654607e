"""Ratings of games for three or more seats: a Plackett-Luce fit.

A match is a ranking.  The winner is chosen among all with odds ``exp(strength + seat)``, the second
among the rest, and so on.  Sources: Plackett, "The analysis of permutations", Applied Statistics
24, 1975.  Luce, "Individual choice behavior", 1959.  Hunter, "MM algorithms for generalized
Bradley-Terry models", Annals of Statistics 32, 2004.  Hunter's condition for a finite fit is that
of `plyhouse.server.results.separation`.  With two seats the model is that of Bradley and Terry.
The likelihood is concave, so Newton's steps find its maximum in a few rounds.

Entries that share a place count as ranked in every order equally: the mean of the logarithms, which
is a draw as half a win each way.  The model says nothing about the size of returns; if that counts,
see `plyhouse.server.results.mean_returns`.

Prior, anchors and errors are those of `plyhouse.server.results.strengths`; each seat has one
virtual drawn game against the last one.  The sandwich is shrunk to the model while units are few.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Final, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from plyhouse.server.results.fitted import Fitted, Term
from plyhouse.server.results.intervals import Z95
from plyhouse.server.results.pair_results import ResultError, totals
from plyhouse.server.results.ratings import ANCHOR, SCALE
from plyhouse.server.results.separation import notes_on
from plyhouse.server.results.spread import (
    CAUTION,
    POOLED,
    Field,
    covariance_of,
    degrees_used,
    fit_field,
)
from plyhouse.server.results.strengths import Errors, check_anchors

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
NameT = TypeVar("NameT", bound=Hashable)

MOST_TIED: Final = 12
"""The largest number of entries that may share a place: the stages of a tie double with each."""
BLOCK: Final = 4096
"""The number of units whose gradients are held in memory at a time."""


class Ranked(NamedTuple, Generic[NameT]):
    """A match of any number of seats."""

    seats: tuple[NameT, ...]
    returns: tuple[float, ...]
    """Returns of the seats.  Only their order counts, the greatest first; equal ones share a place.
    """
    game: str = ""
    pair: Hashable = None
    """The id shared by the matches of one mirrored pairing; None for a single match."""


def _terms(
    model: _Model[NameT], at: Floats, covariance: Floats, seats: Mapping[str, int], entries: int
) -> dict[str, tuple[Term, ...]]:
    """Return the advantage of each seat but the last, by game."""
    value = at * SCALE
    half = np.sqrt(np.maximum(covariance.diagonal(), 0.0)) * Z95 * SCALE
    terms: dict[str, tuple[Term, ...]] = {}
    for game, count in seats.items():
        first = model.loose + model.place[game] - entries
        terms[game] = tuple(
            Term(float(value[k]), float(value[k] - half[k]), float(value[k] + half[k]))
            for k in range(first, first + count - 1)
        )
    return terms


def fit_rankings(
    matches: Iterable[Ranked[NameT]],
    *,
    entries: Iterable[NameT] = (),
    anchors: Mapping[NameT, float] | None = None,
    spread: float | None = None,
    errors: Errors | None = None,
) -> Fitted[NameT]:
    """Fit strengths, and each seat's advantage over the last one, by game.

    Scores of the result are shares of opponents beaten.  ``errors`` is ``"pairs"`` by default if
    some matches are of one pair.

    Raises `ResultError` for a match of fewer than two seats, and for returns that are not finite or
    do not match the seats.  It also raises it for a game with different numbers of seats, and for
    more than a dozen on one place.  It also raises it for the anchors that `fit_strengths` refuses.
    """
    rows = list(matches)
    names = tuple(dict.fromkeys([*entries, *(name for row in rows for name in row.seats)]))
    seats = _seats_of(rows)
    fixed = check_anchors(names, anchors or {}, spread)
    if errors is None:
        errors = "pairs" if any(row.pair is not None for row in rows) else "hessian"
    model = _Model(names, seats, fixed)
    model.read(rows, keep_units=errors == "pairs")
    found = fit_field(
        model.objective,
        np.zeros(len(model.keep)),
        model.loose,
        spread=None if spread is None else spread / SCALE,
        dispersion=model.dispersion if errors == "pairs" else None,
    )
    varied = model.variation(found) if errors == "pairs" else None
    covariance = covariance_of(found, model.loose, varied, centred=not fixed)
    strength = model.known.copy()
    strength[model.free] = found.at[: model.loose]
    whole = np.zeros((len(names),) * 2)
    whole[np.ix_(model.free, model.free)] = covariance[: model.loose, : model.loose]
    return Fitted(
        names,
        model.centre + SCALE * strength,
        whole * SCALE * SCALE,
        model.games,
        model.score,
        _terms(model, found.at, covariance, seats, len(names)),
        {},
        notes_on(names, model.took),
        found.steps,
    )


def _seats_of(rows: Sequence[Ranked[NameT]]) -> dict[str, int]:
    """Return the number of seats of every game; refuse what is no ranking."""
    seats: dict[str, int] = {}
    for number, row in enumerate(rows):
        count = len(row.seats)
        if count < 2 or len(set(row.seats)) < 2:
            raise ResultError(f"Match {number} has no two entries to compare.")
        if len(row.returns) != count:
            raise ResultError(f"Match {number}: {len(row.returns)} returns for {count} seats.")
        if not all(math.isfinite(value) for value in row.returns):
            raise ResultError(f"Match {number}: {row.returns} are not all numbers.")
        if max(Counter(row.returns).values()) > MOST_TIED:
            raise ResultError(f"Match {number}: more than {MOST_TIED} share a place.")
        if seats.setdefault(row.game, count) != count:
            raise ResultError(
                f"Match {number}: {row.game or 'the game'!r} has {seats[row.game]} seats in "
                f"others, and {count} here."
            )
    return seats


class _Model(Generic[NameT]):
    """The likelihood of strengths and seat advantages in one vector."""

    def __init__(
        self,
        names: tuple[NameT, ...],
        seats: dict[str, int],
        fixed: dict[int, float],
    ) -> None:
        size = len(names)
        self.names = names
        self.seats = seats
        self.number = {name: index for index, name in enumerate(names)}
        self.centre = sum(fixed.values()) / len(fixed) if fixed else ANCHOR
        self.free = np.array([i for i in range(size) if i not in fixed], dtype=np.int64)
        self.loose = len(self.free)
        self.known = np.zeros(size)
        for index, elo in fixed.items():
            self.known[index] = (elo - self.centre) / SCALE
        self.place: dict[str, int] = {}
        self.width = size
        for game, count in seats.items():
            self.place[game] = self.width
            self.width += count - 1
        self.keep = np.concatenate([self.free, np.arange(size, self.width)])
        self.games = np.zeros(size)
        self.score = np.zeros(size)
        self.took = np.zeros((size, size), dtype=bool)
        anchored = sorted(fixed)
        self.took[np.ix_(anchored, anchored)] = True
        self.units = 0

    def read(self, rows: Sequence[Ranked[NameT]], *, keep_units: bool) -> None:
        """Split rankings into choices, each of one among several."""
        counts: dict[tuple[str, tuple[int, ...], tuple[int, ...], int], float] = defaultdict(float)
        pairs: dict[Hashable, int] = {}
        for number, row in enumerate(rows):
            self._count(row)
            label: Hashable = ("alone", number) if row.pair is None else ("pair", row.pair)
            unit = pairs.setdefault(label, len(pairs)) if keep_units else 0
            seated = tuple(self.number[name] for name in row.seats)
            order = sorted(set(row.returns), reverse=True)
            ranks = tuple(order.index(value) for value in row.returns)
            counts[(row.game, seated, ranks, unit)] += 1.0
        self.units = len(pairs)
        choices: dict[int, list[tuple[list[int], list[int], float, int]]] = defaultdict(list)
        linear: list[tuple[int, int, float, int]] = []
        for (game, seated, ranks, unit), count in counts.items():
            last = self.seats[game] - 1
            worth = [
                self.place[game] + seat if seat < last else self.width for seat in range(last + 1)
            ]
            for chosen, weight in _choices(ranks):
                who, where = [seated[seat] for seat in chosen], [worth[seat] for seat in chosen]
                if len(chosen) == 1:
                    linear.append((who[0], where[0], -weight * count, unit))
                else:
                    choices[len(chosen)].append((who, where, weight * count, unit))
            linear += [(seated[seat], worth[seat], count, unit) for seat in range(last + 1)]
        self.choices = [
            (
                np.array([each[0] for each in some], dtype=np.int64),
                np.array([each[1] for each in some], dtype=np.int64),
                np.array([each[2] for each in some]),
                np.array([each[3] for each in some], dtype=np.int64),
            )
            for _, some in sorted(choices.items())
        ]
        self.linear = (
            np.array([each[0] for each in linear], dtype=np.int64),
            np.array([each[1] for each in linear], dtype=np.int64),
            np.array([each[2] for each in linear], dtype=np.float64),
            np.array([each[3] for each in linear], dtype=np.int64),
        )

    def _count(self, row: Ranked[NameT]) -> None:
        share = 1.0 / (len(row.seats) - 1)
        for one, mine in zip(row.seats, row.returns, strict=True):
            i = self.number[one]
            self.games[i] += 1.0
            beaten = -0.5
            for other, value in zip(row.seats, row.returns, strict=True):
                beaten += 1.0 if mine > value else 0.5 if mine == value else 0.0
                if mine >= value and other != one:
                    self.took[i, self.number[other]] = True
            self.score[i] += beaten * share

    def _whole(self, at: Floats) -> Floats:
        """Return every term; the last one is the last seat's, which is zero."""
        whole = np.zeros(self.width + 1)
        whole[: len(self.names)] = self.known
        whole[self.keep] = at
        return whole

    def _shares(self, whole: Floats, who: Whole, where: Whole) -> tuple[Floats, Floats]:
        """Return the probability of each choice, and the logarithm of the sum."""
        worth = whole[who] + whole[where]
        most = worth.max(axis=1, keepdims=True)
        odds = np.exp(worth - most)
        total = odds.sum(axis=1, keepdims=True)
        return odds / total, (most + np.log(total))[:, 0]

    def objective(self, at: Floats, /, precision: float) -> tuple[float, Floats, Floats]:
        """Return the log-likelihood with prior, its gradient and information."""
        whole = self._whole(at)
        size = self.width + 1
        who, where, count, _ = self.linear
        value = float(count @ (whole[who] + whole[where]))
        slope = totals(who, count, size) + totals(where, count, size)
        bend = np.zeros((size, size))
        for who, where, weight, _ in self.choices:
            share, total = self._shares(whole, who, where)
            value -= float(weight @ total)
            both = np.concatenate([who, where], axis=1)
            twice = np.concatenate([share, share], axis=1) * weight[:, None]
            slope -= totals(both.ravel(), twice.ravel(), size)
            # Add the covariance of the indicators: each member's own term, less the products.
            width = who.shape[1]
            for i in range(2 * width):
                for j in range(2 * width):
                    product = -twice[:, i] * share[:, j % width]
                    if i % width == j % width:
                        product = product + twice[:, i]
                    codes = both[:, i] * size + both[:, j]
                    bend += totals(codes, product, size * size).reshape(size, size)
        own, seats = at[: self.loose], at[self.loose :]
        value -= precision * float(own @ own) / 2.0
        value -= float((np.logaddexp(0.0, seats) - seats / 2.0).sum())
        logistic = 0.5 * (1.0 + np.tanh(0.5 * seats))
        gradient = slope[self.keep]
        gradient[: self.loose] -= precision * own
        gradient[self.loose :] += 0.5 - logistic
        pull = np.concatenate([np.full(self.loose, precision), logistic * (1.0 - logistic)])
        return value, gradient, bend[np.ix_(self.keep, self.keep)] + np.diag(pull)

    def dispersion(self, field: Field) -> float:
        """Return the dispersion of the gradient of strengths."""
        _, factors, _ = self._dispersed(field)
        return float(factors[0] ** 2) if self.loose else 1.0

    def variation(self, field: Field) -> Floats:
        """Return the covariance of the gradient, from units shrunk to the model.

        It excludes the prior of the strengths.
        """
        seen, factors, spare = self._dispersed(field)
        own = self._own(field)
        lean = (CAUTION + POOLED) / (spare + CAUTION + POOLED)
        mixed: Floats = (1.0 - lean) * seen + lean * own * np.outer(factors, factors)
        return mixed

    def _own(self, field: Field) -> Floats:
        """Return the information without the prior of the strengths."""
        own = field.information.copy()
        own[np.arange(self.loose), np.arange(self.loose)] -= field.precision
        return own

    def _dispersed(self, field: Field) -> tuple[Floats, Floats, float]:
        """Return squares of units' gradients, dispersion roots, and a unit count.

        The first is the sum of squares over units.  The second has the roots of the dispersions of
        all terms.  The third is the number of units behind these.  All strengths share one
        dispersion, and so do all seats.
        """
        used = degrees_used(field, self.loose) + len(field.at) - self.loose
        spare = max(0.0, self.units - used)
        seen = self._squares(field.at)
        if spare:
            seen *= self.units / spare
        expected = self._own(field).diagonal()
        factors = np.ones(len(field.at))
        for part in (slice(0, self.loose), slice(self.loose, len(field.at))):
            if float(expected[part].sum()) > 0.0:
                ratio = float(seen.diagonal()[part].sum() / expected[part].sum())
                factors[part] = math.sqrt((spare * ratio + CAUTION) / (spare + CAUTION))
        return seen, factors, spare

    def _squares(self, at: Floats) -> Floats:
        """Return the sum over units of the squares of their gradients."""
        whole = self._whole(at)
        size = self.width + 1
        units, places, values = [], [], []
        for who, where, weight, unit in self.choices:
            share, _ = self._shares(whole, who, where)
            for column in (who, where):
                units.append(np.repeat(unit, who.shape[1]))
                places.append(column.ravel())
                values.append((-share * weight[:, None]).ravel())
        who, where, count, unit = self.linear
        for place in (who, where):
            units.append(unit)
            places.append(place)
            values.append(count)
        unit, place, value = map(np.concatenate, (units, places, values))
        order = np.argsort(unit, kind="stable")
        unit, place, value = unit[order], place[order], value[order]
        seen = np.zeros((size, size))
        for first in range(0, self.units, BLOCK):
            low, high = np.searchsorted(unit, [first, first + BLOCK])
            rows = slice(int(low), int(high))
            codes = (unit[rows] - first) * size + place[rows]
            slopes = totals(codes, value[rows], BLOCK * size).reshape(BLOCK, size)
            seen += slopes.T @ slopes
        kept: Floats = seen[np.ix_(self.keep, self.keep)]
        return kept


def _choices(ranks: Sequence[int]) -> list[tuple[tuple[int, ...], float]]:
    """Return the sets of seats in which one was chosen, with their weights.

    ``ranks`` are from 0, by seat.  Entries on one place may have come in any order: each possible
    remaining set of them counts as often as orders leave it.
    """
    found: list[tuple[tuple[int, ...], float]] = []
    for rank in sorted(set(ranks)):
        tied = [seat for seat, each in enumerate(ranks) if each == rank]
        below = tuple(seat for seat, each in enumerate(ranks) if each > rank)
        for size in range(len(tied), 0, -1):
            weight = 1.0 / math.comb(len(tied), size)
            found += [((*left, *below), weight) for left in combinations(tied, size)]
    return found
