"""``expectimax``: the best answer to opponents who play in a known way."""

from __future__ import annotations

from typing import Any

from plyhouse.bots import SearchBot, Turn
from plyhouse.search.limit import Limit
from plyhouse.search.policies import mixed_policy, remembered, search_policy
from plyhouse.search.trees.minimax import expectimax, minimax

__all__ = ["ExpectimaxBot"]


class ExpectimaxBot(SearchBot):
    """Assumes that others play at random, or ``minimax_share`` of the time as depth-2 minimax
    would: ``expectimax(minimax_share=0.8)`` is for two-seat, zero-sum, deterministic games.

    The search reports the best action of each depth (through ``turn.limit``) and breaks ties with
    the turn's random generator, so that matches can differ.
    """

    name = "expectimax"
    algorithm = "expectimax"

    def __init__(
        self,
        time: float | None = None,
        depth: int | None = None,
        nodes: int | None = None,
        minimax_share: float = 0.0,
    ) -> None:
        super().__init__(time=time, depth=depth, nodes=nodes)
        if not 0.0 <= minimax_share <= 1.0:
            raise ValueError(f"minimax_share={minimax_share!r}: expected a share from 0 to 1")
        self.share = minimax_share

    def choose(self, turn: Turn) -> Any:
        """Return the best action that the search found in time."""
        model = None
        if self.share:
            clever = search_policy(minimax, turn.game, Limit(depth=2), share_ties=True)
            model = remembered(mixed_policy(clever, self.share))
        limit = self.limit(turn)
        seed = self.seed(turn)
        return self.say(turn, expectimax(turn.game, turn.state, limit, opponents=model, seed=seed))
