"""`EngineBot`: a bot that lets an engine choose, one engine for each process of the bot.

The engine starts when the bot is loaded, so that mistakes appear then and no clock runs meanwhile.
It is kept from match to match, replaced when it hangs, and ended with the process.

An engine that takes too long is told to move.  One that does not is killed before the flag falls.
Then the best action that it has reported is played.
"""

from __future__ import annotations

import contextlib
import time
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Final, TypeVar

from plyhouse.bots.api import Bot, Turn, TurnOver
from plyhouse.bots.engines.engine_process import EngineProcess
from plyhouse.bots.engines.errors import EngineError, quoted
from plyhouse.bots.engines.program import Program, find_program
from plyhouse.protocol.messages import CHANCE_SEAT, Outcome

__all__ = ["MS", "Engine", "EngineBot", "Thinking", "parse_options"]

MS: Final = 1_000_000

START_WITHIN: Final = 15_000 * MS
"""Nanoseconds that an engine may take to introduce itself or to get ready."""

RESERVE: Final = 120
"""Milliseconds before the last moment at which a thinking engine is told to move."""

LAST_WORD: Final = 150 * MS
"""Nanoseconds that an engine may take to answer after its turn; its bot must end within 250 ms."""

_Message = TypeVar("_Message")


def parse_options(text: str) -> list[tuple[str, str]]:
    """Return names and values of options in the form ``name=value; name=value``.

    Raises `EngineError` for an option without a name.

    >>> parse_options("Skill Level=3; Hash=16; Clear Hash")
    [('Skill Level', '3'), ('Hash', '16'), ('Clear Hash', '')]
    """
    found = []
    for part in filter(None, map(str.strip, text.split(";"))):
        name, _, value = part.partition("=")
        if not name.strip():
            raise EngineError(
                f"The engine option {part!r} has no name: write it like 'Skill Level=3'"
            )
        found.append((name.strip(), value.strip()))
    return found


