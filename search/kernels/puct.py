"""PUCT: a tree search led by a prior over actions and an estimate of positions.

`plyhouse.search.kernels.prior_node` has the formula, the bounds of exact values, and the sources.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, final

from plyhouse.search.kernels.node_state import NodeState
from plyhouse.search.kernels.playouts import sample_outcome
from plyhouse.search.kernels.prior_node import INFINITY, PriorNode, bound, forced, selected, wins

if TYPE_CHECKING:
    import random

    from mypy_extensions import i64

__all__ = ["PuctKernel"]

CHANCE: Final = -1
TERMINAL: Final = -2


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
        least: float,
        few: int,
    ) -> None:
        """``least`` is the least return, below 0, if `bound` applies to the game; otherwise 0.

        In positions with at most ``few`` actions, the search looks two plies ahead for ends of the
        match.
        """
        self.poll = poll
        self.draw: Callable[[], float] = rng.random
        self.evaluator = evaluator
        self.checked = checked
        self.exploration: float = exploration
        self.max_nodes: i64 = max_nodes
        self.max_depth: i64 = max_depth
        self.node_limit: i64 = node_limit
        self.least: float = least
        self.few: i64 = few
        self.lower: float = least if least < 0.0 else -INFINITY
        self.upper: float = -self.lower
        """Bounds of a node about which nothing is known."""
        self.simulations: i64 = 0
        self.due: i64 = 0
        self.nodes: i64 = 1
        self.size: i64 = 1
        self.depth: i64 = 0
        self.root: PriorNode = PriorNode(-1, 1.0, self.lower, self.upper)

    def plant(self, state: Any) -> None:
        """Make the state the root, and ask for its priors: the first simulation descends."""
        self.root.state = state
        self.open(self.root, self.max_depth)

    def run(self, until: int) -> bool:
        """Simulate until there were so many.

        Returns False when the limit of nodes is reached, or the root's exact value is known.
        """
        target: i64 = until
        while self.simulations < target:
            if self.root.lower == self.root.upper:
                return False
            if self.simulations >= self.due:
                self.due = self.poll(self.simulations)
            self.simulate()
            self.simulations += 1
            if self.node_limit != 0 and self.nodes >= self.node_limit:
                return False
        return True

    def open(self, node: PriorNode, plies: i64) -> None:
        """Value a position, and make a child for each action with its prior.

        Looks for ends of the match up to ``plies`` ahead, at most two. A position below the root
        with one useful action gets no value.
        """
        state: NodeState = node.state
        node.mover = state.to_move
        if node.mover == TERMINAL:
            node.result = state.returns()
            if self.least < 0.0:
                node.lower = node.result[0]
                node.upper = node.lower
            return
        if node.mover == CHANCE:
            node.options = tuple(state.chance_outcomes())
        else:
            node.options = tuple(state.actions())
        growing: bool = self.size < self.max_nodes
        if growing:
            for _ in node.options:
                node.children.append(PriorNode(node.mover, 0.0, self.lower, self.upper))
            self.size += len(node.options)
            if plies > 0 and self.least < 0.0 and node.mover >= 0:
                self.look_ahead(node, plies)
                if node.lower == node.upper or (node is not self.root and forced(node, self.least)):
                    return
        found: tuple[Any, Any] = self.evaluator(node.state)
        checked: tuple[Any, Any] = self.checked(node.state, node.options, found)
        priors: list[float] = checked[0]
        node.result = checked[1]
        if node.mover >= 0:
            node.value = node.result[node.mover]
        if growing:
            place: i64 = 0
            while place < len(priors):
                node.children[place].prior = priors[place]
                place += 1

    def look_ahead(self, node: PriorNode, plies: i64) -> None:
        """Find the actions that end the match, then the replies that win, and what they prove."""
        state: NodeState = node.state
        made: list[Any] = [state.after(option) for option in node.options]
        after: NodeState
        child: PriorNode
        for place, each in enumerate(made):
            after = each
            if after.to_move == TERMINAL:
                child = node.children[place]
                child.state = each
                self.open(child, 0)
        bound(node)
        if node.lower == node.upper or plies < 2 or len(made) > self.few:
            return
        for place, each in enumerate(made):
            after = each
            if after.to_move >= 0 and wins(each, -self.least):
                child = node.children[place]
                child.lower = -self.least if after.to_move == 0 else self.least
                child.upper = child.lower
                child.result = (child.lower, -child.lower)
        bound(node)

    def simulate(self) -> None:
        """Down to a new position, or to the end of the game, and up with its estimate."""
        node: PriorNode = self.root
        path: list[PriorNode] = [node]
        depth: i64 = 0
        while len(node.children) > 0 and depth < self.max_depth and node.lower < node.upper:
            pick: i64
            option: Any
            if node.mover == CHANCE:
                pick = sample_outcome(node.options, self.draw)
                option = node.options[pick][0]
            else:
                pick = selected(node, self.exploration, self.least)
                option = node.options[pick]
            child: PriorNode = node.children[pick]
            path.append(child)
            depth += 1
            if child.state is None:
                state: NodeState = node.state
                child.state = state.after(option)
                self.open(child, self.max_depth - depth)
                node = child
                if len(node.result) > 0:
                    break
            else:
                node = child
        if self.least < 0.0:
            place: i64 = len(path) - 2
            while place >= 0 and path[place].mover >= 0 and bound(path[place]):
                place -= 1
        self.nodes += depth
        if depth > self.depth:
            self.depth = depth
        for passed in path:
            passed.visits += 1.0
            if passed.owner >= 0:
                passed.total += node.result[passed.owner]
