"""Links deliver every message, whichever carriers fail."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import pytest
from tests.harness.log_lines import log_text
from tests.harness.patience import PATIENCE
from tests.harness.processes import children

from plyhouse.server.cluster import carriers
from plyhouse.server.cluster.carriers import DatabaseCarrier, NatsCarrier
from plyhouse.server.cluster.link import SILENT_NS, Carrier, Changed, Link, Receive
from plyhouse.server.cluster.nats_server import LocalNats
from plyhouse.server.gateway.membership import ClusterError
from plyhouse.storage import members
from plyhouse.storage.store import Store

MS: Final = 1_000_000
NOWHERE: Final = "nats://127.0.0.1:1"
"""An address where no NATS server listens."""


class Wires:
    """In memory: what a process sends is received at the next turn of the loop."""

    def __init__(self) -> None:
        self.ends: dict[int, Wire] = {}

    def carrier(self) -> Wire:
        return Wire(self)


class Wire:
    """The carrier of one process."""

    name = "the wire"
    patience_ns = 200 * MS
    pause_ns = 0

    def __init__(self, wires: Wires) -> None:
        self.wires = wires
        self.connected = True
        self.sent = 0
        self.received: list[bytes] = []

    async def start(self, own: int, receive: Receive, changed: Changed) -> None:
        self.wires.ends[own] = self
        self.receive, self.changed = receive, changed

    def send(self, to: int, batch: bytes) -> None:
        self.sent += 1
        other = self.wires.ends.get(to)
        if self.connected and other is not None and other.connected:
            other.received.append(batch)
            asyncio.get_running_loop().call_soon(other.receive, batch)

    async def close(self) -> None:
        pass


class Process:
    """A link, and what came over it."""

    def __init__(
        self, own: int, carriers: Sequence[Carrier], now: Callable[[], int] = time.monotonic_ns
    ) -> None:
        self.own = own
        self.got: defaultdict[int, list[bytes]] = defaultdict(list)
        self.strangers: list[int] = []
        self.link = Link(
            own,
            carriers,
            now,
            lambda sender, payload: self.got[sender].append(payload),
            on_stranger=self.strangers.append,
        )


@asynccontextmanager
async def running(*processes: Process, introduce: bool = True) -> AsyncIterator[None]:
    """Start links, which know each other, for the time of the block."""
    await asyncio.gather(*[each.link.start() for each in processes])
    if introduce:
        for each in processes:
            each.link.set_peers([other.own for other in processes])
    try:
        yield
    finally:
        await asyncio.gather(*[each.link.close() for each in processes])


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.005)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with await Store.open(f"sqlite:///{tmp_path / 'cluster.db'}") as store:
        yield store


def clustered(own: int, url: str, store: Store, poll_s: float = 0.05) -> Process:
    """A process with both real carriers."""
    return Process(own, [NatsCarrier(url, "test"), DatabaseCarrier(store, poll_s=poll_s)])


def numbered(sender: int, receiver: int, count: int) -> list[bytes]:
    return [b"%d to %d: %d" % (sender, receiver, number) for number in range(count)]


async def restart(nats: LocalNats) -> None:
    await asyncio.to_thread(nats.stop)
    await asyncio.to_thread(nats.start)


@pytest.mark.parametrize("size", [2, 3])
async def test_restarts_of_nats_lose_double_and_reorder_no_message(
    size: int, nats: LocalNats, store: Store
) -> None:
    processes = [clustered(epoch, nats.url, store) for epoch in range(1, size + 1)]
    pairs = [(a, b) for a in processes for b in processes if a is not b]
    count = 100_000 // len(pairs)
    sent = {(a.own, b.own): numbered(a.own, b.own, count) for a, b in pairs}
    async with running(*processes):
        restarts: list[asyncio.Task[None]] = []
        for start in range(0, count, 50):
            if start in (count // 200 * 50, count // 400 * 300):
                # On a busy machine the first may not be over, and one would end the other's server.
                await asyncio.gather(*restarts)
                restarts.append(asyncio.create_task(restart(nats)))
            for a, b in pairs:
                for payload in sent[a.own, b.own][start : start + 50]:
                    a.link.send(b.own, payload)
            await asyncio.sleep(0.002)
        await asyncio.gather(*restarts)
        assert len(restarts) == 2
        await until(lambda: all(len(b.got[a.own]) >= count for a, b in pairs))
        await until(lambda: all(a.link.idle(b.own) for a, b in pairs))
        await until(lambda: all(each.link.healthy for each in processes))
        for a, b in pairs:
            assert b.got[a.own] == sent[a.own, b.own]
        assert sum(each.link.counts()["repeated"] for each in processes) > 0


async def test_counts_include_peers_that_are_gone() -> None:
    wires = Wires()
    a, b = (Process(epoch, [wires.carrier()]) for epoch in (1, 2))
    async with running(a, b):
        a.link.send(2, b"once")
        await until(lambda: b.got[1] == [b"once"])
        for batch in tuple(wires.ends[2].received):
            wires.ends[2].receive(batch)
        doubled = b.link.counts()["doubled"]
        assert doubled > 0
        b.link.set_peers([])
        assert b.link.counts()["doubled"] == doubled


async def test_batches_go_through_the_database_while_nats_is_away(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    a, b = (clustered(epoch, NOWHERE, store) for epoch in (1, 2))
    caplog.set_level(logging.INFO, "plyhouse.server.cluster")
    async with running(a, b):
        assert not a.link.healthy
        for payload in numbered(1, 2, 500):
            a.link.send(2, payload)
        b.link.send(1, b"back")
        await until(lambda: len(b.got[1]) == 500 and len(a.got[2]) == 1)
        assert b.got[1] == numbered(1, 2, 500)
    away = "carrier='NATS' others=['the database']"
    assert log_text(caplog).count(away) == 2, "one for each process"


async def test_messages_reach_a_process_that_alone_lost_nats(nats: LocalNats, store: Store) -> None:
    a = clustered(1, nats.url, store)
    b = clustered(2, NOWHERE, store)
    async with running(a, b):
        await until(lambda: a.link.healthy)
        assert not b.link.healthy
        a.link.send(2, b"there")
        b.link.send(1, b"back")
        await until(lambda: b.got[1] == [b"there"] and a.got[2] == [b"back"])


async def test_batches_leave_the_database_when_nats_is_back(
    nats: LocalNats, store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "plyhouse.server.cluster")
    nats.stop()
    a, b = (clustered(epoch, nats.url, store) for epoch in (1, 2))
    async with running(a, b):
        a.link.send(2, b"slow")
        await until(lambda: b.got[1] == [b"slow"])
        await asyncio.to_thread(nats.start)
        await until(lambda: a.link.healthy and b.link.healthy)
        a.link.send(2, b"fast")
        await until(lambda: b.got[1] == [b"slow", b"fast"])
        connected = [each for each in caplog.records if each.msg == "carrier connected"]
        assert {each.carrier for each in connected} == {"NATS"}  # type: ignore[attr-defined]
    await store.write(members.forget_older, store.now() + 1)


async def test_messages_pass_a_nats_server_that_hangs(nats: LocalNats, store: Store) -> None:
    a, b = (clustered(epoch, nats.url, store) for epoch in (1, 2))
    async with running(a, b):
        a.link.send(2, b"first")
        await until(lambda: b.got[1] == [b"first"])
        (hanging,) = children(nats.pid)
        os.kill(hanging, signal.SIGSTOP)
        try:
            for payload in numbered(1, 2, 100):
                a.link.send(2, payload)
            await until(lambda: len(b.got[1]) == 101)
            await until(lambda: not (a.link.healthy or b.link.healthy))
        finally:
            os.kill(hanging, signal.SIGCONT)
        await until(lambda: a.link.healthy and b.link.healthy)
        a.link.send(2, b"last")
        await until(lambda: b.got[1] == [b"first", *numbered(1, 2, 100), b"last"])


async def test_payloads_larger_than_a_batch_arrive(nats: LocalNats, store: Store) -> None:
    a, b = (clustered(epoch, nats.url, store) for epoch in (1, 2))
    payloads = [bytes([number]) * 3_000_000 for number in range(8)]
    async with running(a, b):
        for payload in payloads:
            a.link.send(2, payload)
        await until(lambda: len(b.got[1]) == len(payloads))
        assert b.got[1] == payloads


async def test_clusters_on_one_nats_server_do_not_mix(nats: LocalNats, store: Store) -> None:
    a = Process(1, [NatsCarrier(nats.url, "one")])
    b = Process(2, [NatsCarrier(nats.url, "two")])
    c = Process(2, [NatsCarrier(nats.url, "one")])
    async with running(a, b, c):
        a.link.send(2, b"for c")
        await until(lambda: c.got[1] == [b"for c"])
        assert not b.got


async def test_nats_that_is_away_is_logged_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """An attempt to connect has two errors, each other than the one before it."""
    monkeypatch.setattr(carriers, "PAUSE_S", 0)
    carrier = NatsCarrier("nats://user:secret@127.0.0.1:1", "test")
    attempts, live = [], carrier._live

    async def counted() -> bool:
        attempts.append(1)
        return await live()

    monkeypatch.setattr(carrier, "_live", counted)
    await carrier.start(1, lambda _: None, lambda: None)
    await until(lambda: len(attempts) > 3)
    await carrier.close()
    lines = [vars(each) for each in caplog.records if each.msg == "NATS trouble"]
    assert lines
    assert len(lines) == len({each["why"] for each in lines})
    assert {each["address"] for each in lines} == {"127.0.0.1:1"}


async def test_carrier_closes_when_the_client_swallows_its_cancellation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In Python 3.11, ``wait_for`` in the client does so if it is cancelled as it ends."""
    carrier = NatsCarrier(NOWHERE, "test")

    async def swallow() -> bool:
        carrier._tried.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise ConnectionRefusedError from None
        return False

    monkeypatch.setattr(carrier, "_live", swallow)
    await carrier.start(1, lambda _: None, lambda: None)
    async with asyncio.timeout(PATIENCE):
        await carrier.close()


