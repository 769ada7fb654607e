"""The spread of a field's strengths, and the dispersion of its results.

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

The *dispersion* is how much results vary compared with a model, a factor of the variance
(Wedderburn, "Quasi-likelihood functions", Biometrika 61, 1974).  A few units of two entries say
little about it.  So an estimate for two entries is shrunk to that of the whole field (`POOLED`),
and that of the field to the model (`CAUTION`).

Each kind of term has its own dispersion.  In a mirrored pair that shares its dice, the points of an
entry vary less than those of independent games, as luck evens out.  The points of the first seat
vary more, for the same reason.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Final, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Function = Callable[[Floats], tuple[float, Floats, Floats]]
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


def maximise(objective: Function, start: Floats, *, near: float = NEAR) -> Maximum:
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


CAUTION: Final = 4.0
"""The number of virtual units, with the model's variation, that shrink a dispersion.  After many
equal scores the interval is then about as wide as that of an event never seen in the same number
of games.  Four games' variance in n is 1.96 / n of the score; the event's bound is 1.84 / n."""
POOLED: Final = 16.0
"""The number of virtual units, with the whole field's variation, that shrink the dispersion of two
entries."""


def degrees_used(field: Field, entries: int) -> float:
    """Return the degrees of freedom that strengths use under the prior."""
    taken = field.precision * inverse(field.information).diagonal()[:entries]
    return max(0.0, entries - float(taken.sum()))


def common(seen: float, units: Floats, variance: Floats, used: float = 0.0) -> tuple[float, float]:
    """Return the dispersion of a field, and the number of units behind it.

    ``seen`` is the sum of squares about the expected values.  ``units`` is the number of units of
    each two entries, ``variance`` the model's variance of each unit, and ``used`` the degrees of
    freedom of the fit.  Units whose result is nearly certain hardly count.
    """
    expected = float(units @ variance)
    if expected <= 0.0:
        return 1.0, 0.0
    count = expected * expected / float(units @ (variance * variance))
    each = expected / count
    spare = max(0.0, count - used)
    return (seen / each + CAUTION) / (spare + CAUTION), spare


def leaning(units: Floats, count: float) -> tuple[Floats, Floats, Floats]:
    """Return weights of two entries' units, of the model and of the field.

    The variation of ``units`` is the first weight times the observed sum, plus the other two times
    the model's variance of one unit.  The third is also multiplied by the field's dispersion.
    ``count`` is the number of units behind the field's dispersion.  While there are no units except
    those of the two entries, caution shrinks to the model.
    """
    alone = POOLED / (POOLED + np.maximum(count - units, 0.0))
    weight = units / (units + CAUTION + POOLED)
    cautious = CAUTION * alone
    return weight, weight * cautious, weight * (CAUTION + POOLED - cautious)
