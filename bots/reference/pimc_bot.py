"""``pimc``: guesses hidden states and searches each as if all could be seen."""

from __future__ import annotations

from typing import Any

from plyhouse.bots import SearchBot, Turn
from plyhouse.search.monte_carlo.pimc import pimc

__all__ = ["PimcBot"]


class PimcBot(SearchBot):
    """Averages Monte Carlo tree searches of 30 states that fit what it sees."""

    name = "pimc"
    algorithm = "pimc"

    def choose(self, turn: Turn) -> Any:
        """Return the best action that the search found in time."""
        limit = self.limit(turn)
        return self.say(turn, pimc(turn.game, turn.observation, limit, seed=self.seed(turn)))
