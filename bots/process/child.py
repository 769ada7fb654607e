"""In the bot's process: pass turns to the bot, and its actions to the runner.

The process exchanges messages with the runner over a socket pair
(`plyhouse.bots.process.messages`). Standard output and standard error go to the author's terminal
and log.

A reader thread always reads frames, so that requests to stop arrive while the bot is thinking.  The
main thread runs the bot: one turn after the other, or all at the same time if ``choose`` is async
(`plyhouse.bots.process.async_turns`).  When the runner ends, the pipe closes and this process ends.
"""

from __future__ import annotations

import contextlib
import inspect
import os
import queue
import random
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any, Final

import msgspec

from plyhouse.bots import api
from plyhouse.bots.api import Bot, BotError, NoAnswer, Resignation, Turn, TurnClock, TurnOver
from plyhouse.bots.loading import BotLoadError
from plyhouse.bots.process.messages import (
    HEADER,
    Begin,
    Best,
    Chosen,
    Doing,
    End,
    Failed,
    FromChild,
    Prepared,
    Quit,
    Resigned,
    Stage,
    Stop,
    Stopped,
    Think,
    ToChild,
    decode_to_child,
    frame,
    shortened,
)
from plyhouse.bots.process.tracker import CHANGED, Tracker, match_of, position_text
from plyhouse.protocol.parts import Info

__all__ = ["Child", "Seat", "Wire", "run", "start_reader"]

FREE_REPORTS: Final = 64
"""Reports of a turn that are sent at once; later ones at most every `REPORT_EVERY`."""

REPORT_EVERY: Final = 2_000_000
"""Shortest interval between later reports, in nanoseconds."""


class Wire:
    """The bot's end of the pipe: blocking; any thread may send."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end
        self._reader = end.makefile("rb")
        self._lock = threading.Lock()

    def send(self, message: FromChild) -> None:
        """Send one message; do nothing if the runner is gone."""
        try:
            with self._lock:
                self._end.sendall(frame(shortened(message)))
        except OSError:
            os._exit(0)

    def receive(self) -> ToChild | None:
        """Return the next message; None when the runner is gone."""
        try:
            header = self._reader.read(HEADER.size)
            if len(header) < HEADER.size:
                return None
            (length,) = HEADER.unpack(header)
            body = self._reader.read(length)
        except OSError:
            return None
        return decode_to_child(body) if len(body) == length else None


class Reports:
    """Sends the best action of one turn, if it is new and not too often.

    Otherwise a bot that reports in a tight loop would keep the runner busy.
    """

    def __init__(self, send: Callable[[str], None], clock: Callable[[], int]) -> None:
        self._send = send
        self._clock = clock
        self._last = ""
        self._free = FREE_REPORTS
        self._due = 0

    def __call__(self, action: str) -> None:
        """Report ``action``."""
        if action == self._last:
            return
        if self._free > 0:
            self._free -= 1
        elif self._clock() < self._due:
            return
        self._last = action
        self._due = self._clock() + REPORT_EVERY
        self._send(action)


class Seat:
    """One match in the bot's process, with its own object of the bot's class."""

    def __init__(self, begin: Begin, make: Callable[[], Bot]) -> None:
        self.seed = begin.seed
        self.match = match_of(begin)
        self.tracker = Tracker(self.match.game, begin.snapshot.events)
        self._make = make
        self._prepared: Bot | None = None
        self._failure: BaseException | None = None
        self._bot: Bot | None = None

    def prepare(self) -> None:
        """Create the bot's object and let it prepare; the first turn raises what it raises."""
        try:
            bot = self._make()
            bot.prepare(self.match)
            self._prepared = bot
        except BaseException as error:  # a bot may raise anything
            self._failure = error

    def bot(self, turn: Turn, doing: Callable[[Stage], None]) -> Bot:
        """Return the bot's object for this match; create and start it at the first turn.

        ``doing`` receives the stages of the bot.
        """
        if self._bot is None:
            if self._failure is not None:
                raise self._failure
            doing("__init__")
            bot = self._prepared or self._make()
            doing("start")
            bot.start(turn)
            self._bot = bot
            doing("choose")
        return self._bot

    def turn(self, think: Think, arrived: int, wire: Wire) -> Turn:
        """Return the turn that the bot receives for one request."""
        self.tracker.add(think.events)

        def best(action: str) -> None:
            wire.send(Best(self.match.id, think.turn, action))

        periods = [state.periods for state in think.clocks if state.seat == self.match.seat]
        return Turn(
            self.match,
            ply=think.ply,
            state=self.tracker.state,
            observation=self.tracker.observation(think.observation, self.match.seat),
            history=self.tracker.events,
            clock=TurnClock(
                left=think.left / 1e9,
                seats=tuple([state.remaining_ms / 1e3 for state in think.clocks]),
                periods=periods[0] if periods else None,
                time_control=self.match.time_control,
            ),
            rng=random.Random(f"{self.seed}/{self.match.seat}/{think.ply}"),
            soft=arrived + think.soft,
            hard=arrived + think.hard,
            depth=think.depth,
            nodes=think.nodes,
            retry=think.retry,
            on_report=Reports(best, time.monotonic_ns),
        )

    @property
    def choose(self) -> str:
        """The place of ``choose``: ``choose of MyBot (mybot.py, line 7)``."""
        kind: Any = type(self._bot)
        code = getattr(getattr(kind, "choose", None), "__code__", None)
        if code is None:
            return "choose"
        file = os.path.basename(code.co_filename)
        return f"choose of {kind.__name__} ({file}, line {code.co_firstlineno})"

    def finish(self, end: End) -> None:
        """Tell the bot how the match ended."""
        with contextlib.suppress(Exception):  # the result matters, not the last position
            self.tracker.add(end.events)
        if self._bot is not None and end.outcome is not None:
            self._bot.finish(end.outcome)


