"""``ismcts``: information-set Monte Carlo tree search, for hidden information."""

from __future__ import annotations

from typing import Any

from plyhouse.bots import SearchBot, Turn
from plyhouse.search.monte_carlo.ismcts import ismcts

__all__ = ["IsmctsBot"]


class IsmctsBot(SearchBot):
    """Searches over what the seats know, and draws its action by the visits.

    A fixed choice could be foreseen, where the right play is a mixture.
    """

    name = "ismcts"
    algorithm = "ismcts"

    def choose(self, turn: Turn) -> Any:
        """Return the best action that the search found in time."""
        limit = self.limit(turn)
        game = turn.game.abstraction()
        return self.say(
            turn, ismcts(game, turn.observation, limit, seed=self.seed(turn), choose="sample")
        )
