"""``mcts``: Monte Carlo tree search that keeps its tree from ply to ply."""

from __future__ import annotations

from typing import Any

from plyhouse.bots import SearchBot, Turn
from plyhouse.search.monte_carlo.mcts import MonteCarloTree

__all__ = ["MctsBot"]


class MctsBot(SearchBot):
    """UCT with proven values until its time is used, or 1000 simulations without a clock.

    Each search starts with the subtree of the current position from the previous search.  Further
    options: ``exploration`` and ``rave``, as in `plyhouse.search.monte_carlo.mcts.mcts`.
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
    ) -> None:
        super().__init__(time, depth, nodes, simulations)
        self.exploration = exploration
        self.rave = rave
        self.tree: MonteCarloTree | None = None

    def choose(self, turn: Turn) -> Any:
        """Return the best action that the search found in time."""
        limit = self.limit(turn)
        if self.tree is None:
            self.tree = MonteCarloTree(
                turn.game, seed=self.seed(turn), exploration=self.exploration, rave=self.rave
            )
        return self.say(turn, self.tree.search(turn.state, limit))
