"""In the bot's own process: turns for the bot, answers for the runner.

It talks with the runner through one end of a socket pair (see `plyhouse.bots.process.pipe`);
standard output and error both lead to the author's terminal and log.

A reader thread takes frames off the pipe at all times, so that requests to stop arrive while the
bot is thinking.  The main thread runs the bot: one turn after the other, or all at once if
``choose`` is async (`plyhouse.bots.process.at_once`).  When the runner is gone the pipe ends, and
so does this process, whatever the bot is doing.
"""

from __future__ import annotations

import contextlib
import inspect
import os
import queue
import random
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
from plyhouse.bots.api import Bot, BotError, Resignation, Turn, TurnClock, TurnOver
from plyhouse.bots.process.pipe import (
    HEADER,
    Begin,
    Best,
    Chosen,
    Doing,
    End,
    Failed,
    FromChild,
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
from plyhouse.bots.process.position import match_of, position_text
from plyhouse.bots.process.tracker import Tracker
from plyhouse.bots.said import Said

__all__ = ["Child", "Seat", "Wire", "run", "start_reader"]

FREE_REPORTS: Final = 64
"""Reports of a turn that are passed on at once; later ones at most every `REPORT_EVERY`."""

REPORT_EVERY: Final = 2_000_000
"""Nanoseconds."""


class Wire:
    """Our end of the pipe: blocking, safe to send from any thread."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end
        self._reader = end.makefile("rb")
        self._lock = threading.Lock()

    def send(self, message: FromChild) -> None:
        """Send one message; if the runner is gone there is nothing left to do."""
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
    """Passes the best action of one turn on: only what is new, and not too often.

    A bot that reports in a tight loop would otherwise keep the runner busy.
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
    """One match as the bot's process knows it, with its own object of the bot's class."""

    def __init__(self, begin: Begin, make: Callable[[], Bot]) -> None:
        self.seed = begin.seed
        self.match = match_of(begin)
        self.tracker = Tracker(self.match.game, begin.snapshot.events)
        self._make = make
        self._bot: Bot | None = None

    def bot(self, turn: Turn, doing: Callable[[Stage], None]) -> Bot:
        """The bot's object for this match, made and started at its first turn.

        ``doing`` is told what the bot is at.
        """
        if self._bot is None:
            doing("__init__")
            bot = self._make()
            doing("start")
            bot.start(turn)
            self._bot = bot
            doing("choose")
        return self._bot

    def turn(self, think: Think, arrived: int, wire: Wire) -> Turn:
        """Return what the bot is shown for one request."""
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
            retry=think.retry,
            on_report=Reports(best, time.monotonic_ns),
        )

    @property
    def choose(self) -> str:
        """``choose`` and where it is written: ``choose of MyBot (mybot.py, line 7)``."""
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
    """What sync and async bots have in common: matches, answers, failures.

    ``make`` gives an object of the bot's class.  ``endings`` are the exceptions by which a turn
    that was stopped may end; raised at any other time they are the bot's failure like all others.
    """

    def __init__(
        self,
        make: Callable[[], Bot],
        wire: Wire,
        endings: tuple[type[BaseException], ...] = (TurnOver,),
    ) -> None:
        self.make = make
        self.wire = wire
        self.endings = endings
        self.seats: dict[str, Seat] = {}
        self.turns: dict[int, Turn] = {}
        self.stopped: set[int] = set()

    def begin(self, message: Begin) -> None:
        """Set a match up."""
        match = message.snapshot.match
        try:
            self.seats[match] = Seat(message, self.make)
        except Exception as error:
            self.seats.pop(match, None)
            self.failed(match, 0, None, error)

    def end(self, message: End) -> None:
        """Take a match down."""
        seat = self.seats.pop(message.match, None)
        if seat is None:
            return
        try:
            seat.finish(message)
        except BaseException as error:  # a bot may raise anything
            self.failed(message.match, 0, None, error)

    def stop(self, turn: int) -> None:
        """Make a turn's `Turn.report` raise; called from the reader thread."""
        self.stopped.add(turn)
        running = self.turns.get(turn)
        if running is not None:
            running.end()

    def open(self, think: Think, arrived: int) -> tuple[Seat, Turn] | None:
        """Make the turn for a request; None if that failed or it is no longer wanted."""
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
        """The bot that thinks; the runner is told what takes its time at first."""
        return seat.bot(turn, lambda what: self.wire.send(Doing(think.match, think.turn, what)))

    def answer(self, think: Think, turn: Turn, run: Callable[[], Any]) -> None:
        """Send what ``run`` returns, or how it failed."""
        try:
            text, problem = self._text(think, turn, run())
        except Resignation:
            self.wire.send(Resigned(think.match, think.turn))
        except BaseException as error:  # SystemExit, KeyboardInterrupt: the bot's own doing
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
        try:
            return turn.text_of(action)
        except BotError as error:
            seat = self.seats.get(think.match)
            raise BotError(f"{seat.choose if seat else 'choose'} returned {error}") from None

    def close(self, turn: int) -> None:
        """Forget a turn."""
        self.turns.pop(turn, None)
        self.stopped.discard(turn)

    def failed(self, match: str, number: int, turn: Turn | None, error: BaseException) -> None:
        """Tell the author what happened, and where in the match."""
        position = ""
        if turn is not None:
            with contextlib.suppress(Exception):
                position = position_text(turn)
        text = "".join(traceback.format_exception(_in_author_code(error)))
        line = f"{type(error).__name__}: {error}".rstrip(": ")
        self.wire.send(Failed(match, number, line, text, position))


def run(make: Callable[[], Bot], wire: Wire) -> None:
    """Serve a bot with an ordinary ``choose`` until told to quit: one turn after the other."""
    child = Child(make, wire)
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
    """Hand every message to ``received``, in a thread; the process ends with the pipe."""

    def read() -> None:
        while True:
            message = wire.receive()
            if message is None:
                os._exit(0)  # the runner is gone; the bot may be stuck, so nothing gentler
            received(message)

    threading.Thread(target=read, name="plyhouse-pipe", daemon=True).start()


def _sendable(said: dict[str, Any] | None) -> Said | None:
    """Return a bot's `turn.info`; if it cannot be sent, tell its author and return None."""
    if said is None:
        return None
    try:
        kept = msgspec.convert(said, Said)
        msgspec.msgpack.encode(kept)
    except (msgspec.ValidationError, UnicodeError) as error:
        sys.stderr.write(f"turn.info: the action counts, but its info was not sent: {error}\n")
        return None
    return kept


def _in_author_code(error: BaseException) -> BaseException:
    """Cut our own frames off the top of the traceback."""
    trace: TracebackType | None = error.__traceback__
    while trace is not None and _is_ours(trace.tb_frame.f_code.co_filename):
        trace = trace.tb_next
    return error.with_traceback(trace)


def _is_ours(file: str) -> bool:
    return file == api.__file__ or os.path.dirname(file) == os.path.dirname(__file__)
