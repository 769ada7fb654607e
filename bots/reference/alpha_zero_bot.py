"""``alpha_zero``: PUCT with a network that learned by self-play."""

from __future__ import annotations

import functools
from typing import Any

from plyhouse.bots import SearchBot, Turn
from plyhouse.games.base import Game
from plyhouse.learning.policy_networks import (
    PolicyNetwork,
    evaluator_by,
    load_policy_network,
    shipped_network,
)
from plyhouse.search.files import InvalidFile
from plyhouse.search.monte_carlo.puct import Evaluator, puct

__all__ = ["AlphaZeroBot"]

network_of = functools.cache(load_policy_network)
"""Networks of this process by file, for later matches."""


class AlphaZeroBot(SearchBot):
    """Bot that searches by PUCT, with priors and values from a policy and value network.

    ``file`` is a network that ``plyhouse learn`` has written for the game and its board; without
    it the bot takes the one that comes with Plyhouse.  Raises `InvalidFile` for a file without a
    network.
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
        self.given = network_of(file) if file else None
        """The network of the file."""
        self.evaluators: dict[str, Evaluator] = {}
        """By the spec of the game."""

    def choose(self, turn: Turn) -> Any:
        """Return the best action that the search found in time.

        Raises `InvalidFile` for a network of another game, and `ValueError` if there is no file
        and no network comes with Plyhouse.
        """
        game = turn.game
        if game.spec not in self.evaluators:
            self.evaluators[game.spec] = evaluator_by(self.network(game))
        evaluator = self.evaluators[game.spec]
        return self.say(
            turn,
            puct(game, turn.state, self.limit(turn), evaluator=evaluator, seed=self.seed(turn)),
        )

    def network(self, game: Game) -> PolicyNetwork:
        """Return the network for a game."""
        if self.given is not None:
            network = self.given
            if network.view.spec != game.spec:
                reason = f"this network plays {network.view.spec}, not {game.spec}"
                raise InvalidFile(self.file, reason)
            return network
        file = shipped_network(game)
        if file is None:
            raise ValueError(
                f"no network for {game.spec} comes with Plyhouse, only for "
                f"{', '.join(self.games)}: train one with plyhouse learn, and give its file"
            )
        return load_policy_network(file, game)
