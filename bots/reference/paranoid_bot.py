"""``paranoid``: alpha-beta against everyone else, for any number of seats."""

from __future__ import annotations

from typing import Any

from plyhouse.bots import SearchBot, Turn
from plyhouse.search.trees.many_seats import paranoid

__all__ = ["ParanoidBot"]


class ParanoidBot(SearchBot):
    """Assumes that all other seats play together against it.

    The search reports the best action of each depth (through ``turn.limit``) and breaks ties with
    the turn's random generator, so that matches can differ.
    """

    name = "paranoid"
    algorithm = "paranoid"

    def choose(self, turn: Turn) -> Any:
        """Return the best action that the search found in time."""
        return self.say(
            turn, paranoid(turn.game, turn.state, self.limit(turn), seed=self.seed(turn))
        )
