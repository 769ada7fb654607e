"""Group commit: everyone who waits to store something shares the next transaction.

While one transaction commits, the operations submitted meanwhile gather; they make up the next
one. With one match playing that is a transaction per action, with a hundred it is one for all
of them, and the cost of making it durable is shared.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence

from plyhouse.storage.errors import (
    AlreadyExists,
    InvalidValue,
    StorageError,
    StoreClosed,
    Unknown,
    WriterFull,
)
from plyhouse.storage.rows import Op
from plyhouse.storage.store import Store

__all__ = ["Writer"]

_Done = Callable[[StorageError | None], None]
_Waiting = tuple[Sequence[Op], _Done]


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
        self._pending = 0
        self._task: asyncio.Task[None] | None = None
        self._closed = False

    @property
    def pending(self) -> int:
        """How many operations are not yet durable."""
        return self._pending

    def submit(self, ops: Iterable[Op]) -> asyncio.Future[None]:
        """Queue operations that belong together; the future is done when they are durable.

        They are stored all or none. If that fails the future raises a `StorageError`:
        `AlreadyExists`, `InvalidValue` or `Unknown` mean that these operations are wrong and
        others were stored; anything else means that the database cannot store now. `WriterFull` and
        `StoreClosed` mean that they were not even tried. Cancelling the future does not take
        them back.
        """
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def done(error: StorageError | None) -> None:
            if future.done():  # cancelled
                return
            if error is None:
                future.set_result(None)
            else:
                future.set_exception(error)

        self.submit_then(list(ops), done)
        return future

    def submit_then(self, rows: Sequence[Op], done: _Done) -> None:
        """Like `submit`, but with a callback, which is told the error or None.

        It costs less than a future, and is called in the order of submission. It may be called
        at once; it must not raise.
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
            if self._task is None:
                self._task = asyncio.create_task(self._run(), name="plyhouse-writer")

    async def flush(self) -> None:
        """Wait until nothing is waiting any more."""
        while self._task is not None:
            await asyncio.shield(self._task)

    async def close(self) -> None:
        """Store what is waiting and accept nothing more."""
        self._closed = True
        await self.flush()

    async def _run(self) -> None:
        try:
            while self._waiting:
                batch = self._take()
                count = sum(len(rows) for rows, _ in batch)
                try:
                    await self._commit(batch)
                finally:
                    self._pending -= count
        finally:
            self._task = None

    def _take(self) -> list[_Waiting]:
        """Take from the front as many submissions as fit into a transaction, at least one."""
        count = 0
        end = 0
        for rows, _ in self._waiting:
            count += len(rows)
            if end and count > self._max_batch:
                break
            end += 1
        batch = self._waiting[:end]
        del self._waiting[:end]
        return batch

    async def _commit(self, batch: list[_Waiting]) -> None:
        try:
            await self._store.apply([op for rows, _ in batch for op in rows])
        except (AlreadyExists, InvalidValue, Unknown, ValueError) as error:
            if len(batch) == 1:
                _settle(batch, error)
                return
            # One submission is wrong: find it by storing each on its own.
            for single in batch:
                await self._commit([single])
        except Exception as error:  # whatever it is, those who wait must hear of it
            _settle(batch, error)
        except BaseException:
            _settle(batch, StoreClosed("the writer was stopped; whether it was stored is unknown"))
            raise
        else:
            _settle(batch, None)


def _settle(batch: list[_Waiting], error: Exception | None) -> None:
    """Tell everyone who waited for a batch how it went."""
    failure: StorageError | None = None
    if isinstance(error, StorageError):
        failure = error
    elif error is not None:
        failure = StorageError(f"storing failed by a fault in Plyhouse: {error!r}")
        failure.__cause__ = error
    for _, done in batch:
        done(failure)
