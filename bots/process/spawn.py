"""Has a bot's process started and moves frames to and from it.

POSIX only: the pipe is a socket pair whose other end is inherited by the child.  Who starts the
process is a `plyhouse.bots.process.launching.Launcher`.
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
from plyhouse.bots.process.flood import AT_ONCE, Allowance, Turns
from plyhouse.bots.process.last_stand import LastStand
from plyhouse.bots.process.launching import BARE, Launcher, Readable, Running
from plyhouse.bots.process.pipe import (
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

__all__ = ["IMPORT_TIMEOUT", "BotProcess", "read_output"]

IMPORT_TIMEOUT: Final = 30.0
"""Seconds that importing a bot may take (a large model may be loaded)."""

QUIT_GRACE: Final = 2.0
"""Seconds between asking a process to leave and ending it."""

OUTPUT_GRACE: Final = 2.0
"""Seconds to read what an ended process has printed."""

LONGEST_LINE: Final = 8192
"""Characters of a printed line before it is broken up."""


class BotProcess:
    """A running process with a loaded bot; make one with `start`."""

    def __init__(
        self,
        process: Running,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        output: asyncio.Task[None],
        stand: LastStand,
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
        """Why we end it, if it is we."""
        self.loaded: Loaded
        """What the bot said of itself."""

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
        """Start a process and have it import the bot.

        ``on_output`` gets the lines that the bot prints, as many at a time as there are.  Raises
        `BotLoadError`; a bot whose import takes longer than ``import_timeout`` seconds is ended
        and counts as one.
        """
        ours, theirs = socket.socketpair()
        read_end, write_end = os.pipe()
        with contextlib.ExitStack() as undo:  # a start may be cancelled half-way
            undo.callback(ours.close)
            undo.callback(os.close, read_end)
            with theirs, os.fdopen(write_end, "wb", buffering=0):
                process = await launcher.launch(spec, theirs, write_end)
            undo.pop_all()
        ours.setblocking(False)
        reader, writer = await asyncio.open_connection(sock=ours)
        output = asyncio.create_task(read_output(process.output, on_output))
        stand = await LastStand.of(read_end, process.folder)
        started = cls(process, reader, writer, output, stand, clock)
        try:
            started.loaded = await started._import(spec, import_timeout)
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
        """Why it ended, if its launcher did, and it had to; empty otherwise."""
        return self._process.lost

    def work(self) -> None:
        """It is to think from now on."""
        self._process.work()

    def rest(self) -> bool:
        """It has nothing to do until `work`; returns whether it stands still."""
        return self._process.rest()

    def send(self, message: ToChild) -> None:
        """Queue a message; lost without notice if the process has ended (`receive` tells)."""
        if not self._writer.is_closing():
            self._writer.write(frame(message))

    async def receive(self) -> FromChild | None:
        """The next message; None once the process has ended, or has to be ended."""
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
        """Which limit a frame of so many bytes breaks; empty if none.

        `plyhouse.bots.process.child` keeps them, so a bot that breaks one sends its own frames.
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
        """Where the bot stands now, as a traceback of its author's lines; may be empty."""
        return await self._stand.ask(self.pid)

    def kill(self) -> None:
        """End the process and all it started, at once."""
        self._process.kill()

    async def closed(self) -> tuple[str, str]:
        """Wait for the end of the process and of its output.

        Returns how it ended, in words, and where it crashed, if it did.
        """
        self._writer.close()
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()
        code, how = await self._process.wait()
        # One that has left the process group may hold the pipe open: not our problem.
        await asyncio.wait({self._output}, timeout=OUTPUT_GRACE)
        self._output.cancel()
        await asyncio.gather(self._output, return_exceptions=True)
        where = await self._stand.last_words() if code < 0 else ""
        self._stand.close()
        return self._problem or how, where

    async def quit(self, grace: float = QUIT_GRACE) -> None:
        """Ask the process to leave; end it if it has not within ``grace`` seconds."""
        self.work()
        self.send(Quit())
        ended = asyncio.create_task(self._process.wait())
        if not await first_of(ended, self._clock.sleep(grace)):
            self.kill()
        await ended


async def read_output(output: Readable, on_output: Callable[[Sequence[str]], None]) -> None:
    """Pass printed lines on for as long as anybody can print: a full pipe would stop the bot."""
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    pending = ""
    while chunk := await output.read(65536):
        *lines, pending = (pending + decoder.decode(chunk)).split("\n")
        while len(pending) > LONGEST_LINE:
            lines.append(pending[:LONGEST_LINE])
            pending = pending[LONGEST_LINE:]
        # Many are short lines of one that floods us: others are to have their turn in between.
        for start in range(0, len(lines), AT_ONCE):
            on_output(lines[start : start + AT_ONCE])
            await asyncio.sleep(0)
    if pending:
        on_output([pending])
