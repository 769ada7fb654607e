"""Nodes of PUCT trees: which action to look at next, and which values are proven.

Rosin, "Multi-armed bandits with episode context", Annals of Mathematics and Artificial Intelligence
61 (2011). The form is that of Silver et al., "A general reinforcement learning algorithm that
masters chess, shogi, and Go through self-play", Science 362 (2018).

In games of two seats whose returns add up to 0, each node has bounds of its exact value, from the
ends of matches below it.  Cazenave and Saffidine, "Score Bounded Monte-Carlo Tree Search",
Computers and Games (2010).
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any, Final, final

from plyhouse.search.kernels.node_state import NodeState

if TYPE_CHECKING:
    from mypy_extensions import i64

__all__ = ["FEW", "INFINITY", "PriorNode", "bound", "forced", "selected", "useless", "wins"]

TERMINAL: Final = -2
FEW: Final = 9
"""Most actions of positions in which a search with a network looks two plies ahead for ends of the
match: this costs less than the network there."""
INFINITY: Final = float("inf")


@final
class PriorNode:
    """A position, or an action whose position has not been made yet."""

    __slots__ = (
        "children",
        "lower",
        "mover",
        "options",
        "owner",
        "prior",
        "result",
        "state",
        "total",
        "upper",
        "value",
        "visits",
    )

    def __init__(self, owner: i64, prior: float, lower: float, upper: float) -> None:
        self.state: Any = None
        """The position; None until it is made."""
        self.mover: i64 = 0
        self.owner: i64 = owner
        """The seat that chose this action; below 0 for chance, and for a root."""
        self.prior: float = prior
        self.visits: float = 0.0
        self.total: float = 0.0
        """Sum of the estimates of its simulations, for its owner."""
        self.options: tuple[Any, ...] = ()
        self.children: list[PriorNode] = []
        self.result: tuple[float, ...] = ()
        """The estimate of the position by seat, or its exact value once that is known."""
        self.value: float = 0.0
        """The estimate of the position for its mover."""
        self.lower: float = lower
        """Least return of seat 0 that is possible under perfect play."""
        self.upper: float = upper
        """Greatest return of seat 0 that is possible under perfect play."""


def selected(node: PriorNode, exploration: float, least: float) -> i64:
    """Return the child with the best mean plus its share of the prior's bonus.

    An untried action has the value of the node's own estimate. A known value replaces the
    mean. Actions that cannot be better than another are never chosen. ``least`` is as in `useless`.
    """
    scale: float = exploration * sqrt(node.visits + 1.0)
    unknown: float = node.value
    best: i64 = 0
    highest: float = -INFINITY
    place: i64 = 0
    while place < len(node.children):
        child: PriorNode = node.children[place]
        if not useless(node, child, least):
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


def useless(node: PriorNode, child: PriorNode, least: float) -> bool:
    """Return whether another action of the node is as good as this one can be, or better.

    ``least`` is the least return of a seat. Never true of all actions.
    """
    if node.mover == 0:
        if child.upper <= least:
            return node.upper > least
        return child.upper <= node.lower and child.lower < node.lower
    if child.lower >= -least:
        return node.lower < -least
    return child.lower >= node.upper and child.upper > node.upper


def forced(node: PriorNode, least: float) -> bool:
    """Return whether all actions but one are useless; ``least`` is as in `useless`."""
    left: i64 = 0
    for child in node.children:
        if not useless(node, child, least):
            left += 1
    return left == 1


def wins(position: Any, win: float) -> bool:
    """Return whether the mover has an action that ends the match with the return ``win``."""
    state: NodeState = position
    for option in state.actions():
        made: NodeState = state.after(option)
        if made.to_move == TERMINAL and made.returns()[state.to_move] == win:
            return True
    return False


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
