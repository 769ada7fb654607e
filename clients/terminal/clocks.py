"""Clocks and absences of seats: the server's last report, extrapolated to the present.

``now`` is a time in nanoseconds of one monotonic clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from plyhouse.protocol.messages import ClockState

__all__ = ["MS", "Clocks"]

MS: Final = 1_000_000
"""Nanoseconds of a millisecond."""


class Clocks:
    """The clock of each seat, and the seats that the match waits for.

    >>> clocks = Clocks()
    >>> clocks.set([ClockState(0, 5000, running=True), ClockState(1, 9000)], now=0)
    >>> clocks.left(0, now=2000 * MS), clocks.left(1, now=2000 * MS), clocks.left(2, now=0)
    (3000, 9000, None)
    """

    def __init__(self) -> None:
        self._states: dict[int, ClockState] = {}
        self._since = 0
        self._running: int | None = None
        self._away: dict[int, int] = {}

    def set(self, states: Sequence[ClockState], now: int, mover: int | None = None) -> None:
        """Set the clocks from a message.

        ``mover`` is the seat whose clock runs if the message marks none as running.
        """
        if not states:
            return
        self._states = {state.seat: state for state in states}
        running = [state.seat for state in states if state.running]
        self._running = running[0] if running else mover
        self._since = now

    def stop(self, now: int) -> None:
        """Stop all clocks at the time that they show."""
        for seat in self._states:
            left = self.left(seat, now)
            if left is not None:
                self._states[seat] = ClockState(seat, max(0, left))
        self._running = None

    def left(self, seat: int, now: int) -> int | None:
        """Return the milliseconds that a seat has left, at least 0; None without a clock."""
        state = self._states.get(seat)
        if state is None:
            return None
        gone = (now - self._since) // MS if seat == self._running else 0
        return max(0, state.remaining_ms - gone)

    def periods(self, seat: int) -> int | None:
        """Return the byo-yomi periods that a seat has left; None without a clock."""
        state = self._states.get(seat)
        return state.periods if state is not None else None

    @property
    def running(self) -> int | None:
        """The seat whose clock runs; None if none runs."""
        return self._running

    def away(self, seat: int, left_ms: int, now: int) -> None:
        """Note that a seat is away and that the match waits ``left_ms`` for it."""
        self._away[seat] = now + left_ms * MS

    def back(self, seat: int | None = None) -> None:
        """Note that a seat has come back; without ``seat``, that all have."""
        if seat is None:
            self._away.clear()
        else:
            self._away.pop(seat, None)

    def gone(self, seat: int, now: int) -> int | None:
        """Return the seconds, rounded up, that the match waits for a seat; None if present."""
        until = self._away.get(seat)
        return None if until is None else max(0, -(-(until - now) // (1000 * MS)))
