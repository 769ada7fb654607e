"""Channels deliver in order and exactly once over a network that loses, doubles and reorders."""

from __future__ import annotations

from typing import Final

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from plyhouse.server.cluster import channel
from plyhouse.server.cluster.channel import (
    ACKNOWLEDGE_NS,
    BATCH_BYTES,
    HEARTBEAT_NS,
    MOST_PATIENCE_NS,
    PATIENCE_NS,
    Addresses,
    Channel,
)

MS: Final = 1_000_000
SMALL: Final = 100
"""Bytes in a segment, so that most payloads need several."""


def pair(**settings: int) -> tuple[Channel, Channel]:
    """The channels of two processes with the epochs 7 and 9, made at the time 0."""
    return Channel(7, 9, 0, **settings), Channel(9, 7, 0, **settings)


def all_batches(sender: Channel, now: int) -> list[bytes]:
    """Every batch that is due."""
    found = []
    while (batch := sender.batch(now)) is not None:
        found.append(batch)
    return found


def carried(sender: Channel, receiver: Channel, now: int) -> list[bytes]:
    """Deliver every batch that is due; return the payloads that came out."""
    return [each for batch in all_batches(sender, now) for each in receiver.received(batch, now)]


class Network(RuleBasedStateMachine):
    """Two channels, and a bag of batches: any may come next, or twice, or never."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0
        self.ends = pair(segment_bytes=SMALL)
        self.bag: list[tuple[int, bytes]] = []
        """Which end a batch goes to, and the batch."""
        self.sent: tuple[list[bytes], list[bytes]] = ([], [])
        """By receiving end."""
        self.got: tuple[list[bytes], list[bytes]] = ([], [])

    @rule(end=st.integers(0, 1), sizes=st.lists(st.integers(0, 5 * SMALL), max_size=8))
    def queue(self, end: int, sizes: list[int]) -> None:
        for size in sizes:
            number = len(self.sent[1 - end])
            payload = number.to_bytes(4, "big") * (size // 4 + 1)
            self.sent[1 - end].append(payload)
            self.ends[end].queue(payload)

    @rule(end=st.integers(0, 1))
    def flush(self, end: int) -> None:
        self.bag += [(1 - end, batch) for batch in all_batches(self.ends[end], self.now)]

    @rule(wait=st.sampled_from((1, 19, 50, 200, 600, 3000)))
    def wait(self, wait: int) -> None:
        self.now += wait * MS

    @precondition(lambda self: self.bag)
    @rule(place=st.integers(0), copies=st.integers(0, 2))
    def carry(self, place: int, copies: int) -> None:
        end, batch = self.bag.pop(place % len(self.bag))
        for _ in range(copies):
            self.got[end].extend(self.ends[end].received(batch, self.now))

    @rule(end=st.integers(0, 1))
    def hurry(self, end: int) -> None:
        self.ends[end].hurry(self.now)

    @invariant()
    def nothing_doubled_or_reordered(self) -> None:
        for sent, got in zip(self.sent, self.got, strict=True):
            assert got == sent[: len(got)]

    def teardown(self) -> None:
        """Carry everything for as long as it takes: then nothing is missing."""
        for _ in range(10_000):
            if all(each.idle for each in self.ends):
                break
            for end in (0, 1):
                self.flush(end)
            for end, batch in self.bag:
                self.got[end].extend(self.ends[end].received(batch, self.now))
            self.bag.clear()
            self.now = max(self.now + MS, min(each.due_ns() for each in self.ends))
        assert self.got == self.sent
        assert [each.waiting_bytes for each in self.ends] == [0, 0]
        assert not any(each.broken for each in self.ends)


Network.TestCase.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
TestNetwork = Network.TestCase


def test_payloads_of_one_turn_share_a_batch() -> None:
    left, right = pair()
    payloads = [b"%d" % number for number in range(1000)]
    for payload in payloads:
        left.queue(payload)
    (batch,) = all_batches(left, 0)
    assert right.received(batch, 0) == payloads


def test_batch_stays_within_its_limit() -> None:
    left, right = pair()
    payload = bytes(range(256)) * 4096 * 3
    left.queue(payload)
    left.queue(b"after it")
    batches = all_batches(left, 0)
    assert max(map(len, batches)) <= BATCH_BYTES < 512 * 1024
    assert [each for batch in batches for each in right.received(batch, 0)] == [
        payload,
        b"after it",
    ]


def test_batches_arriving_backwards_deliver_in_order() -> None:
    left, right = pair()
    batches = []
    for number in range(5):
        left.queue(b"%d" % number)
        batches += all_batches(left, 0)
    got = [right.received(batch, 0) for batch in reversed(batches)]
    assert got == [[], [], [], [], [b"0", b"1", b"2", b"3", b"4"]]


def test_silence_without_payloads_is_broken_by_heartbeats() -> None:
    left, right = pair()
    assert carried(left, right, 0) == []
    assert left.due_ns() == HEARTBEAT_NS
    assert left.batch(HEARTBEAT_NS - 1) is None
    beat = left.batch(HEARTBEAT_NS)
    assert beat is not None
    right.received(beat, HEARTBEAT_NS + 5)
    assert right.heard_ns == HEARTBEAT_NS + 5


def test_acknowledgement_waits_for_payloads_of_its_direction() -> None:
    left, right = pair()
    all_batches(right, 0)
    left.queue(b"ply")
    carried(left, right, 0)
    assert right.due_ns() == ACKNOWLEDGE_NS
    right.queue(b"answer")
    assert carried(right, left, 1) == [b"answer"]
    assert left.idle
    assert right.due_ns() > ACKNOWLEDGE_NS


def test_lost_segment_is_sent_again_after_times_that_double() -> None:
    left, _ = pair()
    left.queue(b"ply")
    all_batches(left, 0)
    times: list[int] = []
    now = 0
    while len(times) < 6:
        now += MS
        before = left.repeated
        all_batches(left, now)
        if left.repeated > before:
            times.append(now)
    waits = [later - sooner for sooner, later in zip([0, *times], times, strict=False)]
    assert waits == [min(PATIENCE_NS << power, MOST_PATIENCE_NS) for power in range(6)]


def test_gap_is_filled_before_the_patience_ends() -> None:
    left, right = pair()
    left.queue(b"lost")
    all_batches(left, 0)
    now = 50 * MS
    left.queue(b"later")
    assert carried(left, right, now) == []
    carried(right, left, now)  # at once, as there is a gap
    assert carried(left, right, now) == [b"lost", b"later"]


def test_window_limits_what_is_on_its_way() -> None:
    left, right = pair(segment_bytes=SMALL)
    for _ in range(1000):
        left.queue(bytes(SMALL - 4))
    first = all_batches(left, 0)
    assert len(first) == channel.WINDOW_SEGMENTS
    assert all_batches(left, 1) == []
    for batch in first:
        right.received(batch, 1)
    carried(right, left, 1)
    assert len(all_batches(left, 1)) == channel.WINDOW_SEGMENTS


def test_changed_carrier_repeats_what_is_on_its_way() -> None:
    left, right = pair()
    left.queue(b"one")
    all_batches(left, 0)
    left.hurry(1)
    assert carried(left, right, 1) == [b"one"]


def test_too_much_unacknowledged_breaks_the_channel() -> None:
    left, right = pair(limit_bytes=10_000)
    left.queue(bytes(9_000))
    all_batches(left, 0)
    left.queue(bytes(1_000))
    assert left.broken
    assert left.waiting_bytes == 0
    left.queue(b"more")
    assert left.batch(HEARTBEAT_NS * 10) is None
    right.queue(b"ply")
    assert carried(right, left, 0) == []
    assert left.heard_ns == 0


def test_acknowledged_payloads_make_room() -> None:
    left, right = pair(limit_bytes=10_000)
    for now in range(0, 100 * MS, MS):
        left.queue(bytes(4_000))
        carried(left, right, now)
        carried(right, left, now + ACKNOWLEDGE_NS)
    assert not left.broken


def test_doubled_batch_is_acknowledged_again() -> None:
    left, right = pair()
    left.queue(b"ply")
    (batch,) = all_batches(left, 0)
    assert right.received(batch, 0) == [b"ply"]
    all_batches(right, ACKNOWLEDGE_NS)  # lost
    assert right.received(batch, PATIENCE_NS) == []
    assert right.doubled == 1
    carried(right, left, PATIENCE_NS + ACKNOWLEDGE_NS)
    assert left.idle


def test_batch_of_other_epochs_is_dropped() -> None:
    left, _ = pair()
    left.queue(b"ply")
    (batch,) = all_batches(left, 0)
    assert Addresses.of(batch) == (7, 9)
    for own, peer in ((9, 8), (10, 7)):
        other = Channel(own, peer, 0)
        assert other.received(batch, 5) == []
        assert (other.misdirected, other.heard_ns) == (1, 0)


@pytest.mark.parametrize("length", [0, 1, 42, 46, 50, -1])
def test_damaged_batch_is_dropped_and_repeated(length: int) -> None:
    left, right = pair()
    left.queue(b"some payload")
    left.queue(b"another")
    (batch,) = all_batches(left, 0)
    assert right.received(batch[:length], 0) == []
    assert right.unreadable == 1
    assert carried(left, right, PATIENCE_NS) == [b"some payload", b"another"]


def test_batch_of_an_unknown_format_is_dropped() -> None:
    left, right = pair()
    left.queue(b"ply")
    (batch,) = all_batches(left, 0)
    for unknown in (0, channel.FORMAT + 1):
        assert right.received(bytes([unknown]) + batch[1:], 0) == []
    assert right.unreadable == 2


def test_processes_of_two_versions_agree_on_the_older_format() -> None:
    newer = Channel(7, 9, 0, newest=channel.FORMAT + 1)
    older = Channel(9, 7, 0)
    newer.queue(b"ply")
    assert carried(newer, older, 0) == [b"ply"]  # before it has heard what the other reads
    carried(older, newer, ACKNOWLEDGE_NS)
    assert (newer.format, older.format) == (channel.FORMAT, channel.FORMAT)
    newest = Channel(9, 7, 0, newest=channel.FORMAT + 1)
    newer = Channel(7, 9, 0, newest=channel.FORMAT + 1)
    carried(newest, newer, 0)
    assert newer.format == channel.FORMAT + 1


def test_request_for_every_carrier_reaches_the_peer() -> None:
    left, right = pair()
    left.asks_every_carrier = True
    carried(left, right, 0)
    assert right.peer_asks_every_carrier
    left.asks_every_carrier = False
    carried(left, right, HEARTBEAT_NS)
    assert not right.peer_asks_every_carrier
