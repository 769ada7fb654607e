"""Alpha-beta: the value of minimax without looking at what cannot change it.

Knuth and Moore, "An analysis of alpha-beta pruning", Artificial Intelligence 6 (1975);
iterative deepening after Slate and Atkin, "CHESS 4.5", in: Chess Skill in Man and
Machine (1977).
"""

from __future__ import annotations

from typing import Any

from plyhouse.games.base import Game
from plyhouse.search.deepening import Evaluation, tree_search
from plyhouse.search.limit import Limit, SearchResult

__all__ = ["alpha_beta"]

UNLIMITED = Limit()


def alpha_beta(
    game: Game,
    state: Any,
    limit: Limit = UNLIMITED,
    *,
    evaluate: Evaluation | None = None,
    seed: int = 0,
    deepen: bool | None = None,
) -> SearchResult:
    """Find the best action of a two-seat, zero-sum, deterministic game of perfect information.

    The value is that of `plyhouse.search.minimax.minimax` at the same depth.  ``values``
    holds upper bounds for the actions that are not best: the search does not need to know
    how bad they are.

    ``deepen`` searches the depths 1, 2, ... in turn, the best line of the previous one
    first; the default does so under a time or node limit, where there must be a result at
    any moment.  ``evaluate(state, seat)`` values positions at the depth limit, within the
    bounds of the game's returns; without it the state's ``heuristic()`` does, or else they
    count 0.  The state's ``order(actions)`` sorts actions, best first, where it has one.
    A ``seed`` other than 0 tries the actions of the root in another order, so that it
    chooses among equally good ones at random, always the same for the same seed.

    Raises `GameMismatch` for a game that does not fit, and `ValueError` when no seat is to
    move or an estimate is out of bounds.
    """
    if deepen is None:
        deepen = limit.time is not None or limit.nodes is not None
    return tree_search(
        "alpha_beta",
        "alpha_beta",
        game,
        state,
        limit,
        evaluate=evaluate,
        seed=seed,
        deepen=deepen,
    )
