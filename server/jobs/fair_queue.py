"""Work of some length for whoever asks, one piece at a time, and one of each visitor in line.

A thread that goes through a long match keeps the event loop from running for moments, and many such
threads together keep it for long: clocks are running there.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager

__all__ = ["FairQueue"]


class FairQueue:
    """Lets one in at a time; of each visitor one stands in line for it, the others behind that."""

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
