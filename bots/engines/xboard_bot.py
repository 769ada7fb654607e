"""``xboard``: plays by an XBoard engine, ``xboard(engine="phalanx")``."""

from __future__ import annotations

from typing import Any

from plyhouse.bots.api import Turn
from plyhouse.bots.engines.engine_bot import (
    START_TIMEOUT,
    Engine,
    EngineBot,
    EngineClock,
    Thinking,
    engine_clock,
)
from plyhouse.bots.engines.engine_process import Wait
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
from plyhouse.games.base import Game

__all__ = ["XboardBot", "XboardEngine"]


class XboardEngine(Engine):
    """An XBoard engine."""

    protocol = "XBoard"
    variant: Variant

    def introduce(self, turn: Wait | None) -> None:
        """Read the features of the engine and set the options of the user."""
        self.client = XboardClient(self.program.name)
        self._pings = 0
        self.process.send("xboard", "protover 2")
        self.await_message(self.client.receive, Done, "protover 2", turn)
        lines = [self.client.set_option(name, value) for name, value in self.options]
        self.get_ready(turn, *lines)

    def get_ready(self, turn: Wait | None, *lines: str) -> list[Refused]:
        """Send lines, and wait until the engine has done what they say, if it can tell.

        Return what it has refused meanwhile.
        """
        self.process.send(*lines)
        refused: list[Refused] = []
        if self.client.features["ping"] != "1":
            self.process.catch_up(self.client.receive)
            return refused
        self._pings += 1
        number = self._pings

        def receive(line: str) -> object:
            message = self.client.receive(line)
            if isinstance(message, Refused):
                refused.append(message)
            return message

        said = f"ping {number}"
        self.process.send(said)
        self.await_message(receive, Pong, said, turn, lambda pong: pong.number == number)
        return refused

    def plays(self, game: str) -> bool:
        """Return whether it plays chess, or has the variant."""
        return game == "chess" or game in self.client.variants

    def set_up(self, game: Game, turn: Wait | None) -> None:
        """Begin a match; raise `EngineError` if the engine does not play the game."""
        client = self.client
        variant = self.variant = variant_of(game, client.name)
        name = "fischerandom" if variant.chess960 else variant.name
        lines = [*client.variant(name), "force", *client.set_board(variant.fen)]
        self.moves = []
        self.timed = False
        self.get_ready(turn, "new", *lines, "easy", "post")

    def tell_time(self, clock: EngineClock, turn: Wait) -> None:
        """Send the time control: once if it is for the match, in each turn otherwise."""
        if self.timed and clock.total is not None:
            return
        decimal, whole = self.client.time_controls(clock.total, clock.increment, clock.use)
        if self.get_ready(turn, decimal) and whole != decimal:
            self.process.send(*filter(None, [whole]))
        self.timed = True


class XboardBot(EngineBot):
    """Bot that plays by an XBoard engine.

    engine: its program, a name or a path, with arguments behind it.
    options: options that the engine announces, like "Hash=16".
    start_timeout: seconds that the engine may take to start, and to prepare for a match.
    """

    name = "xboard"
    kind = XboardEngine
    options_example = "Hash=16"
    games = GAMES

    def __init__(
        self,
        engine: str = "fairy-stockfish",
        options: str = "",
        start_timeout: float = START_TIMEOUT,
    ) -> None:
        super().__init__(engine, options, start_timeout)

    def choose(self, turn: Turn) -> Any:
        """Return the engine's move."""
        thinking = Thinking(turn)
        engine = self.ready(XboardEngine, turn.game, thinking.wait)
        unknown = self.new_moves(engine, turn, thinking.wait)
        client, variant = engine.client, engine.variant
        moves = map(client.user_move, unknown)
        # What the engine still writes about another position comes before its "pong".
        engine.get_ready(thinking.wait, "force", *moves)
        engine.tell_time(engine_clock(turn), thinking.wait)
        clock = engine_clock(turn)
        engine.process.send(*client.times(clock.own, clock.other), "go")

        def decide(message: object) -> Any | None:
            match message:
                case Move(text):
                    return variant.action(turn.state, text, client.name)
                case Result(resigns=True):
                    turn.resign()
                case Refused(text) as refused if refused.harmless:
                    pass
                case Result(text) | Refused(text):
                    raise client.unreadable(text)
            return None

        def consider(thought: Thought) -> None:
            text = f"{thought.centipawns} centipawns"
            known = {"depth": thought.depth, "nodes": thought.nodes, "text": text}
            thinking.consider(variant, client.name, thought.pv[0], **known)

        # Not every engine takes a time per move below a second, so "move now" keeps it.
        action = thinking.answer(
            engine.process,
            client.receive,
            decide,
            thought=Thought,
            consider=consider,
            stop=["?"],
            use_ms=clock.use if clock.total is None else None,
        )
        return self.keep(engine, turn, action)
