"""Linear programs for zero-sum games, solved by HiGHS through scipy.

scipy is an optional dependency; the solver imports it and numpy on first use.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

TOLERANCE: Final = 1e-9
"""Part of the greatest cell by which a second linear program may miss the value."""

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["best_mixture", "scipy_optimize"]


def scipy_optimize() -> ModuleType:
    """Import scipy.optimize; the `ImportError` names the extra that brings it."""
    try:
        import scipy.optimize
    except ImportError as error:
        raise ImportError(
            "linear programming needs the package scipy: pip install 'plyhouse[equilibria]'"
        ) from error
    return scipy.optimize


def best_mixture(payoffs: Sequence[Sequence[float]]) -> tuple[float, list[float]]:
    """Return the probabilities of the rows that make the worst column as good as possible, and how
    good that is.

    Among several such mixtures it is one that gains most if all columns are equally likely, as an
    opponent may err.
    """
    import numpy as np

    optimize = scipy_optimize()
    cells = np.array(payoffs, dtype=float)
    rows, columns = cells.shape
    # Unknown: the probabilities x and the value v.  Maximise v, where v <= x @ cells.
    done = optimize.linprog(
        np.append(np.zeros(rows), -1.0),
        A_ub=np.hstack([-cells.T, np.ones((columns, 1))]),
        b_ub=np.zeros(columns),
        A_eq=np.append(np.ones(rows), 0.0).reshape(1, -1),
        b_eq=[1.0],
        bounds=[(0.0, 1.0)] * rows + [(None, None)],
        method="highs",
    )
    if done.status != 0:
        raise ArithmeticError(f"the linear program was not solved: {done.message}")
    found = done.x[:rows]
    value = float((_shares(found) @ cells).min())
    slack = TOLERANCE * max(1.0, float(np.abs(cells).max()))
    better = optimize.linprog(
        -cells.mean(axis=1),
        A_ub=-cells.T,
        b_ub=np.full(columns, slack - value),
        A_eq=np.ones((1, rows)),
        b_eq=[1.0],
        bounds=[(0.0, 1.0)] * rows,
        method="highs",
    )
    if better.status == 0 and float((_shares(better.x) @ cells).mean()) > slack + float(
        (_shares(found) @ cells).mean()
    ):
        found = better.x
    return value + 0.0, [float(share) for share in _shares(found)]


def _shares(weights: Any) -> Any:
    """Return weights as probabilities, without what rounding left below 0."""
    shares = weights.clip(0.0, None)
    return shares / shares.sum()
