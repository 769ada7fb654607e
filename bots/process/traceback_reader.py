"""Read the traceback of a bot that hung or died.

A bot that hangs may hold the interpreter's lock, and after a crash of machine code no Python runs.
`faulthandler` can write from the signal handler itself, so it works in both cases
(`plyhouse.bots.process.traceback_writer`).  The bot writes to a separate pipe, because standard
error belongs to its author.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import linecache
import os
import re
import stat
from typing import Final

from plyhouse.bots.process.messages import cut
from plyhouse.bots.process.traceback_writer import ASK, ASK_MACHINE_CODE

__all__ = ["FinalTraceback", "readable"]

PATIENCE = 2.0
"""Seconds that a process has to answer."""
PYTHON_PATIENCE = 0.5
"""Seconds of them after which `ASK_MACHINE_CODE` is sent: Python does not seem to run."""

_LIMIT: Final = 1 << 18
_LARGEST: Final = 1 << 20
"""Bytes of a file whose lines are quoted."""
_END: Final = b" in _run_module_as_main\n"
"""The outermost line of the main thread, which faulthandler writes last."""
_HEADER: Final = re.compile(r"(?:Current thread|Thread) 0x[0-9a-f]+.*:")
_FRAME: Final = re.compile(r'  File "(.*)", line (\d+) in (.*)')
_OURS: Final = os.path.dirname(__file__)
_PYTHON: Final = os.path.dirname(os.__file__) + os.sep


class FinalTraceback:
    """The runner's end of that pipe."""

    def __init__(self, reader: asyncio.StreamReader, transport: asyncio.BaseTransport) -> None:
        self._reader = reader
        self._transport = transport
        self.folder: str | None = None
        """Where the files lie whose lines may be quoted; None for anywhere."""

    @classmethod
    async def of(cls, descriptor: int) -> FinalTraceback:
        """Read from the pipe's end ``descriptor``, which is ours from now on."""
        reader = asyncio.StreamReader(limit=_LIMIT)
        file = os.fdopen(descriptor, "rb", buffering=0)  # the transport closes it
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), file
        )
        return cls(reader, transport)

    async def ask(self, pid: int) -> str:
        """Return the traceback of process ``pid``; empty if it does not answer in time."""
        data = b""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, ASK)
            data = await self._read(PYTHON_PATIENCE, _END)
            if not data.endswith(_END):
                os.kill(pid, ASK_MACHINE_CODE)
                data += await self._read(PATIENCE - PYTHON_PATIENCE, _END)
        return self._shown(data)

    async def last_words(self) -> str:
        """Return where an ended process crashed; empty if it did not crash."""
        return self._shown(await self._read(PATIENCE, None))

    def close(self) -> None:
        """Stop reading."""
        self._transport.close()

    async def _read(self, seconds: float, end: bytes | None) -> bytes:
        """Read until ``end``, the end of the pipe, the limit, or for ``seconds``."""
        data = b""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while len(data) < _LIMIT and (end is None or not data.endswith(end)):
                    piece = await self._reader.read(65536)
                    if not piece:
                        break
                    data += piece
        return data

    def _shown(self, dump: bytes) -> str:
        return cut(readable(dump.decode(errors="replace"), self.folder))


def readable(dump: str, folder: str | None = None) -> str:
    """Return the lines of a bot's author in a dump of `faulthandler`, the latest last.

    Threads of ours that only wait are left out, and so is what lies outside of the bot's code.
    Source lines are quoted of files in ``folder`` only; None for any file.  A bot can write such a
    dump itself, and name files in it that it may not read.
    """
    threads: list[list[tuple[str, int, str]]] = []
    for line in dump.splitlines():
        found = _FRAME.fullmatch(line)
        if found is not None and threads:
            threads[-1].append((found[1], int(found[2]), found[3]))
        elif _HEADER.fullmatch(line):
            threads.append([])
    shown = [frames for thread in threads if (frames := _of_the_author(thread))]
    parts = ["\n".join(_written(frame, folder) for frame in frames) for frames in shown]
    return "\nand in another thread:\n".join(reversed(parts))


def _of_the_author(thread: list[tuple[str, int, str]]) -> list[tuple[str, int, str]]:
    """Return the innermost frames between ours, outermost first; none of a thread that only waits
    for us.

    A bot may be inside a method of ours that it called, such as `Turn.report`.  Then its frames lie
    outside of ours, and the frames inside of ours belong to the standard library.
    """
    ours = next((name for file, _, name in thread if _is_ours(file)), "")
    if ours == "receive":
        return []
    runs = itertools.groupby(thread, lambda frame: _is_ours(frame[0]))
    between = [[*frames] for own, frames in runs if not own]
    written = [run for run in between if any(not _is_given(file) for file, _, _ in run)]
    return [
        frame for frame in reversed(next(iter(written or between), [])) if not _is_frozen(frame[0])
    ]


def _is_frozen(file: str) -> bool:
    return file.startswith("<frozen ")


def _is_given(file: str) -> bool:
    """Return whether the file is of Python itself."""
    return _is_frozen(file) or (file.startswith(_PYTHON) and "-packages" not in file)


def _is_ours(file: str) -> bool:
    return os.path.dirname(file) == _OURS


def _may_quote(file: str, folder: str | None) -> bool:
    """Return whether a file is ordinary source of the bot."""
    if folder is None:
        return True
    place = os.path.realpath(file)
    if not place.startswith(os.path.realpath(folder) + os.sep):
        return False
    with contextlib.suppress(OSError):
        found = os.stat(place)
        return stat.S_ISREG(found.st_mode) and found.st_size <= _LARGEST
    return False


def _written(frame: tuple[str, int, str], folder: str | None) -> str:
    file, number, name = frame
    line = linecache.getline(file, number).strip() if _may_quote(file, folder) else ""
    return f'  File "{file}", line {number}, in {name}' + (f"\n    {line}" if line else "")
