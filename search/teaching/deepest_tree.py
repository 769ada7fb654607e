"""The deepest search tree that still can be looked at: so many nodes, within so much time.

`explain` refuses what is too large, for people who choose a depth.  Where a page asks for the tree
of any position of any game, it is better to have the tree that fits.

>>> from plyhouse.games import get_game
>>> game = get_game("tic_tac_toe")
>>> found = deepest(game, game.initial_state(), "minimax", max_nodes=100)
>>> found.tree.depth, found.tree.nodes, found.complete
(2, 82, False)
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from plyhouse.games.base import TERMINAL, Game
from plyhouse.search.teaching.drawable_tree import Explanation, Kind, Node
from plyhouse.search.teaching.explain import (
    MAX_NODES,
    SEARCHES,
    WHOLE,
    UnknownSearch,
    require_fit,
)
from plyhouse.search.teaching.tree_recorder import Full, Recorder

__all__ = ["Fitted", "deepest", "searches_for"]

FIRST_CHOICES: Final = ("alpha_beta", "expectiminimax", "team_search", "expectimax", "maxn")
"""Prefer the search that shows most of a game; expectimax before max^n for one seat."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """A tree, and why it ends where it does."""

    tree: Explanation
    complete: bool
    """True if every branch goes to the end of the game: no value is an estimate."""
    larger: bool
    """True if there is a deeper tree, which would have had too many nodes or taken too long."""


class _Bounded(Recorder):
    """A recorder that stops at a moment as well as at a number of nodes."""

    stop = math.inf
    now: Callable[[], float] = staticmethod(time.monotonic)

    def new(self, state: Any, depth: int, action: str, probability: float | None) -> Node:
        """Count a node; a tree that takes too long is too large."""
        if self.now() > self.stop:
            raise Full
        return super().new(state, depth, action, probability)


def searches_for(game: Game) -> tuple[str, ...]:
    """Return the searches that can be explained in this game, the one that shows most first."""
    fitting = [name for name, style in SEARCHES.items() if not any(style.needs.misfits(game))]
    order = [name for name in FIRST_CHOICES if name in fitting]
    if game.seats > 1 and "expectimax" in order:
        order.remove("expectimax")  # its opponents play at random: nothing to begin with
    return (*order, *(name for name in fitting if name not in order))


def deepest(
    game: Game,
    state: Any,
    search: str = "",
    *,
    seat: int | None = None,
    depth: int | None = None,
    max_nodes: int = MAX_NODES,
    seconds: float = math.inf,
    now: Callable[[], float] = time.monotonic,
) -> Fitted:
    """Record the tree of a search, as deep as ``depth``, ``max_nodes`` and ``seconds`` allow.

    Without ``search`` it is the first of `searches_for`, without ``seat`` values are those of the
    seat to move.  A position with more actions than there may be nodes shows the first of them
    only.  Raises what `explain` raises, but not that the tree is too large; `ValueError` if not
    even one action could be looked at in time.
    """
    chosen = search or next(iter(searches_for(game)), "alpha_beta")
    if chosen not in SEARCHES:
        raise UnknownSearch(chosen)
    if max_nodes < 2 or (depth is not None and depth < 1):
        raise ValueError(f"max_nodes={max_nodes}, depth={depth}: expected at least 2 and 1")
    require_fit(chosen, game)
    if state.to_move == TERMINAL:
        raise ValueError("the game is over here: there is no tree to search")
    if seat is None:
        seat = max(state.to_move, 0)
    asked = _Bounded(game, state, SEARCHES[chosen], None, None, seat, False, None, max_nodes)
    asked.now, asked.stop = now, now() + seconds
    most = min(depth or WHOLE, WHOLE)
    found: tuple[int, Node, int] | None = None
    complete = False
    for plies in range(1, most + 1):
        root = asked.record(plies)
        if root is None:
            break
        found = plies, root, asked.nodes
        complete = all(node.kind is not Kind.ESTIMATE for node in root.all())
        if complete:
            break
    if found is None:
        found = _first_actions(asked)
    plies, root, nodes = found
    whole = complete and asked.max_actions is None
    tree = Explanation(
        game=game,
        search=chosen,
        depth=None if whole else plies,
        seat=seat,
        max_actions=asked.max_actions,
        root=root,
        nodes=nodes,
    )
    return Fitted(tree, whole, not whole and plies < most)


def _first_actions(asked: _Bounded) -> tuple[int, Node, int]:
    """One ply with as many actions as may be shown."""
    asked.max_actions = asked.max_nodes - 1
    root = asked.record(1)
    if root is None:
        raise ValueError("the position takes too long to look at")
    return 1, root, asked.nodes
