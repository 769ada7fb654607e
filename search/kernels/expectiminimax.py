"""Minimax, expectiminimax and expectimax, without pruning.

One kernel for all: on a game without chance nodes expectiminimax is minimax, and expectimax takes
the other seats for chance, too.

Michie, "Game-playing and game-learning automata", in: Advances in Programming and
Non-numerical Computation (1966).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, final

from plyhouse.search.kernels.leaf_evaluation import Leaves
from plyhouse.search.kernels.node_state import NodeState
from plyhouse.search.kernels.sampling import Sampler

if TYPE_CHECKING:
    from mypy_extensions import i64

__all__ = ["ExpectiminimaxKernel"]

CHANCE: Final = -1
TERMINAL: Final = -2
INFINITY: Final = float("inf")


@final
class ExpectiminimaxKernel:
    """One search: its counters and its principal variation.

    With ``adversarial`` all other seats minimise.  Without it they play by ``opponents(state)``,
    which gives pairs of an action and its probability; None stands for all actions alike.
    """

    def __init__(
        self,
        poll: Callable[[int], int],
        leaves: Leaves,
        order: bool,
        max_depth: int,
        sampler: Sampler | None = None,
        adversarial: bool = True,
        opponents: Callable[[Any], Any] | None = None,
    ) -> None:
        self.poll = poll
        self.leaves: Leaves = leaves
        self.sampler: Sampler | None = sampler
        self.adversarial: bool = adversarial
        self.opponents = opponents
        self.nodes: i64 = 1
        self.due: i64 = 0
        self.seat: i64 = 0
        # lines[ply] is the principal variation from that ply on.
        self.lines: list[list[Any]] = []
        for _ in range(max_depth + 1):
            self.lines.append([])

    def begin(self, previous: list[Any]) -> None:
        """Start an iteration; without pruning nothing is gained from the previous one."""
        self.leaves.reset()

    def child_value(self, child: Any, seat: int, depth: int, alpha: float, first: bool) -> float:
        """Value for ``seat``, who moved from the root to ``child``; always exact.

        ``depth`` counts the plies from the root; ``alpha`` and ``first`` are for kernels
        that prune.
        """
        state: NodeState = child
        self.seat = seat
        return self.search(state, depth - 1, 1)

    def line(self) -> list[Any]:
        """Return the expected play after the root action valued last."""
        return self.lines[1]

    def search(self, state: NodeState, depth: i64, ply: i64) -> float:
        """Return the value of the state for the seat that moves at the root."""
        if self.nodes >= self.due:
            self.due = self.poll(self.nodes)
        self.nodes += 1
        mover: i64 = state.to_move
        value: float
        self.lines[ply] = []
        if mover == TERMINAL:
            value = state.returns()[self.seat]
            return value
        if depth == 0:
            return self.leaves.value(state, self.seat)
        mine: bool = mover == self.seat
        if mine or (self.adversarial and mover != CHANCE):
            best: float = -INFINITY if mine else INFINITY
            for action in tuple(state.actions()):
                value = self.search(state.after(action), depth - 1, ply + 1)
                if value > best if mine else value < best:
                    best = value
                    line: list[Any] = [action]
                    line.extend(self.lines[ply + 1])
                    self.lines[ply] = line
            return best
        mean: float = 0.0
        share: float
        if mover == CHANCE:
            outcomes: Any = state.chance_outcomes()
            sampler: Sampler | None = self.sampler
            if sampler is not None:
                outcomes = sampler.outcomes(outcomes, ply)
            for outcome, weight in outcomes:
                share = weight
                mean += share * self.search(state.after(outcome), depth - 1, ply + 1)
        elif self.opponents is not None:
            for action, weight in self.opponents(state):
                share = weight
                if share > 0.0:
                    mean += share * self.search(state.after(action), depth - 1, ply + 1)
        else:
            actions: tuple[Any, ...] = tuple(state.actions())
            share = 1.0 / float(len(actions))
            for action in actions:
                mean += share * self.search(state.after(action), depth - 1, ply + 1)
        return mean
