"""Heartbeat, round-trip times and flood limits of a connection.

Nothing here does I/O; time is an argument, in integer nanoseconds of one monotonic clock.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

from plyhouse.protocol.codec import MAX_CLIENT_FRAME

SECOND: Final = 1_000_000_000


class NetworkTrip(NamedTuple):
    """Round trips of a connection as the kernel measures them; no program can delay these."""

    recent_ns: int
    """Smoothed average of the latest round trips."""
    least_ns: int
    """Shortest round trip of the last minutes."""


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """Limits of a server for one connection."""

    max_frame: int = MAX_CLIENT_FRAME
    """Longest frame read, in bytes."""
    max_requests: int = 4096
    """Most requests that may wait for an answer at the same time."""
    hello_timeout_ns: int = 10 * SECOND
    """Time between connecting and ``hello``."""
    heartbeat_ns: int = 4 * SECOND
    """Interval between pings."""
    silence_ns: int = 9 * SECOND
    """Time without a frame after which the peer counts as lost."""
    messages_per_second: int = 20_000
    """Frames per second, on average; 0 for no limit."""
    message_burst: int = 40_000
    """Frames that may arrive at once, before the average applies."""
    mistakes_per_second: int = 20
    """Refused frames per second, on average; 0 for no limit."""
    mistake_burst: int = 200
    """Refused frames that may arrive at once, before the average applies."""
    early_frame: int = 16 * 1024
    """Longest frame before the client has logged in, in bytes."""
    early_per_second: int = 100
    """Frames per second before the client has logged in, and from spectators."""
    early_burst: int = 400
    """Frames that may arrive at once before the client has logged in."""


class FloodLimit:
    """A token bucket: `burst` messages at once, `per_second` on average."""

    __slots__ = ("_burst_ns", "_cost_ns", "_full_at")

    def __init__(self, per_second: int, burst: int) -> None:
        if per_second < 1 or burst < 1:
            raise ValueError("a flood limit needs at least 1 message per second and a burst of 1")
        # Store the bucket as the time at which it will be full again: one number, no rounding.
        self._cost_ns = SECOND // per_second or 1
        self._burst_ns = self._cost_ns * burst
        self._full_at: int | None = None

    def allow(self, now: int, cost: int = 1) -> bool:
        """Take `cost` tokens at `now`, at most all of a full bucket; False if too few are left."""
        full_at = self._full_at
        more = self._cost_ns if cost == 1 else min(cost * self._cost_ns, self._burst_ns)
        full_at = (now if full_at is None or full_at < now else full_at) + more
        if full_at - now > self._burst_ns:
            return False
        self._full_at = full_at
        return True


class RoundTrips:
    """The latest measured round trips of a connection."""

    __slots__ = ("_recent", "median_ns")

    def __init__(self, keep: int = 9) -> None:
        self._recent: deque[int] = deque(maxlen=keep)
        self.median_ns = 0
        """The lower median of the latest measurements; 0 if there is none.

        Lag refunds use it, because a single late or early pong does not change it.
        """

    def add(self, nanoseconds: int) -> None:
        """Add one measurement; a negative one counts as 0."""
        self._recent.append(max(0, nanoseconds))
        self.median_ns = sorted(self._recent)[(len(self._recent) - 1) // 2]

    @property
    def count(self) -> int:
        """Number of stored measurements."""
        return len(self._recent)

    @property
    def minimum_ns(self) -> int:
        """The shortest of the stored measurements; 0 if there is none."""
        return min(self._recent, default=0)


class Heartbeat:
    """Sends pings on time, measures round trips and notices a silent peer."""

    __slots__ = ("_beat_ns", "_next_id", "_pings", "_silence_ns", "heard", "pinged", "round_trips")

    def __init__(self, now: int, beat_ns: int, silence_ns: int) -> None:
        self._beat_ns = beat_ns
        self._silence_ns = silence_ns
        self._next_id = 1
        self._pings: dict[int, int | None] = {}
        self.heard = now
        """When the last frame of the peer was read."""
        self.pinged = now
        """When the last ping was sent; before the first ping, when the connection opened."""
        self.round_trips = RoundTrips()

    def ping(self, now: int) -> int:
        """Record a ping sent at `now` and return its id."""
        number = self._next_id
        self._next_id += 1
        self.pinged = now
        self._pings[number] = now
        if len(self._pings) > 64:  # an application that pings on its own, to a peer that never does
            del self._pings[next(iter(self._pings))]
        return number

    def pong(self, number: int, now: int, most: Callable[[], int | None] | None = None) -> bool:
        """Record the pong to ping `number`; return False if there was no such ping.

        `most` returns an upper bound of the round trip; None if unknown.
        """
        if number not in self._pings:
            return False
        sent = self._pings.pop(number)
        if sent is not None:
            trip = now - sent
            limit = None if most is None else most()
            self.round_trips.add(trip if limit is None else min(trip, limit))
        return True

    def expect(self, silence_ns: int) -> None:
        """Set the silence after which the peer counts as lost."""
        self._silence_ns = silence_ns

    def forgive(self, nanoseconds: int) -> None:
        """Move the deadlines by a time for which our own process was stalled."""
        self.heard += nanoseconds
        self.pinged += nanoseconds
        # A pong to one of these pings may have waited for our process: do not measure it.
        self._pings = dict.fromkeys(self._pings)

    @property
    def beat_at(self) -> int:
        """When the next ping is due."""
        return self.pinged + self._beat_ns

    @property
    def silent_at(self) -> int:
        """When the peer counts as lost, unless a frame arrives earlier."""
        return self.heard + self._silence_ns
