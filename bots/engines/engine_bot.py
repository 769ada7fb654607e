"""`EngineBot`: a bot that lets an engine choose, one engine for each process of the bot.

The engine starts when the bot is loaded, and prepares for a match before its clock runs.  It is
kept from match to match, replaced when it hangs, and ended with the process.

An engine that takes too long is told to move.  One that does not is killed before the flag falls.
Then the best action that it has reported is played.  Every wait has a deadline (`Wait`), also while
the engine writes without end.
"""

from __future__ import annotations

import contextlib
import re
import sys
import time
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import NoneType
from typing import Any, ClassVar, Final, NoReturn, TypeVar

from plyhouse.bots.api import Bot, Match, Turn, TurnOver
from plyhouse.bots.engines.engine_process import EngineProcess, Program, Wait, find_program
from plyhouse.bots.engines.errors import EngineError, IllegalMove, quoted
from plyhouse.bots.engines.variants import Variant
from plyhouse.games.base import Game
from plyhouse.games.renaming import Renamed
from plyhouse.protocol.messages import CHANCE_SEAT, Outcome

__all__ = ["MS", "Engine", "EngineBot", "EngineClock", "Thinking", "engine_clock", "parse_options"]

MS: Final = 1_000_000

START_TIMEOUT: Final = 15.0
"""Seconds that an engine may take for each step of its preparation, if the user names no other."""

LONGEST_START: Final = 600.0
"""Largest `START_TIMEOUT` that a user may give, in seconds."""

NO_CLOCK: Final = 24 * 3600 * 1000 * MS
"""Nanoseconds that an engine may take for a turn without a clock."""

CONSIDER_EVERY: Final = 50 * MS
"""Nanoseconds between two reports that are read while the engine writes without a pause."""

RESERVE: Final = 120
"""Milliseconds before the last moment at which a thinking engine is told to move."""

SILENT_RESERVE: Final = 300
"""The same for an engine that has reported no move: there is nothing to play if it is late."""

LAST_WORD: Final = 150 * MS
"""Nanoseconds that an engine may take to answer after its turn; its bot must end within 250 ms."""

FLAG_GRACE: Final = 30.0
"""Seconds after its time until which a turn without an action waits for the fall of its flag.

News of the flag comes late over a bad network, or to a machine with much to do.
"""

_Message = TypeVar("_Message")


