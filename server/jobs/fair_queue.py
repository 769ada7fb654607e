"""Long work that runs few pieces at a time, fairly among visitors.

A thread that replays a long match blocks the event loop for moments.  Many such threads together
block it for long, while clocks are running.  So visitors have `AT_ONCE` computing threads together,
and each visitor has one (`computed`).  Work of the server itself, such as the next round of a
final, uses other threads (`asyncio.to_thread`) and waits for no visitor.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Final, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

P_ = ParamSpec("P_")
T = TypeVar("T")

AT_ONCE: Final = 2
"""Threads that compute for visitors."""
VISITOR: Final[ContextVar[Hashable]] = ContextVar("visitor", default=None)
"""The account that causes the work of this task, or else its address; None for the server."""


class FairQueue:
    """Admits ``most`` callers at a time; each visitor has one place in the queue.

    Further calls of a visitor wait behind that place.
    """

    def __init__(self, most: int = 1) -> None:
        self._places = asyncio.Semaphore(most)
        self._lines: dict[Hashable, asyncio.Lock] = {}
        self._waiting: dict[Hashable, int] = {}

    def __len__(self) -> int:
        """Return how many visitors wait or are served."""
        return len(self._waiting)

    def waiting(self, visitor: Hashable) -> int:
        """Return how many calls of a visitor wait or are served."""
        return self._waiting.get(visitor, 0)

    def busy(self, visitor: Hashable) -> bool:
        """Return whether a call of this visitor would have to wait."""
        return visitor in self._waiting or self._places.locked()

    @asynccontextmanager
    async def of(self, visitor: Hashable) -> AsyncIterator[None]:
        """Wait for the turn of this visitor."""
        line = self._lines.setdefault(visitor, asyncio.Lock())
        self._waiting[visitor] = self._waiting.get(visitor, 0) + 1
        try:
            async with line, self._places:
                yield
        finally:
            self._waiting[visitor] -= 1
            if not self._waiting[visitor]:
                del self._waiting[visitor], self._lines[visitor]


_QUEUES: Final[WeakKeyDictionary[asyncio.AbstractEventLoop, FairQueue]] = WeakKeyDictionary()


async def computed(work: Callable[P_, T], *args: P_.args, **named: P_.kwargs) -> T:
    """Return what a function returns that computes for the visitor of this task alone."""
    return await computed_for(VISITOR.get(), functools.partial(work, *args, **named))


async def computed_for(whom: Hashable, work: Callable[[], T]) -> T:
    """Return what a function returns whose result is kept for all who ask about ``whom``.

    It does not wait for other work of the visitor who happens to ask first.
    """
    queue = _QUEUES.setdefault(asyncio.get_running_loop(), FairQueue(AT_ONCE))
    async with queue.of(whom):
        return await asyncio.to_thread(work)
