"""Measures how long the server's own event loop stood still, so that no bot pays for it.

A timer that should fire every few milliseconds fires late exactly when the loop was busy or the
machine took the processor away.  Each such span is reported once it is over; `Watchdog.ongoing`
tells of one that still lasts, for a frame that is read in the middle of it.

Whoever can make the server stand still could think meanwhile, were that given back to it.  So the
report says for how long this process was at work (the rest of the time the machine did not let it
run, which nobody at the other end of a wire can bring about), and `Watchdog.spent` for whom.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Final

from plyhouse.server.jobs.periodic import Periodic

__all__ = ["INTERVAL_NS", "TOLERANCE_NS", "Watchdog"]

log = logging.getLogger("plyhouse.server.table.watchdog")

INTERVAL_NS: Final = 10_000_000
"""Time between heartbeats."""

TOLERANCE_NS: Final = 5_000_000
"""Lateness that is no stall: ordinary timer granularity and one batch of frames."""


class Watchdog:
    """Notices spans in which the event loop did not run.

    ``clock`` gives monotonic nanoseconds (tests pass their own and call `beat` by hand);
    ``on_stall(begin, end, busy)`` is called for every stall when it is over; ``busy`` nanoseconds
    of it this process was at work, by ``cpu``, its processor time.
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
        """For how long somebody has kept the loop busy since the last beat, where that is known."""
        self.total_ns = 0
        """All stalls since the start."""
        self.longest_ns = 0
        """The longest of them."""

    def start(self) -> None:
        """Begin to measure on the running loop."""
        self._expected = self._clock() + INTERVAL_NS
        self._timer.start()

    def stop(self) -> None:
        """Stop measuring."""
        self._timer.stop()

    def beat(self, now: int | None = None) -> None:
        """Take one heartbeat: what is beyond the tolerance since the expected time is a stall.

        ``now`` may be a moment ago: when a frame was read that is to be acted on.
        """
        if now is None:
            now = self._clock()
        begin, late = self._expected, now - self._expected
        self._expected = now + INTERVAL_NS
        worked, self._worked = self._worked, self._cpu()
        if late > TOLERANCE_NS:
            self.total_ns += late
            self.longest_ns = max(self.longest_ns, late)
            try:
                self._on_stall(begin, now, min(late, self._worked - worked))
            except Exception:  # a match whose flag may fall asks for a beat first, and must go on
                log.exception("a standstill of %d ms could not be settled", late // 1_000_000)
        if self.spent:
            self.spent.clear()

    def note(self, who: object, nanoseconds: int) -> None:
        """Somebody kept the loop busy for so long, just now."""
        self.spent[who] = self.spent.get(who, 0) + nanoseconds

    def busiest(self) -> tuple[object, int]:
        """Who kept the loop busy the longest since the last beat, and for how long."""
        return max(self.spent.items(), key=lambda each: each[1], default=(None, 0))

    def ongoing(self, now: int) -> int:
        """Nanoseconds of a stall that has not been reported yet, at ``now``."""
        late = now - self._expected
        return late if late > TOLERANCE_NS else 0
