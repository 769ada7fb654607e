"""PUCT: a tree search led by a prior over actions and an estimate of positions.

Rosin, "Multi-armed bandits with episode context", Annals of Mathematics and Artificial Intelligence
61 (2011). The form is that of Silver et al., "A general reinforcement learning algorithm that
masters chess, shogi, and Go through self-play", Science 362 (2018).
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import TYPE_CHECKING, Any, Final, final

from plyhouse.search.kernels.node_state import NodeState
from plyhouse.search.kernels.playouts import sample_outcome

if TYPE_CHECKING:
    import random

    from mypy_extensions import i64

__all__ = ["PriorNode", "PuctKernel"]

CHANCE: Final = -1
TERMINAL: Final = -2
INFINITY: Final = float("inf")


@final
class PriorNode:
    """A position, or an action whose position has not been made yet."""

    __slots__ = (
        "children",
        "mover",
        "opened",
        "options",
        "owner",
        "prior",
        "result",
        "state",
        "total",
        "visits",
    )

    def __init__(self, owner: i64, prior: float) -> None:
        self.state: Any = None
        self.mover: i64 = 0
        self.owner: i64 = owner
        self.prior: float = prior
        self.visits: float = 0.0
        self.total: float = 0.0
        self.opened: bool = False
        self.options: tuple[Any, ...] = ()
        self.children: list[PriorNode] = []
        self.result: tuple[float, ...] = ()
        """The estimate of the position, or its returns at the end."""


@final
class PuctKernel:
    """One tree and its simulations."""

    def __init__(
        self,
        poll: Callable[[int], int],
        rng: random.Random,
        evaluator: Callable[[Any], tuple[Any, Any]],
        checked: Callable[[Any, Any, Any], tuple[Any, Any]],
        exploration: float,
        max_nodes: int,
        max_depth: int,
        node_limit: int,
    ) -> None:
        self.poll = poll
        self.draw: Callable[[], float] = rng.random
        self.evaluator = evaluator
        self.checked = checked
        self.exploration: float = exploration
        self.max_nodes: i64 = max_nodes
        self.max_depth: i64 = max_depth
        self.node_limit: i64 = node_limit
        self.simulations: i64 = 0
        self.due: i64 = 0
        self.nodes: i64 = 1
        self.size: i64 = 1
        self.depth: i64 = 0
        self.root: PriorNode = PriorNode(-1, 1.0)

    def plant(self, state: Any) -> None:
        """Make the state the root, and ask for its priors: the first simulation descends."""
        self.root.state = state
        self.open(self.root)

    def run(self, until: int) -> bool:
        """Simulate until there were so many; False when the limit of nodes is reached."""
        target: i64 = until
        while self.simulations < target:
            if self.simulations >= self.due:
                self.due = self.poll(self.simulations)
            self.simulate()
            self.simulations += 1
            if self.node_limit != 0 and self.nodes >= self.node_limit:
                return False
        return True

    def open(self, node: PriorNode) -> None:
        """Value a position, and make a child for each action with its prior."""
        state: NodeState = node.state
        node.mover = state.to_move
        node.opened = True
        if node.mover == TERMINAL:
            node.result = state.returns()
            return
        found: tuple[Any, Any] = self.evaluator(node.state)
        if node.mover == CHANCE:
            node.options = tuple(state.chance_outcomes())
        else:
            node.options = tuple(state.actions())
        checked: tuple[Any, Any] = self.checked(node.state, node.options, found)
        priors: list[float] = checked[0]
        node.result = checked[1]
        if self.size < self.max_nodes:
            for prior in priors:
                node.children.append(PriorNode(node.mover, prior))
            self.size += len(priors)

    def simulate(self) -> None:
        """Down to a new position, or to the end of the game, and up with its estimate."""
        node: PriorNode = self.root
        path: list[PriorNode] = [node]
        depth: i64 = 0
        while len(node.children) > 0 and depth < self.max_depth:
            pick: i64
            option: Any
            if node.mover == CHANCE:
                pick = sample_outcome(node.options, self.draw)
                option = node.options[pick][0]
            else:
                pick = self.selected(node)
                option = node.options[pick]
            child: PriorNode = node.children[pick]
            path.append(child)
            depth += 1
            if not child.opened:
                state: NodeState = node.state
                child.state = state.after(option)
                self.open(child)
                node = child
                break
            node = child
        self.nodes += depth
        if depth > self.depth:
            self.depth = depth
        for passed in path:
            passed.visits += 1.0
            if passed.owner >= 0:
                passed.total += node.result[passed.owner]

    def selected(self, node: PriorNode) -> i64:
        """Return the child with the best mean plus its share of the prior's bonus.

        An untried action has the value of the node's own estimate.
        """
        scale: float = self.exploration * sqrt(node.visits + 1.0)
        unknown: float = node.result[node.mover]
        best: i64 = 0
        highest: float = -INFINITY
        place: i64 = 0
        while place < len(node.children):
            child: PriorNode = node.children[place]
            mean: float = unknown
            if child.visits > 0.0:
                mean = child.total / child.visits
            score: float = mean + scale * child.prior / (1.0 + child.visits)
            if score > highest:
                highest = score
                best = place
            place += 1
        return best
