"""Nash averaging for fields without one order.

Where a beats b, b beats c and c beats a, one number per entry tells little.  Nash averaging
(Balduzzi, Tuyls, Perolat and Graepel, "Re-evaluating evaluation", NeurIPS 2018) lets two virtual
organisers choose entries against each other.  The frequency of an entry in equilibrium is its
*share*.  Its *score* is its average result against that mixture: zero for entries that are chosen,
less for the others.  Copies of an entry, and weak entries that everybody beats, change means, but
not these numbers.  Among several equilibria the one of greatest entropy counts, so copies share
equally.

The equilibrium is found by a linear program.  For an antisymmetric table A there is an optimal
mixture p with ``p - A p > 0`` everywhere (Tucker, "Dual systems of homogeneous linear relations",
1956).  It shows at once which entries can be chosen at all.  If p leaves freedom, Newton's method
raises the entropy inside the set of optimal mixtures.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from plyhouse.protocol.api.standings import Nash
from plyhouse.server.results.pair_results import ResultError, Units, totals

Floats = NDArray[np.float64]
NOISE: Final = 1e-10
"""Values below this count as zero in tables whose entries are about one."""
PATIENCE: Final = 50
"""The number of steps without gain after which Bland's rule prevents cycling."""


class UnboundedError(ArithmeticError):
    """The aim grows without bound."""


def greatest(aim: Floats, rules: Floats, bounds: Floats) -> Floats:
    """Maximise ``aim @ x`` for ``x >= 0`` and ``rules @ x <= bounds``.

    ``bounds`` must not be negative, so that zero is feasible.  Raises `UnboundedError`, and
    `ValueError` for a negative bound.

    >>> greatest(np.array([3.0, 2.0]), np.array([[1.0, 1.0], [1.0, 3.0]]), np.array([4.0, 6.0]))
    array([4., 0.])

    By Dantzig's simplex method on a dense table, for small programs only: the table has as many
    cells as rules times variables.  (The searches have another solver, which the server must not
    import.)
    """
    if (bounds < 0).any():
        raise ValueError("a bound is negative: zero must be allowed")
    height, width = rules.shape
    table = np.zeros((height + 1, width + height + 1))
    table[:height, :width] = rules
    table[:height, width:-1] = np.eye(height)
    table[:height, -1] = bounds
    table[height, :width] = -aim
    basis = np.arange(width, width + height)
    idle = 0
    while True:
        costs = table[height, :-1]
        if costs.min() >= -NOISE:
            break
        bland = idle > PATIENCE
        column = int(np.flatnonzero(costs < -NOISE)[0]) if bland else int(costs.argmin())
        slopes = table[:height, column]
        usable = np.flatnonzero(slopes > NOISE)
        if not len(usable):
            raise UnboundedError("the aim grows without bound")
        ratios = table[usable, -1] / slopes[usable]
        least = ratios.min()
        tied = usable[ratios <= least + NOISE]
        # Use Bland's lowest number to avoid cycling; otherwise the greatest pivot keeps rounding
        # small.
        row = int(tied[basis[tied].argmin()] if bland else tied[slopes[tied].argmax()])
        idle = idle + 1 if least <= NOISE else 0
        table[row] /= table[row, column]
        factors = table[:, column].copy()
        factors[row] = 0.0
        table -= factors[:, None] * table[row]
        table[:height, -1] = np.maximum(table[:height, -1], 0.0)
        basis[row] = column
    x = np.zeros(width + height)
    x[basis] = table[:height, -1]
    return x[:width]


NameT = TypeVar("NameT", bound=Hashable)

CHOSEN: Final = 1e-6
"""An entry with a share above this counts as chosen."""


def payoffs(units: Units[NameT]) -> Floats:
    """Return the mean score of each row against each column, less one half.

    The table is antisymmetric.  Raises `ResultError` if two entries have never met: a table with a
    gap has no equilibrium.
    """
    size = len(units.names)
    games = _square(units, (units.ahead + units.behind).astype(np.float64), size)
    games = games + games.T
    missing = np.argwhere(np.triu(games == 0, 1))
    if len(missing):
        one, other = (units.names[int(index)] for index in missing[0])
        more = f", nor have {len(missing) - 1} more pairs" if len(missing) > 1 else ""
        raise ResultError(
            f"{one!r} and {other!r} have not met{more}: Nash averaging needs a result between "
            "every two entries."
        )
    return _table(units, games)


