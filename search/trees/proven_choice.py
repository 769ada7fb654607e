"""Which action to play once the value of a position is proven.

A solver says that a position is lost, and then all actions look alike to it: the next one may lose
in two plies, another in twenty.  Opponents err, so the choice matters.  An ordinary search, which
does not ask the solver and remembers nothing, sees wins and losses by their distance.  It prefers
what is not yet lost within its depth, and finds the shortest win that it can reach.  Its choice
counts if it keeps the proven value.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from plyhouse.search.limit import Limit
from plyhouse.search.poll import Poll, SearchStopped
from plyhouse.search.trees.iterative_deepening import Root, deepened

__all__ = ["remaining", "steered"]

SHARE: Final = 0.25
"""Part of the limit for the choice in a position that is not lost."""


def steered(
    root: Root,
    limit: Limit,
    ordinary: Callable[[list[Any], Limit, Poll], Root],
    keeps: Callable[[Any], bool],
) -> None:
    """Let an ordinary search choose among the actions that keep the proven value of a root.

    ``ordinary`` makes the root of a search of some actions within a limit.  ``keeps`` says whether
    the value is kept by an action; nobody asks it where all is lost.
    """
    lost = root.value == root.leaves.low
    actions = list(root.actions)
    within = remaining(root, limit, 1.0 if lost else SHARE)
    while within is not None and len(actions) > 1:
        other = ordinary(actions, within, Poll(within))
        deepened(other, within, deepen=True)
        root.kernel.nodes += other.kernel.nodes
        if other.depth == 0:
            return
        action = other.line[0]
        try:
            if action == root.line[0] or lost or keeps(action):
                root.line = list(other.line)
                root.values[action] = root.value
                root.told()
                return
        except SearchStopped:
            return
        actions.remove(action)
        within = remaining(root, limit, SHARE)


def remaining(root: Root, limit: Limit, share: float) -> Limit | None:
    """Return what a further search may take of a limit; None if that is nothing.

    Without a bound a search takes as long as the proof that it is to spare, so it is not made.
    """
    time, nodes = limit.time, limit.nodes
    if time is None and nodes is None and limit.depth is None:
        return None
    if time is not None:
        time = min(time - root.poll.seconds(), share * time)
        if time <= 0:
            return None
    if nodes is not None:
        nodes = min(nodes - int(root.kernel.nodes), round(share * nodes))
        if nodes < 1:
            return None
    return replace(limit, time=time, nodes=nodes, report=None)
