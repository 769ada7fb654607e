"""Games between two for the rating fit: single, paired and summed up.

A *unit* counts as independent: the games of a mirrored pair together, or a single game.  The fit
(`plyhouse.server.results.strengths`) needs only three numbers of a unit: the points of one of the
two, the points of the first seat, and the number of draws.  Units of the same two entries, the same
game and the same seats are alike, so only their sums and sums of products are kept.  A million
games of a thousand bots become at most as many rows as there are pairs of them.

>>> units = collect([Played("ann", "bob", 1.0, pair=1), Played("bob", "ann", 0.5, pair=1)])
>>> len(units.points), float(units.points[0])
(1, 1.5)
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Generic, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
NameT = TypeVar("NameT", bound=Hashable)

ALONE: Final = -1
"""The pair number of a single game."""


class ResultError(ValueError):
    """Results cannot be rated; ``str()`` says which, and what is possible."""


class Played(NamedTuple, Generic[NameT]):
    """One game between two entries."""

    first: NameT
    """The entry in the first seat."""
    second: NameT
    score: float
    """The first seat's score, from 0 to 1: 1, 1/2, 0, or a share where points count."""
    game: str = ""
    """The game: each one has its own first-seat advantage and its own rate of draws."""
    pair: Hashable = None
    """The id shared by the games of one mirrored pair; None for a single game."""


@dataclass(frozen=True)
class Rows(Generic[NameT]):
    """Rows of results between two entries in a game; ``one`` < ``other`` as entry numbers."""

    names: tuple[NameT, ...]
    games: tuple[str, ...]
    game: Whole
    one: Whole
    other: Whole
    ahead: Whole
    """The number of a unit's games with ``one`` in the first seat."""
    behind: Whole
    """The number of a unit's games with ``other`` in the first seat."""


@dataclass(frozen=True)
class Units(Rows[NameT]):
    """Independent units, one row each."""

    points: Floats
    """The points of ``one``."""
    opening: Floats
    """The points of the first seats."""
    drawn: Floats
    """The number of games that scored exactly 1/2."""
    shares: frozenset[str]
    """The games in which a score was neither 0, 1/2 nor 1."""

    def __len__(self) -> int:
        return len(self.points)

    def take(self, rows: Whole) -> Units[NameT]:
        """Return these rows, repeated as given; a bootstrap draws them at random."""
        return Units(
            self.names,
            self.games,
            self.game[rows],
            self.one[rows],
            self.other[rows],
            self.ahead[rows],
            self.behind[rows],
            self.points[rows],
            self.opening[rows],
            self.drawn[rows],
            self.shares,
        )

    def resampled(self, rng: np.random.Generator) -> Units[NameT]:
        """Return a bootstrap sample of units, with replacement (Efron 1979)."""
        return self.take(rng.integers(0, len(self), len(self)))


@dataclass(frozen=True)
class Cells(Rows[NameT]):
    """Sums of alike units, one row each."""

    units: Floats
    """The number of units of each row."""
    sums: Floats
    """Sums of points, opening and drawn, one row each."""
    products: Floats
    """Sums over units of points², points·opening, points·drawn, opening², opening·drawn and
    drawn², one row each."""
    shares: frozenset[str]


def collect(played: Iterable[Played[NameT]], *, entries: Iterable[NameT] = ()) -> Units[NameT]:
    """Return the units of games; ``entries`` adds names without games.

    Raises `ResultError` for an entry against itself, for a score that is no number from 0 to 1, and
    for a pair with games of different entries or different games.
    """
    rows = list(played)
    names = list(dict.fromkeys(entries))
    number = {name: index for index, name in enumerate(names)}
    games: dict[str, int] = {}
    pairs: dict[Hashable, int] = {}
    first: list[int] = []
    second: list[int] = []
    game: list[int] = []
    pair: list[int] = []
    for row in rows:
        for name, column in ((row.first, first), (row.second, second)):
            if name not in number:
                number[name] = len(names)
                names.append(name)
            column.append(number[name])
        game.append(games.setdefault(row.game, len(games)))
        pair.append(ALONE if row.pair is None else pairs.setdefault(row.pair, len(pairs)))
    return collect_arrays(
        names,
        np.array(first, dtype=np.int64),
        np.array(second, dtype=np.int64),
        np.array([row.score for row in rows], dtype=np.float64),
        games=tuple(games) or ("",),
        game=np.array(game, dtype=np.int64),
        pair=np.array(pair, dtype=np.int64),
    )


