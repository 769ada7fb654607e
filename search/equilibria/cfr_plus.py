"""CFR+: regrets never fall below zero, and later iterations count more.

Tammelin, "Solving large imperfect information games using CFR+", arXiv:1407.5042 (2014);
with it heads-up limit hold'em was solved: Bowling, Burch, Johanson and Tammelin, "Heads-up
limit hold'em poker is solved", Science 347 (2015).

>>> from plyhouse.games import get_game
>>> from plyhouse.search import Limit
>>> solution = cfr_plus(get_game("kuhn_poker"), Limit(simulations=200))
>>> round(solution.value(0), 4), solution.exploitability() < 0.001  # the true value is -1/18
(-0.0556, True)
"""

from __future__ import annotations

from plyhouse.games.base import Game
from plyhouse.search.equilibria.cfr import RegretSolution
from plyhouse.search.equilibria.sequence_form import MAX_NODES
from plyhouse.search.equilibria.solution import Report
from plyhouse.search.limit import UNLIMITED, Limit

__all__ = ["cfr_plus"]


def cfr_plus(
    game: Game,
    limit: Limit = UNLIMITED,
    *,
    iterations: int | None = None,
    target: float | None = None,
    delay: int = 0,
    alternating: bool = True,
    progress: Report | None = None,
    every: int = 100,
    max_nodes: int = MAX_NODES,
) -> RegretSolution:
    """Solve a game of imperfect information by CFR+: the first choice for small games.

    Iteration t counts max(t - ``delay``, 0) in the average.  Everything else is as for
    `plyhouse.search.equilibria.cfr.cfr`.
    """
    if isinstance(delay, bool) or not isinstance(delay, int) or delay < 0:
        raise ValueError(f"delay={delay!r}: expected a whole number from 0")

    def factors(t: int) -> tuple[float, float, float]:
        return 1.0, 0.0, float(max(t - delay, 0))

    solution = RegretSolution(
        "cfr_plus", game, factors, alternating=alternating, max_nodes=max_nodes
    )
    solution.run(limit, iterations=iterations, target=target, progress=progress, every=every)
    return solution
