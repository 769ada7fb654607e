"""``minimax``: plain minimax, the yardstick for everything that prunes."""

from __future__ import annotations

from plyhouse.bots import SearchBot
from plyhouse.search.trees.minimax import minimax

__all__ = ["MinimaxBot"]


class MinimaxBot(SearchBot):
    """Searches all lines, deeper and deeper, until its time is used.

    The search reports the best action of each depth (through ``turn.limit``) and breaks ties with
    the turn's random generator, so that matches can differ.
    """

    name = "minimax"
    algorithm = "minimax"
    search = minimax
