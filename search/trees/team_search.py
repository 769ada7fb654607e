"""Team search: alpha-beta and expectiminimax between two teams of seats.

With two teams whose returns are opposite, minimax over teams is minimax: Knuth and Moore, "An
analysis of alpha-beta pruning", Artificial Intelligence 6 (1975); chance nodes after Ballard,
"The *-minimax search procedure for trees containing chance nodes", Artificial Intelligence 21
(1983).

>>> from plyhouse.games import get_game
>>> game = get_game("pacman(layout=duel)")
>>> game.seats, [game.team(seat) for seat in range(game.seats)]
(2, [0, 1])
>>> team_search(game, game.initial_state(), Limit(depth=4)).value
-9.0
"""

from __future__ import annotations

from typing import Any

from plyhouse.games.base import Game
from plyhouse.search.callback_types import Evaluation
from plyhouse.search.limit import UNLIMITED, Limit, SearchResult
from plyhouse.search.trees.chance_nodes import star_search

__all__ = ["team_search"]


def team_search(
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
    """Find the best action for the team of the seat to move, against the other team.

    The seats of a team (`plyhouse.games.base.Game.team`) share their returns and are taken
    to know each other's plans: like Pacman's ghosts, which are as good as one player with
    several bodies.  Two seats that are opponents are two teams of one.

    ``evaluate(state, seat)`` is asked for the seat that searches, whose estimate stands for
    its team.  ``pruning`` ("star1" or "star2"), ``bounds`` and ``chance_samples`` concern
    chance nodes; for them and for deepening and ``seed`` see
    `plyhouse.search.trees.expectiminimax.expectiminimax`.  ``values`` holds upper bounds for the
    actions that are not best.

    Raises `GameMismatch` for a game that does not fit, and `ValueError` when no seat is to
    move, an option makes no sense, or values are out of bounds.
    """
    own = game.team(state.to_move) if state.to_move >= 0 else None
    return star_search(
        "team_search",
        [game.team(seat) == own for seat in range(game.seats)],
        game,
        state,
        limit,
        evaluate=evaluate,
        seed=seed,
        pruning=pruning,
        bounds=bounds,
        chance_samples=chance_samples,
    )
