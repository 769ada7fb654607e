"""Delivery of payloads to one other process: in order, exactly once, without I/O.

Each process has a `Channel` for each other process and exchanges *batches* with it.  The
carriers of batches may lose, double and reorder them.  A batch has an acknowledgement and at most
one *segment*: numbered payloads, packed together.  A payload too large for one segment goes in
several.

The sender repeats segments that are not acknowledged: those before a later one at once, all others
after a time that doubles.  It sends at most a window of unacknowledged bytes, which shrinks after
each such time.  This is TCP's way, for the same reasons.

The first byte of a batch is its format.  Batches also state the newest format that their sender
reads, so that processes of two versions write the older one's format to each other.
"""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Sequence
from typing import Final, NamedTuple

FORMAT: Final = 1
"""Format of batches that this version writes to processes that read it."""
OLDEST_FORMAT: Final = 1
"""Oldest format that this version reads, and writes until it has heard from a process."""
HEARTBEAT_NS: Final = 500_000_000
"""Longest time between two batches."""
ACKNOWLEDGE_NS: Final = 20_000_000
"""How long an acknowledgement waits for payloads that go the same way."""
PATIENCE_NS: Final = 200_000_000
"""Time without acknowledgement after which segments are sent again; it doubles."""
MOST_PATIENCE_NS: Final = 2_000_000_000
"""Limit of this doubling."""
SEGMENT_BYTES: Final = 256 * 1024
"""Bytes of payloads in a segment, with their lengths."""
BATCH_BYTES: Final = SEGMENT_BYTES + 128
"""Largest batch."""
LIMIT_BYTES: Final = 64 * 1024 * 1024
"""Bytes that wait for acknowledgement at most."""
WINDOW_SEGMENTS: Final = 16
"""Full segments on their way at most."""

_NEVER: Final = 1 << 62
_HEAD: Final = struct.Struct("!BBBQQQQQ")
"""Format, newest format, flags, sender, receiver, acknowledged, first one beyond a gap, segment."""
_BODY: Final = struct.Struct("!BI")
"""A flag if the last payload goes on in the next segment, number of payloads; lengths follow."""
_OVERHEAD: Final = 64
"""Bytes of memory for a payload in addition to its own."""
_EVERY_CARRIER: Final = 1


class Addresses(NamedTuple):
    """Epochs of the processes that a batch comes from and goes to."""

    sender: int
    receiver: int

    @classmethod
    def of(cls, batch: bytes) -> Addresses | None:
        """Read them from a batch; None if it is none, or of a format that may differ."""
        if len(batch) < _HEAD.size or not OLDEST_FORMAT <= batch[0] <= FORMAT:
            return None
        return cls(*_HEAD.unpack_from(batch)[3:5])


class _Segment:
    """Payloads that were sent and are not acknowledged."""

    __slots__ = ("body", "held", "number", "sent_ns")

    def __init__(self, number: int, body: bytes, held: int) -> None:
        self.number = number
        self.body = body
        self.held = held
        """Memory of its payloads, as `Channel.waiting_bytes` counts it."""
        self.sent_ns = -1
        """When it was sent last; -1 if it counts as lost."""


