"""``td_gammon``: backgammon by a network you trained: ``td_gammon(file="network.toml")``."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from plyhouse.bots import SearchBot, Turn
from plyhouse.games.stochastic.backgammon.estimate import Network, points_of
from plyhouse.learning.backgammon_training import SHIPPED, load_backgammon_network
from plyhouse.search.trees.minimax import expectiminimax

__all__ = ["TdGammonBot", "valued_by"]


class TdGammonBot(SearchBot):
    """Deepens an expectiminimax search that values positions by a network.

    ``file`` is a network that ``plyhouse learn backgammon`` has written; without it the bot takes
    one that the same command made for Plyhouse. With ``depth=1`` it plays the turn after which the
    network likes its position best, as TD-Gammon did.  Raises `InvalidFile` for a file without a
    network.
    """

    name = "td_gammon"
    games = ("backgammon",)
    reads = ("file",)

    def __init__(
        self,
        file: str = "",
        time: float | None = None,
        depth: int | None = None,
        nodes: int | None = None,
    ) -> None:
        super().__init__(time=time, depth=depth, nodes=nodes)
        self.network = network_of(file or SHIPPED)
        self.evaluate: Callable[[Any, int], float] | None = None

    def choose(self, turn: Turn) -> Any:
        """Return the best action that the search found in time."""
        if self.evaluate is None:
            self.evaluate = valued_by(self.network)
        return self.say(
            turn,
            expectiminimax(
                turn.game,
                turn.state,
                self.limit(turn),
                evaluate=self.evaluate,
                seed=self.seed(turn),
                pruning="star2",
            ),
        )


network_of = functools.cache(load_backgammon_network)
"""Networks of this process by file, for later matches."""


def valued_by(network: Network) -> Callable[[Any, int], float]:
    """Return an evaluation for searches: the points that a seat may expect by a network."""

    def evaluate(state: Any, seat: int) -> float:
        if state.turn < 0:
            return 0.0  # either seat may begin
        if state.turn == 0:
            points = points_of(state.one, state.two, network)
        else:
            points = points_of(state.two, state.one, network)
        return points if state.turn == seat else -points

    return evaluate
