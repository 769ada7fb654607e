"""Linear programs for zero-sum games, solved by HiGHS through scipy.

scipy is an optional dependency; the solver imports it and numpy on first use.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

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
    shares = np.clip(done.x[:rows], 0.0, None)
    shares /= shares.sum()
    value = float((shares @ cells).min())
    return value + 0.0, [float(share) for share in shares]
