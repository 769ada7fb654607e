"""``minimax``: plain minimax, the yardstick for everything that prunes."""

from __future__ import annotations

from typing import Any

from plyhouse.bots import Bot, Turn
from plyhouse.search.minimax import minimax

__all__ = ["MinimaxBot"]


class MinimaxBot(Bot):
    """Searches all lines, deeper and deeper, until its time is used.

    The search reports the best action of every depth by itself (through ``turn.limit``), and
    breaks ties by the turn's own seed, so that two matches need not be the same.
    """

    name = "minimax"
    games = ("tic_tac_toe", "connect_four")

    def choose(self, turn: Turn) -> Any:
        """Return the best action that the search found in time."""
        seed = turn.rng.getrandbits(32)
        return minimax(turn.game, turn.state, turn.limit, seed=seed).action
