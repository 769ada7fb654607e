from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from plyhouse.storage import match_reads
from plyhouse.storage.errors import (
    AlreadyExists,
    DatabaseLocked,
    InvalidValue,
    StorageError,
    StoreClosed,
    Unknown,
    WriterFull,
)
from plyhouse.storage.rows import EventRow, FinishMatch, Op
from plyhouse.storage.store import Store
from plyhouse.storage.writer import Writer


def event(match_id: str, index: int) -> EventRow:
    return EventRow(match_id, index, "act", index, 0, "x")


async def start(store: Store, world: Any, count: int) -> list[str]:
    """Store matches and return their ids."""
    ids = []
    for _ in range(count):
        match_id, ops = await world.new("ada", "bob")
        await store.apply(ops)
        ids.append(match_id)
    return ids


class Gate(Store):
    """Replaces a store: holds every transaction until it is released, and counts."""

    place = "the gate"

    def __init__(self, failure: BaseException | None = None) -> None:
        self.batches: list[list[Op]] = []
        self.gate = asyncio.Event()
        self.failure = failure

    def apply_soon(self, ops: Sequence[Op], done: Callable[[BaseException | None], None]) -> None:
        async def let_through() -> None:
            await self.gate.wait()
            done(self.failure)

        self.batches.append(list(ops))
        self.task = asyncio.create_task(let_through())


async def test_what_is_acknowledged_is_stored_in_order(
    store: Store, world: Any, submit: Any
) -> None:
    ids = await start(store, world, 3)
    writer = Writer(store)
    for index in range(20):
        await asyncio.gather(*(submit(writer, [event(match_id, index)]) for match_id in ids))
        stored = await store.read(match_reads.stored_match, ids[0])
        assert [row.index for row in stored.events] == list(range(index + 1))
    await writer.close()


async def test_all_who_wait_share_one_transaction(submit: Any) -> None:
    gate = Gate()
    writer = Writer(gate)
    first = submit(writer, [event("a", 0)])
    await asyncio.sleep(0)
    later = [submit(writer, [event("b", index)]) for index in range(50)]
    assert writer.pending == 51
    gate.gate.set()
    await asyncio.gather(first, *later)
    assert [len(batch) for batch in gate.batches] == [1, 50]
    assert [op.index for op in gate.batches[1] if isinstance(op, EventRow)] == list(range(50))
    assert writer.pending == 0


async def test_a_transaction_has_a_greatest_size_but_a_submission_stays_whole(submit: Any) -> None:
    gate = Gate()
    gate.gate.set()
    writer = Writer(gate, max_batch=10)
    sizes = [4, 4, 4, 25, 1]
    await asyncio.gather(*(submit(writer, [event("a", n) for n in range(k)]) for k in sizes))
    assert [len(batch) for batch in gate.batches] == [8, 4, 25, 1]


async def test_one_wrong_submission_does_not_harm_the_others(
    store: Store, world: Any, submit: Any
) -> None:
    good, other = await start(store, world, 2)
    writer = Writer(store)
    results = await asyncio.gather(
        submit(writer, [event(good, 0)]),
        submit(writer, [event(good, 0)]),
        submit(writer, [event("nowhere", 0)]),
        submit(writer, [FinishMatch(other, "normal", (1, 2, 3), 1, 1)]),
        submit(writer, [EventRow(good, 1, "act", 0, 0, "\ud800")]),
        submit(writer, [event(other, 0), event(other, 1)]),
        return_exceptions=True,
    )
    assert [type(result) for result in results] == [
        type(None),
        AlreadyExists,
        Unknown,
        StorageError,
        InvalidValue,
        type(None),
    ]
    assert "2 seats, not 3 returns" in str(results[3])
    assert len((await store.read(match_reads.stored_match, good)).events) == 1
    assert len((await store.read(match_reads.stored_match, other)).events) == 2
    await writer.close()


@pytest.mark.parametrize("failure", [DatabaseLocked("it is locked"), RuntimeError("a fault")])
async def test_when_storing_fails_everyone_who_waits_hears_of_it(failure: Any, submit: Any) -> None:
    gate = Gate(failure)
    gate.gate.set()
    writer = Writer(gate)
    results = await asyncio.gather(
        *(submit(writer, [event("a", index)]) for index in range(3)), return_exceptions=True
    )
    assert all(isinstance(result, StorageError) for result in results)
    assert all(str(failure.args[0]) in str(result) for result in results)
    assert len(gate.batches) == 1
    gate.failure = None
    await submit(writer, [event("a", 9)])  # and it goes on afterwards


async def test_more_than_fits_is_refused_at_once(submit: Any) -> None:
    gate = Gate()
    writer = Writer(gate, max_pending=3)
    held = submit(writer, [event("a", 0), event("a", 1)])
    with pytest.raises(WriterFull, match="2 operations wait"):
        await submit(writer, [event("a", 2), event("a", 3)])
    last = submit(writer, [event("a", 2)])
    gate.gate.set()
    await asyncio.gather(held, last)
    await submit(writer, [event("a", 3)])


