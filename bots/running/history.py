"""The events of a match that one seat has received, with counts.

A turn needs the number of all actions and of our own.  Counting them for each turn would make a
match of n plies cost n * n steps, so `History` keeps the counts.

>>> history = History(0, [Event(0, 0, "roll"), Event(1, CHANCE_SEAT, "5"), Event(1, 0, "hold")])
>>> history.extend([Event(2, 1, "roll")])
>>> len(history.events), history.plies, history.own
(4, 3, 2)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from plyhouse.protocol.messages import CHANCE_SEAT, Event

__all__ = ["History"]


class History:
    """The events of a match in order; `events` only ever grows."""

    __slots__ = ("events", "own", "plies", "seat")

    def __init__(self, seat: int, events: Iterable[Event] = ()) -> None:
        self.seat = seat
        self.events: list[Event] = []
        """Read-only for callers; `extend` adds to it."""
        self.plies = 0
        """Actions of all seats."""
        self.own = 0
        """Actions of ``seat``."""
        self.extend(events)

    def extend(self, events: Iterable[Event]) -> None:
        """Add events."""
        for event in events:
            self.events.append(event)
            if event.seat != CHANCE_SEAT:
                self.plies += 1
            if event.seat == self.seat:
                self.own += 1

    def is_start_of(self, events: Sequence[Event]) -> bool:
        """Return whether ``events`` tell the same and perhaps more.

        It compares ply, seat and action only, since times may arrive later than actions.
        """
        return len(self.events) <= len(events) and all(
            (one.ply, one.seat, one.action) == (two.ply, two.seat, two.action)
            for one, two in zip(self.events, events, strict=False)
        )
