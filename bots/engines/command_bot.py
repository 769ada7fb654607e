"""``command``: plays by a program that speaks protocol v1 as lines of JSON.

Such a program can be submitted as it is (docs/hosted-bots.md).  Here it runs with all that its user
may do, unless its command starts a box (`plyhouse.bots.sandbox.launcher`).  Each match has a
process of its own, which gets the messages of a hosted one in the same order.  They are written
from what a `Bot` knows of its turn.
"""

from __future__ import annotations

import contextlib
import shlex
import sys
import time
from collections import deque
from collections.abc import Sequence
from typing import Any, ClassVar, Final

import msgspec

from plyhouse.bots.api import Bot, BotError, Match, Resignation, Turn
from plyhouse.bots.engines.engine_bot import MS, Engine, Thinking
from plyhouse.bots.engines.engine_process import Program, Wait, find_program
from plyhouse.bots.engines.errors import EngineError, quoted
from plyhouse.games.base import Game
from plyhouse.protocol.codec import read_line, refusal
from plyhouse.protocol.errors import ProtocolError
from plyhouse.protocol.messages import (
    PROTOCOL_VERSION,
    Accepted,
    Act,
    ClientMessage,
    ClockState,
    Error,
    Finished,
    Hello,
    Limits,
    MatchMessage,
    MatchSnapshot,
    Ok,
    Outcome,
    Ping,
    Pong,
    Ready,
    Resign,
    ServerMessage,
    Sync,
    Welcome,
)
from plyhouse.protocol.messages import Turn as TurnMessage

__all__ = ["CommandBot"]

HEARTBEAT_MS: Final = 10_000
"""Milliseconds of ``welcome.heartbeat_ms``; over a pipe nobody needs a ping."""
THOUGHTS: Final = ("value", "depth", "nodes", "pv", "text")
"""Fields of ``act.info`` that are passed on."""


class LineProgram(Engine):
    """A process of the program."""

    protocol = "protocol v1 as lines of JSON"
    farewell = ()
    _greeting: Hello | None = None

    def introduce(self, turn: Wait | None) -> None:
        """Let the program start; `hello` waits for it."""

    def set_up(self, game: Game, turn: Wait | None) -> None:
        """Do nothing: the program learns of a match by its first messages."""

    @property
    def hello(self) -> Hello:
        """Its ``hello``; waits for it, and raises `EngineError` if none comes."""
        if self._greeting is None:
            self._greeting = self.await_message(self._hello, Hello, "its start", None)
        return self._greeting

    @staticmethod
    def _hello(line: str) -> object:
        with contextlib.suppress(ProtocolError):
            return read_line(line)
        return None

    def write(self, message: ServerMessage) -> None:
        """Send a message; raises `EngineError` if the program has ended."""
        self.process.send(msgspec.json.encode(message).decode())

    def end(self) -> None:
        """Let the program end, its input closed."""
        self.process.close()


