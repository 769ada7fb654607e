"""``pig_optimal``: pig for two as well as it can be played.

Neller and Presser, "Optimal play of the dice game Pig" (2004); the bot solves the game, with
whatever target and die, before its first action.
"""

from __future__ import annotations

import functools
from typing import Any

from plyhouse.bots import Bot, Turn
from plyhouse.games.base import Game
from plyhouse.search.tables.pig_solution import PigSolution, solve_pig

__all__ = ["PigOptimal"]


class PigOptimal(Bot):
    """Rolls or holds, whichever wins more often; the first seat wins 53.06 % against itself."""

    name = "pig_optimal"
    games = ("pig",)

    def choose(self, turn: Turn) -> Any:
        """Return the optimal action."""
        if len(turn.legal) == 1:
            return turn.legal[0]
        return solution(turn.game).best_action(turn.state)


@functools.lru_cache(maxsize=4)
def solution(game: Game) -> PigSolution:
    """Solve a game once per process, about a second for the standard one."""
    return solve_pig(game)
