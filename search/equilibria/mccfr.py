"""Monte Carlo CFR with external sampling.

Lanctot, Waugh, Zinkevich and Bowling, "Monte Carlo sampling for regret minimization in
extensive games", NIPS 2009.  For every seat, each iteration tries all actions of that seat but
samples chance and the other seats.  So an iteration visits a small part of the tree, and games
whose tree does not fit into memory can be solved.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Final

from plyhouse.games.base import Game
from plyhouse.search.equilibria.solution import Report, Solution
from plyhouse.search.equilibria.tabular import TabularPolicy
from plyhouse.search.kernels import kernel_for
from plyhouse.search.kernels.mccfr import MccfrKernel
from plyhouse.search.kernels.sequences import SequenceForm
from plyhouse.search.limit import MAX_DEPTH, UNLIMITED, Limit
from plyhouse.search.poll import Poll
from plyhouse.search.tree_size import MAX_NODES

__all__ = ["SampledSolution", "mccfr"]

MAX_KEPT: Final = 1_000_000
"""Nodes kept from one walk to the next, which saves making their states again."""


class SampledSolution(Solution):
    """The result of external sampling; it has the information states that it visited."""

    def __init__(self, game: Game, seed: int, max_nodes: int = MAX_NODES) -> None:
        super().__init__("mccfr", game, max_nodes)
        state = game.initial_state()
        self._kernel = kernel_for(MccfrKernel, state)(
            state,
            game.information_state,
            random.Random(seed).random,
            game.seats,
            MAX_KEPT,
            MAX_DEPTH,
        )

    @property
    def iterations(self) -> int:
        """Iterations completed, over all runs."""
        return int(self._kernel.iterations)

    @property
    def nodes(self) -> int:
        """Nodes walked through in all runs."""
        return int(self._kernel.nodes)

    @property
    def visited(self) -> int:
        """Information states visited so far; elsewhere the policy is uniform."""
        return len(self._kernel.known)

    @property
    def policy(self) -> TabularPolicy:
        """The average policy, of the information states that were visited."""
        return TabularPolicy.of_states(
            self.game,
            [
                (beliefs.state, averaged([arm.total for arm in beliefs.arms]))
                for beliefs in self._kernel.known.values()
            ],
            algorithm=self.algorithm,
            iterations=self.iterations,
        )

    def _put_on_trial(self, form: SequenceForm) -> None:
        form.set_trial_uniform()
        known = self._kernel.known
        for own in form.sets:
            for info in own:
                beliefs = known.get(info.key)
                if beliefs is not None:
                    shares = averaged([arm.total for arm in beliefs.arms])
                    for slot, share in zip(info.slots, shares, strict=True):
                        slot.trial = share

    def _prepare(self, poll: Poll) -> None:
        pass

    def _advance(self, poll: Callable[[int], int], count: int) -> None:
        self._kernel.run(poll, count)


def averaged(totals: list[float]) -> list[float]:
    """Weights as probabilities; uniform if there are none."""
    whole = sum(totals)
    if whole > 0.0:
        return [total / whole for total in totals]
    return [1.0 / len(totals)] * len(totals)


def mccfr(
    game: Game,
    limit: Limit = UNLIMITED,
    *,
    seed: int = 0,
    iterations: int | None = None,
    target: float | None = None,
    progress: Report | None = None,
    every: int = 1000,
    max_nodes: int = MAX_NODES,
) -> SampledSolution:
    """Improve a policy for a game of imperfect information by external-sampling MCCFR.

    One iteration is one walk for every seat.  The same ``seed`` and number of iterations
    give the same policy.  See `Solution.run` for the other options: without any bound 1,000
    iterations are done.  The tree as a whole, of at most ``max_nodes`` nodes, is needed only
    for ``target`` and to ask for values and exploitability.

    Raises `GameMismatch` for games of perfect information, and for those of which a random play
    takes more than 256 plies; `ValueError` if only a sampled one does.
    """
    solution = SampledSolution(game, seed, max_nodes)
    solution.run(limit, iterations=iterations, target=target, progress=progress, every=every)
    return solution
