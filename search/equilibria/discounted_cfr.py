"""Discounted CFR: what was learnt in early iterations, with bad policies, fades.

Brown and Sandholm, "Solving imperfect-information games via discounted regret
minimization", AAAI 2019.
"""

from __future__ import annotations

import math

from plyhouse.games.base import Game
from plyhouse.search.equilibria.cfr import RegretSolution
from plyhouse.search.equilibria.sequence_form import MAX_NODES
from plyhouse.search.equilibria.solution import Report
from plyhouse.search.limit import UNLIMITED, Limit

__all__ = ["discounted_cfr"]


def discounted_cfr(
    game: Game,
    limit: Limit = UNLIMITED,
    *,
    alpha: float = 1.5,
    beta: float = 0.0,
    gamma: float = 2.0,
    iterations: int | None = None,
    target: float | None = None,
    alternating: bool = True,
    progress: Report | None = None,
    every: int = 100,
    max_nodes: int = MAX_NODES,
) -> RegretSolution:
    """Solve a game of imperfect information by discounted CFR.

    After iteration t, positive regrets are multiplied by t^alpha / (t^alpha + 1) and negative ones
    by t^beta / (t^beta + 1).  The sums of the average are multiplied by (t / (t + 1))^gamma.  The
    defaults are those the authors recommend; linear CFR is (1, 1, 1), CFR (inf, inf, 0), and CFR+
    (inf, -inf, 1).  Everything else is as for `plyhouse.search.equilibria.cfr.cfr`.
    """
    for name, value in (("alpha", alpha), ("beta", beta), ("gamma", gamma)):
        if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
            raise ValueError(f"{name}={value!r}: expected a number")
    if not 0 <= gamma < math.inf:
        raise ValueError(f"gamma={gamma!r}: expected a number from 0, and not infinite")

    def factors(t: int) -> tuple[float, float, float]:
        # Only the proportions of the weights matter: t^gamma has those of the products of
        # (t / (t + 1))^gamma, and does not shrink.
        return discount(t, alpha), discount(t, beta), math.pow(t, gamma)

    solution = RegretSolution(
        "discounted_cfr", game, factors, alternating=alternating, max_nodes=max_nodes
    )
    solution.run(limit, iterations=iterations, target=target, progress=progress, every=every)
    return solution


def discount(t: int, power: float) -> float:
    """t^power / (t^power + 1), for infinite powers too: of 1 then, too, nothing or all stays."""
    if math.isinf(power):
        return 1.0 if power > 0 else 0.0
    if power < 0:
        return 1.0 - discount(t, -power)
    return 1.0 / (1.0 + math.pow(t, -power))  # t^power itself might overflow
