"""A linear program, by Dantzig's simplex method on a dense table.

It is for small programs only: the table has as many cells as rules times variables.  (The searches
have another solver, which the server must not import.)
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["UnboundedError", "greatest"]

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