class Child:
    """The common part of sync and async bots: matches, answers and failures.

    ``make`` returns a new object of the bot's class.  ``endings`` are the exceptions that may end a
    stopped turn; at any other time they are a failure of the bot.  ``prepares`` is True if the bot
    prepares for matches.
    """

    def __init__(
        self,
        make: Callable[[], Bot],
        wire: Wire,
        endings: tuple[type[BaseException], ...] = (TurnOver,),
        *,
        prepares: bool = False,
    ) -> None:
        self.make = make
        self.wire = wire
        self.endings = endings
        self.prepares = prepares
        self.seats: dict[str, Seat] = {}
        self.turns: dict[int, Turn] = {}
        self.stopped: set[int] = set()

    def begin(self, message: Begin) -> None:
        """Begin a match."""
        match = message.snapshot.match
        try:
            self.seats[match] = seat = Seat(message, self.make)
        except Exception as error:
            self.seats.pop(match, None)
            self.failed(match, 0, None, error)
        else:
            if self.prepares:
                seat.prepare()
        if self.prepares:
            self.wire.send(Prepared(match))

    def end(self, message: End) -> None:
        """End a match."""
        seat = self.seats.pop(message.match, None)
        if seat is None:
            return
        try:
            seat.finish(message)
        except BaseException as error:  # a bot may raise anything
            self.failed(message.match, 0, None, error)

    def stop(self, turn: int) -> None:
        """Let `Turn.report` of a turn raise from now on; called from the reader thread."""
        self.stopped.add(turn)
        running = self.turns.get(turn)
        if running is not None:
            running.end()

    def open(self, think: Think, arrived: int) -> tuple[Seat, Turn] | None:
        """Create the turn for a request; None if that fails or the request was stopped."""
        if think.turn in self.stopped:
            self.close(think.turn)
            self.wire.send(Stopped(think.match, think.turn))
            return None
        seat = self.seats.get(think.match)
        turn = None
        try:
            if seat is None:
                raise RuntimeError(f"the match {think.match} was never begun here")
            turn = seat.turn(think, arrived, self.wire)
            self.turns[think.turn] = turn
        except Exception as error:
            self.failed(think.match, think.turn, turn, error)
            return None
        return seat, turn

    def bot(self, think: Think, seat: Seat, turn: Turn) -> Bot:
        """Return the bot's object, and report its stages to the runner."""
        return seat.bot(turn, lambda what: self.wire.send(Doing(think.match, think.turn, what)))

    def answer(self, think: Think, turn: Turn, run: Callable[[], Any]) -> None:
        """Send the result of ``run``, or its failure."""
        try:
            text, problem = self._text(think, turn, run())
        except Resignation as error:
            why = str(error) if isinstance(error, NoAnswer) else ""
            self.wire.send(Resigned(think.match, think.turn, why))
        except BaseException as error:  # the bot may also raise SystemExit or KeyboardInterrupt
            if think.turn in self.stopped and isinstance(error, self.endings):
                self.wire.send(Stopped(think.match, think.turn))
            else:
                self.failed(think.match, think.turn, turn, error)
        else:
            warning = f"{problem}\n{turn.describe()}" if problem else ""
            self.wire.send(Chosen(think.match, think.turn, text, warning, _sendable(turn.said)))
        finally:
            self.close(think.turn)

    def _text(self, think: Think, turn: Turn, action: Any) -> tuple[str, str]:
        """`Turn.text_of`; no line of the author raises its error, so it names the method."""
        seat = self.seats.get(think.match)
        choose = seat.choose if seat else "choose"
        if seat and seat.tracker.changed(turn.observation, turn.seat):
            raise BotError(f"{choose} {CHANGED}")
        try:
            return turn.text_of(action)
        except BotError as error:
            raise BotError(f"{choose} returned no action: {error}") from None

    def close(self, turn: int) -> None:
        """Forget a turn."""
        self.turns.pop(turn, None)
        self.stopped.discard(turn)

    def failed(self, match: str, number: int, turn: Turn | None, error: BaseException) -> None:
        """Report a failure to the author, with the position."""
        position = ""
        if turn is not None:
            with contextlib.suppress(Exception):
                position = position_text(turn)
        if isinstance(error, BotLoadError):  # such as an engine that plays an illegal move
            line, text = str(error), error.details
        else:
            line = f"{type(error).__name__}: {error}".rstrip(": ")
            text = "".join(traceback.format_exception(_in_author_code(error)))
        self.wire.send(Failed(match, number, line, text, position))