def collect_arrays(
    names: Sequence[NameT],
    first: Whole,
    second: Whole,
    score: Floats,
    *,
    games: Sequence[str] = ("",),
    game: Whole | None = None,
    pair: Whole | None = None,
) -> Units[NameT]:
    """Do `collect` for very many games: entries, games and pairs are numbers.

    ``pair`` is negative for single games.  Raises `ResultError` as `collect` does.
    """
    game = np.zeros(len(first), dtype=np.int64) if game is None else game
    _check(names, first, second, score)
    begins = first < second
    one, other = np.minimum(first, second), np.maximum(first, second)
    points = np.where(begins, score, 1.0 - score)
    drawn = (score == 0.5).astype(np.float64)
    part = (score != 0.0) & (score != 1.0) & (score != 0.5)
    shares = frozenset(games[index] for index in np.unique(game[part]))
    ahead, behind = begins.astype(np.int64), (~begins).astype(np.int64)
    columns = game, one, other, ahead, behind, points, score, drawn
    if pair is None or not (pair >= 0).any():
        return Units(tuple(names), tuple(games), *columns, shares)
    single = pair < 0
    label = pair.copy()
    label[single] = pair.max() + 1 + np.arange(int(single.sum()))
    _, kept, unit = np.unique(label, return_index=True, return_inverse=True)
    for column in (game, one, other):
        wrong = np.flatnonzero(column != column[kept][unit])
        if len(wrong):
            at = int(wrong[0])
            raise ResultError(
                f"{names[first[at]]!r} and {names[second[at]]!r} played a game of a pair whose "
                "other games are of other entries or of another game: a mirrored pair has the "
                "same two and one game."
            )

    def total(column: Whole | Floats) -> Floats:
        return totals(unit, column, len(kept))

    return Units(
        tuple(names),
        tuple(games),
        game[kept],
        one[kept],
        other[kept],
        total(ahead).astype(np.int64),
        total(behind).astype(np.int64),
        total(points),
        total(score),
        total(drawn),
        shares,
    )


def totals(index: Whole, values: Whole | Floats, size: int) -> Floats:
    """Return the sum of the values for each index below ``size``."""
    return np.asarray(np.bincount(index, values, size), dtype=np.float64)


def sum_up(units: Units[NameT]) -> Cells[NameT]:
    """Return the sums of alike units."""
    x, y, z = units.points, units.opening, units.drawn
    keys = np.stack([units.game, units.one, units.other, units.ahead, units.behind])
    values = np.stack([np.ones(len(units)), x, y, z, x * x, x * y, x * z, y * y, y * z, z * z])
    code = np.zeros(keys.shape[1], dtype=np.int64)
    for key in keys:
        code = code * (int(key.max(initial=0)) + 1) + key
    _, kept, cell = np.unique(code, return_index=True, return_inverse=True)
    sums = [totals(cell, value, len(kept)) for value in values]
    game, one, other, ahead, behind = cast("list[Whole]", list(keys[:, kept]))
    return Cells(
        units.names,
        units.games,
        game,
        one,
        other,
        ahead,
        behind,
        sums[0],
        np.stack(sums[1:4]),
        np.stack(sums[4:]),
        units.shares,
    )


def _check(names: Sequence[object], first: Whole, second: Whole, score: Floats) -> None:
    """Raise `ResultError` for results that cannot be rated."""
    if len(set(names)) < len(names):
        raise ResultError("Two entries have the same name: names tell entries apart.")
    for wrong, what in (
        (~np.isfinite(score), "is no number"),
        ((score < 0.0) | (score > 1.0), "is no score: scores go from 0 to 1"),
    ):
        at = np.flatnonzero(wrong)
        if len(at):
            index = int(at[0])
            raise ResultError(
                f"Result {index} ({names[first[index]]!r} against {names[second[index]]!r}): "
                f"{float(score[index])} {what}."
            )
    same = np.flatnonzero(first == second)
    if len(same):
        index = int(same[0])
        raise ResultError(
            f"Result {index}: {names[first[index]]!r} cannot have played against itself."
        )