@pytest.mark.parametrize("address", ["ftp://a:4222", "http://user:secret@a", "nats://"])
def test_address_that_is_none_of_nats_is_refused(address: str) -> None:
    with pytest.raises(ClusterError, match="nats://HOST:4222") as refused:
        NatsCarrier(address, "test")
    assert "secret" not in str(refused.value)


async def test_refused_token_is_logged_without_the_token(
    nats: LocalNats, caplog: pytest.LogCaptureFixture
) -> None:
    address = nats.url.partition("@")[2]
    a = Process(1, [NatsCarrier(f"nats://secret123@{address}", "test")])
    async with running(a):
        await until(lambda: "Authorization" in log_text(caplog))
        assert not a.link.healthy
    assert "secret123" not in log_text(caplog)


@pytest.mark.parametrize(
    ("address", "warned"),
    [
        ("nats://127.0.0.1:9", True),
        ("nats://u:p@127.0.0.1:9,127.0.0.1:9", True),
        ("nats://u:p@127.0.0.1:9", False),
        ("nats://token@127.0.0.1:9", False),
    ],
)
async def test_address_without_credentials_is_warned_of(
    caplog: pytest.LogCaptureFixture, address: str, *, warned: bool
) -> None:
    carrier = NatsCarrier(address, "test")
    await carrier.start(1, lambda batch: None, lambda: None)
    await carrier.close()
    assert ("can read session keys" in log_text(caplog)) == warned
    assert "u:p" not in log_text(caplog)


