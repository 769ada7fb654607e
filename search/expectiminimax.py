"""Expectiminimax: minimax whose chance nodes are worth the mean of their outcomes.

Michie, "Game-playing and game-learning automata", in: Advances in Programming and
Non-numerical Computation (1966).
"""

from __future__ import annotations

from typing import Any

from plyhouse.games.base import Game
from plyhouse.search.deepening import Evaluation, tree_search
from plyhouse.search.limit import Limit, SearchResult

__all__ = ["expectiminimax"]

UNLIMITED = Limit()


def expectiminimax(
    game: Game,
    state: Any,
    limit: Limit = UNLIMITED,
    *,
    evaluate: Evaluation | None = None,
    seed: int = 0,
) -> SearchResult:
    """Find the best action of a two-seat, zero-sum game of perfect information, with or
    without chance nodes.

    A chance node counts as one ply of the depth.  Under a time or node limit it deepens
    iteratively, so that there is a result at any moment; otherwise it searches once, to
    the depth limit or to the end of the game.  A game that chance can prolong for ever,
    like pig, needs a limit of some kind.

    ``evaluate(state, seat)`` values positions at the depth limit, within the bounds of the
    game's returns; without it the state's ``heuristic()`` does, or else they count 0.
    Chance nodes are valued too where the depth ends at one.  A ``seed`` other than 0
    chooses among equally good actions at random, always the same for the same seed; 0
    takes the first in the game's order.

    Raises `GameMismatch` for a game that does not fit, and `ValueError` when no seat is to
    move or an estimate is out of bounds.
    """
    return tree_search(
        "expectiminimax",
        "expectiminimax",
        game,
        state,
        limit,
        evaluate=evaluate,
        seed=seed,
        deepen=limit.time is not None or limit.nodes is not None,
    )
