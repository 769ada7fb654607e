"""Coverage and error of ratings over a grid of fields: table 6 of ``benchmarks/ranking.py``.

Each cell draws fields of known strength, plays a round robin of mirrored pairs (or matches of
three) and fits.  *Coverage* is the share of 95 % intervals that hold the truth; *error* is the
root mean square in Elo points, about the average of the field.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plyhouse.server.results.intervals import Z95
from plyhouse.server.results.pair_results import collect_arrays
from plyhouse.server.results.plackett_luce import Ranked, fit_rankings
from plyhouse.server.results.ratings import SCALE, PairScore, fit
from plyhouse.server.results.strengths import fit_strengths

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
SEAT: Final = 30.0
"""The advantage of the first of two seats, in Elo points."""
SEATS: Final = (60.0, 20.0, 0.0)
"""The same of three seats."""
DRAWS: Final = 0.5
"""Davidson's nu: equals draw a fifth of their games."""


class Cell(NamedTuple):
    """A kind of field and how much it plays."""

    entries: int
    spread: float = 0.0
    """The standard deviation of normal strengths, in Elo points."""
    pairs: int = 1
    """Mirrored pairs of each two entries; of three seats, rounds in which everybody plays once."""
    outlier: float = 0.0
    """By how much one entry is stronger than the others, which are equal."""
    luck: float = 0.0
    """The correlation of the luck of an entry's two games of a pair."""
    model: str = "boards"
    """``boards`` of competitions, ``leaderboards`` (no draws) or ``places`` of three seats."""


class Found(NamedTuple):
    """Averages over the fields of a cell."""

    coverage: float
    error: float
    half: float
    """The mean half-width of the intervals."""
    seats: float
    """The coverage of the terms of seats; NaN where there are none."""


def grid(*, full: bool) -> Iterator[Cell]:
    """The cells; without ``full`` a few of each kind."""
    for gap in (600.0, 1000.0, -600.0):
        yield Cell(8, pairs=20, outlier=gap)
    for entries, pairs in ((6, 3), (6, 20), (12, 1), (12, 3), (12, 20)):
        for spread in (50.0, 100.0, 200.0, 400.0, 800.0):
            if full or (entries, pairs) in ((6, 3), (12, 1)):
                yield Cell(entries, spread, pairs)
    for pairs in (1, 10):
        for spread in (100.0, 200.0, 600.0):
            if full or pairs == 1:
                yield Cell(12, spread, pairs, luck=-0.8)
    for gap in (600.0, -600.0):
        yield Cell(8, pairs=20, outlier=gap, model="leaderboards")
    for pairs in (3, 20):
        for spread in (100.0, 200.0, 400.0):
            if full or pairs == 3:
                yield Cell(6, spread, pairs, model="leaderboards")
    for pairs in (20, 60):
        for spread in (100.0, 300.0, 600.0):
            if full or pairs == 20:
                yield Cell(9, spread, pairs, model="places")


def print_grid(*, full: bool, runs: int) -> None:
    """Print the table, one line for each cell."""
    print(f"\n6. Coverage and error of a grid of fields, {runs} fields each")
    print(
        f"{'fit':<13} {'entries':>7} {'field':>10} {'pairs':>5} {'luck':>5} {'coverage':>9} "
        f"{'error':>6} {'half-width':>10} {'seats':>7}"
    )
    for cell in grid(full=full):
        found = measure(cell, runs)
        field = f"one {cell.outlier:+.0f}" if cell.outlier else f"sd {cell.spread:.0f}"
        seats = "-" if math.isnan(found.seats) else f"{found.seats:.1%}"
        print(
            f"{cell.model:<13} {cell.entries:>7} {field:>10} {cell.pairs:>5} {cell.luck:>5.1f} "
            f"{found.coverage:>9.1%} {found.error:>6.1f} {found.half:>10.1f} {seats:>7}",
            flush=True,
        )


