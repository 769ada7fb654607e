"""Where a bot stood when it hung or died: asked for by a signal, read as a traceback.

A bot that hangs may hold the interpreter's lock, and one whose machine code crashes runs no
Python any more.  `faulthandler` writes from the signal handler itself, so both still tell where
they are (`plyhouse.bots.process.asked`).  It writes to a pipe of its own: standard error belongs
to the bot.
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

from plyhouse.bots.process.asked import ASK
from plyhouse.bots.process.pipe import cut

__all__ = ["LastStand", "readable"]

PATIENCE = 2.0
"""Seconds in which a process that was asked has to answer: at once, unless the machine is busy."""

_LIMIT: Final = 1 << 18
_LARGEST: Final = 1 << 20
"""Bytes of a file whose lines are quoted."""
_END: Final = b" in _run_module_as_main\n"
"""The outermost line of the main thread, which faulthandler writes last."""
_HEADER: Final = re.compile(r"(?:Current thread|Thread) 0x[0-9a-f]+.*:")
_FRAME: Final = re.compile(r'  File "(.*)", line (\d+) in (.*)')
_OURS: Final = os.path.dirname(__file__)
_PYTHON: Final = os.path.dirname(os.__file__) + os.sep


class LastStand:
    """The runner's end of that pipe."""

    def __init__(
        self, reader: asyncio.StreamReader, transport: asyncio.BaseTransport, folder: str | None
    ) -> None:
        self._reader = reader
        self._transport = transport
        self._folder = folder

    @classmethod
    async def of(cls, descriptor: int, folder: str | None = None) -> LastStand:
        """Read from the pipe's end ``descriptor``, which is ours from now on.

        ``folder`` is where the files lie whose lines may be quoted; None for anywhere.
        """
        reader = asyncio.StreamReader(limit=_LIMIT)
        file = os.fdopen(descriptor, "rb", buffering=0)  # the transport closes it
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), file
        )
        return cls(reader, transport, folder)

    async def ask(self, pid: int) -> str:
        """Where process ``pid`` stands; empty if it does not tell in time."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, ASK)
            return await self._read(whole=False)
        return ""

    async def last_words(self) -> str:
        """Where an ended process crashed; empty if it did not crash."""
        return await self._read(whole=True)

    def close(self) -> None:
        """Read no more."""
        self._transport.close()

    async def _read(self, *, whole: bool) -> str:
        data = b""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                while len(data) < _LIMIT and (whole or not data.endswith(_END)):
                    piece = await self._reader.read(65536)
                    if not piece:
                        break
                    data += piece
        return cut(readable(data.decode(errors="replace"), self._folder))


def readable(dump: str, folder: str | None = None) -> str:
    """The lines of a bot's author in a dump of `faulthandler`, the latest last.

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
    """The innermost frames between ours, outermost first; none of a thread that only waits for us.

    A bot may stand in a method of ours that it calls, as in `Turn.report`: its own frames lie
    outside of those, and what waits inside of them is the standard library.
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
    """Whether the file is of Python itself."""
    return _is_frozen(file) or (file.startswith(_PYTHON) and "-packages" not in file)


def _is_ours(file: str) -> bool:
    return os.path.dirname(file) == _OURS


def _may_quote(file: str, folder: str | None) -> bool:
    """Whether a file is ordinary source of the bot."""
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
