"""Batches of messages between servers, in databases of each kind."""

from __future__ import annotations

from plyhouse.storage import members
from plyhouse.storage.store import Store


async def test_batches_wait_for_their_receiver_in_order(ready_url: str) -> None:
    async with await Store.open(ready_url) as store:
        await store.write(members.add, 1, [(2, b"one"), (3, b"other"), (2, b"\0two")], 5)
        rows = await store.read(members.waiting, 2)
        assert [data for _, data in rows] == [b"one", b"\0two"]
        await store.write(members.forget, [rows[0][0]])
        assert await store.read(members.waiting, 2) == rows[1:]
        assert [data for _, data in await store.read(members.waiting, 3)] == [b"other"]


async def test_reading_is_limited(ready_url: str) -> None:
    async with await Store.open(ready_url) as store:
        many = [(2, bytes([number])) for number in range(members.AT_ONCE + 1)]
        await store.write(members.add, 1, many, 5)
        rows = await store.read(members.waiting, 2)
        assert [data for _, data in rows] == [data for _, data in many[:-1]]


async def test_batches_that_nobody_reads_are_forgotten(ready_url: str) -> None:
    async with await Store.open(ready_url) as store:
        await store.write(members.add, 1, [(2, b"old")], 5)
        await store.write(members.add, 1, [(2, b"new")], 6)
        await store.write(members.forget_older, 6)
        assert [data for _, data in await store.read(members.waiting, 2)] == [b"new"]
