"""The clock of client and runner; tests pass one that they control."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, Final, Protocol

__all__ = ["MS", "REAL_CLOCK", "SECOND", "Backoff", "Clock", "RealClock", "first_of", "until"]

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


async def until(clock: Clock, instant: int) -> None:
    """Wait for an instant in nanoseconds of a clock."""
    while (now := clock.now()) < instant:
        await clock.sleep((instant - now) / SECOND)


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


@dataclass(frozen=True, slots=True)
class Backoff:
    """``first`` seconds, ``factor`` times as long after each failure, never above ``longest``.

    Each wait is shortened at random by up to the share ``jitter``. So a thousand bots that lost the
    same server do not all come back in the same instant.

    >>> steady = Backoff(jitter=0.0)
    >>> [steady.delay(failures, random.Random()) for failures in (1, 2, 3, 7, 100)]
    [0.25, 0.5, 1.0, 15.0, 15.0]
    """

    first: float = 0.25
    factor: float = 2.0
    longest: float = 15.0
    jitter: float = 0.5

    def delay(self, failures: int, rng: random.Random) -> float:
        """Seconds to wait after so many failures in a row (at least 1)."""
        exponent = min(max(failures, 1) - 1, 64)
        full = min(self.longest, self.first * self.factor**exponent)
        return full * (1.0 - self.jitter * rng.random())
