"""Newton's method for concave functions of some thousand variables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Maximum", "inverse", "maximise"]

Floats = NDArray[np.float64]
Objective = Callable[[Floats], tuple[float, Floats, Floats]]
"""A function from a point to the value, its gradient, and the information (the negative Hessian).
"""

STEPS: Final = 200
NEAR: Final = 1e-7
"""The largest move of the last step: the remaining error is about its square."""


class Maximum(NamedTuple):
    """The maximum of a function."""

    at: Floats
    information: Floats
    steps: int
    value: float


def maximise(objective: Objective, start: Floats, *, near: float = NEAR) -> Maximum:
    """Find the maximum of a concave function; halve overshooting steps.

    A step that moves nothing further than ``near`` is the last one.

    Raises `ArithmeticError` if it has not converged after `STEPS` steps; concave functions with
    finite values converge.
    """
    at = start
    value, gradient, information = objective(at)
    if not len(at):
        return Maximum(at, information, 0, value)
    for count in range(1, STEPS + 1):
        step = np.linalg.solve(information, gradient)
        # Sums over a million games carry rounding errors, which must not count as overshooting.
        slack = 1e-12 * (1.0 + abs(value))
        while True:
            after = at + step
            found = objective(after)
            if found[0] >= value - slack:
                break
            step = step / 2
        at, (value, gradient, information) = after, found
        if np.abs(step).max() < near:
            return Maximum(at, information, count, value)
    raise ArithmeticError(f"the fit has not settled after {STEPS} steps")


def inverse(information: Floats) -> Floats:
    """Return the covariance of an information matrix; empty for an empty one."""
    return np.asarray(np.linalg.inv(information), dtype=np.float64)
