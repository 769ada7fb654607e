"""Measurement of stalls of the server's event loop, so that no bot pays for them.

A timer that should fire every few milliseconds fires late exactly when the loop was busy or the
machine took the processor away.  Each such span is reported once it is over.  `Watchdog.ongoing`
returns the length of a stall that still lasts, for a frame that is read in the middle of it.

A bot that can stall the server could think meanwhile, if it got that time back.  So the report has
the time for which this process was working.  During the rest of a stall the machine did not let it
run, which no client can cause.  `Watchdog.spent` has the connections that caused the work.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Final

from plyhouse.server.jobs.periodic import Periodic

log = logging.getLogger("plyhouse.server.table.watchdog")

INTERVAL_NS: Final = 10_000_000
"""Time between heartbeats, in nanoseconds."""

TOLERANCE_NS: Final = 5_000_000
"""Lateness that is no stall, in nanoseconds: timer granularity and one batch of frames."""


class Watchdog:
    """Notices spans in which the event loop did not run.

    ``clock`` returns monotonic nanoseconds; tests pass their own and call `beat` directly.
    ``on_stall(begin, end, busy)`` is called for every stall when it is over.  For ``busy``
    nanoseconds of it this process was working, according to its processor time ``cpu``.
    """

    def __init__(
        self,
        clock: Callable[[], int],
        on_stall: Callable[[int, int, int], None],
        cpu: Callable[[], int] = time.process_time_ns,
    ) -> None:
        self._clock = clock
        self._on_stall = on_stall
        self._cpu = cpu
        self._worked = cpu()
        self._expected = clock() + INTERVAL_NS
        self._timer = Periodic(lambda: self.beat(), INTERVAL_NS / 1e9, "watchdog", log)
        self.spent: dict[object, int] = {}
        """Nanoseconds for which each connection has kept the loop busy since the last beat, if
        known.
        """
        self.total_ns = 0
        """The sum of all stalls since the start, in nanoseconds."""
        self.longest_ns = 0
        """The longest stall, in nanoseconds."""

    def start(self) -> None:
        """Start measuring on the running loop."""
        self._expected = self._clock() + INTERVAL_NS
        self._timer.start()

    def stop(self) -> None:
        """Stop measuring."""
        self._timer.stop()

    def beat(self, now: int | None = None) -> None:
        """Take one heartbeat; lateness beyond the tolerance is a stall.

        ``now`` may be slightly in the past: the time at which the current frame was read.
        """
        if now is None:
            now = self._clock()
        begin, late = self._expected, now - self._expected
        self._expected = now + INTERVAL_NS
        worked, self._worked = self._worked, self._cpu()
        if late > TOLERANCE_NS:
            self.total_ns += late
            self.longest_ns = max(self.longest_ns, late)
            busy = min(late, self._worked - worked)
            self._limit_spent(busy)
            try:
                self._on_stall(begin, now, busy)
            except Exception:  # the caller's match, whose flag may fall, must go on
                log.exception("stall not settled", extra={"stall_ms": late // 1_000_000})
        if self.spent:
            self.spent.clear()

    def _limit_spent(self, busy: int) -> None:
        """Reduce what connections spent to the work of this process.

        They were measured by the clock, so the machine may have stopped the process meanwhile.
        """
        total = sum(self.spent.values())
        if total > busy:
            self.spent = {who: spent * busy // total for who, spent in self.spent.items()}

    def note(self, who: object, nanoseconds: int) -> None:
        """Add the nanoseconds for which a connection has just kept the loop busy."""
        self.spent[who] = self.spent.get(who, 0) + nanoseconds

    def busiest(self) -> tuple[object, int]:
        """Return the connection that was busiest since the last beat, and its nanoseconds."""
        return max(self.spent.items(), key=lambda each: each[1], default=(None, 0))

    def ongoing(self, now: int) -> int:
        """Return the nanoseconds of a stall that has not been reported yet, at ``now``."""
        late = now - self._expected
        return late if late > TOLERANCE_NS else 0
