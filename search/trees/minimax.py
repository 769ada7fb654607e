"""Minimax with a depth limit and an evaluation function, without pruning.

von Neumann, "Zur Theorie der Gesellschaftsspiele", Mathematische Annalen 100 (1928).  Shannon,
"Programming a computer for playing chess", Philosophical Magazine 41 (1950), for valuing the
positions at the depth limit by an evaluation.

>>> from plyhouse.games.trees import tree_game
>>> game = tree_game("(3 12 8) (2 4 6) (14 5 2)")  # MAX moves, then MIN
>>> result = minimax(game, game.initial_state())
>>> result.action, result.value, result.nodes
('1', 3.0, 13)
>>> result.values
{'1': 3.0, '2': 2.0, '3': 2.0}
"""

from __future__ import annotations

from typing import Any

from plyhouse.games.base import Game
from plyhouse.search.callback_types import Evaluation
from plyhouse.search.kernels.expectiminimax import ExpectiminimaxKernel
from plyhouse.search.limit import UNLIMITED, Limit, SearchResult
from plyhouse.search.trees.iterative_deepening import tree_search

__all__ = ["minimax"]


def minimax(
    game: Game,
    state: Any,
    limit: Limit = UNLIMITED,
    *,
    evaluate: Evaluation | None = None,
    seed: int = 0,
) -> SearchResult:
    """Find the best action of a two-seat, zero-sum, deterministic game of perfect information.

    Visits every position up to ``limit.depth``.  Under a time or node limit it deepens iteratively,
    so that there is a result at any moment.  Otherwise it searches once, to the depth limit or to
    the end of the game.

    ``evaluate(state, seat)`` values positions at the depth limit, within the bounds of the
    game's returns; without it the state's ``heuristic()`` does, or else they count 0.
    A ``seed`` other than 0 chooses among equally good actions at random, always the same
    for the same seed; 0 takes the first in the game's order.

    Raises `GameMismatch` for a game that does not fit, and `ValueError` when no seat is to
    move or an estimate is out of bounds.
    """
    return tree_search(
        "minimax",
        ExpectiminimaxKernel,
        game,
        state,
        limit,
        evaluate=evaluate,
        seed=seed,
    )