class CommandBot(Bot):
    """Bot that plays by a program that speaks protocol v1 as lines of JSON.

    program: a name on the PATH, or a path.
    arguments: what is given to the program, as in a shell.
    folder: the folder in which it starts; empty for the current one.
    plays: the games that it plays, with semicolons; empty for those of its ``hello``.
    version: identifies the files of a package.
    label: name of the program in messages; empty for that of its file.
    """

    name = "command"
    preload = True

    _spare: ClassVar[deque[LineProgram]] = deque()
    """Programs without a match, which start meanwhile: not on the clock of the next one."""
    _claimed: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self,
        program: str = "",
        arguments: str = "",
        folder: str = "",
        plays: str = "",
        version: str = "",
        label: str = "",
    ) -> None:
        found = find_program(shlex.quote(program) if program else "", LineProgram.protocol)
        command = (*found.command, *shlex.split(arguments))
        self._program = Program(label or found.name, command, folder)
        self._line: LineProgram | None = None
        self._match = ""
        self._told = 0
        self._remarked = False
        self._acted: Act | None = None
        """The action whose outcome the program has not heard."""
        if not self._spare:
            self._spare.append(LineProgram(self._program, ()))
        hello = self._spare[0].hello
        type(self)._claimed = tuple(filter(None, plays.split(";"))) or tuple(hello.games)

    @classmethod
    def claims(cls) -> Sequence[str]:
        """Return the games of the package, or of the program's ``hello``."""
        return cls._claimed

    @classmethod
    def unload(cls) -> None:
        """End the programs that have no match."""
        while cls._spare:
            cls._spare.pop().end()

    def prepare(self, match: Match) -> None:
        """Start the program of the match after this one, off the clock.

        That of this match has started when the bot's object exists.
        """
        if len(self._spare) < 2:
            self._spare.append(LineProgram(self._program, ()))

    def start(self, turn: Turn) -> None:
        """Give the match to a program, and wait until it is ready."""
        spare = self._spare.popleft() if self._spare else LineProgram(self._program, ())
        if not spare.process.running:  # it has ended while it waited
            spare = LineProgram(self._program, ())
        self._line, self._match = spare, turn.match.id
        spare.write(
            Welcome(
                re=spare.hello.id,
                player="local",
                bot=spare.hello.bot or self._program.name,
                session="",
                protocol=PROTOCOL_VERSION,
                server="plyhouse",
                time_ms=time.time_ns() // MS,
                heartbeat_ms=HEARTBEAT_MS,
                limits=Limits(max_matches=1),
            )
        )
        spare.write(MatchMessage(_snapshot(turn, "waiting")))
        self._until(spare, turn, lambda message: True if isinstance(message, Ready) else None)

    def choose(self, turn: Turn) -> Any:
        """Return the program's action."""
        line = self._line
        if line is None or not line.process.running:
            raise EngineError(
                f"{self._program.name} is not running any more: its turn before took too long, or "
                "it ended."
            )
        self._tell_outcome(line, turn)
        line.write(
            TurnMessage(
                match=turn.match.id,
                ply=turn.ply,
                events=list(turn.history[self._told :]),
                observation=turn.observation.fields(),
                clocks=_clocks(turn),
                deadline_ms=_left_ms(turn),
                retry=turn.retry,
            )
        )
        self._told = len(turn.history)

        def action(message: ClientMessage) -> str | None:
            if not isinstance(message, Act):
                return None
            if message.ply != turn.ply:
                line.write(refusal(message, "match/bad_ply", f"the ply to play is {turn.ply}"))
                return None
            self._acted = message
            _inform(turn, message.info)
            return message.action

        return self._until(line, turn, action)

    def finish(self, outcome: Outcome) -> None:
        """Tell the program how the match ended, and let it end."""
        line, self._line = self._line, None
        if line is not None:
            with contextlib.suppress(EngineError):
                line.write(Finished(self._match, outcome))
            line.end()

    def _tell_outcome(self, line: LineProgram, turn: Turn) -> None:
        """Send the answer to the last action, which only the next turn makes known."""
        acted, self._acted = self._acted, None
        if acted is None:
            return
        if turn.retry or acted.ply == turn.ply:
            text = f"{acted.action!r} is not legal here: play another action."
            line.write(Error("action/illegal", text, acted.id))
            return
        events = turn.history[self._told :]
        own = 1 + next((at for at, each in enumerate(events) if each.ply == acted.ply), -1)
        line.write(Accepted(acted.id, turn.match.id, acted.ply, list(events[:own]), _clocks(turn)))
        self._told += own

    def _until(self, line: LineProgram, turn: Turn, wanted: Any) -> Any:
        """Return the first result of ``wanted`` for a message of the program; answer the others.

        Raises `EngineError` if there is none in time, and `Resignation` if it resigns.
        """

        def receive(text: str) -> Any | None:
            if not text.strip():
                return None
            try:
                message = read_line(text)
            except ProtocolError as error:
                self._remark(text, error)
                line.write(Error(error.code, str(error), getattr(error, "re", None)))
                return None
            if isinstance(message, Resign):
                raise Resignation
            result = wanted(message)
            if isinstance(message, Ready):
                line.write(Ok(message.id))
            elif result is None:
                self._answer(line, message, turn)
            return result

        return Thinking(turn).answer(line.process, receive, lambda result: result)

    def _remark(self, text: str, error: ProtocolError) -> None:
        """Tell the author of a line that is no message, once a match."""
        if not self._remarked:
            self._remarked = True
            sys.stderr.write(
                f"{self._program.name} wrote a line that is no message, {quoted(text)}: {error}. "
                "Write one JSON object a line, and everything else to standard error.\n"
            )

    @staticmethod
    def _answer(line: LineProgram, message: ClientMessage, turn: Turn) -> None:
        match message:
            case Ping():
                line.write(Pong(message.id))
            case Sync():
                line.write(MatchMessage(_snapshot(turn, "running"), message.id))
            case Act() | Pong():
                pass
            case _:
                text = "a program that plays a match here says hello, ready, act, resign and sync"
                line.write(refusal(message, "auth/scope", text))


def _snapshot(turn: Turn, status: Any) -> MatchSnapshot:
    """Return what a server would say of the match: all of it, or its beginning."""
    match, waits = turn.match, status == "waiting"
    return MatchSnapshot(
        match=match.id,
        pairing=match.id,
        game=match.game.spec,
        time_control=match.time_control,
        rated=match.rated,
        seat=match.seat,
        players=list(match.players),
        status=status,
        ply=0 if waits else turn.ply,
        illegal_rule="retry" if match.illegal_rule == "retry" else "forfeit",
        events=[] if waits else list(turn.history),
        observation=(
            match.game.observe(match.game.initial_state(), match.seat)
            if waits
            else turn.observation
        ).fields(),
        clocks=_clocks(turn),
        your_turn=not waits,
        deadline_ms=None if waits else _left_ms(turn),
    )


def _inform(turn: Turn, info: Any) -> None:
    """Pass on what the program says of its thoughts."""
    if isinstance(info, dict):
        known = {name: info[name] for name in THOUGHTS if name in info}
        with contextlib.suppress(BotError, TypeError):
            turn.info(**known)


def _clocks(turn: Turn) -> list[ClockState]:
    return [
        ClockState(
            seat, round(left * 1000), periods=turn.clock.periods if seat == turn.seat else None
        )
        for seat, left in enumerate(turn.clock.seats)
    ]


def _left_ms(turn: Turn) -> int:
    left = turn.time_left
    return 2**31 if left == float("inf") else round(left * 1000)
