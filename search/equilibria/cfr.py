"""Counterfactual regret minimisation.

Zinkevich, Johanson, Bowling and Piccione, "Regret minimization in games with incomplete
information", NIPS 2007.  In each iteration every information state shifts towards the actions that
it regrets not having taken. With two seats and a zero sum, the *average* of the policies converges
to a Nash equilibrium, at worst like 1 / sqrt(iterations). With more seats or another sum nothing is
guaranteed: `Solution.nash_conv` tells how far from an equilibrium the result is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from plyhouse.games.base import Game
from plyhouse.search.equilibria.sequence_form import MAX_NODES, sequence_form
from plyhouse.search.equilibria.solution import Report, Solution
from plyhouse.search.equilibria.tabular import TabularPolicy
from plyhouse.search.kernels.cfr import CfrKernel
from plyhouse.search.kernels.sequences import SequenceForm
from plyhouse.search.limit import UNLIMITED, Limit
from plyhouse.search.poll import Poll, SearchStopped

__all__ = ["Factors", "RegretSolution", "cfr"]

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
        return self._tabular()

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

    @property
    def current_policy(self) -> TabularPolicy:
        """The policy of the next iteration: its average converges, it may go round for ever."""
        if self._kernel is None:
            return TabularPolicy(self.game, {}, algorithm=self.algorithm)
        self.form.set_trial_current()
        return self._tabular()

    def _tabular(self) -> TabularPolicy:
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
