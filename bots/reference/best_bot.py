"""``best``: plays every game by the algorithm that suits it."""

from __future__ import annotations

import functools
import importlib
from concurrent.futures import Future
from typing import Any, Final

from plyhouse.bots import Bot, Turn
from plyhouse.bots.loading import default_name
from plyhouse.bots.reference.background import begun, value_in_time
from plyhouse.games.base import CHANCE, Game
from plyhouse.games.endgames import Meter
from plyhouse.protocol.messages import Outcome
from plyhouse.search.game_requirements import recommended
from plyhouse.search.limit import Limit

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
    "hearts": "hearts_bot:HeartsBot",
    "monopoly": "monopoly_bot:MonopolyBot",
    "scrabble": "scrabble_bot:ScrabbleBot",
    "texas_holdem": "holdem_rule_bot:HoldemRuleBot",
}
"""Bots made for one game, which play it instead of a search."""
LIMIT_HOLDEM: Final = "holdem_cfr_bot:CfrHoldemBot"
"""The bot for hold'em of two seats with fixed bets, for which a policy has been computed."""


WAIT: Final = 0.9
"""Part of a turn's time that the first turn waits for the bot of its game."""


class BestBot(Bot):
    """Plays every game, by the algorithm that `plyhouse.search.game_requirements.recommended`
    names, or by the bot made for the game.  Replays show that bot's name at its first turn, unless
    it says something of its own there.

    Takes the options of a `SearchBot`.  They bound the turn, whichever bot plays it.
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

    def choose(self, turn: Turn) -> Any:
        """Return what the chosen bot plays."""
        turn.narrow(self.own)
        turn.report(turn.some_action)
        if self.bot is None:
            # To choose an algorithm and to import its bot may take longer than a short turn.
            kind = value_in_time(turn, bot_of(turn.game), WAIT)
            if kind is None:
                return turn.random_action()
            self.bot = kind()
            self.bot.start(turn)
            action = self.bot.choose(turn)
            if not turn.said:
                turn.info(text=f"played by {default_name(kind)}")
            return action
        return self.bot.choose(turn)

    def finish(self, outcome: Outcome) -> None:
        """Pass the end on."""
        if self.bot is not None:
            self.bot.finish(outcome)


@functools.lru_cache(maxsize=64)
def bot_of(game: Game) -> Future[type[Bot]]:
    """Begin to import the bot for a game, once per process."""
    return begun(functools.partial(prepared, game))


def prepared(game: Game) -> type[Bot]:
    """Return the class of the bot for a game, with the tables of the game in memory."""
    kind = bot_for(game)
    state: Any = game.initial_state()
    while state.to_move == CHANCE:
        state = state.after(state.chance_outcomes()[0][0])
    if hasattr(state, "heuristic"):
        state.heuristic()
    if hasattr(state, "endings"):
        state.endings(Meter())
    return kind


@functools.lru_cache(maxsize=64)
def bot_for(game: Game) -> type[Bot]:
    """Return the class of the bot for a game; imports it only now, as most processes need one."""
    own = OF_ONE_GAME.get(game.info.name)
    if game.info.name == "texas_holdem" and _is_limit_duel(game):
        own = LIMIT_HOLDEM
    module, _, name = (own or BOTS[recommended(game).algorithm]).partition(":")
    found: type[Bot] = getattr(importlib.import_module(f"plyhouse.bots.reference.{module}"), name)
    return found


def _is_limit_duel(game: Game) -> bool:
    """Return whether a policy for limit hold'em is for this game."""
    from plyhouse.bots.reference.holdem_cfr_bot import suits

    return suits(game)
