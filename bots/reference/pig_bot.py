"""``pig_optimal``: pig for two as well as it can be played.

Neller and Presser, "Optimal play of the dice game Pig" (2004).  The bot solves the game for its
target and die at the beginning of its first match.
"""

from __future__ import annotations

import functools
from concurrent.futures import Future
from typing import Any, Final

from plyhouse.bots import Bot, Turn
from plyhouse.bots.reference.background import begun, value_in_time
from plyhouse.games.base import Game
from plyhouse.games.stochastic.pig import HOLD, ROLL
from plyhouse.search.tables.pig_solution import PigSolution, solve_pig

__all__ = ["PigOptimal"]

ENOUGH: Final = 20
"""Points of a turn with which it holds until the game is solved (Neller and Presser, section 2)."""


class PigOptimal(Bot):
    """Rolls or holds, whichever wins more often; the first seat wins 53.06 % against itself.

    Solving the standard game takes about a second. If the clock is shorter than that, the bot
    holds at 20 for its first turns and goes on solving meanwhile.
    """

    name = "pig_optimal"
    games = ("pig",)

    def choose(self, turn: Turn) -> Any:
        """Return the optimal action."""
        solving = solution(turn.game)
        if len(turn.legal) == 1:
            return turn.legal[0]
        rough = HOLD if turn.state.total >= ENOUGH else ROLL
        turn.report(rough)
        solved = value_in_time(turn, solving)
        if solved is None:
            return rough
        return solved.best_action(turn.state)


@functools.lru_cache(maxsize=4)
def solution(game: Game) -> Future[PigSolution]:
    """Begin to solve a game, once per process."""
    return begun(functools.partial(solve_pig, game))
