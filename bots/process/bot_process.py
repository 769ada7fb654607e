"""Start a bot's process and exchange frames with it.

A `plyhouse.bots.process.launcher.Launcher` starts the process.  The child inherits the other end of
a socket pair, which works on POSIX systems only.
"""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import os
import socket
from collections.abc import Callable, Sequence
from typing import Final

from plyhouse.bots.client.timing import REAL_CLOCK, Clock, first_of
from plyhouse.bots.loading import BotLoadError
from plyhouse.bots.options import OptionError, split_options
from plyhouse.bots.process.launcher import BARE, Launcher, Readable, Running
from plyhouse.bots.process.messages import (
    HEADER,
    MAX_FROM_CHILD,
    FromChild,
    Loaded,
    LoadFailed,
    Quit,
    ToChild,
    UnreadableMessage,
    decode_from_child,
    frame,
)
from plyhouse.bots.process.output_limits import AT_ONCE, Allowance, Turns
from plyhouse.bots.process.traceback_reader import FinalTraceback

__all__ = ["IMPORT_TIMEOUT", "BotProcess", "read_output"]

IMPORT_TIMEOUT: Final = 30.0
"""Seconds that importing a bot may take (a large model may be loaded)."""

QUIT_GRACE: Final = 2.0
"""Seconds between asking a process to end and killing it."""

OUTPUT_GRACE: Final = 2.0
"""Seconds to read what an ended process has printed."""

LONGEST_LINE: Final = 8192
"""Characters of a printed line before it is broken up."""


