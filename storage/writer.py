"""Group commit: everyone who waits to store something shares the next transaction.

While one transaction commits, the operations submitted meanwhile gather; they make up the next
one. With one match playing that is a transaction per action, with a hundred it is one for all
of them, and the cost of making it durable is shared.

There is no task and no future: the store calls back once for every transaction, and the writer
calls back those who waited for it.

When the answer to COMMIT is lost, a transaction is in doubt: it was stored, or it was not.  It is
tried once more at once, and where that cannot be, its operations are remembered, as those who
waited for them will submit them again.  If they are in the database by then they are told that
they are stored, and not that somebody else was first.
Every operation of a match can be recognised by what it leaves behind, and a transaction is stored
all or none, so a look into the database settles it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from sqlalchemy import Connection, select

from plyhouse.storage.errors import (
    AlreadyExists,
    InDoubt,
    InvalidValue,
    StorageError,
    StoreClosed,
    Unknown,
    WriterFull,
)
from plyhouse.storage.models import events, matches, pairings
from plyhouse.storage.rows import (
    EventRow,
    FinishMatch,
    FinishPairing,
    NewMatch,
    NewPairing,
    Op,
    StartMatch,
)
from plyhouse.storage.store import Store

log = logging.getLogger("plyhouse.storage.writer")

BOUNDS_NS: Final = tuple(125_000 << power for power in range(17))
"""Upper bounds of the classes: 0.125 ms, doubled up to 8.2 s; what takes longer is in one more."""


class Latency:
    """Counts durations; adding one costs a search among seventeen numbers."""

    __slots__ = ("counts", "total_ns")

    def __init__(self) -> None:
        self.counts = [0] * (len(BOUNDS_NS) + 1)
        """How many durations were in each class; the last has those beyond all bounds."""
        self.total_ns = 0
        """Sum of all durations."""

    def add(self, duration_ns: int) -> None:
        """Count one duration."""
        self.counts[bisect_left(BOUNDS_NS, duration_ns)] += 1
        self.total_ns += duration_ns


def all_stored(connection: Connection, ops: Sequence[Op]) -> bool:
    """Return whether each of these operations has left in the database what it should."""
    return all(_stored(connection, op) for op in ops)


def _stored(connection: Connection, op: Op) -> bool:
    match op:
        case EventRow():
            query = select(events.c.kind, events.c.ply, events.c.seat, events.c.text).where(
                events.c.match_id == op.match_id, events.c.idx == op.index
            )
            wanted: tuple[object, ...] = (op.kind, op.ply, op.seat, op.text)
        case NewPairing():
            query = select(pairings.c.seed).where(pairings.c.id == op.pairing.id)
            wanted = (op.pairing.seed,)
        case NewMatch():
            query = select(matches.c.pairing_id).where(matches.c.id == op.match.id)
            wanted = (op.match.pairing_id,)
        case StartMatch():
            query = select(matches.c.started_ms).where(matches.c.id == op.match_id)
            wanted = (op.started_ms,)
        case FinishMatch():
            query = select(
                matches.c.finished_ms, matches.c.termination, matches.c.culprit, matches.c.ply
            ).where(matches.c.id == op.match_id)
            wanted = (op.finished_ms, op.termination, op.culprit, op.ply)
        case FinishPairing():
            query = select(pairings.c.finished_ms).where(pairings.c.id == op.pairing_id)
            wanted = (op.finished_ms,)
    found = connection.execute(query).first()
    return found is not None and tuple(found) == wanted


_Done: TypeAlias = Callable[[StorageError | None], None]
_Waiting: TypeAlias = tuple[Sequence[Op], _Done]

_WRONG = (AlreadyExists, InvalidValue, Unknown, ValueError)
"""Errors of the operations themselves, which say nothing about others of the transaction."""


class Writer:
    """Stores operations for many matches at once, in the order they were submitted.

    At most ``max_pending`` operations wait at any time and at most ``max_batch`` go into one
    transaction.
    """

    def __init__(self, store: Store, *, max_pending: int = 50_000, max_batch: int = 2_000) -> None:
        self._store = store
        self._max_pending = max_pending
        self._max_batch = max_batch
        self._waiting: list[_Waiting] = []
        self._suspects: list[_Waiting] = []
        """Those of a transaction with a wrong submission, the last first: each is stored alone."""
        self._batch: list[_Waiting] = []
        """Those whose transaction is under way."""
        self._again = False
        """True if that transaction was in doubt and is tried a second time."""
        self._doubtful: set[Op] = set()
        """Operations that may be stored already."""
        self._reading: asyncio.Task[None] | None = None
        self._pending = 0
        self._busy = False
        """True if a transaction is under way, or about to begin."""
        self._sent_ns = 0
        """When that transaction was handed to the store."""
        self.latency = Latency()
        """How long transactions took, from handing them over to hearing that they are durable."""
        self.trouble: StorageError | None = None
        """Why the database could not take the last transaction; None if it could."""
        self._flushing: list[asyncio.Future[None]] = []
        self._closed = False

    @property
    def pending(self) -> int:
        """How many operations are not yet durable."""
        return self._pending

    def submit_then(self, rows: Sequence[Op], done: _Done) -> None:
        """Queue operations that belong together; call ``done`` with None when they are durable.

        They are stored all or none. If that fails, ``done`` gets a `StorageError`: `AlreadyExists`,
        `InvalidValue` or `Unknown` mean that these operations are wrong and others were stored;
        anything else means that the database cannot store now. `WriterFull` and `StoreClosed`
        mean that they were not even tried.

        ``done`` is called in the order of submission, perhaps at once; it should not raise.
        """
        if self._closed:
            place = self._store.place
            done(StoreClosed(f"the writer of {place} was closed; nothing was stored"))
        elif self._pending + len(rows) > self._max_pending:
            done(
                WriterFull(
                    f"{self._pending} operations wait for {self._store.place}, which is too slow; "
                    "try again later"
                )
            )
        elif not rows:
            done(None)
        else:
            self._waiting.append((rows, done))
            self._pending += len(rows)
            if not self._busy:
                self._busy = True
                # Other submissions of this turn of the loop join the transaction.
                asyncio.get_running_loop().call_soon(self._begin)

    async def flush(self) -> None:
        """Wait until nothing is waiting any more."""
        if self._busy:
            future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._flushing.append(future)
            await future

    async def close(self) -> None:
        """Store what is waiting and accept nothing more."""
        self._closed = True
        await self.flush()

    def _begin(self) -> None:
        """Begin the next transaction, or rest."""
        if self._suspects:
            batch = [self._suspects.pop()]
        elif self._waiting:
            batch = self._take()
        else:
            self._busy = False
            waiting, self._flushing = self._flushing, []
            for future in waiting:
                if not future.done():
                    future.set_result(None)
            return
        self._batch = batch
        self._sent_ns = time.monotonic_ns()
        self._store.apply_soon([op for rows, _ in batch for op in rows], self._committed)

    def _take(self) -> list[_Waiting]:
        """Take from the front as many submissions as fit into a transaction, at least one."""
        waiting = self._waiting
        if self._pending <= self._max_batch:
            self._waiting = []
            return waiting
        count = 0
        end = 0
        for rows, _ in waiting:
            count += len(rows)
            if end and count > self._max_batch:
                break
            end += 1
        batch = waiting[:end]
        del waiting[:end]
        return batch

    def _committed(self, error: BaseException | None) -> None:
        """Tell everyone who waited for a transaction how it went, and begin the next one."""
        batch, self._batch = self._batch, []
        again, self._again = self._again, False
        if error is None:
            self.latency.add(time.monotonic_ns() - self._sent_ns)
            self.trouble = None
        elif not isinstance(error, _WRONG):
            self.trouble = _failure(error)
        if isinstance(error, InDoubt):
            self._doubtful.update(op for rows, _ in batch for op in rows)
            if not again:
                self._again, self._batch = True, batch
                self._store.apply_soon([op for rows, _ in batch for op in rows], self._committed)
                return
        elif isinstance(error, AlreadyExists) and any(map(self._is_doubtful, batch)):
            loop = asyncio.get_running_loop()
            self._reading = loop.create_task(self._read_back(batch, error))
            return
        elif error is None and self._doubtful:
            self._doubtful.difference_update(op for rows, _ in batch for op in rows)
        if isinstance(error, _WRONG) and len(batch) > 1:
            # One submission is wrong: find it by storing each on its own.
            self._suspects = batch[::-1]
        else:
            self._tell(batch, None if error is None else _failure(error))
        self._begin_soon()

    def _is_doubtful(self, waiting: _Waiting) -> bool:
        return not self._doubtful.isdisjoint(waiting[0])

    async def _read_back(self, batch: list[_Waiting], error: AlreadyExists) -> None:
        """Something of a transaction is stored already: find out what was in doubt and is."""
        try:
            stored = [
                self._is_doubtful(waiting) and await self._store.read(all_stored, waiting[0])
                for waiting in batch
            ]
        except Exception as failure:  # report every error to the waiting caller
            self._tell(batch, _failure(failure))
            self._begin_soon()
            return
        rest = [waiting for waiting, there in zip(batch, stored, strict=True) if not there]
        settled = rest if len(batch) == 1 else []
        self._suspects = [] if settled else rest[::-1]
        self._tell([waiting for waiting, there in zip(batch, stored, strict=True) if there], None)
        self._tell(settled, error)
        for waiting, there in zip(batch, stored, strict=True):
            if there or settled:
                self._doubtful.difference_update(waiting[0])
        self._begin_soon()

    def _tell(self, batch: Sequence[_Waiting], failure: StorageError | None) -> None:
        for rows, done in batch:
            self._pending -= len(rows)
            try:
                done(failure)
            except Exception:
                log.exception("who waited for a transaction failed when told of it")

    def _begin_soon(self) -> None:
        # Two turns of the loop: sockets are looked at in between, and what they bring goes
        # along.  Under load that makes twice as many rows a transaction.
        loop = asyncio.get_running_loop()
        loop.call_soon(loop.call_soon, self._begin)


def _failure(error: BaseException) -> StorageError:
    """The outcome for the waiting callers: they must get every kind of error."""
    if isinstance(error, StorageError):
        return error
    failure = StorageError(f"storing failed by a fault in Plyhouse: {error!r}")
    failure.__cause__ = error
    return failure
