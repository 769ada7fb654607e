"""The nodes of a Monte Carlo search tree, and what is done with them outside of simulations.

A node is one flat object, and the children of a node are a chain: in a simulation most of
the time outside of the playout goes into comparing children.

(mypyc could hide nodes from the garbage collector, which looks for cycles in a million of
them in vain.  But what its ``acyclic`` makes is freed wrongly inside of deep structures, which
trees are: CPython 3.11 then writes before the object.)
"""

from __future__ import annotations

from math import log, sqrt
from typing import TYPE_CHECKING, Any, Final, final

if TYPE_CHECKING:
    from mypy_extensions import i64

__all__ = [
    "Node",
    "back_up_noted",
    "back_up_rave",
    "count_nodes",
    "open_all",
    "option_of",
    "place_of",
    "release",
    "selected_rave",
    "settled",
]

CHANCE: Final = -1
INFINITY: Final = float("inf")


@final
class Node:
    """A position in the tree with what its simulations returned to the seat that chose it."""

    __slots__ = (
        "count",
        "first",
        "index",
        "mean",
        "mover",
        "next",
        "offset",
        "options",
        "owner",
        "prior_total",
        "prior_visits",
        "rave_mean",
        "rave_visits",
        "state",
        "total",
        "tried",
        "visits",
        "width",
        "worth",
    )

    def __init__(self, mover: i64, owner: i64, index: i64) -> None:
        self.state: Any = None
        """Once `count` is not negative."""
        self.options: tuple[Any, ...] = ()
        """Actions, or outcomes with their probabilities; once `count` is not negative."""
        self.first: Node | None = None
        self.next: Node | None = None
        self.worth: tuple[float, ...] | None = None
        """Returns, where the game is over or the solver knows them."""
        self.mover: i64 = mover
        self.owner: i64 = owner
        """The seat that chose this node, negative for chance and the root."""
        self.index: i64 = index
        """Which of the parent's options leads here."""
        self.count: i64 = -1
        self.tried: i64 = 0
        self.offset: i64 = 0
        self.visits: float = 0.0
        self.total: float = 0.0
        """Sum of the owner's returns."""
        self.mean: float = 0.0
        self.width: float = 1.0
        """1 / sqrt(visits), or 0 for a node whose value is known: nothing to explore."""
        self.rave_visits: float = 0.0
        self.rave_mean: float = 0.0
        self.prior_visits: float = 0.0
        """Virtual visits, from the state's ``priors``."""
        self.prior_total: float = 0.0
        """Sum of their returns to the owner."""


def option_of(node: Node, place: i64) -> Any:
    """Return an action, or an outcome without its probability."""
    option: Any = node.options[place]
    return option[0] if node.mover == CHANCE else option


def release(garbage: list[Node], most: int) -> bool:
    """Free up to so many nodes of discarded trees; False when nothing is left.

    Node by node, because freeing a long chain at once could exhaust the stack.
    """
    left: i64 = most
    while garbage and left > 0:
        node: Node = garbage.pop()
        child = node.first
        node.first = None
        while child is not None:
            after = child.next
            child.next = None
            if child.first is not None:
                garbage.append(child)
            child = after
            left -= 1
    return len(garbage) > 0


def place_of(node: Node) -> int:
    """Sorts children in the order of the actions."""
    return node.index


def count_nodes(root: Node) -> int:
    """Return how many nodes a tree has."""
    total: i64 = 0
    waiting: list[Node] = [root]
    while waiting:
        node = waiting.pop()
        total += 1
        child = node.first
        while child is not None:
            if child.first is None:
                total += 1
            else:
                waiting.append(child)
            child = child.next
    return total


def settled(node: Node, seats: i64) -> tuple[float, ...] | None:
    """Return the value of a node all of whose children are proven; otherwise None."""
    if node.tried < node.count:
        return None
    mover: i64 = node.mover
    means: list[float] = [0.0] * seats
    best: tuple[float, ...] | None = None
    child = node.first
    while child is not None:
        worth = child.worth
        if worth is None:
            return None
        if mover == CHANCE:
            chance: float = node.options[child.index][1]
            place: i64 = 0
            while place < seats:
                means[place] += chance * worth[place]
                place += 1
        elif best is None or worth[mover] > best[mover]:
            best = worth
        child = child.next
    return tuple(means) if mover == CHANCE else best


def open_all(node: Node, visits: list[float] | None, means: list[float] | None) -> None:
    """Make all children at once: RAVE and priors know something of actions never tried here.

    ``visits`` and ``means`` are the virtual visits of each option and their mean return, or None.
    """
    left: i64 = node.count
    while left > 0:
        left -= 1
        pick: i64 = left + node.offset
        if pick >= node.count:
            pick -= node.count
        child = Node(0, node.mover, pick)
        if visits is not None and means is not None:
            weight: float = visits[pick]
            child.prior_visits = weight
            child.prior_total = weight * means[pick]
        child.next = node.first
        node.first = child


def selected_rave(node: Node, exploration: float, rave: float) -> Node:
    """Return the child with the best mixture of its mean and its RAVE mean (Gelly and Silver)."""
    scale: float = exploration * sqrt(log(node.visits + 1.0))
    best: Node = node
    highest: float = -INFINITY
    child = node.first
    while child is not None:
        score: float
        visits: float = child.visits + child.prior_visits
        noted: float = child.rave_visits
        if child.width == 0.0:
            score = child.mean
        elif visits == 0.0 and noted == 0.0:
            score = INFINITY
        else:
            # The schedule of least error, where `rave` says how far RAVE's bias is trusted.
            share: float = noted / (visits + noted + visits * noted / rave)
            score = share * child.rave_mean
            if visits != 0.0:
                score += (1.0 - share) * (child.total + child.prior_total) / visits
            score += scale * child.width
        if score > highest:
            highest = score
            best = child
        child = child.next
    return best


def back_up_noted(path: list[Node], result: tuple[float, ...], first: list[int]) -> None:
    """Credit every action that the mover was the first to play from here on.

    ``first`` has by action the seat + 1 that played it first after the path, or 0.  It is changed.
    """
    place: i64 = len(path) - 1
    while place > 0:
        next_node: Node = path[place]
        place -= 1
        node: Node = path[place]
        mover: i64 = node.mover
        if mover < 0:
            continue
        mark: i64 = mover + 1
        options = node.options
        played: i64 = options[next_node.index]
        first[played] = mark
        value: float = result[mover]
        child = node.first
        while child is not None:
            action: i64 = options[child.index]
            if first[action] == mark:
                noted: float = child.rave_visits + 1.0
                child.rave_visits = noted
                child.rave_mean += (value - child.rave_mean) / noted
            child = child.next


def back_up_rave(path: list[Node], result: tuple[float, ...], played: list[set[Any]]) -> None:
    """Credit every action that the mover played later on, as if it had been played now."""
    place: i64 = len(path) - 1
    while place >= 0:
        node: Node = path[place]
        mover: i64 = node.mover
        if place < len(path) - 1 and mover >= 0:
            next_node: Node = path[place + 1]
            theirs = played[mover]
            theirs.add(node.options[next_node.index])
            value: float = result[mover]
            child = node.first
            while child is not None:
                if node.options[child.index] in theirs:
                    child.rave_visits += 1.0
                    child.rave_mean += (value - child.rave_mean) / child.rave_visits
                child = child.next
        place -= 1
