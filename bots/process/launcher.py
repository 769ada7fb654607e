"""Create a bot's process: as a child process, or in a sandbox.

`plyhouse.bots.process.bot_process` asks a `Launcher` for a process and does not know the
difference. `BARE` is for your own bots; `plyhouse.bots.sandbox.launcher` is for bots of other
people.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import sys
from typing import Protocol

from plyhouse.bots.loading import BotLoadError

__all__ = ["BARE", "Launcher", "LauncherLost", "Readable", "Running", "ending_in_words"]


class LauncherLost(BotLoadError):  # noqa: N818 (a condition)
    """The launcher has ended and its bots with it; this is not a failure of the bots."""


class Readable(Protocol):
    """Bytes as they come."""

    async def read(self, size: int, /) -> bytes:
        """At most ``size`` bytes; none at the end."""
        ...


class Running(Protocol):
    """A bot's process, seen from the runner."""

    @property
    def pid(self) -> int:
        """Process id, as seen from here."""
        ...

    @property
    def output(self) -> Readable:
        """The output of the process."""
        ...

    @property
    def most_frames(self) -> int | None:
        """Frames, and KiB of frames, that it may send at once and in every second; None for any
        number.
        """
        ...

    @property
    def folder(self) -> str | None:
        """The folder whose files the runner may quote to its author; None for any."""
        ...

    @property
    def lost(self) -> str:
        """Why it ended, if that was the end of its launcher; empty otherwise."""
        ...

    def work(self) -> None:
        """Let the process run, because it has a turn."""

    def rest(self) -> bool:
        """Let the process rest until `work`; freeze it if it shares the machine.

        Return whether it is frozen.
        """
        ...

    def kill(self) -> None:
        """End the process and all it started, at once; nothing happens if it has ended."""

    async def wait(self) -> tuple[int, str]:
        """Return how it ended: the exit code, or minus the signal, and the same in words."""
        ...


class Launcher(Protocol):
    """Starts processes of bots."""

    async def launch(self, spec: str, pipe: socket.socket, stand: int) -> Running:
        """Start a process that serves ``spec`` on ``pipe`` and tells where it stands on ``stand``.

        Both stay the caller's to close.  Raises `plyhouse.bots.loading.BotLoadError`.
        """
        ...


def ending_in_words(code: int) -> str:
    """How a process ended.

    >>> ending_in_words(3), ending_in_words(-11)
    ('exit code 3', 'signal SIGSEGV')
    """
    if code >= 0:
        return f"exit code {code}"
    if code == -signal.SIGKILL:
        return "signal SIGKILL; perhaps it used too much memory"
    with contextlib.suppress(ValueError):
        return f"signal {signal.Signals(-code).name}"
    return f"signal {-code}"


class _Child:
    """A child process in its own session."""

    most_frames = None
    folder = None
    lost = ""

    def __init__(self, process: asyncio.subprocess.Process, output: asyncio.StreamReader) -> None:
        self._process = process
        self.pid = process.pid
        self.output = output

    def work(self) -> None:
        """Nothing to do: it may run at all times."""

    def rest(self) -> bool:
        """Do nothing: your own bots may think during the opponent's turn."""
        return False

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)

    async def wait(self) -> tuple[int, str]:
        code = await self._process.wait()
        self.kill()  # children of the bot that are left
        return code, ending_in_words(code)


class _Bare:
    async def launch(self, spec: str, pipe: socket.socket, stand: int) -> Running:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-u",  # what is printed before a crash must not be lost in a buffer
            "-P",  # a random.py in this folder must not hide the standard library's
            "-m",
            "plyhouse.bots.process",
            str(pipe.fileno()),
            str(stand),
            spec,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            pass_fds=(pipe.fileno(), stand),
            start_new_session=True,  # its children end with it, and Ctrl-C is ours alone
        )
        if process.stdout is None:
            raise RuntimeError("a process without its output")
        return _Child(process, process.stdout)


BARE: Launcher = _Bare()
"""An ordinary process: for bots that may do what their author may."""
