"""The connection that writes to a SQLite database, in a thread of its own.

Writers of this process queue up there, instead of competing for SQLite's lock.
"""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import threading
import time
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, Final, TypeAlias, TypeVar
from urllib.parse import quote

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from plyhouse.storage import engines
from plyhouse.storage.driver_errors import translate
from plyhouse.storage.engines import Checkpoints
from plyhouse.storage.errors import DatabaseLocked
from plyhouse.storage.statements import Link
from plyhouse.storage.urls import Target

T = TypeVar("T")

_Job: TypeAlias = tuple[Callable[..., None], tuple[Any, ...]]
LOCK_PAUSE_S: Final = 0.005


def again_if_locked(
    patience_ms: int, transact: Callable[[Callable[[Any], T]], T], work: Callable[[Any], T]
) -> T:
    """Run a transaction, again while the database is locked, up to a time in milliseconds.

    SQLite waits for locks itself, except in a few cases (recovery of the log, switching to WAL) in
    which it gives up at once.
    """
    deadline = time.monotonic() + patience_ms / 1000
    while True:
        try:
            return transact(work)
        except (DBAPIError, sqlite3.Error) as error:
            locked = isinstance(translate(error, ""), DatabaseLocked)
            if not locked or time.monotonic() >= deadline:
                raise
            time.sleep(LOCK_PAUSE_S)


class Worker:
    """A thread for calls that would block the event loop; runs them in order from the first on."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._begun = False

    def post(self, job: Callable[..., None], *arguments: Any) -> None:
        """Have the thread call a function, which must not raise.

        This costs a queue: the job itself tells the event loop when it is done, if it has to.
        """
        if not self._begun:
            self._begun = True
            threading.Thread(target=self._run, name=self._name, daemon=True).start()
        self._jobs.put((job, arguments))

    def call(self, function: Callable[..., T], *arguments: Any) -> asyncio.Future[T]:
        """Have the thread call a function; the future has what it returns or raises.

        Cancelling the future takes the call back if the thread has not come to it yet.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self.post(_call, loop, future, function, arguments)
        return future

    def stop(self) -> None:
        """Let the thread end after the calls made so far."""
        self._jobs.put(None)

    def _run(self) -> None:
        while (waiting := self._jobs.get()) is not None:
            job, arguments = waiting
            job(*arguments)
            del waiting, job, arguments  # while it waits


def _call(
    loop: asyncio.AbstractEventLoop,
    future: asyncio.Future[T],
    function: Callable[..., T],
    arguments: tuple[Any, ...],
) -> None:
    if future.cancelled():
        return
    result, failure = None, None
    try:
        result = function(*arguments)
    except BaseException as error:  # the waiting caller receives the error
        failure = error
    with contextlib.suppress(RuntimeError):  # the loop was closed meanwhile
        loop.call_soon_threadsafe(_settle, future, result, failure)


def _settle(future: asyncio.Future[Any], result: Any, failure: BaseException | None) -> None:
    if future.cancelled():
        return
    if failure is None:
        future.set_result(result)
    else:
        future.set_exception(failure)


