"""Bots by our API in boxes: what the runner takes instead of an ordinary process.

Run as ``python -m plyhouse.bots.sandbox.launcher BOX``, it is one program in a box, as if that had
been started without one.  A bot that starts programs (`plyhouse.bots.engines.command_bot`) uses
this.  The program has the standard input, output and error of this process, and the box ends with
it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import sys
from pathlib import Path
from typing import Final, NoReturn

import msgspec

from plyhouse.bots.loading import BotLoadError
from plyhouse.bots.process.launcher import LauncherLost, Running, ending_in_words
from plyhouse.bots.sandbox.box import Box, Cores, SandboxError
from plyhouse.bots.sandbox.client import GONE, BoxProcess, ForkServerClient

__all__ = ["MOST_FRAMES", "Boxed", "Output", "SandboxLauncher", "boxed_command", "reader_of"]

MOST_FRAMES: Final = 2000
"""Most frames of a bot at once and per second, and the same number of KiB. A bot's process reports
at most every 2 ms.
"""


class Output:
    """Output of a box, up to its limit; a box that prints more is ended."""

    def __init__(
        self, reader: asyncio.StreamReader, transport: asyncio.BaseTransport, box: BoxProcess
    ) -> None:
        self._reader = reader
        self._transport = transport
        self._box = box
        self._left = box.box.limits.output
        self.flooded = ""
        """Why it was ended, if it was for this."""

    async def read(self, size: int) -> bytes:
        """Return the next bytes; none at the end, and after too many."""
        if self._left <= 0:
            return b""
        data = await self._reader.read(min(size, self._left))
        self._left -= len(data)
        if self._left <= 0:
            allowed = self._box.box.limits.output >> 10
            self.flooded = f"it printed more than {allowed} KiB"
            self._transport.close()
            self._box.kill()
        return data


async def reader_of(descriptor: int) -> tuple[asyncio.StreamReader, asyncio.BaseTransport]:
    """Read from the end of a pipe, which is closed with the transport."""
    reader = asyncio.StreamReader()
    file = os.fdopen(descriptor, "rb", buffering=0)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), file
    )
    return reader, transport


class Boxed:
    """A process in its box, as the runner sees it: on one processor, or stopped."""

    most_frames = MOST_FRAMES

    def __init__(self, box: BoxProcess, output: Output, cores: Cores) -> None:
        self._box = box
        self.output = output
        self.pid = box.pid
        self.folder = box.box.folder
        self._cores = cores
        self._core = box.box.core
        self._resting = False
        box.ended.add_done_callback(lambda _: self._give_back())

    def work(self) -> None:
        """Let the box run, on a separate processor if one is free."""
        if not self._resting or self._box.ended.done():
            return
        self._resting = False
        self._core = self._cores.take()
        if self._core is not None:
            _pin(self.pid, self._core)
        _signal(self.pid, signal.SIGCONT)

    def rest(self) -> bool:
        """Stop the box while others are to move, so that it does not ponder and frees its
        processor.
        """
        if not self._resting and not self._box.ended.done():
            self._resting = True
            _signal(self.pid, signal.SIGSTOP)
            self._give_back()
        return True

    def _give_back(self) -> None:
        core, self._core = self._core, None
        if core is not None:
            self._cores.give_back(core)

    @property
    def lost(self) -> str:
        """See `plyhouse.bots.process.launcher.Running`."""
        return GONE if self._box.fork_server_gone else ""

    def kill(self) -> None:
        """End it and all that it has started."""
        self._box.kill()

    async def wait(self) -> tuple[int, str]:
        """Return how it ended: the exit code, or minus the signal, and the same in words."""
        ending = await self._box.wait()
        why = self.output.flooded or ending.why
        words = f"the sandbox ended it: {why}" if why else ending_in_words(ending.code)
        return ending.code, words


def _signal(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def _pin(pid: int, core: int) -> None:
    """Let all threads of a process run on one processor; its limits allow no other process."""
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError):
                os.sched_setaffinity(int(task), {core})


class SandboxLauncher:
    """Starts bots in boxes of one fork server.

    ``box`` describes them; without a folder, a bot has that of its file.
    """

    def __init__(self, fork_server: ForkServerClient, box: Box, cores: Cores | None = None) -> None:
        self._fork_server = fork_server
        self._box = box
        self._cores = cores or Cores.of_this_machine()

    async def launch(self, spec: str, pipe: socket.socket, stand: int) -> Running:
        """See `plyhouse.bots.process.launcher.Launcher`."""
        folder = self._box.folder or _folder(spec)
        read_end, write_end = os.pipe()
        try:
            reader, transport = await reader_of(read_end)
            core = self._cores.take()
            box = msgspec.structs.replace(self._box, bot=spec, core=core, folder=folder)
            try:
                process = await self._fork_server.launch(box, (pipe.fileno(), stand, write_end))
            except BaseException as error:
                transport.close()
                if core is not None:
                    self._cores.give_back(core)
                if self._fork_server.gone and isinstance(error, SandboxError):
                    raise LauncherLost(GONE) from error
                if isinstance(error, SandboxError):
                    raise BotLoadError(f"the sandbox could not start the bot: {error}") from error
                raise
        finally:
            os.close(write_end)
        return Boxed(process, Output(reader, transport, process), self._cores)


def _folder(spec: str) -> str:
    """Return the folder of a bot's file; that of our own bots is readable anyway."""
    path = spec.partition(".py")[0] + ".py"
    return str(Path(path).resolve().parent) if os.path.isfile(path) else os.path.dirname(__file__)


# ------------------------------------------------------------------------ a command


def boxed_command(box: Box) -> tuple[str, ...]:
    """Return the command that runs the program of a box."""
    return (
        sys.executable,
        "-P",
        "-m",
        "plyhouse.bots.sandbox.launcher",
        msgspec.json.encode(box).decode(),
    )


async def _run(box: Box) -> int:
    """Run the program to its end, and return its exit code as a shell does."""
    fork_server = await ForkServerClient.start()
    try:
        process = await fork_server.launch(box, (0, 1, 2))
        ending = await process.wait()
    finally:
        await fork_server.close()
    if ending.why:
        sys.stderr.write(f"the sandbox ended it: {ending.why}\n")
    return ending.code if ending.code >= 0 else 128 - ending.code


def main() -> NoReturn:
    """Be the program in its box."""
    box = msgspec.json.decode(sys.argv[1], type=Box)
    try:
        code = asyncio.run(_run(box))
    except SandboxError as error:
        code = 1
        sys.stderr.write(f"the sandbox could not start the program: {error}\n")
    sys.exit(code)


if __name__ == "__main__":
    main()
