"""A bot's process that a test plays itself, behind a real socket and a launcher of its own."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from tests.bots.conftest import ManualClock, settle
from tests.harness.patience import PATIENCE
from tests.harness.supervised_bot import Rig

from plyhouse.bots.process.author_log import AuthorLine, AuthorLog
from plyhouse.bots.process.messages import (
    HEADER,
    FromChild,
    Loaded,
    ToChild,
    decode_to_child,
    frame,
)
from plyhouse.bots.process.supervisor import Supervisor

NOBODY = 2**23
"""A process id that no process can have."""

Heard = TypeVar("Heard", bound=ToChild)


class ScriptedProcess:
    """Both ends of a bot's process: the runner's (`Running`), and that of the test."""

    most_frames = None
    folder = None

    def __init__(self, pid: int, *, boxed: bool) -> None:
        self.pid = pid
        self.output = asyncio.StreamReader()
        self.lost = ""
        self._frozen = self._killed = False
        self._boxed = boxed
        self._ended: asyncio.Future[tuple[int, str]] = asyncio.get_running_loop().create_future()

    async def connect(self, pipe: socket.socket) -> None:
        pipe.setblocking(False)
        self._reader, self._writer = await asyncio.open_connection(sock=pipe)

    # The runner's end

    def work(self) -> None:
        self._frozen = False

    def rest(self) -> bool:
        self._frozen = self._boxed
        return self._boxed

    def kill(self) -> None:
        self._killed = True
        self.end(-9, "signal SIGKILL")

    async def wait(self) -> tuple[int, str]:
        return await asyncio.shield(self._ended)

    # The test's end

    def is_frozen(self) -> bool:
        """Whether the runner lets it rest."""
        return self._frozen

    def was_killed(self) -> bool:
        """Return whether the runner killed the process."""
        return self._killed

    async def hear(self, kind: type[Heard]) -> Heard:
        """The next message of the runner, which must be of this kind."""
        async with asyncio.timeout(PATIENCE):
            (length,) = HEADER.unpack(await self._reader.readexactly(HEADER.size))
            message = decode_to_child(await self._reader.readexactly(length))
        assert isinstance(message, kind), message
        return message

    async def hears_nothing(self) -> bool:
        """True if no message is on its way."""
        await settle()
        reading = asyncio.create_task(self._reader.read(1))
        await settle()
        if reading.done():
            return reading.result() == b""
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
        return True

    async def say(self, message: FromChild) -> None:
        self._writer.write(frame(message))
        await self._writer.drain()
        await settle()

    def print(self, text: str) -> None:
        self.output.feed_data(text.encode())

    def end(self, code: int = 1, how: str = "exit code 1") -> None:
        """End the process."""
        if not self._ended.done():
            self._ended.set_result((code, how))
            self._writer.close()
            self.output.feed_eof()


class ScriptedLauncher:
    """Starts processes that the test plays; errors in `failures` come first."""

    def __init__(self, *, boxed: bool, concurrent: bool, pid: int, prepares: bool = False) -> None:
        self.processes: list[ScriptedProcess] = []
        self.failures: list[Exception] = []
        self._boxed, self._pid = boxed, pid
        self._loaded = Loaded("mybot", ["connect_four"], concurrent, True, prepares=prepares)
        self._changed = asyncio.Condition()
        self.open = asyncio.Event()
        """Set while processes may start."""
        self.open.set()

    async def launch(self, spec: str, pipe: socket.socket, stand: int) -> ScriptedProcess:
        await self.open.wait()
        if self.failures:
            raise self.failures.pop(0)
        process = ScriptedProcess(self._pid, boxed=self._boxed)
        await process.connect(pipe.dup())
        try:
            await process.say(self._loaded)
            async with self._changed:
                self.processes.append(process)
                self._changed.notify_all()
        except asyncio.CancelledError:
            process.end()
            await settle()
            raise
        return process

    async def number(self, number: int) -> ScriptedProcess:
        """The process of this number, the first is 0, once it has been started and is served."""
        async with asyncio.timeout(PATIENCE), self._changed:
            await self._changed.wait_for(lambda: len(self.processes) > number)
        await settle()
        return self.processes[number]


class Stage(Rig):
    """A supervisor whose processes the test plays."""

    def __init__(
        self, supervisor: Supervisor, clock: ManualClock, launcher: ScriptedLauncher
    ) -> None:
        super().__init__(supervisor, clock, [])
        self.launcher = launcher
        self.said: list[AuthorLine] = []
        """What the author of the bot is shown."""
        supervisor.log = AuthorLog("mybot", terminal=self.lines.append, on_line=self.said.append)


@asynccontextmanager
async def staged(
    clock: ManualClock,
    *,
    boxed: bool = False,
    concurrent: bool = False,
    prepares: bool = False,
    pid: int = NOBODY,
    **more: Any,
) -> AsyncIterator[Stage]:
    """Start a supervisor with its first process."""
    launcher = ScriptedLauncher(boxed=boxed, concurrent=concurrent, pid=pid, prepares=prepares)
    supervisor = Supervisor("mybot.py", AuthorLog("mybot"), clock=clock, launcher=launcher, **more)
    await supervisor.start()
    try:
        yield Stage(supervisor, clock, launcher)
    finally:
        closing = asyncio.create_task(supervisor.close())
        await settle()
        for process in launcher.processes:
            process.end(0, "exit code 0")
        await closing
        await settle()  # transports close their files in the loop's next round