def run(make: Callable[[], Bot], wire: Wire, *, prepares: bool = False) -> None:
    """Serve a bot with a synchronous ``choose``, one turn after the other, until `Quit`."""
    child = Child(make, wire, prepares=prepares)
    inbox: queue.SimpleQueue[tuple[ToChild, int]] = queue.SimpleQueue()

    def received(message: ToChild) -> None:
        if isinstance(message, Stop):
            child.stop(message.turn)
        else:
            inbox.put((message, time.monotonic_ns()))

    start_reader(child.wire, received)
    while True:
        message, arrived = inbox.get()
        match message:
            case Begin():
                child.begin(message)
            case Think():
                opened = child.open(message, arrived)
                if opened is not None:
                    _answer_sync(child, message, *opened)
            case End():
                child.end(message)
            case Quit():
                return
            case Stop():
                pass


def _answer_sync(child: Child, think: Think, seat: Seat, turn: Turn) -> None:
    def run() -> Any:
        result = child.bot(think, seat, turn).choose(turn)
        if not inspect.isawaitable(result):
            return result
        import asyncio  # an ordinary function that hands out something to be awaited is rare

        return asyncio.run(_awaited(result))

    child.answer(think, turn, run)


async def _awaited(result: Awaitable[Any]) -> Any:
    return await result


def start_reader(wire: Wire, received: Callable[[ToChild], None]) -> None:
    """Pass every message to ``received`` in a thread; end the process when the pipe closes."""

    def read() -> None:
        while True:
            message = wire.receive()
            if message is None:
                # The runner is gone; the bot may be stuck, so a gentler exit could hang.
                if os.getpgrp() == os.getpid():
                    os.killpg(0, signal.SIGKILL)  # with programs that the bot has started
                os._exit(0)
            received(message)

    threading.Thread(target=read, name="plyhouse-pipe", daemon=True).start()


def _sendable(said: dict[str, Any] | None) -> Info | None:
    """Return a bot's `turn.info`; if it cannot be sent, tell its author and return None."""
    if said is None:
        return None
    try:
        kept = msgspec.convert(said, Info)
        msgspec.msgpack.encode(kept)
    except (msgspec.ValidationError, UnicodeError) as error:
        sys.stderr.write(f"turn.info: the action counts, but its info was not sent: {error}\n")
        return None
    return kept


def _in_author_code(error: BaseException) -> BaseException:
    """Remove Plyhouse's own frames from the top of the traceback."""
    trace: TracebackType | None = error.__traceback__
    while trace is not None and _is_ours(trace.tb_frame.f_code.co_filename):
        trace = trace.tb_next
    return error.with_traceback(trace)


def _is_ours(file: str) -> bool:
    return file == api.__file__ or os.path.dirname(file) == os.path.dirname(__file__)
