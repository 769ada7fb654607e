"""``expectiminimax``: minimax with chance nodes, for games with dice."""

from __future__ import annotations

from typing import Any

from plyhouse.bots import SearchBot, Turn
from plyhouse.search.trees.minimax import expectiminimax

__all__ = ["ExpectiminimaxBot"]


class ExpectiminimaxBot(SearchBot):
    """Weighs what the dice may do by its probability, with Star2 pruning.

    The search reports the best action of each depth (through ``turn.limit``) and breaks ties with
    the turn's random generator, so that matches can differ.
    """

    name = "expectiminimax"
    algorithm = "expectiminimax"

    def choose(self, turn: Turn) -> Any:
        """Return the best action that the search found in time."""
        limit = self.limit(turn)
        seed = self.seed(turn)
        return self.say(
            turn, expectiminimax(turn.game, turn.state, limit, seed=seed, pruning="star2")
        )
