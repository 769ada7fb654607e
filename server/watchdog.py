"""Measures how long the server's own event loop stood still, so that no bot pays for it.

A timer that should fire every few milliseconds fires late exactly when the loop was busy or the
machine took the processor away.  `Watchdog.stalled_between` says how much of a span was lost so.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from typing import Final

__all__ = ["Watchdog"]

INTERVAL_NS: Final = 5_000_000
"""Time between heartbeats."""

TOLERANCE_NS: Final = 5_000_000
"""Lateness that is no stall: ordinary timer granularity and one batch of frames."""

MEMORY: Final = 512
"""Stalls remembered; older ones only matter to plies longer than the span they cover."""


class Watchdog:
    """Notes spans in which the event loop did not run.

    ``clock`` gives monotonic nanoseconds; tests pass their own and call `beat` by hand.
    """

    def __init__(self, clock: Callable[[], int] = time.monotonic_ns) -> None:
        self._clock = clock
        self._expected = 0
        self._stalls: deque[tuple[int, int]] = deque(maxlen=MEMORY)
        self._timer: asyncio.TimerHandle | None = None
        self.total_ns = 0
        """All stalls since the start, for the health page."""

    def start(self) -> None:
        """Begin to measure on the running loop."""
        self._expected = self._clock() + INTERVAL_NS
        self._schedule()

    def stop(self) -> None:
        """Stop measuring; what was seen stays known."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def beat(self) -> None:
        """Take one heartbeat: anything beyond the tolerance since the expected time is a stall."""
        now = self._clock()
        late = now - self._expected
        if self._expected and late > TOLERANCE_NS:
            self._stalls.append((self._expected, now))
            self.total_ns += late
        self._expected = now + INTERVAL_NS

    def stalled_between(self, start: int, end: int) -> int:
        """Nanoseconds of known stalls within ``[start, end]``, including one still going on."""
        total = 0
        if self._expected and end - self._expected > TOLERANCE_NS:
            total = end - max(start, self._expected)
        elif not self._stalls:
            return 0
        for begin, stop in reversed(self._stalls):
            if stop <= start:
                break
            if begin < end:
                total += min(stop, end) - max(begin, start)
        return max(0, total)

    def _schedule(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(INTERVAL_NS / 1e9, self._fire)

    def _fire(self) -> None:
        self.beat()
        self._schedule()
