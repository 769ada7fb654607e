"""``alpha_beta``: alpha-beta search, deepened until the time for the turn is used."""

from __future__ import annotations

from typing import Any

from plyhouse.bots import SearchBot, Turn
from plyhouse.search.trees.alpha_beta import alpha_beta
from plyhouse.search.trees.transpositions import TranspositionTable

__all__ = ["AlphaBetaBot"]


class AlphaBetaBot(SearchBot):
    """Deepens an alpha-beta search until its time is used, and keeps what it learnt about
    positions for its next turn.

    The search reports the best action of every depth by itself (through ``turn.limit``), and
    breaks ties by the turn's own seed, so that two matches need not be the same.
    ``alpha_beta(depth=4)`` looks at most four plies ahead, captures and the like further.
    """

    name = "alpha_beta"
    algorithm = "alpha_beta"
    table: TranspositionTable | None = None
    """For this match; made on the first turn."""

    def choose(self, turn: Turn) -> Any:
        """Return the best action that the search found in time."""
        if self.table is None:
            self.table = TranspositionTable()
        return self.say(
            turn,
            alpha_beta(
                turn.game, turn.state, self.limit(turn), seed=self.seed(turn), table=self.table
            ),
        )
