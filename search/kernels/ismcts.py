"""Information-set Monte Carlo tree search.

Cowling, Powley and Whitehouse, "Information set Monte Carlo tree search", IEEE TCIAIG 4
(2012).  Nodes are information sets in a table, so there is no need to follow hidden actions
along the edges of several trees.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log, sqrt
from typing import TYPE_CHECKING, Any, Final, final

from plyhouse.search.kernels.node_state import NodeState
from plyhouse.search.kernels.playouts import sample_outcome, uniform_playout

if TYPE_CHECKING:
    import random

    from mypy_extensions import i64

__all__ = ["Edge", "IsmctsKernel"]

CHANCE: Final = -1
TERMINAL: Final = -2
INFINITY: Final = float("inf")


@final
class Edge:
    """An action at an information set, and what it returned to the mover."""

    __slots__ = ("available", "total", "visits")

    def __init__(self) -> None:
        self.visits: float = 0.0
        self.total: float = 0.0
        self.available: float = 0.0
        """Visits of the information set in which the action was legal."""


@final
class IsmctsKernel:
    """The table of information sets and the simulations."""

    def __init__(
        self,
        poll: Callable[[int], int],
        rng: random.Random,
        sample: Callable[[], Any],
        information_state: Callable[[Any, int], Any],
        observer: int,
        seats: int,
        hook: bool,
        exploration: float,
        max_nodes: int,
        max_depth: int,
        max_plies: int,
    ) -> None:
        self.poll = poll
        self.rng = rng
        self.draw: Callable[[], float] = rng.random
        self.sample = sample
        self.information_state = information_state
        self.observer: i64 = observer
        self.seats: i64 = seats
        self.hook: bool = hook
        self.exploration: float = exploration
        self.max_nodes: i64 = max_nodes
        self.max_depth: i64 = max_depth
        self.max_plies: i64 = max_plies
        self.simulations: i64 = 0
        self.due: i64 = 0
        self.nodes: i64 = 1
        self.depth: i64 = 0
        self.node_limit: i64 = 0
        self.root: dict[Any, Edge] = {}
        self.table: dict[Any, dict[Any, Edge]] = {}

    def run(self, until: int) -> bool:
        """Simulate until there were so many; False when the limit of nodes is reached."""
        target: i64 = until
        while self.simulations < target:
            if self.simulations >= self.due:
                self.due = self.poll(self.simulations)
            self.simulate(self.sample())
            self.simulations += 1
            if self.node_limit != 0 and self.nodes >= self.node_limit:
                return False
        return True

    def simulate(self, start: Any) -> None:
        """One determinisation: selection by what the seats know, then a playout."""
        state: NodeState = start
        path: list[Edge] = []
        movers: list[int] = []
        depth: i64 = 0
        result: tuple[float, ...]
        while True:
            mover: i64 = state.to_move
            if mover == TERMINAL:
                result = state.returns()
                break
            if mover == CHANCE:
                outcomes: tuple[Any, ...] = tuple(state.chance_outcomes())
                state = state.after(outcomes[sample_outcome(outcomes, self.draw)][0])
                continue
            if depth >= self.max_depth:
                result = self.value_of(state)
                break
            node = self.node_of(state, mover, depth)
            if node is None:
                result = self.value_of(state)
                break
            action: Any = self.selected(node, tuple(state.actions()))
            edge = node[action]
            path.append(edge)
            movers.append(mover)
            state = state.after(action)
            depth += 1
            if edge.visits == 0.0:
                result = self.value_of(state)
                break
        self.nodes += depth
        if depth > self.depth:
            self.depth = depth
        place: i64 = 0
        while place < len(path):
            passed: Edge = path[place]
            passed.visits += 1.0
            passed.total += result[movers[place]]
            place += 1

    def node_of(self, state: Any, mover: i64, depth: i64) -> dict[Any, Edge] | None:
        """Return the edges of the information set; None when it is unknown and the table full."""
        if depth == 0:
            return self.root
        viewer: i64 = mover if self.observer < 0 else self.observer
        key: Any = (mover, self.information_state(state, viewer))
        found = self.table.get(key)
        if found is None:
            if len(self.table) >= self.max_nodes:
                return None
            found = {}
            self.table[key] = found
        return found

    def selected(self, node: dict[Any, Edge], actions: tuple[Any, ...]) -> Any:
        """Return an untried action at random, or else that with the highest bound (subset-armed
        UCB1).

        The bound uses how often an action was available: at an information set as one seat
        sees it, what others may do differs between determinisations.
        """
        untried: list[Any] = []
        best: Any = None
        highest: float = -INFINITY
        for action in actions:
            edge = node.get(action)
            if edge is None:
                untried.append(action)
                continue
            edge.available += 1.0
            if edge.visits == 0.0:
                continue
            score: float = edge.total / edge.visits
            score += self.exploration * sqrt(log(edge.available) / edge.visits)
            if score > highest:
                highest = score
                best = action
        if untried:
            best = untried[int(self.draw() * float(len(untried)))]
            edge = Edge()
            edge.available = 1.0
            node[best] = edge
        return best

    def value_of(self, state: Any) -> tuple[float, ...]:
        """Return the result of a playout for every seat."""
        if state.to_move == TERMINAL:
            known: tuple[float, ...] = state.returns()
            return known
        if self.hook:
            result: tuple[float, ...] = state.playout(self.rng)
            return result
        return uniform_playout(state, self.draw, self.max_plies, self.seats)
