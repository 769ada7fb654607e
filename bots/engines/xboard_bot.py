"""``xboard``: plays by an XBoard engine, ``xboard(engine="phalanx")``."""

from __future__ import annotations

from typing import Any

from plyhouse.bots.api import Turn
from plyhouse.bots.engines.engine_bot import Engine, EngineBot, Thinking
from plyhouse.bots.engines.engine_clock import EngineClock, engine_clock
from plyhouse.bots.engines.errors import EngineError
from plyhouse.bots.engines.variants import GAMES, Variant, variant_of
from plyhouse.bots.engines.xboard import (
    Done,
    Move,
    Pong,
    Refused,
    Result,
    Thought,
    XboardClient,
)

__all__ = ["XboardBot", "XboardEngine"]


class XboardEngine(Engine):
    """An XBoard engine."""

    protocol = "XBoard"

    def introduce(self) -> None:
        """Read the features of the engine and set the options of the user."""
        self.client = XboardClient(self.program.name)
        self.moves: list[str] = []
        """Moves of the match that the engine knows."""
        self._pings = 0
        self.process.send("xboard", "protover 2")
        self.await_start(self.client.receive, Done, "protover 2")
        lines = [self.client.set_option(name, value) for name, value in self.options]
        self.get_ready(*lines)

    def get_ready(self, *lines: str) -> None:
        """Send lines, and wait until the engine has done what they say, if it can tell."""
        self.process.send(*lines)
        if self.client.features["ping"] != "1":
            return
        self._pings += 1
        said = f"ping {self._pings}"
        self.process.send(said)
        while self.await_start(self.client.receive, Pong, said).number != self._pings:
            pass

    def plays(self, game: str) -> bool:
        """Return whether it plays chess, or has the variant."""
        return game == "chess" or game in self.client.variants

    def set_up(self, variant: Variant, clock: EngineClock) -> None:
        """Begin a match of this variant; raise `EngineError` if the engine does not play it."""
        client = self.client
        name = "fischerandom" if variant.chess960 else variant.name
        lines = [*client.variant(name), "force", *client.set_board(variant.fen)]
        control = client.time_control(clock.total, clock.increment, clock.use)
        self.moves = []
        self.get_ready("new", *lines, control, "easy", "post")


class XboardBot(EngineBot):
    """Bot that plays by an XBoard engine.

    engine: its program, a name or a path, with arguments behind it.
    options: options that the engine announces, like "Hash=16".
    """

    name = "xboard"
    kind = XboardEngine
    options_example = "Hash=16"
    games = GAMES

    def __init__(self, engine: str = "fairy-stockfish", options: str = "") -> None:
        super().__init__(engine, options)
        self.variant: Variant | None = None

    def choose(self, turn: Turn) -> Any:
        """Return the engine's move."""
        engine = self.running(XboardEngine)
        client = engine.client
        clock = engine_clock(turn)
        variant = self.variant
        if variant is None:
            variant = self.variant = variant_of(turn.game, client.name)
        played = self.played(turn)
        if engine.match is not self or played[: len(engine.moves)] != engine.moves:
            engine.set_up(variant, clock)
            engine.match = self
        lines = ["force", *[client.user_move(move) for move in played[len(engine.moves) :]]]
        if clock.total is None:
            lines.append(client.time_control(None, 0, clock.use))
        engine.process.send(*lines, *client.times(clock.own, clock.other), "go")
        engine.match = None  # until it is known that its own move is played
        # A time per move has whole seconds only, so a shorter one is kept by "move now".
        thinking = Thinking(engine, turn, ["?"], clock.use if clock.total is None else None)
        action = thinking.answer(lambda line: self._receive(line, engine, variant, turn, thinking))
        engine.match = self
        engine.moves = [*played, turn.game.format(turn.state, action)]
        return action

    def _receive(
        self, line: str, engine: XboardEngine, variant: Variant, turn: Turn, thinking: Thinking
    ) -> Any | None:
        """Return the action of a line with the engine's move; keep what other lines say."""
        name = engine.client.name
        match engine.client.receive(line):
            case Move(text):
                return variant.action(turn.state, text, name)
            case Thought(depth, centipawns, nodes, pv):
                try:
                    action = variant.action(turn.state, pv[0], name)
                except EngineError:
                    return None  # a line of play counts for nothing yet
                turn.info(depth=depth, nodes=nodes, text=f"{centipawns} centipawns")
                thinking.report(action)
            case Result(resigns=True):
                turn.resign()
            case Result() | Refused():
                raise engine.client.unreadable(line)
        return None