class BotProcess:
    """A running process with a loaded bot; create one with `start`."""

    def __init__(
        self,
        process: Running,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        output: asyncio.Task[None],
        stand: FinalTraceback,
        clock: Clock,
    ) -> None:
        self._process = process
        self._reader = reader
        self._writer = writer
        self._output = output
        self._stand = stand
        self._clock = clock
        most = process.most_frames
        self._allowance = None if most is None else Allowance(most)
        self._turns = Turns()
        self._problem = ""
        """Why the runner ends the process, if it does."""
        self.loaded: Loaded
        """The bot's description of itself."""

    @classmethod
    async def start(
        cls,
        spec: str,
        *,
        on_output: Callable[[Sequence[str]], None],
        import_timeout: float = IMPORT_TIMEOUT,
        clock: Clock = REAL_CLOCK,
        launcher: Launcher = BARE,
    ) -> BotProcess:
        """Start a process and let it import the bot.

        ``on_output`` receives the lines that the bot prints, in batches.  Raises `BotLoadError`,
        also if the import takes longer than ``import_timeout`` seconds, to which the bot's option
        ``start_timeout`` is added.
        """
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        with contextlib.ExitStack() as undo, theirs:  # a start may be cancelled half-way
            reader, writer = await asyncio.open_connection(sock=ours)
            undo.callback(writer.close)
            read_end, write_end = os.pipe()
            with os.fdopen(write_end, "wb", buffering=0):
                stand = await FinalTraceback.of(read_end)
                undo.callback(stand.close)
                process = await launcher.launch(spec, theirs, write_end)
            undo.pop_all()
        stand.folder = process.folder
        output = asyncio.create_task(read_output(process.output, on_output))
        started = cls(process, reader, writer, output, stand, clock)
        try:
            started.loaded = await started._import(spec, import_timeout + _start_timeout(spec))
        except BaseException:
            started.kill()
            await started.closed()
            raise
        return started

    async def _import(self, spec: str, timeout: float) -> Loaded:  # noqa: ASYNC109 - our clock
        first = asyncio.create_task(self.receive())
        if not await first_of(first, self._clock.sleep(timeout)):
            first.cancel()
            await asyncio.gather(first, return_exceptions=True)
            raise BotLoadError(
                f"{spec} did not finish importing within {timeout:g} s", await self.where()
            )
        message = first.result()
        if isinstance(message, Loaded):
            return message
        if isinstance(message, LoadFailed):
            raise BotLoadError(message.message, message.traceback)
        if self._problem:
            raise BotLoadError(f"{spec} was ended while it was imported: {self._problem}")
        raise BotLoadError(
            f"{spec} ended its process while it was imported", await self._stand.last_words()
        )

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    @property
    def lost(self) -> str:
        """Why it ended, if it ended with its launcher; empty otherwise."""
        return self._process.lost

    def work(self) -> None:
        """Let the process run, because it has a turn."""
        self._process.work()

    def rest(self) -> bool:
        """Let the process rest until `work`; return whether it is frozen."""
        return self._process.rest()

    def send(self, message: ToChild) -> None:
        """Queue a message; it is lost if the process has ended, which `receive` reports."""
        if not self._writer.is_closing():
            self._writer.write(frame(message))

    async def receive(self) -> FromChild | None:
        """Return the next message; None once the process has ended or must be ended."""
        try:
            (length,) = HEADER.unpack(await self._reader.readexactly(HEADER.size))
            self._problem = self._broken(length)
            if self._problem:
                return None
            await self._turns.took_one()
            return decode_from_child(await self._reader.readexactly(length))
        except UnreadableMessage as error:
            self._problem = f"it sent its runner a message that cannot be read: {error}"
        except (asyncio.IncompleteReadError, OSError):
            pass
        return None

    def _broken(self, length: int) -> str:
        """Return which limit a frame of ``length`` bytes breaks; empty if none.

        `plyhouse.bots.process.child` keeps the limits, so only a bot that sends its own frames
        breaks one.
        """
        if length > MAX_FROM_CHILD:
            return (
                f"it sent its runner a message of {length:,} bytes; {MAX_FROM_CHILD:,} are allowed"
            )
        if self._allowance is None or self._allowance.take(1 + length // 1024):
            return ""
        return (
            f"it sent its runner more than {self._allowance.most} messages a second, or messages "
            "of as many KiB"
        )

    async def where(self) -> str:
        """Return the bot's current traceback, of its author's lines only; may be empty."""
        return await self._stand.ask(self.pid)

    def kill(self) -> None:
        """Kill the process and all processes that it started."""
        self._process.kill()

    async def closed(self) -> tuple[str, str]:
        """Wait for the end of the process and of its output.

        Return how it ended, in words, and the place of the crash, if it crashed.
        """
        self._writer.close()
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()
        code, how = await self._process.wait()
        # A process that left the process group may keep the pipe open: do not wait for it.
        await asyncio.wait({self._output}, timeout=OUTPUT_GRACE)
        self._output.cancel()
        await asyncio.gather(self._output, return_exceptions=True)
        where = await self._stand.last_words() if code < 0 else ""
        self._stand.close()
        return self._problem or how, where

    async def quit(self, grace: float = QUIT_GRACE) -> None:
        """Ask the process to end; kill it after ``grace`` seconds."""
        self.work()
        self.send(Quit())
        ended = asyncio.create_task(self._process.wait())
        if not await first_of(ended, self._clock.sleep(grace)):
            self.kill()
        await ended


def _start_timeout(spec: str) -> float:
    """Return the seconds that a program of the bot may take to start, if its options say so.

    >>> _start_timeout('uci(engine="lc0", start_timeout=60)'), _start_timeout("mybot.py")
    (60.0, 0.0)
    """
    with contextlib.suppress(OptionError):  # the bot's process reports it
        seconds = split_options(spec)[1].get("start_timeout", 0)
        if isinstance(seconds, int | float):
            return float(seconds)
    return 0.0


async def read_output(output: Readable, on_output: Callable[[Sequence[str]], None]) -> None:
    """Pass on printed lines until the output ends; a full pipe would stop the bot."""
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    pending = ""
    while chunk := await output.read(65536):
        *lines, pending = (pending + decoder.decode(chunk)).split("\n")
        while len(pending) > LONGEST_LINE:
            lines.append(pending[:LONGEST_LINE])
            pending = pending[LONGEST_LINE:]
        # A bot may print many short lines: let other tasks run in between.
        for start in range(0, len(lines), AT_ONCE):
            on_output(lines[start : start + AT_ONCE])
            await asyncio.sleep(0)
    if pending:
        on_output([pending])
