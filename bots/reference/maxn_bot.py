"""``maxn``: max^n, for any number of seats."""

from __future__ import annotations

from typing import Any

from plyhouse.bots import SearchBot, Turn
from plyhouse.search.trees.many_seats import maxn

__all__ = ["MaxnBot"]


class MaxnBot(SearchBot):
    """Assumes that every seat maximises its own return.

    The search reports the best action of each depth (through ``turn.limit``) and breaks ties with
    the turn's random generator, so that matches can differ.
    """

    name = "maxn"
    algorithm = "maxn"

    def choose(self, turn: Turn) -> Any:
        """Return the best action that the search found in time."""
        return self.say(turn, maxn(turn.game, turn.state, self.limit(turn), seed=self.seed(turn)))
