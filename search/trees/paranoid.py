"""Paranoid: alpha-beta against a coalition of all other seats.

Sturtevant and Korf, "On pruning techniques for multi-player games", AAAI (2000).

>>> from plyhouse.games.trees import tree_game
>>> game = tree_game("([3 9 0] [1 2 6]) ([2 1 5] [2 4 4])")
>>> paranoid(game, game.initial_state()).values  # as if seat 1 cared for nothing but our loss
{'1': 1.0, '2': 2.0}
"""

from __future__ import annotations

from typing import Any

from plyhouse.games.base import Game
from plyhouse.search.callback_types import Evaluation
from plyhouse.search.limit import UNLIMITED, Limit, SearchResult
from plyhouse.search.trees.chance_nodes import star_search

__all__ = ["paranoid"]


def paranoid(
    game: Game,
    state: Any,
    limit: Limit = UNLIMITED,
    *,
    evaluate: Evaluation | None = None,
    seed: int = 0,
    pruning: str = "star2",
    bounds: tuple[float, float] | None = None,
    chance_samples: int | None = None,
) -> SearchResult:
    """Find the action that is best if all other seats do nothing but harm the seat to move.

    The others are assumed to minimise the return of this seat at any cost to themselves.  So the
    value is the return that the seat is certain of, in a game of any number of seats, zero-sum or
    not.  As there are two sides it prunes as alpha-beta does, and so looks deeper than
    `plyhouse.search.trees.maxn.maxn`, whose view of the others is often truer.

    ``pruning`` ("star1" or "star2"), ``bounds`` and ``chance_samples`` concern chance nodes;
    for them and for deepening, ``evaluate`` and ``seed`` see
    `plyhouse.search.trees.expectiminimax.expectiminimax`.  ``values`` holds upper bounds for the
    actions that are not best.

    Raises `GameMismatch` for a game that does not fit, and `ValueError` when no seat is to
    move, an option makes no sense, or values are out of bounds.
    """
    return star_search(
        "paranoid",
        [seat == state.to_move for seat in range(game.seats)],
        game,
        state,
        limit,
        evaluate=evaluate,
        seed=seed,
        pruning=pruning,
        bounds=bounds,
        chance_samples=chance_samples,
    )
