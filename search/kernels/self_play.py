"""PUCT trees that stop at each new position, so that one network call serves many trees.

The formula is that of `plyhouse.search.kernels.puct`, for two seats whose returns add up to 0 and
games without chance.  Silver et al., "A general reinforcement learning algorithm that masters
chess, shogi, and Go through self-play", Science 362 (2018).

Each node has bounds of its exact value, from the ends of matches below it.  Cazenave and
Saffidine, "Score Bounded Monte-Carlo Tree Search", Computers and Games (2010).
"""

from __future__ import annotations

from math import exp, sqrt
from typing import TYPE_CHECKING, Any, Final, final

from plyhouse.search.kernels.node_state import NodeState

if TYPE_CHECKING:
    from mypy_extensions import i64

__all__ = ["Branch", "SelfPlayTree"]

TERMINAL: Final = -2
INFINITY: Final = float("inf")
LOSS: Final = -1.0
WIN: Final = 1.0
"""Least and greatest return of a seat."""


@final
class Branch:
    """A position, or an action whose position has not been made yet."""

    __slots__ = (
        "children",
        "lower",
        "mover",
        "options",
        "prior",
        "state",
        "total",
        "upper",
        "value",
        "visits",
    )

    def __init__(self, prior: float) -> None:
        self.state: Any = None
        self.mover: i64 = 0
        self.prior: float = prior
        self.visits: float = 0.0
        self.total: float = 0.0
        """Sum of the estimates of its simulations, for the seat that chose this action."""
        self.value: float = 0.0
        """Estimate of the position for its mover."""
        self.lower: float = LOSS
        """Least return of seat 0 that is possible under perfect play."""
        self.upper: float = WIN
        """Greatest return of seat 0 that is possible under perfect play."""
        self.options: tuple[Any, ...] = ()
        self.children: list[Branch] = []


@final
class SelfPlayTree:
    """One tree: call `descend`, evaluate the position it returns, and call `receive`."""

    def __init__(self, places: list[list[int]], exploration: float) -> None:
        """``places[seat][action]`` is the index of an action among a network's logits."""
        self.places = places
        self.exploration: float = exploration
        self.root: Branch = Branch(1.0)
        self.path: list[Branch] = []

    def plant(self, state: Any) -> None:
        """Forget the tree; the next `descend` returns this state."""
        self.root = Branch(1.0)
        self.root.state = state
        start: NodeState = state
        self.root.mover = start.to_move

    def descend(self) -> Any:
        """Return the position that the next simulation reaches, to be evaluated.

        Returns None if the simulation ends at a position with a known exact value. Such a
        simulation is complete. Nothing happens if the root's value is known.
        """
        node: Branch = self.root
        path: list[Branch] = [node]
        self.path = path
        while node.lower < node.upper:
            if len(node.children) == 0:
                self.expand(node)
                if node.lower < node.upper:
                    return node.state
                self.settle()
                break
            node = node.children[self.selected(node)]
            path.append(node)
        self.credit(node.lower)
        return None

    def expand(self, node: Branch) -> None:
        """Make the positions after each action, and see which of them end the match."""
        state: NodeState = node.state
        node.options = tuple(state.actions())
        for option in node.options:
            child: Branch = Branch(0.0)
            made: NodeState = state.after(option)
            child.state = made
            child.mover = made.to_move
            if child.mover == TERMINAL:
                child.lower = made.returns()[0]
                child.upper = child.lower
            node.children.append(child)
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
        node: Branch = self.path[len(self.path) - 1]
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
        owner: i64 = -1
        for node in self.path:
            node.visits += 1.0
            if owner == 0:
                node.total += value
            elif owner == 1:
                node.total -= value
            owner = node.mover

    def selected(self, node: Branch) -> i64:
        """Return the child with the best mean plus its share of the prior's bonus.

        An untried action has the value of the node's own estimate. A known value replaces the
        mean. Actions that cannot be better than another are never chosen.
        """
        scale: float = self.exploration * sqrt(node.visits + 1.0)
        unknown: float = node.value
        best: i64 = 0
        highest: float = -INFINITY
        place: i64 = 0
        while place < len(node.children):
            child: Branch = node.children[place]
            if not useless(node, child):
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

    def add_noise(self, noise: list[float], share: float) -> None:
        """Mix noise into the priors of the root's actions; ``noise`` adds up to 1."""
        at: i64 = 0
        while at < len(self.root.children):
            child: Branch = self.root.children[at]
            child.prior = (1.0 - share) * child.prior + share * noise[at]
            at += 1

    def shares(self) -> list[float]:
        """Return each action's share of the root's simulations, in their order.

        Actions that cannot be better than another have none. The others share equally if none was
        simulated.
        """
        root: Branch = self.root
        found: list[float] = []
        total: float = 0.0
        useful: float = 0.0
        for child in root.children:
            visits: float = 0.0
            if not useless(root, child):
                visits = child.visits
                useful += 1.0
            found.append(visits)
            total += visits
        at: i64 = 0
        while at < len(found):
            if total > 0.0:
                found[at] /= total
            elif not useless(root, root.children[at]):
                found[at] = 1.0 / useful
            at += 1
        return found

    def value(self) -> float:
        """Return the root's exact value if known, or the mean estimate, for its mover."""
        root: Branch = self.root
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
        self.root = self.root.children[place]


def bound(node: Branch) -> bool:
    """Set the bounds of a node from those of its children; True if they change."""
    first: Branch = node.children[0]
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
    return changed


def useless(node: Branch, child: Branch) -> bool:
    """Return whether another action of the node is as good as this one can be, or better.

    Never true of all actions.
    """
    if node.mover == 0:
        if child.upper == LOSS:
            return node.upper > LOSS
        return child.upper <= node.lower and child.lower < node.lower
    if child.lower == WIN:
        return node.lower < WIN
    return child.lower >= node.upper and child.upper > node.upper
