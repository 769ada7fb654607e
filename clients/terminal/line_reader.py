"""Lines that a person types, without blocking the event loop, and what they mean."""

from __future__ import annotations

import asyncio
import contextlib
import difflib
import os
import sys
from collections import deque
from collections.abc import Sequence
from typing import Final

CHUNK: Final = 4096


class LineReader:
    """Reads lines of standard input on the running event loop.

    Terminals and pipes are read when they have something; nothing is left behind that could
    keep the program from ending while it waits for a person.
    """

    def __init__(self) -> None:
        self._fd = None if sys.stdin is None else sys.stdin.fileno()
        self._lines: deque[str] = deque()
        self._rest = b""
        self._ended = self._fd is None
        self._news = asyncio.Event()
        self._watched = False
        if self._fd is not None:
            # Input that is neither terminal nor pipe (a file, /dev/null) never blocks, and cannot
            # be watched.
            with contextlib.suppress(PermissionError):
                asyncio.get_running_loop().add_reader(self._fd, self._readable)
                self._watched = True

    @property
    def echoed(self) -> bool:
        """True if what is typed can be seen already, as in a terminal."""
        return self._fd is not None and os.isatty(self._fd)

    async def line(self) -> str | None:
        """The next line without its end; None when there will be no more."""
        while not self._lines:
            if self._ended:
                return None
            if self._watched:
                self._news.clear()
                await self._news.wait()
            else:
                self._readable()
        return self._lines.popleft()

    def close(self) -> None:
        """Stop watching the descriptor."""
        if self._watched and self._fd is not None:
            asyncio.get_running_loop().remove_reader(self._fd)
            self._watched = False

    def _readable(self) -> None:
        try:
            data = os.read(self._fd, CHUNK) if self._fd is not None else b""
        except OSError:  # a folder, or a terminal that is gone
            data = b""
        *lines, self._rest = (self._rest + data).split(b"\n")
        if not data:
            lines = [self._rest] if self._rest else []
            self._ended = True
            self.close()
        self._lines.extend(line.decode(errors="replace").rstrip("\r") for line in lines)
        self._news.set()


def matching_action(text: str, legal: Sequence[str]) -> str | None:
    """The legal action that was typed; case does not matter where that leaves one meaning.

    >>> matching_action("HOLD", ["roll", "hold"])
    'hold'
    >>> matching_action("b", ["B", "b"]), matching_action("Bx", ["BX", "bx"])
    ('b', None)
    """
    wanted = text.strip()
    if wanted in legal:
        return wanted
    close = [action for action in legal if action.casefold() == wanted.casefold()]
    return close[0] if len(close) == 1 else None


def nearest(text: str, legal: Sequence[str]) -> list[str]:
    """Legal actions that look like what was typed, the nearest first.

    >>> nearest("e5", ["e2e4", "g1f3", "e7e5"])
    ['e7e5']
    """
    return difflib.get_close_matches(text.strip().casefold(), legal, n=3, cutoff=0.5)
