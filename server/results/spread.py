"""The prior of a fit: the spread of a field's strengths, from its results.

Strengths are taken as normal about their mean with an unknown standard deviation, the *spread*
(empirical Bayes: Efron and Morris, "Stein's estimation rule and its competitors", J. American
Statistical Association 68, 1973).  A prior that is too narrow for a field pulls its strongest and
weakest entries to the middle, and the intervals then miss them.

The likelihood of a spread is Laplace's approximation (Tierney and Kadane, "Accurate approximations
for posterior moments and marginal densities", J. American Statistical Association 81, 1986),
computed at a few spreads.  The spread is never below `NARROWEST`, whose pull is that of one drawn
game against an entry at the centre.  Fields that are close together are therefore fitted with that
prior.  Above it, a spread e times as wide counts as one standard deviation less likely in advance.

The uncertainty of the spread widens the errors of all strengths by the delta method (Kass and
Steffey, "Approximate Bayesian inference in conditionally independent hierarchical models",
J. American Statistical Association 84, 1989).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Final, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from plyhouse.server.results.newton import Maximum, inverse, maximise

__all__ = ["NARROWEST", "Field", "Objective", "covariance_of", "fit_field"]

Floats = NDArray[np.float64]


class Objective(Protocol):
    """Log-likelihood with the prior, its gradient and information at a point.

    The first terms of the point are the strengths.  The prior subtracts half of ``precision`` times
    the sum of their squares.
    """

    def __call__(self, at: Floats, /, precision: float) -> tuple[float, Floats, Floats]:
        """Compute them."""


NARROWEST: Final = 2.0
"""The smallest spread, in logits: a drawn game against an entry at the centre has this curvature.
"""
STRETCH: Final = 1.5
"""The ratio of the prior's distance from `NARROWEST` to the estimated distance.  Entries that won
or lost nearly everything have skewed likelihoods, whose most likely strengths are too close to
the middle.  The value comes from ``benchmarks/ranking.py``: it keeps the coverage of wide fields
with few games near 95 %."""
FACTOR: Final = math.log(1.5)
"""The step between the spreads that are tried, as a logarithm."""
MOST: Final = 7
"""The largest number of spreads that are tried; the last one is 4000 Elo points."""
UNLIKELY: Final = 4.0
"""The fall of the log-likelihood after which wider spreads are not tried."""
CLOSE: Final = 1e-3
"""The precision of a fit that judges a spread, in logits."""
FINE: Final = 20
"""The number of parts of each step."""


class Field(NamedTuple):
    """A fit with its prior."""

    at: Floats
    """The fitted terms; strengths come first, in logits."""
    information: Floats
    """The information there, with the prior's."""
    precision: float
    """The prior's contribution to the information of each strength."""
    doubt: float
    """The variance of the logarithm of the precision."""
    dispersion: float
    """The variation of results compared with the model, as a factor of the variance."""
    steps: int
    """The number of Newton steps of all fits."""


def fit_field(
    objective: Objective,
    start: Floats,
    entries: int,
    *,
    spread: float | None = None,
    dispersion: Callable[[Field], float] | None = None,
) -> Field:
    """Fit strengths and other terms, and the spread of strengths if not given.

    ``entries`` is the number of strengths; ``spread`` is in logits.  From a first fit,
    ``dispersion`` estimates the variation of results, as a factor of the variance that the model
    expects.  Results that vary less than expected say more about the spread.
    """
    first = (spread or NARROWEST) ** -2
    found = maximise(lambda at: objective(at, first), start)
    field = Field(found.at, found.information, first, 0.0, 1.0, found.steps)
    if not entries:
        return field
    scale = 1.0 if dispersion is None else dispersion(field)
    width, doubt, steps = spread, 0.0, found.steps
    if width is None:
        width, doubt, more = _likely(objective, found, entries, scale)
        steps += more
    precision = scale / width**2
    found = maximise(lambda at: objective(at, precision), found.at)
    return Field(found.at, found.information, precision, doubt, scale, steps + found.steps)


def covariance_of(
    field: Field, entries: int, variation: Floats | None = None, *, centred: bool
) -> Floats:
    """Return the covariance of terms: inverse information or sandwich.

    ``variation`` is the covariance of the gradient without the prior of the strengths.
    ``centred`` measures the strengths from their average.
    """
    bread = inverse(field.information)
    pull = np.zeros(len(field.at))
    pull[:entries] = field.precision
    moved = bread[:, :entries] @ field.at[:entries] * field.precision
    if centred and entries:
        # Centre before any product: a weak prior leaves the average nearly undetermined.
        bread[:entries] -= bread[:entries].mean(axis=0)
        moved[:entries] -= moved[:entries].mean()
    if variation is not None:
        result = bread @ (variation + np.diag(pull * field.dispersion)) @ bread.T
    else:
        result = bread
        if centred and entries:
            result[:, :entries] -= result[:, :entries].mean(axis=1, keepdims=True)
    widened: Floats = result + field.doubt * np.outer(moved, moved)
    return widened


def _likely(
    objective: Objective, start: Maximum, entries: int, scale: float
) -> tuple[float, float, int]:
    """Weight spreads by their likelihood, and average over them.

    Returns the spread to use, the variance of twice its logarithm, and the number of Newton steps.
    """
    at, steps, values = start.at, 0, list[float]()
    for number in range(MOST):
        width = NARROWEST * math.exp(number * FACTOR)
        precision = scale / width**2
        found = maximise(functools.partial(objective, precision=precision), at, near=CLOSE)
        at, steps = found.at, steps + found.steps
        # If the mean is unknown, the prior has one dimension less, and so has the determinant.
        _, size = np.linalg.slogdet(found.information / scale)
        before = (number * FACTOR) ** 2 / 2.0
        values.append(found.value / scale - entries * math.log(width) - size / 2.0 - before)
        if values[-1] < max(values) - UNLIKELY:
            break
    fine = np.linspace(0.0, len(values) - 1.0, (len(values) - 1) * FINE + 1)
    likelihood = _between(np.array(values), fine)
    weight = np.exp(likelihood - likelihood.max())
    weight /= weight.sum()
    logs = math.log(NARROWEST) + fine * FACTOR
    mean = float(weight @ logs)
    doubt = 4.0 * float(weight @ (logs - mean) ** 2)
    return NARROWEST + STRETCH * (math.exp(mean) - NARROWEST), doubt, steps


def _between(values: Floats, at: Floats) -> Floats:
    """Interpolate values by parabolas through the nearest three points.

    ``values`` are at 0, 1, 2 and so on.
    """
    if len(values) < 3:
        return np.interp(at, np.arange(len(values)), values)
    middle = np.clip(np.rint(at).astype(np.int64), 1, len(values) - 2)
    low, mid, high = values[middle - 1], values[middle], values[middle + 1]
    off = at - middle
    made: Floats = mid + off * (high - low) / 2.0 + off * off * (high + low - 2.0 * mid) / 2.0
    return made
