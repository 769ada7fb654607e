"""``gtp``: plays go by a GTP engine, ``gtp(engine="gnugo --level 3")``."""

from __future__ import annotations

from typing import Any, Final

from plyhouse.bots.api import Turn
from plyhouse.bots.engines.engine_bot import (
    START_TIMEOUT,
    Engine,
    EngineBot,
    Thinking,
    engine_clock,
)
from plyhouse.bots.engines.engine_process import Wait
from plyhouse.bots.engines.errors import EngineError
from plyhouse.bots.engines.gtp import Answer, GtpClient, time_commands
from plyhouse.bots.engines.variants import illegal
from plyhouse.games.base import Game
from plyhouse.games.errors import GameError

__all__ = ["GtpBot", "GtpEngine"]

COLOURS: Final = ("black", "white")
"""By seat."""

CLEANUP: Final = "kgs-genmove_cleanup"
"""Like ``genmove``, but does not pass while dead stones are left, which count as alive here."""


class GtpEngine(Engine):
    """A GTP engine."""

    protocol = "GTP"

    def introduce(self, turn: Wait | None) -> None:
        """Read the name and the commands of the engine, and send the commands of the user."""
        self.client = GtpClient(self.program.name)
        self.ask(turn, "protocol_version")
        self.client.name = self.ask(turn, "name")[:80] or self.program.name
        self.client.known = frozenset(self.ask(turn, "list_commands").split())
        for command, arguments in self.options:
            words = command.split()
            self.client.require(words[0], "your option")
            self.ask(turn, *words, *arguments.split())

    def ask(self, turn: Wait | None, *words: str) -> str:
        """Return the answer to a command that is quick; raise `EngineError` if it is refused."""
        line = self.client.command(*words)
        self.process.send(line)
        answer = self.await_message(self.client.receive, Answer, line, turn)
        if not answer.ok:
            raise EngineError(
                f"{self.client.name} refuses {' '.join(words)!r}: {answer.text or 'no reason'}. "
                "Check its options and the parameters of the game."
            )
        return answer.text

    def set_up(self, game: Game, turn: Wait | None) -> None:
        """Begin a match on an empty board; raise `EngineError` if the engine refuses."""
        if game.info.name != "go":
            raise EngineError(
                f"{self.client.name} plays go only: accept only that, with --game go."
            )
        self.ask(turn, "boardsize", str(game.parameters["size"]))
        self.ask(turn, "clear_board")
        self.ask(turn, "komi", f"{game.parameters['komi']:g}")
        self.moves = []
        self.timed = False


class GtpBot(EngineBot):
    """Bot that plays go by a GTP engine, as GNU Go is.

    engine: its program, a name or a path, with arguments behind it.
    options: GTP commands that are sent at the start, like "level 3".
    start_timeout: seconds that the engine may take for each command before it thinks.
    """

    name = "gtp"
    kind = GtpEngine
    options_example = "level 3"
    games = ("go",)

    def __init__(
        self, engine: str = "gnugo", options: str = "", start_timeout: float = START_TIMEOUT
    ) -> None:
        super().__init__(engine, options, start_timeout)

    def choose(self, turn: Turn) -> Any:
        """Return the engine's move."""
        thinking = Thinking(turn)
        engine = self.ready(GtpEngine, turn.game, thinking.wait)
        client = engine.client
        engine.process.catch_up(client.receive)  # a second answer, perhaps without a number
        unknown = self.new_moves(engine, turn, thinking.wait)
        for ply, move in enumerate(unknown, len(engine.moves)):
            engine.ask(thinking.wait, "play", COLOURS[ply % 2], move)
        colour = COLOURS[turn.seat]
        clock = engine_clock(turn)
        commands = time_commands(clock.total, clock.own, clock.use, started=engine.timed)
        for name, *arguments in commands:
            if name in client.known:
                coloured = [colour] if name == "time_left" else []
                engine.ask(thinking.wait, name, *coloured, *arguments)
        engine.timed = True
        command = CLEANUP if CLEANUP in client.known else "genmove"
        engine.process.send(client.command(command, colour))

        def decide(answer: Answer | None) -> Any | None:
            if answer is None:
                return None
            if not answer.ok:
                raise EngineError(
                    f"{client.name} refuses to move: {answer.text or 'no reason'}. Check that it "
                    f"plays {turn.game.spec}."
                )
            if answer.text.lower() == "resign":
                turn.resign()
            if not answer.text:
                raise EngineError(f"{client.name} answered {command!r} without a move.")
            try:
                return turn.game.parse(turn.state, answer.text)
            except GameError:
                raise illegal(turn.game, turn.state, answer.text, client.name) from None

        action = thinking.answer(engine.process, client.receive, decide)
        return self.keep(engine, turn, action)
