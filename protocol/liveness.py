"""Is the peer still there, how far away is it, and is it flooding us: pure, time is an argument.

All times are integer nanoseconds of one monotonic clock.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

from plyhouse.protocol.codec import MAX_CLIENT_FRAME

__all__ = [
    "SECOND",
    "ConnectionLimits",
    "FloodLimit",
    "Heartbeat",
    "NetworkTrip",
    "RoundTrips",
]

SECOND: Final = 1_000_000_000


class NetworkTrip(NamedTuple):
    """Round trips of a connection as the kernel measures them, which no program can delay."""

    recent_ns: int
    """Smoothed over the last ones."""
    least_ns: int
    """The shortest of the last minutes."""


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """What a server puts up with on one connection."""

    max_frame: int = MAX_CLIENT_FRAME
    """Longest frame read, in bytes."""
    max_requests: int = 4096
    """Most requests that may wait for their answers at once."""
    hello_timeout_ns: int = 10 * SECOND
    """Time for ``hello`` from the moment of connecting."""
    heartbeat_ns: int = 4 * SECOND
    """A ping is sent this often."""
    silence_ns: int = 9 * SECOND
    """A peer that sent nothing for this long is given up."""
    messages_per_second: int = 20_000
    """Frames a connection may send per second in the long run; 0 for any number."""
    message_burst: int = 40_000
    """Frames it may send at once before the long run counts."""
    mistakes_per_second: int = 20
    """Refused frames it may send per second in the long run; 0 for any number."""
    mistake_burst: int = 200
    """Refused frames it may send at once before the long run counts."""
    early_frame: int = 16 * 1024
    """Longest frame read of a client that has not logged in."""
    early_per_second: int = 100
    """Frames per second of a client that has not logged in, spectators included."""
    early_burst: int = 400
    """Frames it may send at once before the long run counts."""


class FloodLimit:
    """A token bucket: `burst` at once, `per_second` in the long run."""

    __slots__ = ("_burst_ns", "_cost_ns", "_full_at")

    def __init__(self, per_second: int, burst: int) -> None:
        if per_second < 1 or burst < 1:
            raise ValueError("a flood limit lets at least one message pass")
        # The bucket is kept as the instant at which it would be full again: one number, no
        # rounding.
        self._cost_ns = SECOND // per_second or 1
        self._burst_ns = self._cost_ns * burst
        self._full_at: int | None = None

    def allow(self, now: int) -> bool:
        """Take one token at `now`; False if there is none left."""
        full_at = self._full_at
        full_at = (now if full_at is None or full_at < now else full_at) + self._cost_ns
        if full_at - now > self._burst_ns:
            return False
        self._full_at = full_at
        return True


class RoundTrips:
    """The last few measured round trips of a connection."""

    __slots__ = ("_recent", "median_ns")

    def __init__(self, keep: int = 9) -> None:
        self._recent: deque[int] = deque(maxlen=keep)
        self.median_ns = 0
        """The lower median of the last measurements; 0 if there is none.

        This is what lag refunds use: one late pong does not raise it, one quick one does not
        lower it.
        """

    def add(self, nanoseconds: int) -> None:
        """Note one measurement; a clock that was set back counts as 0."""
        self._recent.append(max(0, nanoseconds))
        self.median_ns = sorted(self._recent)[(len(self._recent) - 1) // 2]

    @property
    def count(self) -> int:
        """How many measurements are remembered."""
        return len(self._recent)

    @property
    def minimum_ns(self) -> int:
        """The shortest of the last measurements; 0 if there is none."""
        return min(self._recent, default=0)


class Heartbeat:
    """Pings that we sent, and silence of the peer."""

    __slots__ = ("_beat_ns", "_next_id", "_pings", "_silence_ns", "heard", "pinged", "round_trips")

    def __init__(self, now: int, beat_ns: int, silence_ns: int) -> None:
        self._beat_ns = beat_ns
        self._silence_ns = silence_ns
        self._next_id = 1
        self._pings: dict[int, int | None] = {}
        self.heard = now
        """When the last frame of the peer was read."""
        self.pinged = now
        """When the last ping was sent; at first, when the connection was made."""
        self.round_trips = RoundTrips()

    def ping(self, now: int) -> int:
        """Note a ping sent at `now` and return its id."""
        number = self._next_id
        self._next_id += 1
        self.pinged = now
        self._pings[number] = now
        if len(self._pings) > 64:  # an application that pings on its own, to a peer that never does
            del self._pings[next(iter(self._pings))]
        return number

    def pong(self, number: int, now: int, most: Callable[[], int | None] | None = None) -> bool:
        """Note the pong to ping `number`; False if there was no such ping.

        `most` is asked what the round trip can have been at most; None if nobody knows.
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
        """Give the peer up only after this much silence from now on."""
        self._silence_ns = silence_ns

    def forgive(self, nanoseconds: int) -> None:
        """Our own process stood still: its peers must not pay for that."""
        self.heard += nanoseconds
        self.pinged += nanoseconds
        # A pong to one of these may have waited for us: it measures nothing.
        self._pings = dict.fromkeys(self._pings)

    @property
    def beat_at(self) -> int:
        """When the next ping is due."""
        return self.pinged + self._beat_ns

    @property
    def silent_at(self) -> int:
        """When the peer is given up, unless it is heard before."""
        return self.heard + self._silence_ns
