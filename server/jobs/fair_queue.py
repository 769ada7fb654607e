"""A queue that runs long work one piece at a time, fairly among visitors.

A thread that replays a long match blocks the event loop for moments.  Many such threads together
block it for long, while clocks are running.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager

__all__ = ["FairQueue"]


class FairQueue:
    """Admits one caller at a time; each visitor has one place in the queue.

    Further calls of a visitor wait behind that place.
    """

    def __init__(self) -> None:
        self._one = asyncio.Lock()
        self._lines: dict[Hashable, asyncio.Lock] = {}
        self._waiting: dict[Hashable, int] = {}

    @asynccontextmanager
    async def of(self, visitor: Hashable) -> AsyncIterator[None]:
        """Wait for the turn of this visitor."""
        line = self._lines.setdefault(visitor, asyncio.Lock())
        self._waiting[visitor] = self._waiting.get(visitor, 0) + 1
        try:
            async with line, self._one:
                yield
        finally:
            self._waiting[visitor] -= 1
            if not self._waiting[visitor]:
                del self._waiting[visitor], self._lines[visitor]