async def test_closing_stores_what_waits_and_accepts_nothing_more(
    store: Store, world: Any, submit: Any
) -> None:
    (match_id,) = await start(store, world, 1)
    writer = Writer(store)
    waiting = [submit(writer, [event(match_id, index)]) for index in range(10)]
    await writer.close()
    assert all(future.done() and future.exception() is None for future in waiting)
    with pytest.raises(StoreClosed, match=r"writer of .* was closed"):
        await submit(writer, [event(match_id, 10)])
    assert len((await store.read(match_reads.stored_match, match_id)).events) == 10


async def test_who_waits_is_told_in_order_whatever_others_do_with_it(
    store: Store, world: Any, caplog: pytest.LogCaptureFixture
) -> None:
    ids = await start(store, world, 3)
    writer = Writer(store)
    told: list[str] = []

    def fail(error: StorageError | None) -> None:
        told.append("failing")
        raise RuntimeError("a fault")

    writer.submit_then([event(ids[0], 0)], lambda error: told.append("first"))
    writer.submit_then([event(ids[1], 0)], fail)
    writer.submit_then([event(ids[2], 0)], lambda error: told.append("last"))
    writer.submit_then([], lambda error: told.append("nothing"))
    await writer.flush()
    assert told == ["nothing", "first", "failing", "last"]
    assert "a fault" in caplog.text
    assert len((await store.read(match_reads.stored_match, ids[1])).events) == 1
    await writer.close()


async def test_what_a_callback_submits_goes_into_the_next_transaction() -> None:
    gate = Gate()
    gate.gate.set()
    writer = Writer(gate)
    left = [1, 2, 3]

    def again(error: StorageError | None) -> None:
        if left:
            writer.submit_then([event("a", left.pop())], again)

    writer.submit_then([event("a", 4)], again)
    await writer.flush()
    assert [len(batch) for batch in gate.batches] == [1, 1, 1, 1]


async def test_flushing_waits_for_what_comes_meanwhile_and_not_when_all_is_stored() -> None:
    gate = Gate()
    writer = Writer(gate)
    await writer.flush()
    writer.submit_then([event("a", 0)], lambda error: None)
    flushing = [asyncio.create_task(writer.flush()) for _ in range(2)]
    await asyncio.sleep(0)
    flushing[0].cancel()
    await asyncio.sleep(0)
    assert not flushing[1].done()
    gate.gate.set()
    await flushing[1]
    assert writer.pending == 0


def test_a_loop_that_was_closed_harms_neither_the_thread_nor_a_later_loop(
    tmp_path: Path, world_at: Any
) -> None:
    url = f"sqlite:///{tmp_path / 'a.db'}"
    told: list[object] = []

    async def leave() -> str:
        async with world_at(url) as world:
            (match_id,) = await start(world.store, world, 1)
        store = await Store.open(url)
        Writer(store).submit_then([event(match_id, 0)], told.append)
        await asyncio.sleep(0)  # it is on its way when the loop ends
        return match_id

    async def look(match_id: str) -> int:
        async with await Store.open(url) as store:
            await store.apply([event(match_id, 1)])
            return len((await store.read(match_reads.stored_match, match_id)).events)

    match_id = asyncio.run(leave())
    assert asyncio.run(look(match_id)) == 2
    assert told in ([], [None])


@pytest.mark.postgresql
async def test_a_stopped_writer_does_not_leave_anyone_waiting(
    postgres_url: str, world_at: Any, submit: Any
) -> None:
    async with world_at(postgres_url) as world:
        (match_id,) = await start(world.store, world, 1)
        future = submit(Writer(world.store), [event(match_id, 0)])
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        (task,) = world.store._database._tasks
        task.cancel()
        with pytest.raises(StoreClosed, match="whether it was stored is unknown"):
            await future


KILLED = """
import asyncio, sys
from plyhouse.storage.rows import EventRow
from plyhouse.storage.store import Store
from plyhouse.storage.writer import Writer

async def play(writer, match_id):
    index = 0
    while True:
        future = asyncio.get_running_loop().create_future()
        writer.submit_then([EventRow(match_id, index, "act", index, 0, "x")], future.set_result)
        assert await future is None
        sys.stdout.write(f"{match_id} {index}\\n")
        sys.stdout.flush()
        index += 1

async def main(url, ids):
    writer = Writer(await Store.open(url))
    await asyncio.gather(*(play(writer, match_id) for match_id in ids))

asyncio.run(main(sys.argv[1], sys.argv[2:]))
"""


async def test_every_acknowledged_row_survives_a_kill(lasting_url: str, world_at: Any) -> None:
    async with world_at(lasting_url) as world:
        ids = await start(world.store, world, 5)
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", KILLED, lasting_url, *ids, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    told: dict[str, int] = {}
    for _ in range(200):
        name, index = (await process.stdout.readline()).split()
        told[name.decode()] = int(index)
    os.kill(process.pid, signal.SIGKILL)
    for line in (await process.stdout.read()).splitlines(keepends=True):
        if line.endswith(b"\n"):
            name, index = line.split()
            told[name.decode()] = int(index)
    assert await process.wait() == -signal.SIGKILL
    async with await Store.open(lasting_url) as store:
        stored = {
            row.header.id: row.events for row in await store.read(match_reads.running_matches)
        }
    assert set(told) == set(ids)
    for match_id, last in told.items():
        indices = [row.index for row in stored[match_id]]
        assert indices == list(range(len(indices)))
        assert len(indices) > last
