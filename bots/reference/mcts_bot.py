"""``mcts``: Monte Carlo tree search that keeps its tree from ply to ply."""

from __future__ import annotations

from typing import Any, Final

from plyhouse.bots import SearchBot, Turn
from plyhouse.search.monte_carlo.mcts import MonteCarloTree

__all__ = ["MctsBot"]


HOPELESS_TURNS: Final = 3
"""Turns in a row with a hopeless value after which the bot resigns."""


class MctsBot(SearchBot):
    """UCT with proven values until its time is used, or 1000 simulations without a clock.

    Each search starts with the subtree of the current position from the previous search.  Further
    options: ``exploration`` and ``rave``, as in `plyhouse.search.monte_carlo.mcts.mcts`.
    ``resign`` is a share of the range of returns.  The bot resigns if it expects less than that,
    above the worst return, in three turns in a row.  With 0.05 it resigns below a win in twenty
    matches, and with 0 never.
    """

    name = "mcts"
    algorithm = "mcts"

    def __init__(
        self,
        time: float | None = None,
        depth: int | None = None,
        nodes: int | None = None,
        simulations: int | None = None,
        exploration: float | None = None,
        rave: float | None = None,
        resign: float = 0.0,
    ) -> None:
        super().__init__(time, depth, nodes, simulations)
        if not 0.0 <= resign < 1.0:
            raise ValueError(f"mcts(resign={resign!r}): expected a share from 0 to less than 1")
        self.exploration = exploration
        self.rave = rave
        self.resign = resign
        self.hopeless = 0
        self.tree: MonteCarloTree | None = None

    def choose(self, turn: Turn) -> Any:
        """Return the best action that the search found in time, or resign."""
        limit = self.limit(turn)
        if self.tree is None:
            self.tree = MonteCarloTree(
                turn.game, seed=self.seed(turn), exploration=self.exploration, rave=self.rave
            )
        result = self.tree.search(turn.state, limit)
        low, high = turn.game.return_bounds
        is_hopeless = result.simulations > 0 and result.value - low < self.resign * (high - low)
        self.hopeless = self.hopeless + 1 if is_hopeless else 0
        if self.hopeless == HOPELESS_TURNS:
            turn.resign()
        return self.say(turn, result)
