"""PUCT trees that stop at each new position, so that one network call serves many trees.

The formula is that of `plyhouse.search.kernels.puct`, for two seats whose returns add up to 0 and
games without chance.  Silver et al., "A general reinforcement learning algorithm that masters
chess, shogi, and Go through self-play", Science 362 (2018).
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


@final
class Branch:
    """A position, or an action whose position has not been made yet."""

    __slots__ = ("children", "mover", "options", "prior", "state", "total", "value", "visits")

    def __init__(self, prior: float) -> None:
        self.state: Any = None
        self.mover: i64 = 0
        self.prior: float = prior
        self.visits: float = 0.0
        self.total: float = 0.0
        """Sum of the estimates of its simulations, for the seat that chose this action."""
        self.value: float = 0.0
        """Estimate of the position for its mover; at the end the return of seat 0."""
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

        Returns None if the simulation ends at the end of the match. Such a simulation is complete.
        """
        node: Branch = self.root
        path: list[Branch] = [node]
        while len(node.children) > 0:
            pick: i64 = self.selected(node)
            child: Branch = node.children[pick]
            path.append(child)
            if child.state is None:
                state: NodeState = node.state
                made: NodeState = state.after(node.options[pick])
                child.state = made
                child.mover = made.to_move
                if child.mover == TERMINAL:
                    child.value = made.returns()[0]
            node = child
        self.path = path
        if node.mover == TERMINAL:
            self.credit(node.value)
            return None
        return node.state

    def receive(self, logits: list[float], value: float) -> None:
        """Complete the simulation that `descend` began.

        ``logits`` has one number for each output of the network; those of illegal actions are
        ignored. ``value`` is the expected return of the position's mover.
        """
        node: Branch = self.path[len(self.path) - 1]
        state: NodeState = node.state
        node.options = tuple(state.actions())
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
        for share in found:
            node.children.append(Branch(share / total))
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

        An untried action has the value of the node's own estimate.
        """
        scale: float = self.exploration * sqrt(node.visits + 1.0)
        unknown: float = node.value
        best: i64 = 0
        highest: float = -INFINITY
        place: i64 = 0
        while place < len(node.children):
            child: Branch = node.children[place]
            mean: float = unknown
            if child.visits > 0.0:
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

    def visits(self) -> list[float]:
        """Return the number of simulations of each action of the root, in their order."""
        return [child.visits for child in self.root.children]

    def value(self) -> float:
        """Return the mean estimate of the root's simulations, for its mover."""
        total: float = 0.0
        count: float = 0.0
        for child in self.root.children:
            total += child.total
            count += child.visits
        return total / count if count > 0.0 else self.root.value

    def advance(self, place: int) -> None:
        """Make the position after an action the root, and keep its part of the tree."""
        node: Branch = self.root
        child: Branch = node.children[place]
        if child.state is None:
            state: NodeState = node.state
            made: NodeState = state.after(node.options[place])
            self.plant(made)
        else:
            self.root = child
