"""Flat Monte Carlo: playouts from the children of the root, allocated evenly or by UCB1.

Abramson, "Expected-outcome: a general model of static evaluation", IEEE PAMI 12 (1990);
Auer, Cesa-Bianchi and Fischer, "Finite-time analysis of the multiarmed bandit problem",
Machine Learning 47 (2002), for UCB1.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log, sqrt
from typing import TYPE_CHECKING, Any, Final, final

from plyhouse.search.kernels.node_state import NodeState
from plyhouse.search.kernels.playouts import uniform_playout

if TYPE_CHECKING:
    import random

    from mypy_extensions import i64

__all__ = ["FlatMonteCarloKernel"]

TERMINAL: Final = -2
INFINITY: Final = float("inf")


@final
class FlatMonteCarloKernel:
    """The children of one position and what their playouts returned to the mover."""

    def __init__(
        self,
        poll: Callable[[int], int],
        rng: random.Random,
        state: Any,
        actions: list[Any],
        seats: int,
        hook: bool,
        ucb: bool,
        exploration: float,
        max_plies: int,
    ) -> None:
        self.poll = poll
        self.rng = rng
        self.draw: Callable[[], float] = rng.random
        self.seats: i64 = seats
        self.hook: bool = hook
        self.ucb: bool = ucb
        self.exploration: float = exploration
        self.max_plies: i64 = max_plies
        self.seat: i64 = state.to_move
        self.children: list[Any] = [state.after(action) for action in actions]
        self.totals: list[float] = [0.0] * len(actions)
        self.visits: list[int] = [0] * len(actions)
        self.simulations: i64 = 0
        self.due: i64 = 0

    def run(self, until: int) -> None:
        """Simulate until there were so many playouts."""
        target: i64 = until
        count: i64 = len(self.children)
        while self.simulations < target:
            if self.simulations >= self.due:
                self.due = self.poll(self.simulations)
            place: i64 = self.simulations % count
            if self.ucb and self.simulations >= count:
                place = self.bounded()
            child: NodeState = self.children[place]
            result: tuple[float, ...]
            if child.to_move == TERMINAL:
                result = child.returns()
            elif self.hook:
                hooked: Any = child
                result = hooked.playout(self.rng)
            else:
                result = uniform_playout(child, self.draw, self.max_plies, self.seats)
            self.totals[place] += result[self.seat]
            self.visits[place] += 1
            self.simulations += 1

    def bounded(self) -> i64:
        """Return the child with the highest upper confidence bound."""
        scale: float = self.exploration * sqrt(log(float(self.simulations)))
        best: i64 = 0
        highest: float = -INFINITY
        place: i64 = 0
        while place < len(self.children):
            visits: float = float(self.visits[place])
            score: float = self.totals[place] / visits + scale / sqrt(visits)
            if score > highest:
                highest = score
                best = place
            place += 1
        return best
