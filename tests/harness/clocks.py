"""Clocks that tests set: nanoseconds, the machine's time put forward, and dates."""

from __future__ import annotations

import asyncio
import signal
import time
from datetime import UTC, datetime

SECOND = 1_000_000_000


class FakeClock:
    """Time that tests move by hand, in nanoseconds."""

    def __init__(self) -> None:
        self.now = 1_000_000_000_000

    def __call__(self) -> int:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += round(seconds * SECOND)


class AheadClock:
    """The machine's monotonic clock, which a test can put forward.

    Bots' sessions use it as a `plyhouse.bots.client.timing.Clock`, turns and engines call it.
    """

    def __init__(self) -> None:
        self._ahead = 0

    def now(self) -> int:
        return time.monotonic_ns() + self._ahead

    __call__ = now

    def advance(self, seconds: float) -> None:
        self._ahead += round(seconds * SECOND)

    async def sleep(self, seconds: float) -> None:
        end = self.now() + round(seconds * SECOND)
        while self.now() < end:  # noqa: ASYNC110 - the clock may be put forward meanwhile
            await asyncio.sleep(0.01)


class SlowClock:
    """A monotonic clock of which a second lasts twenty seconds of the machine.

    A program answers soon if it is told that little time is left by this clock.  A busy machine may
    then keep it waiting for long before it is late.
    """

    def __init__(self) -> None:
        self._start = time.monotonic_ns()

    def __call__(self) -> int:
        return self._start + (time.monotonic_ns() - self._start) // 20


class InterruptingClock:
    """A clock that stands still, and interrupts the program when it is read the 20th time."""

    def __init__(self) -> None:
        self.polls = 0

    def __call__(self) -> int:
        self.polls += 1
        if self.polls == 20:
            signal.raise_signal(signal.SIGINT)
        return 0


class WallClock:
    """Wall-clock milliseconds that a test moves by hand."""

    def __init__(self, text: str = "") -> None:
        self.now = 1_000_000
        if text:
            self.set(text)

    def set(self, text: str) -> None:
        """Move to a date, such as ``2026-09-01T12:00``, in UTC."""
        self.now = int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)

    def __call__(self) -> int:
        return self.now
