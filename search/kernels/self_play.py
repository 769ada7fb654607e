"""PUCT trees that stop at each new position, so that one network call serves many trees.

For two seats whose returns add up to 0 and games without chance.
`plyhouse.search.kernels.prior_node` has the formula, the bounds of exact values, and the sources.
"""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING, Any, Final, final

from plyhouse.search.kernels.node_state import NodeState
from plyhouse.search.kernels.prior_node import (
    FEW,
    INFINITY,
    PriorNode,
    bound,
    forced,
    selected,
    useless,
    wins,
)

if TYPE_CHECKING:
    from mypy_extensions import i64

__all__ = ["SelfPlayTree"]

TERMINAL: Final = -2
LOSS: Final = -1.0
WIN: Final = 1.0
"""Least and greatest return of a seat."""


@final
class SelfPlayTree:
    """One tree: call `descend`, evaluate the position it returns, and call `receive`."""

    def __init__(self, places: list[list[int]], exploration: float) -> None:
        """``places[seat][action]`` is the index of an action among a network's logits."""
        self.places = places
        self.exploration: float = exploration
        self.root: PriorNode = PriorNode(-1, 1.0, LOSS, WIN)
        self.path: list[PriorNode] = []

    def plant(self, state: Any) -> None:
        """Forget the tree; the next `descend` returns this state."""
        self.root = PriorNode(-1, 1.0, LOSS, WIN)
        self.root.state = state
        start: NodeState = state
        self.root.mover = start.to_move

    def descend(self) -> Any:
        """Return the position that the next simulation reaches, to be evaluated.

        A position below the root with one useful action is not evaluated: the simulation goes on.
        Returns None if it ends at a position with a known exact value. Such a simulation is
        complete. Nothing happens if the root's value is known.
        """
        node: PriorNode = self.root
        path: list[PriorNode] = [node]
        self.path = path
        while node.lower < node.upper:
            if len(node.children) == 0:
                self.expand(node)
                if node.lower == node.upper:
                    self.settle()
                    break
                if len(path) == 1 or not forced(node, LOSS):
                    return node.state
            node = node.children[selected(node, self.exploration, LOSS)]
            path.append(node)
        self.credit(node.lower)
        return None

    def expand(self, node: PriorNode) -> None:
        """Make the positions after each action, and see what ends of the match prove.

        Looks for actions that end it, and, where there are few actions, for replies that win.
        """
        state: NodeState = node.state
        node.options = tuple(state.actions())
        for option in node.options:
            child: PriorNode = PriorNode(node.mover, 0.0, LOSS, WIN)
            made: NodeState = state.after(option)
            child.state = made
            child.mover = made.to_move
            if child.mover == TERMINAL:
                child.lower = made.returns()[0]
                child.upper = child.lower
            node.children.append(child)
        bound(node)
        if node.lower < node.upper and len(node.options) <= FEW:
            for child in node.children:
                if child.lower < child.upper and wins(child.state, WIN):
                    child.lower = WIN if child.mover == 0 else LOSS
                    child.upper = child.lower
            bound(node)

    def settle(self) -> None:
        """Take the bounds of the path's last position up as far as they change anything."""
        at: i64 = len(self.path) - 2
        while at >= 0 and bound(self.path[at]):
            at -= 1

    def receive(self, logits: list[float], value: float) -> None:
        """Complete the simulation that `descend` began.

        ``logits`` has one number for each output of the network; those of illegal actions are
        ignored. ``value`` is the expected return of the position's mover.
        """
        node: PriorNode = self.path[len(self.path) - 1]
        node.value = value
        places: list[int] = self.places[node.mover]
        highest: float = -INFINITY
        found: list[float] = []
        action: int
        for action in node.options:
            logit: float = logits[places[action]]
            found.append(logit)
            if logit > highest:
                highest = logit
        total: float = 0.0
        at: i64 = 0
        while at < len(found):
            share: float = exp(found[at] - highest)
            found[at] = share
            total += share
            at += 1
        at = 0
        while at < len(found):
            node.children[at].prior = found[at] / total
            at += 1
        self.settle()
        self.credit(value if node.mover == 0 else -value)

    def credit(self, value: float) -> None:
        """Add seat 0's value to every action on the path.

        The simulation that only makes the root is not counted, as in `PuctKernel`.
        """
        if len(self.path) == 1:
            return
        for node in self.path:
            node.visits += 1.0
            if node.owner == 0:
                node.total += value
            elif node.owner == 1:
                node.total -= value

    def add_noise(self, noise: list[float], share: float) -> None:
        """Mix noise into the priors of the root's actions; ``noise`` adds up to 1."""
        at: i64 = 0
        while at < len(self.root.children):
            child: PriorNode = self.root.children[at]
            child.prior = (1.0 - share) * child.prior + share * noise[at]
            at += 1

    def shares(self) -> list[float]:
        """Return each action's share of the root's simulations, in their order.

        Actions that cannot be better than another have none. The others share equally if none was
        simulated.
        """
        root: PriorNode = self.root
        found: list[float] = []
        total: float = 0.0
        useful: float = 0.0
        for child in root.children:
            visits: float = 0.0
            if not useless(root, child, LOSS):
                visits = child.visits
                useful += 1.0
            found.append(visits)
            total += visits
        at: i64 = 0
        while at < len(found):
            if total > 0.0:
                found[at] /= total
            elif not useless(root, root.children[at], LOSS):
                found[at] = 1.0 / useful
            at += 1
        return found

    def value(self) -> float:
        """Return the root's exact value if known, or the mean estimate, for its mover."""
        root: PriorNode = self.root
        if root.lower == root.upper:
            return root.lower if root.mover == 0 else -root.lower
        total: float = 0.0
        count: float = 0.0
        for child in root.children:
            total += child.total
            count += child.visits
        return total / count if count > 0.0 else root.value

    def advance(self, place: int) -> None:
        """Make the position after an action the root, and keep its part of the tree."""
        root: PriorNode = self.root.children[place]
        self.root = root
        if root.lower == root.upper and root.mover >= 0 and len(root.children) == 0:
            self.expand(root)