def test_cluster_name_must_fit_into_a_subject() -> None:
    with pytest.raises(ValueError, match="cannot be part of a subject"):
        NatsCarrier(NOWHERE, "a.b")


def test_missing_package_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "nats.aio.client", None)
    with pytest.raises(ClusterError, match=r"pip install 'plyhouse\[cluster\]'"):
        NatsCarrier(NOWHERE, "test")


async def test_messages_of_one_turn_leave_as_one_batch() -> None:
    wires = Wires()
    # While no time passes, there are no heartbeats, and nothing is repeated.
    a, b = (Process(epoch, [wires.carrier()], lambda: 0) for epoch in (1, 2))
    async with running(a, b):
        await until(lambda: a.link.idle(2) and wires.ends[1].sent > 0)
        before = wires.ends[1].sent
        for payload in numbered(1, 2, 100):
            a.link.send(2, payload)
        await until(lambda: len(b.got[1]) == 100)
        assert wires.ends[1].sent == before + 1


async def test_failing_callback_stops_no_later_message(caplog: pytest.LogCaptureFixture) -> None:
    wires = Wires()
    a = Process(1, [wires.carrier()])
    got: list[bytes] = []

    def fail(_: int, payload: bytes) -> None:
        got.append(payload)
        raise LookupError("no such match")

    b = Process(2, [wires.carrier()])
    b.link = Link(2, [wires.carrier()], time.monotonic_ns, fail)
    async with running(a, b):
        for payload in numbered(1, 2, 3):
            a.link.send(2, payload)
        await until(lambda: got == numbered(1, 2, 3))
    assert caplog.text.count("LookupError: no such match") == 3


