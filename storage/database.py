"""One database behind two ways of speaking to it: transactions as plain functions.

All SQL of this package is written as ordinary functions of a SQLAlchemy `Connection`; this
module runs them inside a transaction, on the right connection, off the event loop:

- SQLite file: writes go through one connection in a separate thread.  So a whole transaction costs
  the event loop one hop to that thread, and writers of this process queue up instead of competing
  for SQLite's lock. Reads have a few threads with a connection each; in WAL mode they never wait
  for the writer.
- SQLite in memory: that thread's one connection for reads too, as nobody else can see it.
- PostgreSQL: a pool of asyncpg connections.  A server with a lease stores its matches on one more
  (`plyhouse.storage.postgres_writer`).

Functions may be run again after their transaction was rolled back, so they must have no other
effect than on the database.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import sqlite3
import threading
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.engine import Dialect
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from plyhouse.storage import engines, schema
from plyhouse.storage.claim import FileClaim, Lease
from plyhouse.storage.driver_errors import is_undone, translate
from plyhouse.storage.errors import (
    BadUrl,
    CannotOpen,
    ClaimLost,
    DatabaseReadOnly,
    InDoubt,
    StorageError,
    StoreClosed,
)
from plyhouse.storage.postgres_writer import PostgresWriter
from plyhouse.storage.rows import EventRow
from plyhouse.storage.sqlite_writer import LOCK_PAUSE_S, SqliteWriter, again_if_locked
from plyhouse.storage.statements import ROWS_AT_ONCE, Link
from plyhouse.storage.urls import Target, not_permitted, parse_url

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncEngine

log = logging.getLogger("plyhouse.storage.database")

T = TypeVar("T")

_RETRIABLE_STATES = frozenset({"40001", "40P01"})  # serialization failure, deadlock
_ATTEMPTS = 3
_STOPPED = "the writer was stopped; whether it was stored is unknown"
_READERS = 5
"""Threads that read from a SQLite file."""

_migrating = threading.Lock()  # Alembic keeps its context in module globals


class Database:
    """An open database; made by `Database.open`."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self._errors: tuple[type[BaseException], ...] = (
            SQLAlchemyError,
            sqlite3.Error,
            OSError,
            ImportError,
            UnicodeError,  # this and the next come from values that no column can take
            OverflowError,
        )
        self._closed = False
        self._claim: FileClaim | Lease | None = None
        self.lease: Lease | None = None
        """The claim, if it is a lease."""
        self._fence: Callable[[Connection], None] | None = None
        """Begins each transaction that writes, once the claim is a lease."""
        self.epoch = 0
        """The epoch of that lease; 0 without one."""
        self._leased: PostgresWriter | None = None
        """Stores matches with that lease."""
        self._writer: SqliteWriter | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._under_way: set[asyncio.Future[None]] = set()
        """One for each transaction on PostgreSQL, done when its connection is given back."""
        self._read_engine: Engine | None = None
        self._readers: ThreadPoolExecutor | None = None
        self._engine: AsyncEngine | None = None
        self._snapshots: AsyncEngine | None = None
        if target.kind == "postgresql":
            self._engine = engines.server_engine(target)
            self._errors += engines.server_errors()
            self._snapshots = self._engine.execution_options(
                isolation_level="REPEATABLE READ", postgresql_readonly=True
            )
            return
        if not target.read_only:
            self._writer = SqliteWriter(target)
        if target.path is not None:
            self._read_engine = engines.reading_engine(target, _READERS)
            self._readers = ThreadPoolExecutor(_READERS, "plyhouse-reader")

    @classmethod
    async def open(cls, url: str, *, migrate: bool = True, create: bool = True) -> Database:
        """Connect, and bring the schema up to date (or, without ``migrate``, only check it).

        Without ``create`` a file has to be there already: who only looks into a database does not
        want an empty one for a misspelt name.
        Raises a `StorageError` that says why the database cannot be used.
        """
        target = parse_url(url)
        if not create and target.path is not None and not target.path.exists():
            raise CannotOpen(
                f"there is no database {target.path} yet; correct --database, or make it with "
                "plyhouse serve or plyhouse admin player add"
            )
        try:
            database = cls(target)
        except ImportError as error:
            raise translate(error, target.place) from error
        try:
            if migrate and not target.read_only:
                await database._prepare_schema()
            else:
                await database.read(lambda c: schema.check(c, target.place))
        except BaseException:
            await database.close()
            raise
        return database

    @property
    def dialect(self) -> Dialect:
        """The SQL dialect that statements for this database are compiled for."""
        engine = self._engine or (self._writer and self._writer.engine) or self._read_engine
        assert engine is not None  # noqa: S101 (for the type checker)
        return engine.dialect

    async def close(self) -> None:
        """Close every connection; work that is under way is finished first.

        On PostgreSQL that may take `engines.SILENT_S` seconds; what takes longer is not waited for.
        """
        if self._closed:
            return
        self._closed = True
        if self._tasks:
            await asyncio.wait(self._tasks)
        if self._leased is not None:
            await self._leased.close()
        if self._writer is not None:
            await self._writer.close()
        if self._claim is not None:
            await self._claim.release()
        if self._readers is not None and self._read_engine is not None:
            await asyncio.to_thread(self._readers.shutdown)
            self._read_engine.dispose()
        if self._engine is not None:
            if self._under_way:  # a connection given back after this would stay open
                await asyncio.wait(self._under_way, timeout=engines.SILENT_S)
            await self._engine.dispose()

    async def claim(self, *, shared: bool = False, address: str = "", version: str = "") -> None:
        """Be the one server of this database until it is closed, or with ``shared`` a member.

        See `plyhouse.storage.claim`.  Raises `ServedAlready` if a server excludes this one.
        """
        self._check_open()
        target = self.target
        if shared and self._engine is None:
            raise BadUrl(
                f"{target.place} is SQLite, and a cluster needs PostgreSQL; give --database a "
                "PostgreSQL URL"
            )
        try:
            if target.path is not None:
                self._claim = FileClaim.take(target.path, target.place)
            elif self._engine is not None:
                lease = await Lease.take(
                    self._engine, target.place, self._errors, shared, address, version
                )
                self._claim = self.lease = lease
                self._fence, self.epoch = lease.fence, lease.epoch
                self._leased = PostgresWriter(self._engine, lease)
        except self._errors as error:
            raise self._explain(error) from error

    async def claim_lost(self) -> ClaimLost:
        """Wait until this is not the one server of the database any more; return why.

        Never returns where there is no claim.
        """
        if self._claim is None:
            await asyncio.Event().wait()
            raise AssertionError("nobody sets that event")
        return await self._claim.lost()

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Run ``work`` in a transaction that sees one consistent state of the database.

        Raises `DatabaseReadOnly` if ``work`` writes.
        """
        self._check_open()
        try:
            if self._snapshots is not None:
                return await self._transact(self._snapshots, work)
            if self._writer is not None and self._readers is None:
                return await self._writer.read(work)
            return await asyncio.get_running_loop().run_in_executor(
                self._readers,
                again_if_locked,
                *(self.target.busy_timeout_ms, self._transact_reading, work),
            )
        except self._errors as error:
            raise self._explain(error) from error

    async def write(self, work: Callable[[Connection], T]) -> T:
        """Run ``work`` in a transaction and return once it is durable."""
        self._check_open()
        if self.target.read_only:
            raise DatabaseReadOnly(
                f"{self.target.place} was opened with mode=ro; open it without that to write"
            )
        try:
            if self._engine is not None:
                return await self._transact(self._engine, work, writing=True)
            if self._writer is None:
                raise StoreClosed(f"{self.target.place} has no writer; open it without mode=ro")
            return await self._writer.write(work)
        except self._errors as error:
            raise self._explain(error) from error

    def write_behind(self, work: Callable[[Connection], object]) -> None:
        """Run ``work`` in a transaction for which nobody waits; the log says if it fails."""
        self._check_open()
        self._spawn(self._write_behind(work))

    async def _write_behind(self, work: Callable[[Connection], object]) -> None:
        try:
            await self.write(work)
        except StoreClosed:
            pass
        except StorageError as error:
            log.warning("inessential write failed", extra={"why": str(error)})

    async def drop_log(self) -> None:
        """Empty SQLite's log, which holds pages as they were before the last changes.

        Does nothing with PostgreSQL.  While somebody reads, the log is left for the next time.
        """
        if self._writer is not None and self.target.path is not None:
            await self._writer.drop_log()

    def write_soon(
        self, work: Callable[[Link], None], done: Callable[[BaseException | None], None]
    ) -> None:
        """Begin a transaction; ``done`` is called by the event loop when it is durable.

        It gets None, or the error.  ``work`` runs nothing but
        `plyhouse.storage.statements.Prepared`, on the driver's connection where there is one, as
        what SQLAlchemy does for every transaction and statement would cost as much as they do.
        """
        if self._leased is not None and not self._closed:
            self._spawn(self._try(self._leased, self._leased.write(work), work, done))
        else:
            self._begin(work, done)

    def add_events_soon(
        self,
        add: Callable[[Link, Sequence[EventRow]], None],
        rows: Sequence[EventRow],
        done: Callable[[BaseException | None], None],
    ) -> None:
        """Like `write_soon`, for events, which ``add`` stores; at less cost.

        On SQLite up to `ROWS_AT_ONCE` are one statement, which is its own transaction.
        """

        def work(link: Link) -> None:
            add(link, rows)

        if self._leased is not None and not self._closed:
            self._spawn(self._try(self._leased, self._leased.insert(rows), work, done))
        else:
            self._begin(work, done, one_statement=len(rows) <= ROWS_AT_ONCE)

    def _begin(
        self,
        work: Callable[[Link], None],
        done: Callable[[BaseException | None], None],
        *,
        one_statement: bool = False,
    ) -> None:
        if self._writer is None or self._closed or self.target.read_only:
            self._spawn(self._write_for(work, done))
            return
        loop = asyncio.get_running_loop()

        def written(error: BaseException | None) -> None:
            """Run in the writer's thread."""
            if error is not None:
                error = self._explained(error)
            with contextlib.suppress(RuntimeError):  # the loop was closed meanwhile
                loop.call_soon_threadsafe(done, error)

        self._writer.post(work, written, one_statement=one_statement)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine for which only `close` waits."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _try(
        self,
        leased: PostgresWriter,
        storing: Coroutine[Any, Any, None],
        work: Callable[[Link], None],
        done: Callable[[BaseException | None], None],
    ) -> None:
        """Await ``storing`` of the writer; where it stored nothing, try ``work`` by SQLAlchemy."""
        failure: BaseException | None = None
        try:
            await storing
        except Exception as error:  # report every error to the waiting caller
            if leased.doubtful:
                failure = self._in_doubt(error)
            elif isinstance(error, self._errors) and (leased.lost or _may_succeed_otherwise(error)):
                await self._write_for(work, done)
                return
            else:
                failure = self._explained(error)
        except BaseException:
            done(StoreClosed(_STOPPED))
            raise
        done(failure)

    async def _write_for(
        self, work: Callable[[Link], None], done: Callable[[BaseException | None], None]
    ) -> None:
        try:
            await self.write(work)
        except Exception as error:  # report every error to the waiting caller
            done(error)
        except BaseException:
            done(StoreClosed(_STOPPED))
            raise
        else:
            done(None)

    def _explained(self, error: BaseException) -> BaseException:
        """Return the `StorageError` for a database's error, and any other error as it is."""
        if not isinstance(error, self._errors):
            return error
        failure = self._explain(error)
        failure.__cause__ = error
        return failure

    def explain(self, error: BaseException) -> StorageError | None:
        """Translate an error of an engine; None if it is none of the database's."""
        if isinstance(error, StorageError):
            return error
        return self._explain(error) if isinstance(error, self._errors) else None

    async def _prepare_schema(self) -> None:
        while not _migrating.acquire(blocking=False):  # noqa: ASYNC110  (may be another loop's)
            await asyncio.sleep(LOCK_PAUSE_S)
        try:
            if self._writer is None:
                await self.write(self._upgrade)
            else:
                await self._writer.rebuild(self._upgrade)
        except self._errors as error:
            raise self._explain(error) from error
        finally:
            _migrating.release()

    def _upgrade(self, connection: Connection) -> None:
        schema.upgrade(connection, self.target.place)

    # running transactions

    def _check_open(self) -> None:
        if self._closed:
            raise StoreClosed(f"{self.target.place} was closed; open it again to use it")

    def _transact_reading(self, work: Callable[[Connection], T]) -> T:
        """Run in a thread that reads from a file."""
        if self._read_engine is None:
            raise StoreClosed(f"{self.target.place} has no readers")
        with self._read_engine.connect() as connection, connection.begin():
            return work(connection)

    async def _transact(
        self, engine: AsyncEngine, work: Callable[[Connection], T], *, writing: bool = False
    ) -> T:
        """Run on a connection of the pool.

        Again when the connection was lost and nothing can have been stored, and when the server
        chose this transaction to break a tie.  `InDoubt` when the connection was lost after COMMIT
        was sent and the transaction writes.
        """
        over = asyncio.get_running_loop().create_future()
        self._under_way.add(over)
        try:
            return await self._attempt(engine, work, writing=writing)
        finally:
            self._under_way.discard(over)
            over.set_result(None)

    async def _attempt(
        self, engine: AsyncEngine, work: Callable[[Connection], T], *, writing: bool
    ) -> T:
        for attempt in range(1, _ATTEMPTS + 1):
            committing = False
            try:
                async with engine.connect() as connection:
                    transaction = await connection.begin()
                    if writing and self._fence is not None:
                        await connection.run_sync(self._fence)
                    result = await connection.run_sync(work)
                    committing = True
                    await transaction.commit()
                    return result
            except DBAPIError as error:
                state = getattr(error.orig, "sqlstate", None)
                sent = committing and not is_undone(error)
                if error.connection_invalidated and sent and writing:
                    raise self._in_doubt(error) from error
                again = state in _RETRIABLE_STATES or error.connection_invalidated
                if not again or attempt == _ATTEMPTS:
                    raise
            except OSError as error:  # SQLAlchemy lets those of the socket through
                if committing and writing:
                    raise self._in_doubt(error) from error
                raise
        raise AssertionError("the last attempt returned or raised")

    def _in_doubt(self, error: BaseException) -> InDoubt:
        return InDoubt(
            f"{self.target.place} went away before it answered to COMMIT "
            f"({str(error).splitlines()[0]}); look whether the change was stored"
        )

    def _explain(self, error: BaseException) -> StorageError:
        """Translate a driver's error, with what the file system says about it."""
        found = translate(error, self.target.place)
        path = self.target.path
        if isinstance(found, CannotOpen) and path is not None:
            folder = path.absolute().parent
            if not os.access(folder, os.W_OK):
                return DatabaseReadOnly(
                    f"{self.target.place} cannot be opened: {not_permitted(folder)}"
                )
        return found


def _may_succeed_otherwise(error: BaseException) -> bool:
    """Return whether PostgreSQL may store at a second attempt what it refused."""
    state = getattr(error, "sqlstate", None)
    return state is None or state in _RETRIABLE_STATES
