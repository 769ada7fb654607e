"""Start a fork server, and boxes in it: `ForkServerClient.start`, then `launch` for every box."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import signal
import socket
import sys
from typing import ClassVar, Final

from plyhouse.bots.sandbox.box import (
    PACKET,
    Box,
    BoxExit,
    Ended,
    Kill,
    Launch,
    Refused,
    SandboxError,
    Started,
    ToForkServer,
    decode_from_fork_server,
    packet,
)

__all__ = ["GONE", "BoxProcess", "ForkServerClient"]

GONE: Final = "the fork server of the boxes has ended"

CLOSING: Final = 15.0
"""Seconds that a fork server has to end all boxes."""


class BoxProcess:
    """A running box."""

    def __init__(self, fork_server: ForkServerClient, number: int, box: Box) -> None:
        self._fork_server = fork_server
        self._number = number
        self.box = box
        self.pid = 0
        """The process that is the bot, as seen from outside."""
        loop = asyncio.get_running_loop()
        self.started: asyncio.Future[None] = loop.create_future()
        self.ended: asyncio.Future[BoxExit] = loop.create_future()

    def kill(self) -> None:
        """End it and all that it has started."""
        if not self.ended.done():
            self._fork_server.say(Kill(self._number))

    async def wait(self) -> BoxExit:
        """Return how it ended, once nothing of it is left."""
        return await asyncio.shield(self.ended)

    @property
    def fork_server_gone(self) -> bool:
        """True if the fork server has ended, and this box with it."""
        return self._fork_server.gone


class ForkServerClient:
    """A fork server and its boxes, seen from the event loop of the program that has it."""

    interpreter: ClassVar[str] = ""
    """The Python that runs it; empty for the one that runs this program."""

    def __init__(self, process: asyncio.subprocess.Process, control: socket.socket) -> None:
        self._process = process
        self._control = control
        self._numbers = itertools.count(1)
        self._boxes: dict[int, BoxProcess] = {}
        self._gone = False
        self._turn = asyncio.Lock()
        asyncio.get_running_loop().add_reader(control, self._readable)

    @classmethod
    async def start(cls) -> ForkServerClient:
        """Start a fork server; it is ready when its first box is."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            with theirs:
                process = await asyncio.create_subprocess_exec(
                    cls.interpreter or sys.executable,
                    "-I",  # the folder, the user and the environment change nothing of it
                    "-u",
                    "-m",
                    "plyhouse.bots.sandbox.fork_server",
                    str(theirs.fileno()),
                    stdin=asyncio.subprocess.DEVNULL,
                    pass_fds=(theirs.fileno(),),
                    start_new_session=True,
                    env=_environment(),
                    cwd="/",
                )
        except BaseException:
            ours.close()
            raise
        ours.setblocking(False)
        return cls(process, ours)

    @property
    def pid(self) -> int:
        """Its process."""
        return self._process.pid

    @property
    def gone(self) -> bool:
        """True if the fork server has ended, and all boxes with it."""
        return self._gone

    @property
    def boxes(self) -> int:
        """How many boxes there are."""
        return len(self._boxes)

    async def launch(self, box: Box, descriptors: tuple[int, int, int]) -> BoxProcess:
        """Put a program into a box; see `plyhouse.bots.sandbox.box` for ``descriptors``,
        which stay ours to close.  Raises `SandboxError`; a launch that is cancelled returns
        when nothing of the box is left.
        """
        if self._gone:
            raise SandboxError(GONE)
        data = packet(Launch(number := next(self._numbers), box))
        if len(data) >= PACKET:
            raise SandboxError(f"the command and its arguments have more than {PACKET} bytes")
        process = self._boxes[number] = BoxProcess(self, number, box)
        process.ended.add_done_callback(lambda _: self._boxes.pop(number, None))
        sent = False
        try:
            async with self._turn:
                await self._writable()
                socket.send_fds(self._control, [data], descriptors)
                sent = True
            await asyncio.shield(process.started)
        except OSError as error:
            self._lost()
            raise SandboxError(f"{GONE}: {error}") from error
        except BaseException:
            if sent:
                process.kill()
                await process.wait()  # nobody else knows of it
            else:
                self._boxes.pop(number, None)
            raise
        return process

    async def close(self) -> None:
        """End all boxes and the fork server; return when all are gone."""
        if not self._gone:
            boxes = list(self._boxes.values())
            for box in boxes:
                box.kill()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(CLOSING):
                    await asyncio.gather(*[box.wait() for box in boxes], return_exceptions=True)
        self._lost()
        try:
            async with asyncio.timeout(CLOSING):
                await self._process.wait()
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):  # it has ended just now
                self._process.send_signal(signal.SIGKILL)
            await self._process.wait()

    def say(self, message: ToForkServer) -> None:
        """Tell the fork server; it reads at all times, so there is room."""
        if not self._gone:
            with contextlib.suppress(OSError):
                self._control.setblocking(True)
                self._control.send(packet(message))
                self._control.setblocking(False)

    async def _writable(self) -> None:
        loop = asyncio.get_running_loop()
        ready: asyncio.Future[None] = loop.create_future()
        loop.add_writer(self._control, _settle, ready)
        try:
            await ready
        finally:
            if not self._gone:
                loop.remove_writer(self._control)

    def _readable(self) -> None:
        try:
            data = self._control.recv(PACKET)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._lost()
            return
        message = decode_from_fork_server(data)
        box = self._boxes.get(message.id)
        if box is None:
            return
        match message:
            case Started():
                box.pid = message.pid
                if not box.started.done():
                    box.started.set_result(None)
            case Refused():
                if not box.started.done():
                    box.started.set_exception(SandboxError(message.why))
                if not box.ended.done():
                    box.ended.set_result(BoxExit(code=1, why=message.why))
            case Ended():
                if not box.started.done():
                    box.started.set_exception(SandboxError("it ended before it had started"))
                if not box.ended.done():
                    box.ended.set_result(message.ending)

    def _lost(self) -> None:
        """The fork server is gone, or let go: its boxes end with it."""
        if self._gone:
            return
        self._gone = True
        asyncio.get_running_loop().remove_reader(self._control)
        asyncio.get_running_loop().remove_writer(self._control)
        self._control.close()
        for box in list(self._boxes.values()):
            if not box.started.done():
                box.started.set_exception(SandboxError(GONE))
            if not box.ended.done():
                box.ended.set_result(BoxExit(code=-signal.SIGKILL, why=GONE))


def _environment() -> dict[str, str]:
    """Return the fork server's environment: only the choice of compiled or pure code."""
    return {name: os.environ[name] for name in ("PLYHOUSE_PURE",) if name in os.environ}


def _settle(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)
