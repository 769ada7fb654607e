"""The seats of a match that are away, and how long the match waits for them."""

from __future__ import annotations


class Attendance:
    """Seats without a connection.

    A seat that goes away has a grace period to come back in.  A seat is *excused* if it is away
    because the server was: its clock does not start before it has come back.
    """

    __slots__ = ("_excused", "away", "grace_ns")

    def __init__(self, grace_ns: int) -> None:
        self.grace_ns = grace_ns
        self.away: dict[int, int] = {}
        """The seats that are away, each with the end of its grace period."""
        self._excused: set[int] = set()

    def leave(self, seat: int, now: int) -> bool:
        """Note that a seat lost its connection; return False if it was already away."""
        if seat in self.away:
            return False
        self.away[seat] = now + self.grace_ns
        return True

    def excuse(self, seats: int, now: int) -> None:
        """Note that all seats are away because of the server."""
        for seat in range(seats):
            self.away[seat] = now + self.grace_ns
            self._excused.add(seat)

    def come(self, seat: int) -> None:
        """Note that a seat has come back."""
        self.away.pop(seat, None)
        self._excused.discard(seat)

    def seated(self, seat: int) -> None:
        """End the excuse of a seat, because it has got a message."""
        self._excused.discard(seat)

    def clear(self) -> None:
        """Wait for no seat any more, because the match is over."""
        self.away.clear()

    def unexcused(self, seat: int) -> bool:
        """Return whether a seat is away and not excused."""
        return seat in self.away and seat not in self._excused

    def until(self, seat: int) -> int | None:
        """Return when the grace of a seat ends; None if it is not away."""
        return self.away.get(seat)

    def due(self) -> int | None:
        """Return when the first grace ends; None if no seat is away."""
        return min(self.away.values()) if self.away else None

    def overdue(self, now: int) -> list[int]:
        """Return the seats whose grace has ended by ``now``, the earliest first."""
        gone = [(end, seat) for seat, end in self.away.items() if end <= now]
        return [seat for _, seat in sorted(gone)]

    def all_excused(self, seats: list[int]) -> bool:
        """Return whether all of these seats are away because of the server."""
        return self._excused.issuperset(seats)

    def postpone(self, nanoseconds: int) -> None:
        """Extend the grace of all seats by an absence of the server."""
        for seat in self.away:
            self.away[seat] += nanoseconds
