"""``flat_monte_carlo``: random playouts after every action, without a tree."""

from __future__ import annotations

from typing import Any

from plyhouse.bots import SearchBot, Turn
from plyhouse.search.monte_carlo.flat_monte_carlo import flat_monte_carlo

__all__ = ["FlatMonteCarloBot"]


class FlatMonteCarloBot(SearchBot):
    """Takes the action after which random play ends best.

    Searches until its time is used, or 1000 simulations where there is no clock.
    """

    name = "flat_monte_carlo"
    algorithm = "flat_monte_carlo"

    def choose(self, turn: Turn) -> Any:
        """Return the best action that the search found in time."""
        limit = self.limit(turn)
        return self.say(turn, flat_monte_carlo(turn.game, turn.state, limit, seed=self.seed(turn)))
