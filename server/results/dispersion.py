"""The dispersion: how much results vary compared with a model.

The dispersion is a factor of the variance (Wedderburn, "Quasi-likelihood functions", Biometrika 61,
1974).  A few units of two entries say little about it.  So an estimate for two entries is shrunk to
that of the whole field (`POOLED`), and that of the field to the model (`CAUTION`).

Each kind of term has its own dispersion.  In a mirrored pair that shares its dice, the points of an
entry vary less than those of independent games, as luck evens out.  The points of the first seat
vary more, for the same reason.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from plyhouse.server.results.newton import inverse
from plyhouse.server.results.spread import Field

__all__ = ["CAUTION", "POOLED", "common", "degrees_used", "leaning"]

Floats = NDArray[np.float64]

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
