"""Clocks of seats and seats that are away, as the server tells them; time goes on here meanwhile.

``now`` is nanoseconds of any clock that never goes back.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from plyhouse.protocol.messages import ClockState

__all__ = ["MS", "Clocks"]

MS: Final = 1_000_000
"""Nanoseconds of a millisecond."""


class Clocks:
    """Return the remaining time of each seat.

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
        """Clocks as a message has them; ``mover``: whose runs, if none is said to."""
        if not states:
            return
        self._states = {state.seat: state for state in states}
        running = [state.seat for state in states if state.running]
        self._running = running[0] if running else mover
        self._since = now

    def stop(self, now: int) -> None:
        """Nobody's clock runs any more, or it is not known how they go on."""
        for seat in self._states:
            left = self.left(seat, now)
            if left is not None:
                self._states[seat] = ClockState(seat, max(0, left))
        self._running = None

    def left(self, seat: int, now: int) -> int | None:
        """Milliseconds that a seat has left, never below 0; None if it has no clock."""
        state = self._states.get(seat)
        if state is None:
            return None
        gone = (now - self._since) // MS if seat == self._running else 0
        return max(0, state.remaining_ms - gone)

    def periods(self, seat: int) -> int | None:
        """Periods of byo-yomi that a seat has left."""
        state = self._states.get(seat)
        return state.periods if state is not None else None

    @property
    def running(self) -> int | None:
        """Whose clock runs."""
        return self._running

    def away(self, seat: int, left_ms: int, now: int) -> None:
        """A seat has gone; the match waits so long."""
        self._away[seat] = now + left_ms * MS

    def back(self, seat: int | None = None) -> None:
        """A seat is there again; None for all that is known."""
        if seat is None:
            self._away.clear()
        else:
            self._away.pop(seat, None)

    def gone(self, seat: int, now: int) -> int | None:
        """Whole seconds for which the match waits for a seat that is away; None if it is not."""
        until = self._away.get(seat)
        return None if until is None else max(0, -(-(until - now) // (1000 * MS)))
