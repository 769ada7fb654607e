"""``gnubg``: plays backgammon by GNU Backgammon, ``gnubg(options="plies=0")``."""

from __future__ import annotations

from typing import Any

from plyhouse.bots.api import Turn
from plyhouse.bots.engines.backgammon_notation import action_of, position_id
from plyhouse.bots.engines.engine_bot import Engine, EngineBot, Thinking
from plyhouse.bots.engines.errors import EngineError
from plyhouse.bots.engines.gnubg import GnubgClient, Hint, Version

__all__ = ["GnubgBot", "GnubgEngine"]


class GnubgEngine(Engine):
    """GNU Backgammon at its text interface."""

    protocol = "gnubg"
    farewell = ("exit",)
    temporary_home = True  # it replaces ~/.history and creates ~/.gnubg

    def introduce(self) -> None:
        """Wait until it is up, and set the options of the user."""
        self.client = GnubgClient()
        lines = [self.client.set_option(name, value) for name, value in self.options]
        self.process.send("show version")
        self.await_start(self.client.receive, Version, "show version")
        self.process.send(*lines)


class GnubgBot(EngineBot):
    """Bot that plays backgammon by GNU Backgammon.

    engine: its program, a name or a path, with arguments behind it.
    options: "plies=2" (0 to 3), "noise=0.05" (0 to 1) and "threads=1".
    points: play for gammons, too, instead of only to win.
    """

    name = "gnubg"
    kind = GnubgEngine
    options_example = "plies=2; threads=1"
    games = ("backgammon",)

    def __init__(self, engine: str = "gnubg", options: str = "", points: bool = False) -> None:
        self.points = points
        super().__init__(engine, options)

    def choose(self, turn: Turn) -> Any:
        """Return the engine's turn; the only action if there is one only."""
        if turn.game.info.name != "backgammon":
            raise EngineError(
                f"GNU Backgammon plays backgammon, not {turn.game.spec}: accept only that, with "
                "--game backgammon."
            )
        if len(turn.legal) == 1:
            return turn.legal[0]
        engine = self.running(GnubgEngine)
        if engine.match is not self:
            engine.process.send(*engine.client.start(points=self.points))
            engine.match = self
        state = turn.state
        own, other = (state.one, state.two) if turn.seat == 0 else (state.two, state.one)
        dice = divmod(state.dice, 10)
        engine.process.send(*engine.client.ask(position_id(other, own), dice))
        return Thinking(engine, turn, (), None).answer(
            lambda line: self._receive(line, engine, turn)
        )

    def _receive(self, line: str, engine: GnubgEngine, turn: Turn) -> Any | None:
        """Return the action of a line with a hint."""
        hint = engine.client.receive(line)
        if not isinstance(hint, Hint):
            return None
        turn.info(value=hint.equity, text=f"equity {hint.equity:+}")
        return action_of(turn.game, turn.state, hint.turn, engine.client.name)
