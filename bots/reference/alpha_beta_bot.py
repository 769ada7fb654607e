"""``alpha_beta``: alpha-beta search, deepened until the time for the turn is used."""

from __future__ import annotations

from typing import Any

from plyhouse.bots import SearchBot, Turn
from plyhouse.search.trees.alpha_beta import alpha_beta
from plyhouse.search.trees.transpositions import TranspositionTable

__all__ = ["AlphaBetaBot"]


class AlphaBetaBot(SearchBot):
    """Runs iterative deepening until its time is used, and keeps the transposition table for its
    next turn.

    The search reports the best action of each depth (through ``turn.limit``) and breaks ties with
    the turn's random generator, so that matches can differ.
    ``alpha_beta(depth=4)`` searches at most four plies, and captures and the like deeper.

    selective: reduce late actions, extend forced positions, and prune by null moves and futility.
        On by default in games whose states have ``passed()``, such as chess.
    """

    name = "alpha_beta"
    algorithm = "alpha_beta"
    table: TranspositionTable | None = None
    """The table of this match; created at the first turn."""

    def __init__(
        self,
        time: float | None = None,
        depth: int | None = None,
        nodes: int | None = None,
        selective: bool | None = None,
    ) -> None:
        super().__init__(time=time, depth=depth, nodes=nodes)
        self.selective = selective

    def choose(self, turn: Turn) -> Any:
        """Return the best action that the search found in time."""
        if self.table is None:
            self.table = TranspositionTable()
        selective = self.selective
        if selective is None:
            selective = hasattr(turn.state, "passed")
        found = alpha_beta(
            turn.game,
            turn.state,
            self.limit(turn),
            seed=self.seed(turn),
            table=self.table,
            reductions=selective,
            null_moves=selective,
            futility=selective,
        )
        return self.say(turn, found)