def _let_flag_fall(message: str, turn: Wait) -> NoReturn:
    """Wait until the turn is over, because there is nothing to play; raise `TurnOver` then.

    The author reads the message.  Raises `EngineError` if the turn does not end: then it has no
    clock that somebody watches.
    """
    deadline = time.monotonic() + FLAG_GRACE
    while not turn.over():
        if time.monotonic() > deadline:
            raise EngineError(message)
        time.sleep(0.005)
    sys.stderr.write(f"{message}\n")
    raise TurnOver


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

    ``start_timeout`` is in seconds.  ``clock_ns`` is the monotonic clock of all deadlines.  A
    turn in which the engine has to be started bounds the start, too.
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
        start_timeout: float = START_TIMEOUT,
        clock_ns: Callable[[], int] = time.monotonic_ns,
        *,
        turn: Wait | None = None,
    ) -> None:
        self.program = program
        self.options = options
        self.start_timeout = start_timeout
        self.clock_ns = clock_ns
        self.match: object = None
        """The match that the engine is set up for."""
        self.moves: list[str] = []
        """Moves of the match that an engine knows which gets each move once."""
        self.timed = False
        """True once such an engine knows the time control of the match."""
        self.process = EngineProcess(program, clock_ns, temporary_home=self.temporary_home)
        try:
            self.introduce(turn)
        except BaseException:
            self.process.kill()
            raise

    @abstractmethod
    def introduce(self, turn: Wait | None) -> None:
        """Learn what the engine can do and set its options; raises `EngineError`."""

    @abstractmethod
    def set_up(self, game: Game, turn: Wait | None) -> None:
        """Begin a match; raises `EngineError` if the engine does not play ``game``."""

    def plays(self, game: str) -> bool:
        """Return whether the engine plays a game that its protocol knows."""
        return True

    def close(self) -> None:
        """End the engine."""
        self.process.close(*self.farewell)

    def await_message(
        self,
        receive: Callable[[str], object],
        wanted: type[_Message],
        said: str,
        turn: Wait | None,
        accept: Callable[[_Message], bool] = lambda _: True,
    ) -> _Message:
        """Return the message ``wanted`` that answers ``said``.

        The engine has `start_timeout` seconds, and no more than is left of ``turn``.  Raises
        `EngineError` without the message, and `TurnOver` once the turn is over.
        """
        begin = self.clock_ns()
        until = begin + round(self.start_timeout * 1000) * MS
        wait = Wait(until) if turn is None else Wait(min(until, turn.until), turn.over)
        last = ""
        try:
            while (line := self.process.receive(wait)) is not None:
                message = receive(line)
                if isinstance(message, wanted) and accept(message):
                    return message
                last = line if line.strip() else last
        except BaseException:
            self.process.kill()
            raise
        self.process.kill()  # its next answer would be misread
        if wait.over():
            raise TurnOver
        message = (
            f"{self.process.name} did not answer {said!r} within "
            f"{(wait.until - begin) / 1000 / MS:.3g} s. "
            f"{f'It wrote {quoted(last)}. ' if last else ''}Check that it speaks {self.protocol}, "
            "or give it more time with start_timeout (in seconds)."
        )
        if turn is None or wait.until == until:
            raise EngineError(message)
        _let_flag_fall(message, turn)


_EngineKind = TypeVar("_EngineKind", bound=Engine)

_running: Final[dict[tuple[type[Engine], Program, tuple[tuple[str, str], ...], float], Any]] = {}
"""The engines of this process."""


class EngineBot(Bot):
    """Base of the bots that play by an engine.

    engine: its program, a name or a path, with arguments behind it.
    options: options of the engine, like "Skill Level=3; Hash=16".
    start_timeout: seconds that the engine may take to start, and to prepare for a match.
    """

    preload = True
    kind: ClassVar[type[Engine]]
    options_example: ClassVar[str]
    """Options of an engine as ``options`` takes them."""

    def __init__(
        self, engine: str, options: str = "", start_timeout: float = START_TIMEOUT
    ) -> None:
        if not 0 < start_timeout <= LONGEST_START:
            raise EngineError(
                f"start_timeout={start_timeout:g} is not possible: give more than 0 and at most "
                f"{LONGEST_START:g} seconds."
            )
        self.program = find_program(engine, self.kind.protocol)
        self.options = parse_options(options)
        self.start_timeout = start_timeout
        self.running(self.kind)

    def running(self, kind: type[_EngineKind], turn: Wait | None = None) -> _EngineKind:
        """Return the engine, started if it is not running."""
        key = (kind, self.program, tuple(self.options), self.start_timeout)
        engine: _EngineKind | None = _running.get(key)
        if engine is None or not engine.process.running:
            _running.pop(key, None)
            if engine is not None:
                engine.process.kill()
            engine = kind(self.program, self.options, self.start_timeout, turn=turn)
            _running[key] = engine
        return engine

    def prepare(self, match: Match) -> None:
        """Set the engine up before the clock runs."""
        self.ready(self.kind, match.game)

    def ready(self, kind: type[_EngineKind], game: Game, turn: Wait | None = None) -> _EngineKind:
        """Return the engine, set up for this match; a new one learns the match again."""
        if isinstance(game, Renamed):
            raise EngineError(
                f"{self.program.name} knows the usual names only, and not those of {game.spec}: "
                f"accept only {game.original.spec}, with --game."
            )
        engine = self.running(kind, turn)
        if engine.match is not self:
            self.set_up(engine, game, turn)
            engine.match = self
        return engine

    def set_up(self, engine: Any, game: Game, turn: Wait | None) -> None:
        """Let the engine begin a match."""
        engine.set_up(game, turn)

    def finish(self, outcome: Outcome) -> None:
        """Replace an engine that was killed in the match, before the next one begins."""
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

    def new_moves(self, engine: Engine, turn: Turn, wait: Wait) -> list[str]:
        """Return the actions that the engine has not got; it forgets a match with other ones."""
        played = self.played(turn)
        if played[: len(engine.moves)] != engine.moves:
            engine.set_up(turn.game, wait)
        engine.match = None  # until `keep` knows that its own move is played
        return played[len(engine.moves) :]

    def keep(self, engine: Engine, turn: Turn, action: Any) -> Any:
        """Note that the engine has its own move on its board; return the move."""
        if not isinstance(action, str):  # else it is not legal: the engine has another position
            engine.match = self
            engine.moves = [*self.played(turn), turn.game.format(turn.state, action)]
        return action

    @staticmethod
    def played(turn: Turn) -> list[str]:
        """Return the actions of the seats so far."""
        return [str(event.action) for event in turn.history if event.seat != CHANCE_SEAT]


