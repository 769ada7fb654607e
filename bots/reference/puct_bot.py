"""``puct``: PUCT tree search with the game's own heuristic as evaluator."""

from __future__ import annotations

from collections.abc import Sequence

from plyhouse.bots import SearchBot
from plyhouse.games.registry import get_game
from plyhouse.search.monte_carlo.puct import puct

__all__ = ["PuctBot"]


class PuctBot(SearchBot):
    """Bot that searches by PUCT with equal priors and ``heuristic()`` of the states as values.

    For a learned evaluator, write a bot that passes it to `plyhouse.search.monte_carlo.puct.puct`.
    """

    name = "puct"
    algorithm = "puct"
    search = puct

    @classmethod
    def claims(cls) -> Sequence[str]:
        """Return the games that PUCT can play and whose states have a heuristic."""
        fitting = super().claims()
        return [name for name in fitting if hasattr(get_game(name).initial_state(), "heuristic")]
