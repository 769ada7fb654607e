"""``gnubg``: plays backgammon by GNU Backgammon, ``gnubg(options="plies=0")``."""

from __future__ import annotations

from typing import Any

from plyhouse.bots.api import Turn
from plyhouse.bots.engines.engine_bot import START_TIMEOUT, Engine, EngineBot, Thinking
from plyhouse.bots.engines.engine_process import Wait
from plyhouse.bots.engines.errors import EngineError
from plyhouse.bots.engines.gnubg import GnubgClient, Hint, Version, action_of, position_id
from plyhouse.games.base import Game

__all__ = ["GnubgBot", "GnubgEngine"]


class GnubgEngine(Engine):
    """GNU Backgammon at its text interface."""

    protocol = "gnubg"
    farewell = ("exit",)
    temporary_home = True  # it replaces ~/.history and creates ~/.gnubg

    def introduce(self, turn: Wait | None) -> None:
        """Wait until it is up, and set the options of the user."""
        self.client = GnubgClient()
        lines = [self.client.set_option(name, value) for name, value in self.options]
        self.get_ready(turn, *lines)

    def get_ready(self, turn: Wait | None, *lines: str) -> None:
        """Send lines, and wait until the engine has done what they say."""
        self.process.send(*lines, "show version")
        self.await_message(self.client.receive, Version, "show version", turn)

    def set_up(self, game: Game, turn: Wait | None, *, points: bool = False) -> None:
        """Begin a match, for points or only to win; raise `EngineError` for another game."""
        if game.info.name != "backgammon":
            raise EngineError(
                f"GNU Backgammon plays backgammon, not {game.spec}: accept only that, with "
                "--game backgammon."
            )
        self.get_ready(turn, *self.client.start(points=points))


class GnubgBot(EngineBot):
    """Bot that plays backgammon by GNU Backgammon.

    engine: its program, a name or a path, with arguments behind it.
    options: "plies=2" (0 to 3), "noise=0.05" (0 to 1) and "threads=1".
    points: play for gammons, too, instead of only to win.
    start_timeout: seconds that the engine may take to start, and to prepare for a match.
    """

    name = "gnubg"
    kind = GnubgEngine
    options_example = "plies=2; threads=1"
    games = ("backgammon",)

    def __init__(
        self,
        engine: str = "gnubg",
        options: str = "",
        points: bool = False,
        start_timeout: float = START_TIMEOUT,
    ) -> None:
        self.points = points
        super().__init__(engine, options, start_timeout)

    def set_up(self, engine: Any, game: Game, turn: Wait | None) -> None:
        """Let the engine begin a match, for points or only to win."""
        engine.set_up(game, turn, points=self.points)

    def choose(self, turn: Turn) -> Any:
        """Return the engine's turn; the only action if there is one only."""
        thinking = Thinking(turn)
        engine = self.ready(GnubgEngine, turn.game, thinking.wait)
        if len(turn.legal) == 1:
            return turn.legal[0]
        state = turn.state
        own, other = (state.one, state.two) if turn.seat == 0 else (state.two, state.one)
        dice = divmod(state.dice, 10)
        # What the engine still writes about another position comes before its version.
        engine.get_ready(thinking.wait)
        engine.process.send(*engine.client.ask(position_id(other, own), dice))

        def decide(hint: Hint | Version | None) -> Any | None:
            if not isinstance(hint, Hint):
                return None
            turn.info(value=hint.equity, text=f"equity {hint.equity:+}")
            return action_of(turn.game, turn.state, hint.turn, engine.client.name)

        return thinking.answer(engine.process, engine.client.receive, decide)
