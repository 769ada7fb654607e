"""Measures how long the server's own event loop stood still, so that no bot pays for it.

A timer that should fire every few milliseconds fires late exactly when the loop was busy or the
machine took the processor away.  Each such span is reported once it is over; `Watchdog.ongoing`
tells of one that still lasts, for a frame that is read in the middle of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

__all__ = ["INTERVAL_NS", "TOLERANCE_NS", "Watchdog"]

INTERVAL_NS: Final = 10_000_000
"""Time between heartbeats."""

TOLERANCE_NS: Final = 5_000_000
"""Lateness that is no stall: ordinary timer granularity and one batch of frames."""


class Watchdog:
    """Notices spans in which the event loop did not run.

    ``clock`` gives monotonic nanoseconds (tests pass their own and call `beat` by hand);
    ``on_stall(begin, end)`` is called for every stall when it is over.
    """

    def __init__(self, clock: Callable[[], int], on_stall: Callable[[int, int], None]) -> None:
        self._clock = clock
        self._on_stall = on_stall
        self._expected = clock() + INTERVAL_NS
        self._timer: asyncio.TimerHandle | None = None
        self._spent: dict[object, int] = {}
        self.total_ns = 0
        """All stalls since the start."""
        self.longest_ns = 0
        """The longest of them."""

    def start(self) -> None:
        """Begin to measure on the running loop."""
        self._expected = self._clock() + INTERVAL_NS
        self._schedule()

    def stop(self) -> None:
        """Stop measuring."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def beat(self) -> None:
        """Take one heartbeat: what is beyond the tolerance since the expected time is a stall."""
        now = self._clock()
        begin, late = self._expected, now - self._expected
        self._expected = now + INTERVAL_NS
        if late > TOLERANCE_NS:
            self.total_ns += late
            self.longest_ns = max(self.longest_ns, late)
            self._on_stall(begin, now)
        if self._spent:
            self._spent.clear()

    def note(self, who: object, nanoseconds: int) -> None:
        """Somebody kept the loop busy for so long, just now."""
        self._spent[who] = self._spent.get(who, 0) + nanoseconds

    def spent(self, who: object) -> int:
        """How long somebody has kept the loop busy since the last beat."""
        return self._spent.get(who, 0)

    def ongoing(self, now: int) -> int:
        """Nanoseconds of a stall that has not been reported yet, at ``now``."""
        late = now - self._expected
        return late if late > TOLERANCE_NS else 0

    def _schedule(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(INTERVAL_NS / 1e9, self._fire)

    def _fire(self) -> None:
        self.beat()
        self._schedule()