def nash_average(table: Floats) -> tuple[Floats, Floats]:
    """Return shares and scores of an antisymmetric table.

    Raises `ValueError` if the table is not square, finite and antisymmetric.
    """
    table = np.asarray(table, dtype=np.float64)
    if table.ndim != 2 or table.shape[0] != table.shape[1] or not len(table):
        raise ValueError(f"a table of {table.shape} is not square")
    if not np.isfinite(table).all():
        raise ValueError("the table has entries that are no numbers")
    scale = float(np.abs(table).max())
    if np.abs(table + table.T).max() > 1e-9 * max(1.0, scale):
        raise ValueError("the table is not antisymmetric: what one gains the other one loses")
    size = len(table)
    if scale == 0.0:
        return np.full(size, 1.0 / size), np.zeros(size)
    a = (table - table.T) / (2.0 * scale)
    none = np.zeros((size, size))
    rules = np.block([[a, none], [a - np.eye(size), np.eye(size)], [none, np.eye(size)]])
    bounds = np.concatenate([np.zeros(2 * size), np.ones(size)])
    aim = np.concatenate([np.zeros(size), np.ones(size)])
    p = greatest(aim, rules, bounds)[:size]
    inside = p > -(a @ p)
    share = np.zeros(size)
    share[inside] = _even(a[np.ix_(inside, inside)], a[np.ix_(~inside, inside)], p[inside])
    return share, table @ share


def nash_shares(units: Units[NameT], *, rounds: int = 200, seed: int = 0) -> dict[NameT, Nash]:
    """Return Nash shares with a bootstrap over units, the best score first.

    Pairs that are missing from a resample keep their overall values.  Work grows with the cube of
    the number of entries and with ``rounds``: thirty entries take some seconds, two hundred are
    about the limit.
    """
    whole = payoffs(units)
    share, score = nash_average(whole)
    rng = np.random.default_rng(seed)
    size = len(units.names)
    drawn = np.empty((rounds, size))
    for number in range(rounds):
        some = units.resampled(rng)
        games = _square(some, (some.ahead + some.behind).astype(np.float64), size)
        games = games + games.T
        drawn[number] = nash_average(np.where(games > 0, _table(some, games), whole))[0]
    made = []
    for i, name in enumerate(units.names):
        low, high = np.quantile(drawn[:, i], [0.025, 0.975]) if rounds else (0.0, 1.0)
        chosen = float((drawn[:, i] > CHOSEN).mean()) if rounds else float(share[i] > CHOSEN)
        made.append((name, Nash(float(share[i]), float(low), float(high), float(score[i]), chosen)))
    made.sort(key=lambda pair: (-round(pair[1].score, 9), -pair[1].share))
    return dict(made)


def _square(units: Units[NameT], values: Floats, size: int) -> Floats:
    summed = totals(units.one * size + units.other, values, size * size)
    return summed.reshape(size, size)


def _table(units: Units[NameT], games: Floats) -> Floats:
    half = (units.ahead + units.behind) / 2.0
    gained = _square(units, units.points - half, len(units.names))
    table: Floats = (gained - gained.T) / np.maximum(games, 1.0)
    return table


def _even(equal: Floats, below: Floats, inside: Floats) -> Floats:
    """Return the mixture p with ``equal @ p = 0``, ``below @ p <= 0``.

    Among such mixtures, p has the greatest entropy.  ``inside`` is one with all shares above zero
    and ``below @ p`` below zero everywhere.
    """
    p: Floats = inside / inside.sum()
    _, sizes, rows = np.linalg.svd(np.vstack([equal, np.ones(len(p))]))
    rank = int((sizes > 1e-9).sum())
    ways = rows[rank:].T  # These directions keep all equations.
    if not ways.shape[1]:
        return p
    fence = 1e-2
    while fence > 1e-13:
        for _ in range(50):
            room = -(below @ p)
            slope = ways.T @ (np.log(p) + 1.0 + fence * (below.T @ (1.0 / room)))
            weight = (below / room[:, None]).T * np.sqrt(fence)
            bend = ways.T @ (np.diag(1.0 / p) + weight @ weight.T) @ ways
            # Close to the fence the curvature may be singular in floating point.
            step = -ways @ np.linalg.lstsq(bend, slope, rcond=None)[0]
            size = 1.0
            while ((p + size * step) <= 0).any() or ((below @ (p + size * step)) >= 0).any():
                size *= 0.5
            before = _hill(p, below, fence)
            while _hill(p + size * step, below, fence) > before + 1e-14 and size > 1e-12:
                size *= 0.5
            p = p + size * step
            if np.abs(step).max() < 1e-12:
                break
        if not len(below):
            break
        fence *= 0.1
    return p


def _hill(p: Floats, below: Floats, fence: float) -> float:
    """Return the objective that `_even` minimises.

    It is the negative entropy plus a barrier at the bounds.
    """
    return float(p @ np.log(p) - fence * np.log(-(below @ p)).sum())