class Engine:
    """A running engine and what it knows; subclasses speak its protocol.

    ``clock_ns`` is the monotonic clock of all deadlines.
    """

    protocol: ClassVar[str]
    farewell: ClassVar[tuple[str, ...]] = ("quit",)
    """Lines that end the engine."""
    temporary_home: ClassVar[bool] = False
    """True for an engine that overwrites files in the user's home."""

    def __init__(
        self,
        program: Program,
        options: Sequence[tuple[str, str]],
        clock_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self.program = program
        self.options = options
        self.clock_ns = clock_ns
        self.match: object = None
        """The match that the engine is set up for."""
        self.process = EngineProcess(program, clock_ns, temporary_home=self.temporary_home)
        try:
            self.introduce()
        except BaseException:
            self.process.kill()
            raise

    @abstractmethod
    def introduce(self) -> None:
        """Learn what the engine can do and set its options; raises `EngineError`."""

    def plays(self, game: str) -> bool:
        """Return whether the engine plays a game that its protocol knows."""
        return True

    def close(self) -> None:
        """End the engine."""
        self.process.close(*self.farewell)

    def await_start(
        self, receive: Callable[[str], object], wanted: type[_Message], said: str
    ) -> _Message:
        """Return the message ``wanted`` that answers ``said``; raise `EngineError` without it."""
        deadline = self.clock_ns() + START_WITHIN
        last = ""
        while (line := self.process.receive(deadline)) is not None:
            message = receive(line)
            if isinstance(message, wanted):
                return message
            last = line if line.strip() else last
        wrote = f"It wrote {quoted(last)}. " if last else ""
        raise EngineError(
            f"{self.process.name} did not answer {said!r} within {START_WITHIN // 1000 // MS} s. "
            f"{wrote}Check that it speaks {self.protocol}."
        )


_EngineKind = TypeVar("_EngineKind", bound=Engine)

_running: Final[dict[tuple[type[Engine], Program, tuple[tuple[str, str], ...]], Any]] = {}
"""The engines of this process."""


class EngineBot(Bot):
    """Base of the bots that play by an engine.

    engine: its program, a name or a path, with arguments behind it.
    options: options of the engine, like "Skill Level=3; Hash=16".
    """

    preload = True
    kind: ClassVar[type[Engine]]
    options_example: ClassVar[str]
    """Options of an engine as ``options`` takes them."""

    def __init__(self, engine: str, options: str = "") -> None:
        self.program = find_program(engine, self.kind.protocol)
        self.options = parse_options(options)
        self.running(self.kind)

    def running(self, kind: type[_EngineKind]) -> _EngineKind:
        """Return the engine, started if it is not running."""
        key = (kind, self.program, tuple(self.options))
        engine: _EngineKind | None = _running.get(key)
        if engine is None or not engine.process.running:
            _running.pop(key, None)
            if engine is not None:
                engine.process.kill()
            engine = _running[key] = kind(self.program, self.options)
        return engine

    def finish(self, outcome: Outcome) -> None:
        """Replace an engine that was killed in the match, before the clock of the next one runs."""
        self.running(self.kind)

    @classmethod
    def claims(cls) -> Sequence[str]:
        """Return the games that the engine plays, once it runs; else those of its protocol."""
        running = [engine for engine in _running.values() if isinstance(engine, cls.kind)]
        return [game for game in cls.games if all(engine.plays(game) for engine in running)]

    @classmethod
    def unload(cls) -> None:
        """End the engines of this process."""
        while _running:
            _running.popitem()[1].close()

    @staticmethod
    def played(turn: Turn) -> list[str]:
        """Return the actions of the seats so far."""
        return [str(event.action) for event in turn.history if event.seat != CHANCE_SEAT]


class Thinking:
    """The wait for an engine's move in one turn.

    ``stop`` is what tells the engine to move now; nothing if its protocol has no such command.
    """

    def __init__(self, engine: Engine, turn: Turn, stop: Sequence[str], use_ms: int | None) -> None:
        self.engine = engine
        self.turn = turn
        self._stop = stop
        self._best: Any = None
        self._allowed = left = turn.time_left
        now = engine.clock_ns()
        if left == float("inf"):
            self._last = now + START_WITHIN * 1000
            self._stop_at = self._last
            return
        self._last = now + int(left * 1000) * MS
        reserve = min(RESERVE, int(left * 250)) * MS
        self._stop_at = self._last - reserve
        if use_ms is not None:
            self._stop_at = min(self._stop_at, now + use_ms * MS)

    def report(self, action: Any) -> None:
        """Keep and report the best action so far."""
        if action != self._best:
            self._best = action
            with contextlib.suppress(TurnOver):  # `answer` looks for the end of the turn
                self.turn.report(action)

    def answer(self, receive: Callable[[str], Any | None]) -> Any:
        """Return the first result of ``receive`` for a line of the engine.

        Raises `EngineError` if the engine does not answer in time and has reported nothing, and
        `plyhouse.bots.api.TurnOver` if the turn ends without it.
        """
        process = self.engine.process
        stopped = False
        until = self._stop_at if self._stop else self._last
        try:
            while True:
                line = process.receive(until, bool if stopped else self._is_over)
                if line is not None:
                    result = receive(line)
                    if result is not None:
                        break
                elif self._stop and not stopped:
                    process.send(*self._stop)
                    stopped = True
                    until = self._last_word()
                else:
                    process.kill()  # its next answer would be misread
                    result = None
                    break
        except BaseException:
            process.kill()
            raise
        if self.turn.over:
            raise TurnOver
        if result is not None:
            return result
        if self._best is None:
            raise EngineError(
                f"{process.name} did not answer in its {self._allowed:.3f} s and was killed. Lower "
                "its level, or play with more time."
            )
        return self._best

    def _is_over(self) -> bool:
        return self.turn.over

    def _last_word(self) -> int:
        """Return the instant until which an engine that was told to move may answer.

        An engine that is only slow should live: it is expensive to start on the clock.
        """
        if self.turn.over:
            return self.engine.clock_ns() + LAST_WORD
        if self._best is None:
            return self._last
        return self._last + LAST_WORD  # the best so far is played meanwhile