class Thinking:
    """The wait for an engine's move in one turn.

    Make it first in the turn: its `wait` bounds what has to happen before the engine thinks, too.
    """

    def __init__(self, turn: Turn, clock_ns: Callable[[], int] = time.monotonic_ns) -> None:
        self.turn = turn
        self._clock_ns = clock_ns
        self._best: Any = None
        self._allowed = left = turn.time_left
        timed = left != float("inf")
        last = clock_ns() + (int(left * 1000) * MS if timed else NO_CLOCK)
        quarter = int(left * 250) if timed else 0
        self._stop_at = last - min(RESERVE, quarter) * MS
        self._stop_silent_at = last - min(SILENT_RESERVE, quarter) * MS
        self.wait = Wait(last, lambda: turn.over)
        """The rest of the turn."""

    def report(self, action: Any) -> None:
        """Keep and report the best action so far."""
        if action != self._best:
            self._best = action
            with contextlib.suppress(TurnOver):  # `answer` looks for the end of the turn
                self.turn.report(action)

    def consider(self, variant: Variant, engine: str, move: str, **info: Any) -> None:
        """Report a move that the engine thinks of, and what it says about it.

        Nothing happens if the move is not legal: a line of play counts for nothing yet.
        """
        with contextlib.suppress(EngineError):
            action = variant.action(self.turn.state, move, engine)
            self.turn.info(**info)
            self.report(action)

    def answer(
        self,
        process: EngineProcess,
        receive: Callable[[str], Any | None],
        decide: Callable[[Any], Any | None],
        *,
        thought: type[Any] = NoneType,
        consider: Callable[[Any], None] = lambda _: None,
        stop: Sequence[str] = (),
        use_ms: int | None = None,
    ) -> Any:
        """Return the first result of ``decide`` for a message of the engine.

        This is the text of a move that is not legal, which the author reads about: the referee
        decides what follows.

        ``receive`` returns the message of a line.  Messages of type ``thought`` go to
        ``consider``, except those that the engine has replaced before they could be read:
        understanding a line of play costs more than writing one.  ``stop`` tells the engine to
        move now, at the latest after ``use_ms`` milliseconds.

        Raises `plyhouse.bots.api.TurnOver` if the turn ends without the engine, and `EngineError`
        if the engine has reported nothing in time and the turn does not end.
        """
        now = self._clock_ns()
        use = self.wait.until if use_ms is None else now + use_ms * MS
        stop_at = min(self._stop_at, use)
        wait = Wait(min(self._stop_silent_at, use), self.wait.over) if stop else self.wait
        stopped = False
        latest: Any = None
        result: Any = None
        due = now

        def catch_up() -> None:
            nonlocal latest, due
            if latest is not None:
                consider(latest)
                latest, due = None, self._clock_ns() + CONSIDER_EVERY

        try:
            while result is None:
                line = process.receive(wait)
                if line is not None:
                    message = receive(line)
                    if isinstance(message, thought):
                        latest = message
                    else:
                        result = self._decide(decide, message)
                    if not process.has_more() or self._clock_ns() >= due:
                        catch_up()
                elif stop and not stopped:
                    catch_up()
                    if self._best is not None and wait.until < stop_at and not self.turn.over:
                        wait = Wait(stop_at, self.wait.over)
                        continue
                    process.send(*stop)
                    stopped = True
                    wait = Wait(self._last_word())
                else:
                    process.kill()  # its next answer would be misread
                    break
            catch_up()
        except BaseException:
            process.kill()
            raise
        if self.turn.over:
            raise TurnOver
        if result is not None:
            return result
        if self._best is None:
            _let_flag_fall(
                f"{process.name} did not answer in its {self._allowed:.3f} s and was killed. Lower "
                "its level, or play with more time.",
                self.wait,
            )
        return self._best

    @staticmethod
    def _decide(decide: Callable[[Any], Any | None], message: Any) -> Any | None:
        try:
            return decide(message)
        except IllegalMove as error:
            sys.stderr.write(f"{error}\n")
            return error.move

    def _last_word(self) -> int:
        """Return the instant until which an engine that was told to move may answer.

        An engine that is only slow should live: it is expensive to start on the clock.
        """
        if self.turn.over:
            return self._clock_ns() + LAST_WORD
        if self._best is None:
            return self.wait.until
        return self.wait.until + LAST_WORD  # the best so far is played meanwhile


