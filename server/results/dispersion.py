"""How much results vary beside what a model expects: the dispersion, and errors that lean to it.

The dispersion is a factor of the variance (Wedderburn, "Quasi-likelihood functions", Biometrika
61, 1974).  Units of two entries say little about it while there are few of them, so an estimate
for two leans to that of the whole field (`POOLED`), and that to the model (`CAUTION`).

Each kind of term has a dispersion of its own.  In a mirrored pair that shares its dice, the points
of an entry vary less than those of independent games, as luck evens out.  The points of the first
seat vary more, for the same reason.
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
"""How many imagined units that vary as the model says go into a dispersion.  After many equal
scores the interval is then about as wide as that of an event never seen in as many games: four
games' variance in n is 1.96 / n of the score, the event's bound is 1.84 / n."""
POOLED: Final = 16.0
"""How many imagined units that vary as the whole field's go into the dispersion of each two."""


def degrees_used(field: Field, entries: int) -> float:
    """How many degrees of freedom the strengths of a fit take; the prior leaves some unused."""
    taken = field.precision * inverse(field.information).diagonal()[:entries]
    return max(0.0, entries - float(taken.sum()))


def common(seen: float, units: Floats, variance: Floats, used: float = 0.0) -> tuple[float, float]:
    """The dispersion of a field, and the number of units that it rests on.

    ``seen`` is the sum of squares about what was expected, ``units`` how many units each two
    entries have, ``variance`` what the model expects of each, and ``used`` the degrees of freedom
    of the fit.  Units whose result is nearly certain hardly count.
    """
    expected = float(units @ variance)
    if expected <= 0.0:
        return 1.0, 0.0
    count = expected * expected / float(units @ (variance * variance))
    each = expected / count
    spare = max(0.0, count - used)
    return (seen / each + CAUTION) / (spare + CAUTION), spare


def leaning(units: Floats, count: float) -> tuple[Floats, Floats, Floats]:
    """Weights of what two entries' units did, of the model and of the field's dispersion.

    The variation of ``units`` is the first weight times what was seen, and the other two times
    the model's variance of one unit.  ``count`` is how many units the field's dispersion rests
    on.  As long as there are no others than those of the two, caution leans to the model.
    """
    alone = POOLED / (POOLED + np.maximum(count - units, 0.0))
    weight = units / (units + CAUTION + POOLED)
    cautious = CAUTION * alone
    return weight, weight * cautious, weight * (CAUTION + POOLED - cautious)
