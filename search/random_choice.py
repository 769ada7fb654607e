"""The player every other must beat: a uniformly random legal action.

>>> from plyhouse.games import get_game
>>> game = get_game("connect_four")
>>> random_action(game, game.initial_state(), seed=7).action
3
>>> random_action(game, game.initial_state(), seed=7).action
3
"""

from __future__ import annotations

import random
from typing import Any

from plyhouse.games.base import Game
from plyhouse.search.game_requirements import require_fit
from plyhouse.search.limit import UNLIMITED, Limit, SearchResult

__all__ = ["random_action"]


def random_action(
    game: Game, state: Any, limit: Limit = UNLIMITED, *, seed: int = 0
) -> SearchResult:
    """Choose uniformly among the legal actions; the same seed chooses the same.

    Plays any game.  The value is 0 because nothing was looked at, and the limit is never
    reached.  Raises `ValueError` when no seat is to move.
    """
    started = limit.clock()
    require_fit("random_action", game, state)
    action = random.Random(seed).choice(state.actions())
    seconds = (limit.clock() - started) / 1e9
    result = SearchResult(action=action, value=0.0, pv=(action,), depth=0, nodes=1, time=seconds)
    if limit.report is not None:
        limit.report(result)
    return result
