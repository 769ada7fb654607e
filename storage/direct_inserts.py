"""Rows that PostgreSQL stores by one statement, which also asks whether the lease still holds.

Plies are most of what a server writes.  In a transaction of SQLAlchemy, each batch takes four
round trips: begin, fence, insert, commit.  One statement of asyncpg is a transaction in itself, and
takes a seventh of the processor time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import astuple
from sqlalchemy import String, Table, Text, bindparam, exists, func, select
from sqlalchemy.engine import Dialect

from plyhouse.storage.engines import server_errors
from plyhouse.storage.models import leases
from plyhouse.storage.statements import prepare

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine


class DirectInserts:
    """Inserts into one table, one after the other, on a connection that it keeps."""

    def __init__(self, engine: AsyncEngine, table: Table, epoch: int) -> None:
        """Rows are stored while the lease with this ``epoch`` holds."""
        self._engine = engine
        self._sql = _fenced_insert(table, engine.dialect)
        self._epoch = epoch
        self._refusals = server_errors()
        self._name = f"store_{table.name}"
        self._connection: AsyncConnection | None = None
        self._driver: Any = None
        self._statement: Any = None
        self._using = asyncio.Lock()
        self.doubtful = False
        """True if the last insert lost its connection after it was sent."""

    async def insert(self, rows: Sequence[Struct]) -> bool:
        """Store rows, all or none; return False if the lease has ended, and nothing is stored.

        The fields of a row are the columns, in their order.
        Lets errors of SQLAlchemy, the driver and sockets through.
        """
        async with self._using:
            self.doubtful = False
            if self._driver is None or self._driver.is_closed():
                await self._connect()
            try:
                columns = map(list, zip(*map(astuple, rows), strict=True))
                await self._statement.fetch(*columns, self._epoch)
            except BaseException as error:
                if not isinstance(error, self._refusals):
                    self._driver.terminate()  # it is in the midst of something, or of its end
                self.doubtful = self._driver.is_closed()
                raise
            return str(self._statement.get_statusmsg()) == f"INSERT 0 {len(rows)}"

    async def close(self) -> None:
        """Give the connection back."""
        connection, self._connection, self._driver = self._connection, None, None
        if connection is not None:
            await connection.close()

    async def _connect(self) -> None:
        if self._connection is not None:
            await self._connection.invalidate()
            await self.close()
        self._connection = await self._engine.connect()
        driver: Any = (await self._connection.get_raw_connection()).driver_connection
        self._statement = await driver.prepare(self._sql, name=self._name)
        self._driver = driver


def _fenced_insert(table: Table, dialect: Dialect) -> str:
    """Return the statement, which takes an array of values for each column, then the epoch.

    It locks the lease as `plyhouse.storage.leases.fence` does.
    """
    from sqlalchemy.dialects.postgresql import ARRAY  # slow to import, and most databases are files

    names = table.c.keys()
    # An array of varchar would cut what is too long, instead of refusing it.
    types = [ARRAY(Text() if isinstance(each.type, String) else each.type) for each in table.c]
    arrays = [bindparam(name, type_=kind) for name, kind in zip(names, types, strict=True)]
    rows = func.unnest(*arrays).table_valued(*names, name="rows").render_derived()
    mine = leases.c.epoch == bindparam("b_epoch"), leases.c.ended_ms.is_(None)
    locked = select(leases.c.epoch).where(*mine).with_for_update(key_share=True, read=True)
    held = exists(select(locked.cte("held")))
    statement = table.insert().from_select(names, select(rows).where(held))
    return prepare(statement, dialect, *names, "b_epoch").sql
