"""Statements of the hot path, compiled once per store and run without SQLAlchemy's work per row.

`insert_into` and `copy_rows` build statements for everything else.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from sqlalchemy import Connection, Executable, Table, bindparam, literal, select
from sqlalchemy.dialects import sqlite
from sqlalchemy.engine import Dialect
from sqlalchemy.sql.elements import ColumnElement

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql

Link: TypeAlias = Connection | sqlite3.Connection
"""Backend of a prepared statement: SQLite's own connection where there is one, which costs a
tenth of SQLAlchemy's."""

ROWS_AT_ONCE: Final = 128 if sqlite3.sqlite_version_info >= (3, 32) else 64
"""Rows of one statement at most: what a hundred matches store at a time should fit into one, which
then is a transaction in itself.  SQLite's driver keeps a compiled statement for each number of
rows, of about 1 KB a row (see `plyhouse.storage.database`).  SQLite before 3.32 allows 999 values
in a statement."""


class Prepared:
    """A statement compiled for one database, run with rows of values in a fixed order."""

    __slots__ = ("_sizes", "order", "sql")

    def __init__(self, sql: str, order: tuple[str, ...]) -> None:
        self.sql = sql
        self.order = order
        """Names of the values, in the order in which a row must give them."""
        self._sizes: tuple[str, ...] = ()

    def run(self, link: Link, rows: Sequence[Sequence[object]]) -> int:
        """Execute once per row, in one call of the driver.

        Returns how many rows of the table changed, -1 where the driver does not tell.
        """
        if not rows:
            return 0
        if isinstance(link, sqlite3.Connection):
            if len(rows) == 1:
                return link.execute(self.sql, rows[0]).rowcount
            return link.executemany(self.sql, rows).rowcount
        given = [tuple(row) for row in rows]
        return link.exec_driver_sql(self.sql, given[0] if len(given) == 1 else given).rowcount

    def insert(self, link: Link, rows: Sequence[tuple[object, ...]]) -> None:
        """Like `run`, for an insert of values.

        SQLite's driver releases the interpreter lock for every statement and waits for it again.
        One statement a row would compete with the event loop for every row, so one statement
        stores many rows.
        """
        if not isinstance(link, sqlite3.Connection):
            self.run(link, rows)
            return
        if not self._sizes:
            self._sizes = _sizes(self.sql)
        if len(rows) == 1:
            link.execute(self.sql, rows[0])
            return
        for at in range(0, len(rows), ROWS_AT_ONCE):
            chunk = rows[at : at + ROWS_AT_ONCE]
            link.execute(self._sizes[len(chunk) - 1], tuple(chain.from_iterable(chunk)))

    def look_up(self, link: Link, *values: Any) -> list[Any]:
        """Run a query with one row of values and return all that it finds."""
        if isinstance(link, sqlite3.Connection):
            return link.execute(self.sql, values).fetchall()
        return list(link.exec_driver_sql(self.sql, values))


def _sizes(sql: str) -> tuple[str, ...]:
    """An insert of one row in SQLite's spelling, for every number of rows."""
    head, mark, tail = sql.partition(" VALUES (")
    values, _, end = tail.partition(")")
    return tuple(
        f"{head}{mark}{'), ('.join([values] * size)}){end}" for size in range(1, ROWS_AT_ONCE + 1)
    )


def prepare(statement: Executable, dialect: Dialect, *order: str) -> Prepared:
    """Compile a statement whose values are all named bind parameters.

    ``order`` is the order in which rows will give the values; AssertionError if it is not the
    statement's.  Without it, see `Prepared.order`.
    """
    compiled = statement.compile(  # type: ignore[attr-defined]
        dialect=dialect, column_keys=order if order and statement.is_insert else None
    )
    names = tuple(compiled.positiontup)
    if order and names != order:
        raise AssertionError(f"rows give {order}, the statement takes {names}")
    return Prepared(str(compiled), names)


def insert_into(table: Table, dialect: Dialect) -> postgresql.Insert | sqlite.Insert:
    """An insert that supports ON CONFLICT for existing rows."""
    if dialect.name != "postgresql":
        return sqlite.insert(table)
    from sqlalchemy.dialects import postgresql  # slow to import, and most databases are files

    return postgresql.insert(table)


def binds(*names: str) -> dict[str, object]:
    """Name a bind parameter for each column; ``b_`` keeps it apart from the column itself."""
    return {name: bindparam(f"b_{name}") for name in names}


def adding(
    table: Table,
    sums: Sequence[str],
    dialect: Dialect,
    *others: str,
    changed: Sequence[str] = (),
) -> Prepared:
    """Compile an insert that adds to the sums of an existing row.

    Rows give the primary key, the sums and the ``others``, which an existing row keeps unless
    ``changed`` names them.  Two rows of one statement must not have the
    same key: PostgreSQL refuses that.
    """
    keys = list(table.primary_key.columns)
    order = (*(key.name for key in keys), *sums, *others)
    insert = insert_into(table, dialect)
    changes = {name: table.c[name] + insert.excluded[name] for name in sums}
    changes |= {name: insert.excluded[name] for name in changed}
    added = insert.on_conflict_do_update(index_elements=keys, set_=changes)
    return prepare(added, dialect, *order)


def copy_rows(
    connection: Connection, table: Table, where: ColumnElement[bool], **changes: object
) -> int:
    """Insert copies of some rows, with the values of ``changes``; return their number."""
    columns = [
        literal(changes[each.name], each.type) if each.name in changes else each for each in table.c
    ]
    names = [each.name for each in table.c]
    return connection.execute(
        table.insert().from_select(names, select(*columns).where(where))
    ).rowcount
