"""Who of a match's seats is away, and until when the match waits for them."""

from __future__ import annotations

__all__ = ["Attendance"]


class Attendance:
    """Seats without a connection.

    A seat that goes away has a grace to come back in.  A seat that is *excused* is away because
    the server was: its clock does not start before it has come back.
    """

    __slots__ = ("_excused", "away", "grace_ns")

    def __init__(self, grace_ns: int) -> None:
        self.grace_ns = grace_ns
        self.away: dict[int, int] = {}
        """The seats that are away, and when the grace of each ends."""
        self._excused: set[int] = set()

    def leave(self, seat: int, now: int) -> bool:
        """Note that a seat lost its connection; False if it was away already."""
        if seat in self.away:
            return False
        self.away[seat] = now + self.grace_ns
        return True

    def excuse(self, seats: int, now: int) -> None:
        """Note that all seats are away by the server's doing."""
        for seat in range(seats):
            self.away[seat] = now + self.grace_ns
            self._excused.add(seat)

    def come(self, seat: int) -> None:
        """Note that a seat is there again."""
        self.away.pop(seat, None)
        self._excused.discard(seat)

    def seated(self, seat: int) -> None:
        """Note that a seat was told something: it needs no excuse any more."""
        self._excused.discard(seat)

    def clear(self) -> None:
        """Wait for nobody: the match is over."""
        self.away.clear()

    def unexcused(self, seat: int) -> bool:
        """Whether a seat is away by its own doing."""
        return seat in self.away and seat not in self._excused

    def until(self, seat: int) -> int | None:
        """When the grace of a seat ends; None if it is there."""
        return self.away.get(seat)

    def due(self) -> int | None:
        """When the first grace ends; None if nobody is away."""
        return min(self.away.values()) if self.away else None

    def overdue(self, now: int) -> list[int]:
        """The seats whose grace has ended by ``now``, the earliest first."""
        gone = [(end, seat) for seat, end in self.away.items() if end <= now]
        return [seat for _, seat in sorted(gone)]

    def all_excused(self, seats: list[int]) -> bool:
        """Whether all of these seats are away by the server's doing."""
        return self._excused.issuperset(seats)

    def postpone(self, nanoseconds: int) -> None:
        """The server was absent for so long: everybody's grace ends as much later."""
        for seat in self.away:
            self.away[seat] += nanoseconds