WITHOUT_CLOCK: Final = 1000
"""Milliseconds for a turn that has no clock, as in a program of the author."""

_TOTAL: Final = re.compile(r"total:(\d+(?:\.\d+)?)(?:\+(\d+(?:\.\d+)?))?")


@dataclass(frozen=True, slots=True)
class EngineClock:
    """The time for one turn, in milliseconds."""

    use: int
    """The time to spend now, at least 1."""
    own: int
    """Until our action has to be on its way, at least 1."""
    other: int
    """On the clock of the other seat, at least 1."""
    increment: int
    """Added after each action."""
    total: int | None
    """Time on the clock at the start, if the match has total time and increments.  None in other
    time controls: then an engine gets the time to spend."""


def engine_clock(turn: Turn) -> EngineClock:
    """Return the clocks of ``turn`` for an engine of a game for two.

    >>> from plyhouse.bots.api import Match, TurnClock
    >>> from plyhouse.games import get_game
    >>> game = get_game("tic_tac_toe")
    >>> state = game.initial_state()
    >>> match = Match("m1", game, 0, (), "total:60+0.5", rated=False, illegal_rule="forfeit")
    >>> turn = Turn(match, ply=0, state=state, observation=game.observe(state, 0),
    ...             clock=TurnClock(59.5, (59.5, 58.0), None, "total:60+0.5"),
    ...             soft=2_000_000_000, hard=59_000_000_000, clock_ns=lambda: 0)
    >>> engine_clock(turn)
    EngineClock(use=2000, own=59000, other=58000, increment=500, total=60000)
    """
    given = turn.limit.time
    if given is None:
        return EngineClock(WITHOUT_CLOCK, WITHOUT_CLOCK, WITHOUT_CLOCK, 0, None)
    seats = turn.clock.seats
    other = seats[1 - turn.seat] if len(seats) == 2 else turn.clock.left
    found = _TOTAL.fullmatch(turn.match.time_control.replace(" ", ""))
    return EngineClock(
        use=_ms(given),
        own=_ms(turn.time_left),
        other=_ms(other),
        increment=round(float(found[2] or 0) * 1000) if found else 0,
        total=_ms(float(found[1])) if found else None,
    )


def _ms(seconds: float) -> int:
    return max(1, int(seconds * 1000))