class Channel:
    """Both directions between this process, ``own``, and ``peer``, which are epochs of leases.

    Times are in nanoseconds of a clock that only goes forward; ``now`` is that of the caller.
    Neither process may use a second channel with the same two epochs.
    """

    def __init__(
        self,
        own: int,
        peer: int,
        now: int,
        *,
        newest: int = FORMAT,
        limit_bytes: int = LIMIT_BYTES,
        segment_bytes: int = SEGMENT_BYTES,
    ) -> None:
        self.own = own
        self.peer = peer
        self.heard_ns = now
        """When the peer's last batch came; at first, when the channel was made."""
        self.patience_ns = PATIENCE_NS
        """Time without acknowledgement after which segments are sent again at first."""
        self.broken = False
        """True once too much waited for acknowledgement: treat the peer as dead."""
        self.asks_every_carrier = False
        """Set this to ask the peer to send its batches by every carrier."""
        self.peer_asks_every_carrier = False
        """True if the peer's last batch asked for that."""
        self.misdirected = 0
        """Batches dropped because they were of other epochs."""
        self.unreadable = 0
        """Batches dropped because of their format, or because they were damaged."""
        self.doubled = 0
        """Batches with payloads that had come before."""
        self.repeated = 0
        """Segments that were sent again."""
        self._newest = newest
        self._peer_newest = OLDEST_FORMAT
        self._limit = limit_bytes
        self._segment_bytes = segment_bytes
        # sending
        self._queue: deque[bytes | memoryview] = deque()
        self._last_number = 0
        self._sent: deque[_Segment] = deque()
        """Segments that are not acknowledged, in order."""
        self._lost: deque[_Segment] = deque()
        """Those to send again."""
        self._acknowledged = 0
        self._waiting_bytes = 0
        self._flying_bytes = 0
        self._window = self._most_window = WINDOW_SEGMENTS * segment_bytes
        self._timeout_ns = PATIENCE_NS
        self._timeout_at = _NEVER
        self._gap_seen_ns = -_NEVER
        # receiving
        self._delivered = 0
        self._early: dict[int, tuple[int, bool, list[bytes]]] = {}
        """Segments beyond a gap: their bytes, and what they contain."""
        self._early_bytes = 0
        self._parts: list[bytes] = []
        """The beginning of a payload whose end is in a later segment."""
        self._unanswered_bytes = 0
        self._acknowledge_at = _NEVER
        self._beat_at = now

    @property
    def format(self) -> int:
        """The newest format that both processes read, as far as this one knows."""
        return min(self._newest, self._peer_newest)

    @property
    def waiting_bytes(self) -> int:
        """Memory of payloads that are not acknowledged."""
        return self._waiting_bytes

    @property
    def idle(self) -> bool:
        """True if the peer has acknowledged every payload."""
        return not (self._queue or self._sent)

    def queue(self, payload: bytes) -> None:
        """Send a payload with one of the next batches; does nothing once the channel is broken."""
        if self.broken:
            return
        self._waiting_bytes += len(payload) + _OVERHEAD
        if self._waiting_bytes > self._limit:
            self._break()
            return
        self._queue.append(payload)

    def due_ns(self) -> int:
        """Return the earliest time at which `batch` may return a batch if nothing happens."""
        if self.broken:
            return _NEVER
        if (self._lost or self._queue) and self._flying_bytes < self._window:
            return 0
        return min(self._timeout_at, self._acknowledge_at, self._beat_at)

    def batch(self, now: int) -> bytes | None:
        """Return the next batch for the peer; None if nothing is due.  Call it until then."""
        if self.broken:
            return None
        if now >= self._timeout_at:
            self._timeout_ns = max(self.patience_ns, min(2 * self._timeout_ns, MOST_PATIENCE_NS))
            self._window = self._segment_bytes
            self._send_again(now)
        segment = self._next_segment(now)
        if segment is None and now < min(self._acknowledge_at, self._beat_at):
            return None
        self._acknowledge_at = _NEVER
        self._beat_at = now + HEARTBEAT_NS
        self._unanswered_bytes = 0
        head = _HEAD.pack(
            self.format,
            self._newest,
            _EVERY_CARRIER if self.asks_every_carrier else 0,
            self.own,
            self.peer,
            self._delivered,
            min(self._early, default=0),
            segment.number if segment is not None else 0,
        )
        return head + segment.body if segment is not None else head

    def received(self, batch: bytes, now: int) -> list[bytes]:
        """Take a batch in; return the payloads that are next in order."""
        if len(batch) < _HEAD.size or not OLDEST_FORMAT <= batch[0] <= self._newest:
            self.unreadable += 1
            return []
        _, newest, flags, sender, receiver, acknowledged, gap, number = _HEAD.unpack_from(batch)
        if (sender, receiver) != (self.peer, self.own):
            self.misdirected += 1
            return []
        if self.broken:
            return []
        try:
            found = _unpacked(batch) if number else None
        except (struct.error, ValueError):
            self.unreadable += 1
            return []
        self.heard_ns = now
        self._peer_newest = newest
        self.peer_asks_every_carrier = bool(flags & _EVERY_CARRIER)
        self._forget(acknowledged, now)
        if gap > self._acknowledged + 1:
            self._fill(gap, now)
        return [] if found is None else self._take(number, len(batch), found, now)

    def hurry(self, now: int) -> None:
        """Send everything that is not acknowledged again, as a carrier may have lost it all."""
        self._timeout_ns = self.patience_ns
        self._send_again(now)

    # sending

    def _next_segment(self, now: int) -> _Segment | None:
        if self._flying_bytes >= self._window:
            return None
        while self._lost and self._lost[0].number <= self._acknowledged:
            self._lost.popleft()
        if self._lost:
            segment = self._lost.popleft()
            self.repeated += 1
        elif self._queue:
            self._last_number += 1
            segment = _Segment(self._last_number, *self._packed())
            self._sent.append(segment)
        else:
            return None
        segment.sent_ns = now
        self._flying_bytes += len(segment.body)
        if self._timeout_at == _NEVER:
            self._timeout_ns = self.patience_ns
            self._timeout_at = now + self._timeout_ns
        return segment

    def _packed(self) -> tuple[bytes, int]:
        """Take payloads from the queue; return the body of a segment and what they counted."""
        queue, room = self._queue, self._segment_bytes
        taken: list[bytes | memoryview] = []
        goes_on = False
        while queue:
            payload = queue[0]
            if len(payload) + 4 <= room:
                taken.append(queue.popleft())
                room -= len(payload) + 4
                continue
            if not taken:
                view = memoryview(payload)
                taken.append(view[: room - 4])
                queue[0] = view[room - 4 :]
                goes_on = True
            break
        lengths = [*map(len, taken)]
        held = sum(lengths) + _OVERHEAD * (len(taken) - goes_on)
        packed = struct.pack(f"!{len(taken)}I", *lengths)
        return b"".join((_BODY.pack(goes_on, len(taken)), packed, *taken)), held

    def _forget(self, acknowledged: int, now: int) -> None:
        """Drop segments that the peer has acknowledged."""
        if not self._acknowledged < acknowledged <= self._last_number:
            return
        before = self._acknowledged
        self._acknowledged = acknowledged
        for _ in range(acknowledged - before):
            segment = self._sent.popleft()
            size = len(segment.body)
            self._waiting_bytes -= segment.held
            if segment.sent_ns >= 0:
                self._flying_bytes -= size
            self._window = min(self._window + size, self._most_window)
        self._timeout_ns = self.patience_ns
        self._timeout_at = now + self._timeout_ns if self._sent else _NEVER

    def _fill(self, gap: int, now: int) -> None:
        """Send segments again that the peer lacks although it has a later one."""
        pause = self.patience_ns // 10  # The gap may be older than what was sent since.
        if now - self._gap_seen_ns < pause:
            return
        self._gap_seen_ns = now
        for segment in self._sent:
            if segment.number >= gap:
                break
            if 0 <= segment.sent_ns <= now - pause:
                self._lose(segment)

    def _send_again(self, now: int) -> None:
        self._lost.clear()
        for segment in self._sent:
            self._lose(segment)
        if self._sent:
            self._timeout_at = now + self._timeout_ns

    def _lose(self, segment: _Segment) -> None:
        if segment.sent_ns >= 0:
            self._flying_bytes -= len(segment.body)
            segment.sent_ns = -1
        self._lost.append(segment)

    def _break(self) -> None:
        self.broken = True
        for buffer in (self._queue, self._sent, self._lost, self._early, self._parts):
            buffer.clear()
        self._waiting_bytes = self._flying_bytes = self._early_bytes = 0

    # receiving

    def _take(
        self, number: int, size: int, found: tuple[bool, list[bytes]], now: int
    ) -> list[bytes]:
        if number <= self._delivered or number in self._early:
            self.doubled += 1  # The peer may not know that it came.
            self._acknowledge_at = min(self._acknowledge_at, now + ACKNOWLEDGE_NS)
            return []
        if number != self._delivered + 1:
            if self._early_bytes < 2 * self._most_window:
                self._early[number] = (size, *found)
                self._early_bytes += size
            self._acknowledge_at = now  # It tells the peer of the gap.
            return []
        payloads: list[bytes] = []
        self._deliver(*found, payloads)
        while (early := self._early.pop(self._delivered + 1, None)) is not None:
            self._early_bytes -= early[0]
            self._deliver(*early[1:], payloads)
        self._unanswered_bytes += size
        hurried = self._early or self._unanswered_bytes > self._most_window // 4
        wait = 0 if hurried else ACKNOWLEDGE_NS
        self._acknowledge_at = min(self._acknowledge_at, now + wait)
        return payloads

    def _deliver(self, goes_on: bool, found: Sequence[bytes], payloads: list[bytes]) -> None:
        self._delivered += 1
        if not (self._parts or goes_on):
            payloads.extend(found)
            return
        for position, payload in enumerate(found, start=1):
            self._parts.append(payload)
            if not (goes_on and position == len(found)):
                payloads.append(b"".join(self._parts))
                self._parts.clear()


def _unpacked(batch: bytes) -> tuple[bool, list[bytes]]:
    """Read the segment of a batch; raises `struct.error` or ValueError if it is damaged."""
    goes_on, count = _BODY.unpack_from(batch, _HEAD.size)
    begin = _HEAD.size + _BODY.size
    if count == 0 or begin + 4 * count > len(batch):
        raise ValueError("it has fewer payloads than it says")
    lengths = struct.unpack_from(f"!{count}I", batch, begin)
    begin += 4 * count
    if begin + sum(lengths) != len(batch):
        raise ValueError("its payloads have other lengths than it says")
    payloads = []
    for length in lengths:
        end = begin + length
        payloads.append(batch[begin:end])
        begin = end
    return bool(goes_on), payloads
