"""The clock of client and runner; tests pass one that they control."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
from typing import Any, Final, Protocol

__all__ = ["MS", "REAL_CLOCK", "SECOND", "Clock", "RealClock", "first_of"]

MS: Final = 1_000_000
"""Nanoseconds in a millisecond."""

SECOND: Final = 1_000_000_000
"""Nanoseconds in a second."""


class Clock(Protocol):
    """Monotonic time, and a way to wait for it."""

    def now(self) -> int:
        """Monotonic nanoseconds."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return when ``seconds`` have passed on this clock."""
        ...


class RealClock:
    """The machine's monotonic clock and the running event loop's timers."""

    def now(self) -> int:
        """Monotonic nanoseconds."""
        return time.monotonic_ns()

    async def sleep(self, seconds: float) -> None:
        """Return when ``seconds`` have passed."""
        await asyncio.sleep(seconds)


REAL_CLOCK: Final = RealClock()


async def first_of(wanted: asyncio.Future[Any], other: Coroutine[Any, Any, object]) -> bool:
    """Wait until ``wanted`` or ``other`` is done; return whether ``wanted`` is.

    ``wanted`` is left as it is; ``other``, usually a `Clock.sleep`, is cancelled if it lost.
    """
    task = asyncio.ensure_future(other)
    try:
        await asyncio.wait([wanted, task], return_when=asyncio.FIRST_COMPLETED)
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    return wanted.done()
