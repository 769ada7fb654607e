"""``expectiminimax``: minimax with chance nodes, for games with dice."""

from __future__ import annotations

from typing import Any

from plyhouse.bots import Bot, Turn
from plyhouse.search.expectiminimax import expectiminimax

__all__ = ["ExpectiminimaxBot"]


class ExpectiminimaxBot(Bot):
    """Weighs what the dice may do by its probability.

    The search reports the best action of every depth by itself (through ``turn.limit``), and
    breaks ties by the turn's own seed, so that two matches need not be the same.
    """

    name = "expectiminimax"
    games = ("pig", "tic_tac_toe", "connect_four")

    def choose(self, turn: Turn) -> Any:
        """Return the best action that the search found in time."""
        seed = turn.rng.getrandbits(32)
        return expectiminimax(turn.game, turn.state, turn.limit, seed=seed).action
