"""``gtp``: plays go by a GTP engine, ``gtp(engine="gnugo --level 3")``."""

from __future__ import annotations

from typing import Any, Final

from plyhouse.bots.api import Turn
from plyhouse.bots.engines.engine_bot import Engine, EngineBot, Thinking
from plyhouse.bots.engines.engine_clock import engine_clock
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

    def introduce(self) -> None:
        """Read the name and the commands of the engine, and send the commands of the user."""
        self.client = GtpClient(self.program.name)
        self.moves: list[str] = []
        """Moves of the match that the engine knows."""
        self.ask("protocol_version")
        self.client.name = self.ask("name")[:80] or self.program.name
        self.client.known = frozenset(self.ask("list_commands").split())
        for command, arguments in self.options:
            words = command.split()
            self.client.require(words[0], "your option")
            self.ask(*words, *arguments.split())

    def ask(self, *words: str) -> str:
        """Return the answer to a command that is quick; raise `EngineError` if it is refused."""
        line = self.client.command(*words)
        self.process.send(line)
        answer = self.await_start(self.client.receive, Answer, line)
        if not answer.ok:
            raise EngineError(
                f"{self.client.name} refuses {' '.join(words)!r}: {answer.text or 'no reason'}. "
                "Check its options and the parameters of the game."
            )
        return answer.text

    def set_up(self, game: Game) -> None:
        """Begin a match on an empty board; raise `EngineError` if the engine refuses."""
        self.ask("boardsize", str(game.parameters["size"]))
        self.ask("clear_board")
        self.ask("komi", f"{game.parameters['komi']:g}")
        self.moves = []


class GtpBot(EngineBot):
    """Bot that plays go by a GTP engine, as GNU Go is.

    engine: its program, a name or a path, with arguments behind it.
    options: GTP commands that are sent at the start, like "level 3".
    """

    name = "gtp"
    kind = GtpEngine
    options_example = "level 3"
    games = ("go",)

    def __init__(self, engine: str = "gnugo", options: str = "") -> None:
        super().__init__(engine, options)
        self.timed = False

    def choose(self, turn: Turn) -> Any:
        """Return the engine's move."""
        engine = self.running(GtpEngine)
        client = engine.client
        if turn.game.info.name != "go":
            raise EngineError(f"{client.name} plays go only: accept only that, with --game go.")
        played = self.played(turn)
        if engine.match is not self or played[: len(engine.moves)] != engine.moves:
            engine.set_up(turn.game)
            engine.match = self
            self.timed = False
        for ply in range(len(engine.moves), len(played)):
            engine.ask("play", COLOURS[ply % 2], played[ply])
        colour = COLOURS[turn.seat]
        clock = engine_clock(turn)
        commands = time_commands(clock.total, clock.own, clock.use, started=self.timed)
        for name, *arguments in commands:
            if name in client.known:
                engine.ask(name, *([colour] if name == "time_left" else []), *arguments)
        self.timed = True
        engine.match = None  # until it is known that its own move is played
        command = CLEANUP if CLEANUP in client.known else "genmove"
        engine.process.send(client.command(command, colour))
        action = Thinking(engine, turn, (), None).answer(
            lambda line: self._receive(line, engine, turn)
        )
        engine.match = self
        engine.moves = [*played, turn.game.format(turn.state, action)]
        return action

    def _receive(self, line: str, engine: GtpEngine, turn: Turn) -> Any | None:
        """Return the action of the answer that a line completes."""
        answer = engine.client.receive(line)
        if answer is None:
            return None
        if not answer.ok:
            raise EngineError(
                f"{engine.client.name} refuses to move: {answer.text or 'no reason'}. Check that "
                f"it plays {turn.game.spec}."
            )
        if answer.text.lower() == "resign":
            turn.resign()
        try:
            return turn.game.parse(turn.state, answer.text)
        except GameError:
            error = illegal(turn.game, turn.state, answer.text, engine.client.name)
            raise error from None
