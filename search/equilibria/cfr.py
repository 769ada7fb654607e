"""Counterfactual regret minimisation: CFR, CFR+ and discounted CFR.

Zinkevich, Johanson, Bowling and Piccione, "Regret minimization in games with incomplete
information", NIPS 2007.  In each iteration every information state shifts towards the actions that
it regrets not having taken. With two seats and a zero sum, the *average* of the policies converges
to a Nash equilibrium, at worst like 1 / sqrt(iterations). With more seats or another sum nothing is
guaranteed: `Solution.nash_conv` tells how far from an equilibrium the result is.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from plyhouse.games.base import Game
from plyhouse.search.equilibria.sequence_form import sequence_form
from plyhouse.search.equilibria.solution import Report, Solution
from plyhouse.search.equilibria.tabular import TabularPolicy
from plyhouse.search.kernels.cfr import CfrKernel
from plyhouse.search.kernels.sequences import SequenceForm
from plyhouse.search.limit import UNLIMITED, Limit
from plyhouse.search.poll import Poll, SearchStopped
from plyhouse.search.tree_size import MAX_NODES

__all__ = ["Factors", "RegretSolution", "cfr", "cfr_plus", "discounted_cfr"]

Factors = Callable[[int], tuple[float, float, float]]
"""For the iteration t = 1, 2, ...: what positive and what negative regrets are multiplied
by after it, and the weight of its policy in the average."""


class RegretSolution(Solution):
    """CFR and its kin: what differs between them are their `Factors`."""

    def __init__(
        self,
        algorithm: str,
        game: Game,
        factors: Factors,
        *,
        alternating: bool = True,
        max_nodes: int = MAX_NODES,
    ) -> None:
        super().__init__(algorithm, game, max_nodes)
        self.factors = factors
        self.alternating = alternating
        self._kernel: CfrKernel | None = None

    @property
    def iterations(self) -> int:
        """Iterations completed, over all runs."""
        return 0 if self._kernel is None else int(self._kernel.iterations)

    @property
    def nodes(self) -> int:
        """Ends of the tree weighed in all runs."""
        return 0 if self._kernel is None else int(self._kernel.nodes)

    @property
    def policy(self) -> TabularPolicy:
        """The average policy; uniform everywhere while there was no time to begin."""
        if self._kernel is None:
            return TabularPolicy(self.game, {}, algorithm=self.algorithm)
        self.form.set_trial_average()
        return TabularPolicy.of_states(
            self.game,
            [
                (info.state, [slot.trial for slot in info.slots])
                for own in self.form.sets
                for info in own
            ],
            algorithm=self.algorithm,
            iterations=self.iterations,
        )

    def choices(self, state: Any) -> tuple[tuple[Any, float], ...]:
        """Return the actions of one state and what the average policy gives them.

        Quick, as it looks at no other information state; equally likely while there was no time to
        begin.
        """
        actions = state.actions()
        totals = [0.0] * len(actions)
        if self._kernel is not None:
            key = self.game.information_state(state, state.to_move)
            for info in self.form.sets[state.to_move]:
                if info.key == key:
                    totals = [slot.total for slot in info.slots]
                    break
        whole = sum(totals)
        if whole <= 0.0:
            return tuple([(action, 1.0 / len(actions)) for action in actions])
        return tuple(
            [(action, total / whole) for action, total in zip(actions, totals, strict=True)]
        )

    def _put_on_trial(self, form: SequenceForm) -> None:
        form.set_trial_average()

    def _prepare(self, poll: Poll) -> None:
        if self._form is None:
            self._form = sequence_form(
                self.game, algorithm=self.algorithm, max_nodes=self.max_nodes, poll=poll
            )
        if self._kernel is None:
            self._kernel = CfrKernel(self._form, self.alternating)

    def _advance(self, poll: Callable[[int], int], count: int) -> None:
        kernel = self._kernel
        if kernel is None:
            raise SearchStopped
        start = int(kernel.iterations) + 1
        rows = [self.factors(t) for t in range(start, start + count)]
        kernel.run(
            poll, [row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows]
        )


def plain(t: int) -> tuple[float, float, float]:
    """Return the factors of CFR: nothing is discounted, every iteration counts the same."""
    return 1.0, 1.0, 1.0


def cfr(
    game: Game,
    limit: Limit = UNLIMITED,
    *,
    iterations: int | None = None,
    target: float | None = None,
    alternating: bool = True,
    progress: Report | None = None,
    every: int = 100,
    max_nodes: int = MAX_NODES,
) -> RegretSolution:
    """Solve a game of imperfect information by CFR.

    Seats are updated one after the other in each iteration, the later ones against what the
    earlier ones have just learnt; ``alternating=False`` updates all at once, as in the paper.
    See `Solution.run` for the other options: without any bound 1,000 iterations are done.
    Repeatable: the same number of iterations gives the same policy.

    Raises `GameMismatch` for games of perfect information, of imperfect recall, and for those
    whose tree has more than ``max_nodes`` nodes.
    """
    solution = RegretSolution("cfr", game, plain, alternating=alternating, max_nodes=max_nodes)
    solution.run(limit, iterations=iterations, target=target, progress=progress, every=every)
    return solution


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

    Regrets never fall below zero, and later iterations count more: Tammelin, "Solving large
    imperfect information games using CFR+", arXiv:1407.5042 (2014).  With it heads-up limit hold'em
    was solved: Bowling, Burch, Johanson and Tammelin, "Heads-up limit hold'em poker is solved",
    Science 347 (2015).

    >>> from plyhouse.games import get_game
    >>> from plyhouse.search import Limit
    >>> solution = cfr_plus(get_game("kuhn_poker"), Limit(simulations=200))
    >>> round(solution.value(0), 4), solution.exploitability() < 0.001  # the true value is -1/18
    (-0.0556, True)
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

    Regrets of early iterations, with bad policies, fade: Brown and Sandholm, "Solving
    imperfect-information games via discounted regret minimization", AAAI 2019.
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
