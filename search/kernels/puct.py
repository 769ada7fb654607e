"""PUCT: a tree search led by a prior over actions and an estimate of positions.

Rosin, "Multi-armed bandits with episode context", Annals of Mathematics and Artificial Intelligence
61 (2011). The form is that of Silver et al., "A general reinforcement learning algorithm that
masters chess, shogi, and Go through self-play", Science 362 (2018).

In games of two seats whose returns add up to 0, each node has bounds of its exact value, from the
ends of matches below it.  Cazenave and Saffidine, "Score Bounded Monte-Carlo Tree Search",
Computers and Games (2010).
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
        "lower",
        "mover",
        "opened",
        "options",
        "owner",
        "prior",
        "result",
        "state",
        "total",
        "upper",
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
        """The estimate of the position, or its exact value once that is known."""
        self.lower: float = -INFINITY
        """Least return of seat 0 that is possible under perfect play."""
        self.upper: float = INFINITY
        """Greatest return of seat 0 that is possible under perfect play."""


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
    ) -> None:
        """``least`` is the least return, below 0, if `bound` applies to the game; otherwise 0."""
        self.poll = poll
        self.draw: Callable[[], float] = rng.random
        self.evaluator = evaluator
        self.checked = checked
        self.exploration: float = exploration
        self.max_nodes: i64 = max_nodes
        self.max_depth: i64 = max_depth
        self.node_limit: i64 = node_limit
        self.least: float = least
        self.simulations: i64 = 0
        self.due: i64 = 0
        self.nodes: i64 = 1
        self.size: i64 = 1
        self.depth: i64 = 0
        self.root: PriorNode = PriorNode(-1, 1.0)

    def plant(self, state: Any) -> None:
        """Make the state the root, and ask for its priors: the first simulation descends."""
        self.root.state = state
        self.unbind(self.root)
        self.open(self.root, self.max_depth > 0)

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

    def open(self, node: PriorNode, ahead: bool) -> None:
        """Value a position, and make a child for each action with its prior.

        ``ahead`` also looks for actions that end the match.
        """
        state: NodeState = node.state
        node.mover = state.to_move
        node.opened = True
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
                child: PriorNode = PriorNode(node.mover, 0.0)
                self.unbind(child)
                node.children.append(child)
            self.size += len(node.options)
            if ahead and self.least < 0.0 and node.mover >= 0:
                self.look_ahead(node)
                if node.lower == node.upper:
                    return
        found: tuple[Any, Any] = self.evaluator(node.state)
        checked: tuple[Any, Any] = self.checked(node.state, node.options, found)
        priors: list[float] = checked[0]
        node.result = checked[1]
        if growing:
            place: i64 = 0
            while place < len(priors):
                node.children[place].prior = priors[place]
                place += 1

    def unbind(self, node: PriorNode) -> None:
        """Set the bounds of a node about which nothing is known."""
        if self.least < 0.0:
            node.lower = self.least
            node.upper = -self.least

    def look_ahead(self, node: PriorNode) -> None:
        """Find the actions that end the match, and what they prove."""
        state: NodeState = node.state
        place: i64 = 0
        while place < len(node.options):
            made: NodeState = state.after(node.options[place])
            if made.to_move == TERMINAL:
                child: PriorNode = node.children[place]
                child.state = made
                self.open(child, False)
            place += 1
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
                pick = self.selected(node)
                option = node.options[pick]
            child: PriorNode = node.children[pick]
            path.append(child)
            depth += 1
            if not child.opened:
                state: NodeState = node.state
                child.state = state.after(option)
                self.open(child, depth < self.max_depth)
                node = child
                break
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

    def selected(self, node: PriorNode) -> i64:
        """Return the child with the best mean plus its share of the prior's bonus.

        An untried action has the value of the node's own estimate. A known value replaces the
        mean. Actions that cannot be better than another are never chosen.
        """
        scale: float = self.exploration * sqrt(node.visits + 1.0)
        unknown: float = node.result[node.mover]
        best: i64 = 0
        highest: float = -INFINITY
        place: i64 = 0
        while place < len(node.children):
            child: PriorNode = node.children[place]
            if not self.useless(node, child):
                mean: float = unknown
                if child.lower == child.upper:
                    mean = child.lower if node.mover == 0 else -child.lower
                elif child.visits > 0.0:
                    mean = child.total / child.visits
                score: float = mean + scale * child.prior / (1.0 + child.visits)
                if score > highest:
                    highest = score
                    best = place
            place += 1
        return best

    def useless(self, node: PriorNode, child: PriorNode) -> bool:
        """Return whether another action of the node is as good as this one can be, or better.

        Never true of all actions.
        """
        if node.mover == 0:
            if child.upper <= self.least:
                return node.upper > self.least
            return child.upper <= node.lower and child.lower < node.lower
        if child.lower >= -self.least:
            return node.lower < -self.least
        return child.lower >= node.upper and child.upper > node.upper


def bound(node: PriorNode) -> bool:
    """Set the bounds of a seat's node from those of its children; True if they change."""
    first: PriorNode = node.children[0]
    lower: float = first.lower
    upper: float = first.upper
    for child in node.children:
        if node.mover == 0:
            lower = max(lower, child.lower)
            upper = max(upper, child.upper)
        else:
            lower = min(lower, child.lower)
            upper = min(upper, child.upper)
    changed: bool = lower != node.lower or upper != node.upper
    node.lower = lower
    node.upper = upper
    if lower == upper:
        node.result = (lower, -lower)
    return changed
