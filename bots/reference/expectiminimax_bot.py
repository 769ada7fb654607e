"""``expectiminimax``: minimax with chance nodes, for games with dice."""

from __future__ import annotations

from functools import partial

from plyhouse.bots import SearchBot
from plyhouse.search.trees.minimax import expectiminimax

__all__ = ["ExpectiminimaxBot"]


class ExpectiminimaxBot(SearchBot):
    """Weighs what the dice may do by its probability, with Star2 pruning.

    The search reports the best action of each depth (through ``turn.limit``) and breaks ties with
    the turn's random generator, so that matches can differ.
    """

    name = "expectiminimax"
    algorithm = "expectiminimax"
    search = partial(expectiminimax, pruning="star2")
