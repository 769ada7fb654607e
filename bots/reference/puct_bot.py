"""``puct``: a tree search led by an estimate of positions, here the game's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from plyhouse.bots import SearchBot, Turn
from plyhouse.games.registry import get_game
from plyhouse.search.monte_carlo.puct import puct

__all__ = ["PuctBot"]


class PuctBot(SearchBot):
    """Equal priors, and the ``heuristic()`` of the game's states as estimates.

    Give `plyhouse.search.monte_carlo.puct.puct` an evaluator of your own for a bot with a learned
    one.
    """

    name = "puct"
    algorithm = "puct"

    @classmethod
    def claims(cls) -> Sequence[str]:
        """Return the games that fit and have a heuristic."""
        fitting = super().claims()
        return [name for name in fitting if hasattr(get_game(name).initial_state(), "heuristic")]

    def choose(self, turn: Turn) -> Any:
        """Return the best action that the search found in time."""
        return self.say(turn, puct(turn.game, turn.state, self.limit(turn), seed=self.seed(turn)))
