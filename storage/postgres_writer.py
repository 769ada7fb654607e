"""The connection on which a server with a lease stores its matches in PostgreSQL.

Each transaction begins with the fence of `plyhouse.storage.leases`.  SQLAlchemy's part of a
transaction would cost more than the statements do, so they are prepared once on asyncpg's own
connection.  Plies, most of what a server writes, are one statement, which asks for the lease
itself and is its own transaction.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import astuple
from sqlalchemy import Select, bindparam, exists, select
from sqlalchemy.engine import Dialect
from sqlalchemy.util import greenlet_spawn

from plyhouse.storage.claim import Lease, valid_ms
from plyhouse.storage.driver_errors import is_undone
from plyhouse.storage.engines import server_errors
from plyhouse.storage.models import events, leases
from plyhouse.storage.rows import EventRow
from plyhouse.storage.statements import Link, ServerLink, Values, prepare

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

STORING = "store_events"
"""Name of the prepared statement that stores plies and commits them."""


class PostgresWriter:
    """Runs transactions, one after the other, on a connection that it keeps.

    Methods raise `ClaimLost` if the lease has ended, and let errors of SQLAlchemy, the driver and
    sockets through; nothing is stored then, but see `doubtful`.
    """

    def __init__(self, engine: AsyncEngine, lease: Lease) -> None:
        self._engine = engine
        self._insert = _fenced_insert(engine.dialect)
        self._fence = prepare(_held(), engine.dialect, "b_epoch").sql
        self._lease = lease
        self._errors: tuple[type[BaseException], ...] = (*server_errors(), OSError)
        self._connection: AsyncConnection | None = None
        self._driver: Any = None
        self._link: ServerLink | None = None
        self._storing: Any = None
        self._using = asyncio.Lock()
        self.doubtful = False
        """True if the last transaction lost its connection when it may have been committed."""

    @property
    def lost(self) -> bool:
        """Whether the connection of the last transaction is gone."""
        return self._driver is not None and bool(self._driver.is_closed())

    async def insert(self, rows: Sequence[EventRow]) -> None:
        """Store events, all or none, in one statement."""

        async def insert(_link: ServerLink) -> None:
            columns = map(list, zip(*map(astuple, rows), strict=True))
            self.doubtful = True
            await self._storing.fetch(*columns, self._lease.epoch)
            if self._storing.get_statusmsg() != f"INSERT 0 {len(rows)}":
                raise self._lease.ended()

        await self._run(insert)

    async def write(self, work: Callable[[Link], None]) -> None:
        """Run ``work`` in a transaction."""

        def fenced(link: ServerLink) -> None:
            if not link.look_up(self._fence, (self._lease.epoch,)):
                raise self._lease.ended()
            work(link)

        async def transact(link: ServerLink) -> None:
            await self._driver.execute("BEGIN")
            await greenlet_spawn(fenced, link)
            self.doubtful = True
            await self._driver.execute("COMMIT")

        await self._run(transact)

    async def close(self) -> None:
        """Give the connection back."""
        connection, self._connection, self._driver = self._connection, None, None
        if connection is not None:
            await connection.close()

    async def _run(self, transact: Callable[[ServerLink], Awaitable[None]]) -> None:
        async with self._using:
            self.doubtful = False
            if self._driver is None or self._driver.is_closed():
                await self._connect()
            assert self._link is not None  # noqa: S101 (for the type checker)
            try:
                await transact(self._link)
            except BaseException as error:
                await self._recover(error)
                if is_undone(error) or not self._driver.is_closed():
                    self.doubtful = False
                raise

    async def _recover(self, error: BaseException) -> None:
        """Leave the connection outside a transaction, or closed."""
        if not isinstance(error, Exception) or isinstance(error, OSError):
            self._driver.terminate()  # it is in the midst of something, or of its end
        elif not self._driver.is_closed() and self._driver.is_in_transaction():
            try:
                await self._driver.execute("ROLLBACK")
            except self._errors:
                self._driver.terminate()

    async def _connect(self) -> None:
        if self._connection is not None:
            await self._connection.invalidate()
            await self.close()
        self._connection = await self._engine.connect()
        driver: Any = (await self._connection.get_raw_connection()).driver_connection
        # Everything is looked up by its key, even while PostgreSQL thinks that a table is small.
        await driver.execute(
            "SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off"
        )
        # A server that stops in the middle of its transaction keeps others waiting so long.
        await driver.execute(f"SET idle_in_transaction_session_timeout = {valid_ms():d}")
        self._storing = await driver.prepare(self._insert, name=STORING)
        self._link = ServerLink(driver)
        self._driver = driver


def _held() -> Select[tuple[int]]:
    """Select the lease if it holds, locked as `plyhouse.storage.leases.fence` does."""
    mine = leases.c.epoch == bindparam("b_epoch"), leases.c.ended_ms.is_(None)
    return select(leases.c.epoch).where(*mine).with_for_update(key_share=True, read=True)


def _fenced_insert(dialect: Dialect) -> str:
    """Return the insert of events, which takes an array for each column, then the epoch."""
    values = Values(events, dialect, *events.c.keys())
    held = exists(select(_held().cte("held")))
    statement = events.insert().from_select(list(values.names), values.select().where(held))
    return prepare(statement, dialect, *(f"b_{name}" for name in values.names), "b_epoch").sql
