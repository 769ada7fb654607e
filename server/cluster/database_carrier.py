"""Batches through a table of the database, for the time that NATS is away.

Each process looks for its own every half a second, also while NATS is connected, as the NATS
connection of another process may be the one that failed.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import struct
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator
from typing import Final

from plyhouse.server.cluster.carrier import Changed, Receive
from plyhouse.storage import members
from plyhouse.storage.errors import StorageError, StoreClosed
from plyhouse.storage.store import Store

log = logging.getLogger("plyhouse.server.cluster")

POLL_S: Final = 0.5
"""Time between two looks at the table."""
KEPT_MS: Final = 60_000
"""Age of rows that are deleted unread."""
WAITING_BYTES: Final = 16 * 1024 * 1024
"""Bytes that wait for a transaction at most; more is dropped, as batches may be."""
_LENGTH: Final = struct.Struct("!I")


class DatabaseCarrier:
    """Carries batches through the table ``cluster_batches`` of a store.

    ``poll_s`` is the time between two looks at the table.
    """

    name = "the database"
    patience_ns = 1_500_000_000
    pause_ns = 100_000_000
    connected = True

    def __init__(self, store: Store, *, poll_s: float = POLL_S) -> None:
        self._store = store
        self._poll_s = poll_s
        self._own = 0
        self._receive: Receive | None = None
        self._waiting: defaultdict[int, list[bytes]] = defaultdict(list)
        self._waiting_bytes = 0
        self._more = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._failures = 0
        """Failed transactions in a row."""

    async def start(self, own: int, receive: Receive, changed: Changed) -> None:
        """Begin to look for batches of this process."""
        self._own, self._receive = own, receive
        self._tasks = [
            asyncio.create_task(self._writing(), name="batches to the database"),
            asyncio.create_task(self._polling(), name="batches from the database"),
        ]

    def send(self, to: int, batch: bytes) -> None:
        """Store a batch in the next transaction."""
        if self._waiting_bytes + len(batch) > WAITING_BYTES:
            return
        self._waiting[to].append(batch)
        self._waiting_bytes += len(batch)
        self._more.set()

    async def close(self) -> None:
        """Store what waits, and stop."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        with contextlib.suppress(StorageError):
            await self._write()

    async def _writing(self) -> None:
        while True:
            await self._more.wait()
            await self._attempt(self._write)

    async def _write(self) -> None:
        """Store all batches that wait, in one transaction: one row for each receiver."""
        self._more.clear()
        if not self._waiting:
            return
        rows = [(receiver, _joined(batches)) for receiver, batches in self._waiting.items()]
        self._waiting.clear()
        self._waiting_bytes = 0
        await self._store.write(members.add, self._own, rows, self._store.now())

    async def _polling(self) -> None:
        cleaned_ms = self._store.now()
        while True:
            await self._attempt(self._read)
            if self._store.now() - cleaned_ms > KEPT_MS:
                cleaned_ms = self._store.now()
                await self._attempt(self._clean)
            await asyncio.sleep(self._poll_s)

    async def _read(self) -> None:
        full = True
        while full:
            rows = await self._store.read(members.waiting, self._own)
            for _, data in rows:
                for batch in _split(data):
                    if self._receive is not None:
                        self._receive(batch)
            if rows:
                await self._store.write(members.forget, [number for number, _ in rows])
            full = len(rows) == members.AT_ONCE

    async def _clean(self) -> None:
        await self._store.write(members.forget_older, self._store.now() - KEPT_MS)

    async def _attempt(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do work with the database; the log has the first, second, fourth and so on failure."""
        try:
            await work()
        except StoreClosed:
            await asyncio.sleep(self._poll_s)
        except StorageError as error:
            self._failures += 1
            if self._failures & (self._failures - 1) == 0:
                log.warning("messages between servers cannot go through the database: %s", error)
            await asyncio.sleep(self._poll_s)
        else:
            self._failures = 0


def _joined(batches: list[bytes]) -> bytes:
    return b"".join(part for each in batches for part in (_LENGTH.pack(len(each)), each))


def _split(data: bytes) -> Iterator[bytes]:
    begin = 0
    while begin + _LENGTH.size <= len(data):
        (length,) = _LENGTH.unpack_from(data, begin)
        begin += _LENGTH.size
        yield data[begin : begin + length]
        begin += length