async def test_dropped_peer_gets_nothing_and_cannot_come_back(
    caplog: pytest.LogCaptureFixture,
) -> None:
    wires = Wires()
    a, b = (Process(epoch, [wires.carrier()]) for epoch in (1, 2))
    async with running(a, b):
        a.link.send(2, b"heard")
        await until(lambda: b.got[1] == [b"heard"])
        b.link.set_peers([])
        a.link.send(2, b"not heard")
        b.link.send(1, b"not sent")
        for _ in range(3):
            b.link.set_peers([1])
        assert list(b.link.peers) == []
        c = Process(3, [wires.carrier()])
        async with running(c, introduce=False):
            a.link.set_peers([2, 3])
            c.link.set_peers([1])
            c.link.send(1, b"marker")
            await until(lambda: a.got[3] == [b"marker"])
    assert b.got[1] == [b"heard"]
    assert not a.got[2]
    assert not b.strangers
    assert caplog.messages.count("server dropped from the cluster") == 1


async def test_message_that_drops_its_sender_is_the_last_one() -> None:
    wires = Wires()
    a, b = (Process(epoch, [wires.carrier()]) for epoch in (1, 2))
    got: list[bytes] = []

    def drop(_: int, payload: bytes) -> None:
        got.append(payload)
        b.link.set_peers([])

    b.link = Link(2, [wires.carrier()], time.monotonic_ns, drop)
    async with running(a, b):
        for payload in numbered(1, 2, 3):
            a.link.send(2, payload)
        await until(lambda: bool(got))
        assert got == numbered(1, 2, 1)


async def test_stranger_is_heard_once_it_is_named() -> None:
    wires = Wires()
    a, b = (Process(epoch, [wires.carrier()]) for epoch in (1, 2))
    async with running(a, b, introduce=False):
        a.link.set_peers([2])
        a.link.send(2, b"early")
        await until(lambda: 1 in b.strangers)
        b.link.set_peers([1])
        await until(lambda: b.got[1] == [b"early"])


async def test_silence_lasts_until_the_next_batch() -> None:
    wires, clock = Wires(), [0]
    a, b = (Process(epoch, [wires.carrier()], lambda: clock[0]) for epoch in (1, 2))

    async def wait(until_ns: int) -> None:
        while clock[0] < until_ns:
            clock[0] += 100 * MS
            await asyncio.sleep(0.025)  # a tick

    async with running(a, b):
        await wait(1000 * MS)
        assert a.link.silence_ns(2) < 1000 * MS
        wires.ends[2].connected = False
        await wait(1200 * MS + SILENT_NS + 1000 * MS)
        assert a.link.silent_peers() == {2}
        assert a.link.silence_ns(2) > SILENT_NS
        wires.ends[2].connected = True
        await until(lambda: wait_heard(clock, a))


def wait_heard(clock: list[int], process: Process) -> bool:
    clock[0] += 10 * MS
    return not process.link.silent_peers()


async def test_broken_channel_counts_as_silence() -> None:
    wires = Wires()
    a = Process(1, [wires.carrier()])
    async with running(a):
        a.link.set_peers([2])
        for _ in range(65):
            a.link.send(2, bytes(1 << 20))
        await until(lambda: a.link.silent_peers() == {2})


async def test_stalled_process_accuses_no_other() -> None:
    wires, clock = Wires(), [0]
    a, b = (Process(epoch, [wires.carrier()], lambda: clock[0]) for epoch in (1, 2))
    async with running(a, b):
        await until(lambda: a.link.silence_ns(2) == 0)
        clock[0] += 3 * SILENT_NS  # as if the loop had not run
        await asyncio.sleep(0.1)
        assert not a.link.silent_peers() | b.link.silent_peers()


async def test_rows_for_a_process_that_is_gone_are_deleted(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(carriers, "KEPT_MS", -1)
    await store.write(members.add, 1, [(99, b"old")], store.now() - 10)
    a = Process(1, [DatabaseCarrier(store, poll_s=0.01)])
    async with running(a):
        async with asyncio.timeout(PATIENCE):
            while await store.read(members.waiting, 99):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
