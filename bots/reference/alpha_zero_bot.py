"""``alpha_zero``: PUCT with a network that learned by self-play."""

from __future__ import annotations

from typing import Any

from plyhouse.bots import SearchBot, Turn
from plyhouse.search.evaluation.policy_networks import (
    evaluator_by,
    load_policy_network,
    shipped_network,
)
from plyhouse.search.monte_carlo.puct import Evaluator, puct

__all__ = ["AlphaZeroBot"]


class AlphaZeroBot(SearchBot):
    """Bot that searches by PUCT, with priors and values from a policy and value network.

    ``file`` is a network that ``plyhouse learn`` has written for the game and its board; without
    it the bot takes the one that comes with Plyhouse.
    """

    name = "alpha_zero"
    games = ("breakthrough(size=6)", "connect_four", "tic_tac_toe")
    reads = ("file",)

    def __init__(
        self,
        file: str = "",
        time: float | None = None,
        depth: int | None = None,
        nodes: int | None = None,
        simulations: int | None = None,
    ) -> None:
        super().__init__(time=time, depth=depth, nodes=nodes, simulations=simulations)
        self.file = file
        self.evaluators: dict[str, Evaluator] = {}
        """By the spec of the game."""

    def choose(self, turn: Turn) -> Any:
        """Return the best action that the search found in time.

        Raises `InvalidFile` for a file without a network of this game, and `ValueError` if there
        is no file and no network comes with Plyhouse.
        """
        game = turn.game
        if game.spec not in self.evaluators:
            file = self.file or shipped_network(game)
            if not file:
                raise ValueError(
                    f"no network for {game.spec} comes with Plyhouse, only for "
                    f"{', '.join(self.games)}: train one with plyhouse learn, and give its file"
                )
            self.evaluators[game.spec] = evaluator_by(load_policy_network(file, game))
        evaluator = self.evaluators[game.spec]
        return self.say(
            turn,
            puct(game, turn.state, self.limit(turn), evaluator=evaluator, seed=self.seed(turn)),
        )
