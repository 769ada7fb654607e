"""``paranoid``: alpha-beta against everyone else, for any number of seats."""

from __future__ import annotations

from plyhouse.bots import SearchBot
from plyhouse.search.trees.many_seats import paranoid

__all__ = ["ParanoidBot"]


class ParanoidBot(SearchBot):
    """Assumes that all other seats play together against it.

    The search reports the best action of each depth (through ``turn.limit``) and breaks ties with
    the turn's random generator, so that matches can differ.
    """

    name = "paranoid"
    algorithm = "paranoid"
    search = paranoid