def measure(cell: Cell, runs: int) -> Found:
    """Fit so many fields of a cell."""
    rng = np.random.default_rng(1)
    rows = []
    for _ in range(runs):
        if cell.outlier:
            truth = np.zeros(cell.entries)
            truth[0] = cell.outlier
        else:
            truth = rng.normal(0.0, cell.spread, cell.entries)
        truth -= truth.mean()
        method = {"boards": _board, "leaderboards": _leaderboard, "places": _places}[cell.model]
        elo, half, seats = method(rng, cell, truth)
        off = elo - truth
        rows.append(
            (
                float((np.abs(off) <= half).mean()),
                float(((off - off.mean()) ** 2).mean()),
                float(half.mean()),
                seats,
            )
        )
    coverage, square, half_width, seats = np.mean(rows, axis=0).tolist()
    return Found(coverage, math.sqrt(square), half_width, seats)


def _play(
    rng: np.random.Generator, cell: Cell, truth: Floats, *, seat: float, draws: float
) -> tuple[Whole, Whole, Floats, Whole]:
    """First and second entry, score and pair of every game."""
    each = np.array(list(combinations(range(cell.entries), 2)))
    one, other = np.repeat(each, cell.pairs, axis=0).T
    luck = rng.normal(size=len(one))
    again = cell.luck * luck + math.sqrt(1.0 - cell.luck**2) * rng.normal(size=len(one))
    gap = (truth[one] - truth[other]) / SCALE

    def score(t: Floats, fortune: Floats) -> Floats:
        die = np.array([math.erfc(-value / math.sqrt(2.0)) / 2.0 for value in fortune])
        win, loss = np.exp(t / 2.0), np.exp(-t / 2.0)
        total = win + loss + draws
        return np.where(die < win / total, 1.0, np.where(die < (win + draws) / total, 0.5, 0.0))

    mine = score(gap + seat / SCALE, luck)
    mirrored = score(gap - seat / SCALE, again)
    return (
        np.concatenate([one, other]),
        np.concatenate([other, one]),
        np.concatenate([mine, 1.0 - mirrored]),
        np.tile(np.arange(len(one)), 2),
    )


def _board(rng: np.random.Generator, cell: Cell, truth: Floats) -> tuple[Floats, Floats, float]:
    first, second, score, pair = _play(rng, cell, truth, seat=SEAT, draws=DRAWS)
    fitted = fit_strengths(collect_arrays(range(cell.entries), first, second, score, pair=pair))
    term = fitted.seats[""][0]
    half = Z95 * np.sqrt(fitted.covariance.diagonal())
    return fitted.elo - 1500.0, half, float(term.low <= SEAT <= term.high)


def _leaderboard(
    rng: np.random.Generator, cell: Cell, truth: Floats
) -> tuple[Floats, Floats, float]:
    first, second, score, _ = _play(rng, cell, truth, seat=0.0, draws=0.0)
    scores: dict[tuple[int, int], list[float]] = defaultdict(list)
    for i, j, value in zip(first.tolist(), second.tolist(), score.tolist(), strict=True):
        scores[min(i, j), max(i, j)].append(value if i < j else 1.0 - value)
    found = fit(
        PairScore(i, j, len(some), math.fsum(some), math.fsum(value * value for value in some))
        for (i, j), some in scores.items()
    )
    rows = [found[number] for number in range(cell.entries)]
    elo = np.array([row.elo for row in rows])
    return elo - 1500.0, np.array([row.high for row in rows]) - elo, math.nan


def _places(rng: np.random.Generator, cell: Cell, truth: Floats) -> tuple[Floats, Floats, float]:
    rows = []
    for _ in range(cell.pairs):
        order = rng.permutation(cell.entries)
        for start in range(0, cell.entries, len(SEATS)):
            seats = tuple(order[start : start + len(SEATS)].tolist())
            worth = (truth[list(seats)] + np.array(SEATS)) / SCALE + rng.gumbel(size=len(SEATS))
            rows.append(Ranked(seats, tuple(worth.tolist())))
    fitted = fit_rankings(rows, entries=range(cell.entries))
    terms = zip(fitted.seats[""], SEATS, strict=False)
    held = [term.low <= known <= term.high for term, known in terms]
    half = Z95 * np.sqrt(fitted.covariance.diagonal())
    return fitted.elo - 1500.0, half, sum(held) / len(held)