class SqliteWriter:
    """The coroutines hand work over to the thread; what begins with ``_`` runs in it."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self.engine = engines.writing_engine(target)
        self._worker = Worker("plyhouse-storage")
        self._checkpoints: Checkpoints | None = None
        self._kept: Connection | None = None
        self._kept_driver: sqlite3.Connection | None = None

    async def write(self, work: Callable[[Connection], T]) -> T:
        """Run ``work`` in a transaction."""
        return await self._call(self._transact, work)

    async def rebuild(self, work: Callable[[Connection], T]) -> T:
        """Run ``work`` in a transaction without checks of foreign keys.

        To make a table again is to drop it first, which SQLite refuses while rows refer to it.
        """
        return await self._call(self._rebuild, work)

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Run ``work`` in a transaction that may not write, for a database in memory."""
        return await self._call(self._read, work)

    def post(
        self,
        work: Callable[[Link], None],
        done: Callable[[BaseException | None], None],
        *,
        one_statement: bool,
    ) -> None:
        """Run ``work`` in a transaction, without SQLAlchemy's part.

        ``one_statement`` says that it runs just one, which is its own transaction.  The thread
        calls ``done`` with None or the error.
        """
        self._worker.post(self._job, self._execute if one_statement else self._commit, work, done)

    async def drop_log(self) -> None:
        """Empty SQLite's log; while somebody reads, the log is left for the next time."""
        await self._worker.call(self._drop_log)

    async def close(self) -> None:
        """Finish the work that was handed over, and close the connection."""
        await self._worker.call(self._close)
        self._worker.stop()

    async def _call(
        self, transact: Callable[[Callable[[Connection], T]], T], work: Callable[[Connection], T]
    ) -> T:
        patience = self._target.busy_timeout_ms
        return await self._worker.call(again_if_locked, patience, transact, work)

    def _transact(self, work: Callable[[Connection], T]) -> T:
        connection = self._connection()
        with connection.begin():
            return work(connection)

    def _rebuild(self, work: Callable[[Connection], T]) -> T:
        driver = self._driver()
        driver.execute("PRAGMA foreign_keys = OFF")  # has no effect within a transaction
        try:
            return self._transact(work)
        finally:
            driver.execute("PRAGMA foreign_keys = ON")

    def _read(self, work: Callable[[Connection], T]) -> T:
        return self._transact(lambda connection: self._without_writing(connection, work))

    def _without_writing(self, connection: Connection, work: Callable[[Connection], T]) -> T:
        driver = self._driver()  # SQLAlchemy's part would cost more than the statement
        driver.execute("PRAGMA query_only = ON")
        try:
            return work(connection)
        finally:
            driver.execute("PRAGMA query_only = OFF")

    def _job(
        self,
        transact: Callable[[Callable[[Link], None]], None],
        work: Callable[[Link], None],
        done: Callable[[BaseException | None], None],
    ) -> None:
        failure: BaseException | None = None
        try:
            again_if_locked(self._target.busy_timeout_ms, transact, work)
        except BaseException as error:  # report every error to the waiting caller
            failure = error
        done(failure)

    def _execute(self, work: Callable[[Link], None]) -> None:
        work(self._driver())
        if self._checkpoints is not None:
            self._checkpoints.written()

    def _commit(self, work: Callable[[Link], None]) -> None:
        driver = self._driver()
        driver.execute("BEGIN IMMEDIATE")
        try:
            work(driver)
            driver.execute("COMMIT")
            if self._checkpoints is not None:
                self._checkpoints.written()
        except BaseException:
            if driver.in_transaction:
                driver.execute("ROLLBACK")
            raise

    def _drop_log(self) -> None:
        with contextlib.suppress(sqlite3.Error):
            self._driver().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def _connection(self) -> Connection:
        """Return the connection, which the thread makes at its first use."""
        if self._kept is None:
            self._kept = self.engine.connect()
        return self._kept

    def _driver(self) -> sqlite3.Connection:
        """Return the driver's side of the connection."""
        if self._kept_driver is None:
            driver = self._connection().connection.driver_connection
            assert isinstance(driver, sqlite3.Connection)  # noqa: S101 (for the type checker)
            self._kept_driver = driver
            if self._target.path is not None:
                self._checkpoints = Checkpoints(self._checkpoint_connection)
        return self._kept_driver

    def _checkpoint_connection(self) -> sqlite3.Connection:
        name = "file:" + quote(str(self._target.path)) + "?mode=rw"
        return sqlite3.connect(name, uri=True, isolation_level=None)

    def _close(self) -> None:
        if self._checkpoints is not None:
            self._checkpoints.stop()
        if self._kept is not None:
            self._kept.close()
        self.engine.dispose()
