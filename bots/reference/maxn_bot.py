"""``maxn``: max^n, for any number of seats."""

from __future__ import annotations

from plyhouse.bots import SearchBot
from plyhouse.search.trees.many_seats import maxn

__all__ = ["MaxnBot"]


class MaxnBot(SearchBot):
    """Assumes that every seat maximises its own return.

    The search reports the best action of each depth (through ``turn.limit``) and breaks ties with
    the turn's random generator, so that matches can differ.
    """

    name = "maxn"
    algorithm = "maxn"
    search = maxn
