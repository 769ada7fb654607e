"""``perfect``: small games from a table of all positions; other games until a table reaches.

Retrograde analysis, see `plyhouse.search.retrograde`.
"""

from __future__ import annotations

import functools
from concurrent.futures import Future
from typing import Any

from plyhouse.bots import SearchBot, Turn
from plyhouse.bots.reference.background import begun, value_in_time
from plyhouse.games.base import Game
from plyhouse.search.tables.endgame_table import EndgameTable
from plyhouse.search.tables.retrograde import TooManyPositions, retrograde, solve
from plyhouse.search.trees.alpha_beta import alpha_beta

__all__ = ["PerfectBot"]

MOST = 200_000
"""Positions to solve at most: a second or two."""


class PerfectBot(SearchBot):
    """Looks the position up; where it is not in the table, searches down to the table.

    A thread makes the table.  Until it is ready, the bot searches without it.
    For checkers the table has all positions with four pieces. For other games it has all
    positions, if they are few enough, as those of hexapawn up to four by four.
    """

    name = "perfect"
    games = ("checkers", "coins", "hexapawn", "nim", "tic_tac_toe")

    def choose(self, turn: Turn) -> Any:
        """Return an action that keeps the value of the game, if the table knows it."""
        turn.narrow(self.own)
        turn.report(turn.some_action)
        known = value_in_time(turn, table(turn.game))
        if known is not None and turn.state in known:
            return self.say(
                turn, retrograde(turn.game, turn.state, table=known, seed=self.seed(turn))
            )
        evaluate = known.evaluate() if known is not None else None
        found = alpha_beta(
            turn.game,
            turn.state,
            turn.limit,
            evaluate=evaluate,
            seed=self.seed(turn),
            endings=True,
        )
        return self.say(turn, found)


@functools.lru_cache(maxsize=8)
def table(game: Game) -> Future[EndgameTable | None]:
    """Begin to make the table of a game, once per process."""
    return begun(functools.partial(solved, game))


def solved(game: Game) -> EndgameTable | None:
    """Return the table of a game; None if there are too many positions."""
    if game.info.name == "checkers":
        return None  # alpha-beta reads the table that the game ships
    try:
        return solve(game, most=MOST)
    except TooManyPositions:
        return None
