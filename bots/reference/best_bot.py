"""``best``: plays every game by the algorithm that suits it."""

from __future__ import annotations

import functools
import importlib
from typing import Any, Final

from plyhouse.bots import Bot, SearchBot, Turn
from plyhouse.games.base import Game
from plyhouse.protocol.messages import Outcome
from plyhouse.search.limit import Limit
from plyhouse.search.recommendation import recommended

__all__ = ["BestBot", "bot_for"]

BOTS: Final = {
    "alpha_beta": "alpha_beta_bot:AlphaBetaBot",
    "cfr_plus": "policy_bot:PolicyBot",
    "expectimax": "expectimax_bot:ExpectimaxBot",
    "expectiminimax": "expectiminimax_bot:ExpectiminimaxBot",
    "ismcts": "ismcts_bot:IsmctsBot",
    "maxn": "maxn_bot:MaxnBot",
    "mcts": "mcts_bot:MctsBot",
    "team_search": "team_search_bot:TeamSearchBot",
}
"""The bot that plays by each algorithm `recommended` may name."""
OF_ONE_GAME: Final = {
    "bridge": "bridge_bot:DoubleDummyBot",
    "monopoly": "monopoly_bot:MonopolyBot",
    "scrabble": "scrabble_bot:ScrabbleBot",
    "texas_holdem": "holdem_cfr_bot:CfrHoldemBot",
}
"""Bots made for one game, which play it instead of a search."""


class BestBot(Bot):
    """Plays every game, by the algorithm that `plyhouse.search.recommendation.recommended` names.

    Takes the options of a `SearchBot`, for those that search.
    """

    name = "best"

    def __init__(
        self,
        time: float | None = None,
        depth: int | None = None,
        nodes: int | None = None,
        simulations: int | None = None,
    ) -> None:
        self.own = Limit(time=time, depth=depth, nodes=nodes, simulations=simulations)
        self.bot: Bot | None = None

    def start(self, turn: Turn) -> None:
        """Choose the algorithm for this match."""
        # Importing its bot may take longer than a short move, and any action is better than none.
        turn.report(turn.legal[0])
        self.bot = bot_for(turn.game)()
        if isinstance(self.bot, SearchBot):
            self.bot.own = self.own
        self.bot.start(turn)

    def choose(self, turn: Turn) -> Any:
        """Return what the chosen bot plays."""
        if self.bot is None:
            self.start(turn)
        assert self.bot is not None  # noqa: S101 - `start` has just made it
        return self.bot.choose(turn)

    def finish(self, outcome: Outcome) -> None:
        """Pass the end on."""
        if self.bot is not None:
            self.bot.finish(outcome)


@functools.lru_cache(maxsize=64)
def bot_for(game: Game) -> type[Bot]:
    """Return the class of the bot for a game; imports it only now, as most processes need one."""
    own = OF_ONE_GAME.get(game.info.name)
    module, _, name = (own or BOTS[recommended(game).algorithm]).partition(":")
    found: type[Bot] = getattr(importlib.import_module(f"plyhouse.bots.reference.{module}"), name)
    return found
