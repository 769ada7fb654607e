"""One process of a program in its box: lines of JSON in, lines of JSON out.

A process is ready once it has sent ``hello``.  From then on it is stopped (SIGSTOP) except between
`Program.work` and `Program.rest`.  Its output is passed on if it is a message of the protocol;
otherwise it is answered here.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable
from typing import Any, Final

import msgspec

from plyhouse.bots.client.timing import Clock
from plyhouse.bots.loading import BotLoadError
from plyhouse.bots.process.author_log import AuthorLog, AuthorOutput
from plyhouse.bots.process.bot_process import read_output
from plyhouse.bots.process.launcher import LauncherLost
from plyhouse.bots.process.output_limits import Allowance, Turns
from plyhouse.bots.sandbox.box import Box, Cores, SandboxError
from plyhouse.bots.sandbox.client import GONE, ForkServerClient
from plyhouse.bots.sandbox.launcher import MOST_FRAMES, Boxed, Output, reader_of
from plyhouse.protocol.codec import MAX_CLIENT_FRAME, read_line, refusal
from plyhouse.protocol.errors import ProtocolError
from plyhouse.protocol.messages import ClientMessage, Error, Hello, Ping, Pong, ServerMessage

__all__ = ["HELLO_WITHIN", "Program"]

HELLO_WITHIN: Final = 30.0
"""Seconds in which a program has to say ``hello``: as long as a bot by our API has to import."""

UNREAD: Final = 16 << 20
"""Bytes that may wait for a program that does not read, before it is ended."""

MOST_NOTES: Final = 50
"""Most wrong messages of a process that are reported to its author."""

MOST_REFUSED: Final = 100
"""Requests of a process that the server may refuse."""

ADVICE: Final = "end each message with a line end, and flush the output"

LAST_LINES: Final = 1.0
"""Seconds to read what an ended program has said and printed."""


class Program:
    """A process that has said ``hello``; make one with `start`."""

    def __init__(
        self,
        boxed: Boxed,
        out: tuple[asyncio.StreamReader, asyncio.BaseTransport],
        err: asyncio.BaseTransport,
        stdin: asyncio.WriteTransport,
        clock: Clock,
        log: AuthorLog,
    ) -> None:
        self._boxed = boxed
        self._out, self._out_transport = out
        self._err_transport = err
        self._stdin = stdin
        self._clock = clock
        self._log = log
        self._notes = 0
        self._refused = 0
        self._problem = ""
        """Why we end it, if it is we."""
        self._begun = b""
        """Output of the program after its last line end."""
        self.voice = voice = AuthorOutput()
        """The match and ply that its output belongs to."""
        self._printing = asyncio.create_task(
            read_output(boxed.output, lambda lines: voice.printed(log, lines))
        )
        self._waiting = asyncio.create_task(boxed.wait())
        self._reading = asyncio.create_task(self._read())
        self._hello: asyncio.Future[Hello] = asyncio.get_running_loop().create_future()
        self.hello: Hello
        """The program's ``hello``."""
        self.on_message: Callable[[ClientMessage], None] = self._nobody_asked
        """Gets what it says, pings and what cannot be read aside."""

    @classmethod
    async def start(
        cls,
        box: Box,
        *,
        fork_server: ForkServerClient,
        cores: Cores,
        clock: Clock,
        log: AuthorLog,
        hello_within: float = HELLO_WITHIN,
    ) -> Program:
        """Start the program of ``box`` and wait for its ``hello``; then stop it.

        ``log`` gets what it prints.  Raises `BotLoadError`, or `LauncherLost` if the fork server of
        the boxes has ended.
        """
        with contextlib.ExitStack() as undo:  # a start may be cancelled half-way
            with contextlib.ExitStack() as theirs:
                stdin, write_end = os.pipe()
                theirs.callback(os.close, stdin)
                transport = await _writer_of(write_end)
                undo.callback(transport.close)
                read_end, stdout = os.pipe()
                theirs.callback(os.close, stdout)
                out = await reader_of(read_end)
                undo.callback(out[1].close)
                read_end, stderr = os.pipe()
                theirs.callback(os.close, stderr)
                err, err_transport = await reader_of(read_end)
                undo.callback(err_transport.close)
                core = cores.take()
                if core is not None:
                    undo.callback(cores.give_back, core)
                box = msgspec.structs.replace(box, core=core)
                try:
                    process = await fork_server.launch(box, (stdin, stdout, stderr))
                except SandboxError as error:
                    if fork_server.gone:
                        raise LauncherLost(GONE) from error
                    raise BotLoadError(f"the program could not be started: {error}") from error
            undo.pop_all()
        boxed = Boxed(process, Output(err, err_transport, process), cores)
        program = cls(boxed, out, err_transport, transport, clock, log)
        try:
            await program._greeted(hello_within)
        except BaseException:
            await program.end()
            raise
        program.rest()
        return program

    async def _greeted(self, seconds: float) -> None:
        over = asyncio.create_task(self.over())
        late = asyncio.create_task(self._clock.sleep(seconds))
        said: set[asyncio.Future[Any]] = {self._hello, over, late}
        try:
            await asyncio.wait(said, return_when="FIRST_COMPLETED")
        finally:
            over.cancel()
            late.cancel()
        if self._hello.done():
            self.hello = self._hello.result()
            return
        if not self._reading.done():
            told = self.unfinished or f"it has written nothing: {ADVICE}"
            raise BotLoadError(f"the program said no hello within {seconds:g} s; {told}")
        raise BotLoadError(f"the program ended before it said hello: {await self.end(LAST_LINES)}")

    @property
    def pid(self) -> int:
        """Process id, as seen from here."""
        return self._boxed.pid

    @property
    def unfinished(self) -> str:
        """Advice on a missing line end, for the author; empty if none is missing."""
        if not self._begun.strip():
            return ""
        shown = start_of(self._begun)
        return f"it has written {len(self._begun)} bytes without a line end: {shown} ({ADVICE})"

    def plays(self, match: str) -> None:
        """Assign the program's output to this match, including all of it so far."""
        self.voice.begin(self._log, match)

    def work(self) -> None:
        """It is to move, to set up or to end: let it run."""
        self._boxed.work()

    def rest(self) -> None:
        """Stop the process and all of its threads while others are to move."""
        self._boxed.rest()

    def write(self, message: ServerMessage) -> None:
        """Queue a message; lost without notice if the program has ended."""
        if self._stdin.is_closing():
            return
        self._stdin.write(msgspec.json.encode(message) + b"\n")
        if self._stdin.get_write_buffer_size() > UNREAD:
            self._problem = "it does not read what it is told"
            self.kill()

    def note(self, text: str) -> None:
        """Tell the author of something that it said; after `MOST_NOTES` of these of no more."""
        self._notes += 1
        if self._notes > MOST_NOTES:
            return
        if self._notes == MOST_NOTES:
            text += " (what else it says like this is not noted any more)"
        self._log.note(text, self.voice.match, self.voice.ply)

    def refused(self) -> None:
        """The server has refused something that it asked; after `MOST_REFUSED` of these it ends.

        All matches of a bot share its connection, which the server closes for too many.
        """
        self._refused += 1
        if self._refused == MOST_REFUSED:
            self._problem = f"the server refused {MOST_REFUSED} of its requests"
            self.kill()

    def kill(self) -> None:
        """End it at once."""
        self._boxed.kill()

    async def over(self) -> None:
        """Return when it has ended, or has to be."""
        either: set[asyncio.Future[Any]] = {self._reading, self._waiting}
        await asyncio.wait(either, return_when="FIRST_COMPLETED")
        await asyncio.wait({self._reading}, timeout=LAST_LINES)

    async def ended(self) -> None:
        """Return when there is no process any more."""
        await asyncio.wait({self._waiting})

    async def end(self, grace: float = 0.0) -> str:
        """Let it end within ``grace`` seconds, its input closed; return how it ended, in words.

        Raises `LauncherLost` if that was the end of the fork server of the boxes.
        """
        self._stdin.close()
        if grace:
            self.work()
            await asyncio.wait({self._waiting}, timeout=grace)
        self.kill()
        _, how = await self._waiting
        await asyncio.wait({self._reading, self._printing}, timeout=LAST_LINES)
        for task in (self._reading, self._printing):
            task.cancel()
        await asyncio.gather(self._reading, self._printing, return_exceptions=True)
        self._out_transport.close()
        self._err_transport.close()
        if self._boxed.lost:
            raise LauncherLost(self._boxed.lost)
        return self._problem or how

    # Messages from the program

    async def _read(self) -> None:
        clock = self._clock
        allowance, turns = Allowance(MOST_FRAMES, lambda: clock.now() / 1e9), Turns()
        while line := await self._line():
            if len(line) > MAX_CLIENT_FRAME:
                self._problem = f"a line of more than {MAX_CLIENT_FRAME} bytes"
            elif not allowance.take():
                self._problem = f"more than {MOST_FRAMES} lines a second"
            if self._problem:
                return
            if line.strip():
                self._said(line)
            await turns.took_one()
        await asyncio.wait({self._waiting}, timeout=LAST_LINES)
        if not self._waiting.done():
            self._problem = "it closed its standard output"

    async def _line(self) -> bytes:
        """Return the next line, a longer beginning than a line may have, or the end of the output.

        It is empty after that.
        """
        while b"\n" not in self._begun and len(self._begun) <= MAX_CLIENT_FRAME:
            more = await self._out.read(MAX_CLIENT_FRAME)
            if not more:
                break
            self._begun += more
        line, end, self._begun = self._begun.partition(b"\n")
        return line + end

    def _said(self, line: bytes) -> None:
        try:
            message: ClientMessage = read_line(line.decode("utf-8", "replace"))
        except ProtocolError as error:
            self.note(f"the program said what cannot be read: {error}: {start_of(line)}")
            self.write(Error(error.code, str(error), getattr(error, "re", None)))
            return
        match message:
            case Ping():
                self.write(Pong(message.id))
            case Pong():
                pass
            case Hello() if not self._hello.done():
                self._hello.set_result(message)
            case Hello():
                self.write(refusal(message, "protocol/unexpected", "hello is said once"))
            case _:
                self.on_message(message)

    def _nobody_asked(self, message: ClientMessage) -> None:
        self.write(refusal(message, "auth/required", "say hello, and wait for welcome"))


def start_of(line: bytes) -> str:
    """Return the beginning of a line, for a log."""
    return line[:200].decode("utf-8", "replace").rstrip()


async def _writer_of(descriptor: int) -> asyncio.WriteTransport:
    file = os.fdopen(descriptor, "wb", buffering=0)
    transport, _ = await asyncio.get_running_loop().connect_write_pipe(asyncio.BaseProtocol, file)
    return transport
