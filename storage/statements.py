"""Statements of the hot path, compiled once per store and run without SQLAlchemy's work per row.

`insert_into` and `copy_rows` build statements for everything else.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from sqlalchemy import (
    Connection,
    Executable,
    Select,
    String,
    Table,
    Text,
    bindparam,
    func,
    literal,
    select,
)
from sqlalchemy.dialects import sqlite
from sqlalchemy.engine import Dialect
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.util import await_only

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql


class ServerLink:
    """PostgreSQL's driver, for functions that run in a greenlet of SQLAlchemy."""

    __slots__ = ("_driver", "_prepared")

    def __init__(self, driver: Any) -> None:
        """Statements are prepared at their first use on this connection of asyncpg."""
        self._driver = driver
        self._prepared: dict[str, Any] = {}

    def run(self, sql: str, values: Sequence[object]) -> int:
        """Execute a statement; return how many rows of its table changed."""
        statement = self._statement(sql)
        await_only(statement.fetch(*values))
        return int(statement.get_statusmsg().rpartition(" ")[2])

    def look_up(self, sql: str, values: Sequence[object]) -> list[Any]:
        """Run a query and return the rows that it finds."""
        return list(await_only(self._statement(sql).fetch(*values)))

    def _statement(self, sql: str) -> Any:
        found = self._prepared.get(sql)
        if found is None:
            found = self._prepared[sql] = await_only(self._driver.prepare(sql))
        return found


Link: TypeAlias = Connection | sqlite3.Connection | ServerLink
"""Backend of a prepared statement: the driver's own connection where there is one, which costs a
tenth of SQLAlchemy's."""

ROWS_AT_ONCE: Final = 128 if sqlite3.sqlite_version_info >= (3, 32) else 64
"""Rows of one statement at most: what a hundred matches store at a time should fit into one, which
then is a transaction in itself.  SQLite's driver keeps a compiled statement for each number of
rows, of about 1 KB a row (see `plyhouse.storage.database`).  SQLite before 3.32 allows 999 values
in a statement."""

IDS_AT_ONCE: Final = 500
"""Ids or names in one statement at most, because databases limit its parameters."""

T = TypeVar("T")


def parts(values: Iterable[T], size: int = IDS_AT_ONCE) -> Iterator[list[T]]:
    """Yield values in order, in parts that a statement takes.

    >>> list(parts("abcde", 2))
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    every = list(values)
    for start in range(0, len(every), size):
        yield every[start : start + size]


class Prepared:
    """A statement compiled for one database, run with rows of values in a fixed order."""

    __slots__ = ("_sizes", "by_columns", "sql")

    def __init__(self, sql: str, *, by_columns: bool = False) -> None:
        self.sql = sql
        self.by_columns = by_columns
        """True if the statement takes an array of values for each column, and runs once for all
        rows."""
        self._sizes: tuple[str, ...] = ()

    def run(self, link: Link, rows: Sequence[Sequence[object]]) -> int:
        """Execute for each row; return how many rows of the table changed."""
        if not rows:
            return 0
        if self.by_columns:
            columns = tuple(map(list, zip(*rows, strict=True)))
            if isinstance(link, ServerLink):
                return link.run(self.sql, columns)
            return _sqlalchemy(link).exec_driver_sql(self.sql, columns).rowcount
        if isinstance(link, sqlite3.Connection):
            if len(rows) == 1:
                return link.execute(self.sql, rows[0]).rowcount
            return link.executemany(self.sql, rows).rowcount
        given = [tuple(row) for row in rows]
        link = _sqlalchemy(link)
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

    def look_up(self, link: Link, rows: Sequence[Sequence[object]]) -> list[Any]:
        """Run a query for each row of values; return all that is found."""
        if self.by_columns:
            rows = [tuple(map(list, zip(*rows, strict=True)))]
        if isinstance(link, sqlite3.Connection):
            return [each for row in rows for each in link.execute(self.sql, row)]
        if isinstance(link, ServerLink):
            return [each for row in rows for each in link.look_up(self.sql, row)]
        return [each for row in rows for each in link.exec_driver_sql(self.sql, tuple(row))]


def _sqlalchemy(link: Link) -> Connection:
    assert isinstance(link, Connection)  # noqa: S101 (for the type checker)
    return link


def _sizes(sql: str) -> tuple[str, ...]:
    """An insert of one row in SQLite's spelling, for every number of rows."""
    head, mark, tail = sql.partition(" VALUES (")
    values, _, end = tail.partition(")")
    return tuple(
        f"{head}{mark}{'), ('.join([values] * size)}){end}" for size in range(1, ROWS_AT_ONCE + 1)
    )


def prepare(
    statement: Executable, dialect: Dialect, *order: str, by_columns: bool = False
) -> Prepared:
    """Compile a statement whose values are all named bind parameters.

    ``order`` is the order in which rows will give the values; AssertionError if it is not the
    statement's.  For ``by_columns`` see `Prepared`.
    """
    compiled = statement.compile(dialect=dialect)  # type: ignore[attr-defined]
    names = tuple(compiled.positiontup)
    if names != order:
        raise AssertionError(f"rows give {order}, the statement takes {names}")
    return Prepared(str(compiled), by_columns=by_columns)


class Values:
    """The values of a row in a statement that runs for many rows.

    SQLite runs it once per row, with a bind parameter for each value.  PostgreSQL runs it once,
    with a table of all rows, made of an array for each column.
    """

    def __init__(self, table: Table, dialect: Dialect, *names: str) -> None:
        """Name the values, in the order in which rows give them, like columns of ``table``."""
        self._dialect = dialect
        self.names = names
        self.by_columns = dialect.name == "postgresql"
        self._elements: dict[str, ColumnElement[Any]]
        if not self.by_columns:
            self._elements = {n: bindparam(f"b_{n}", type_=table.c[n].type) for n in names}
            return
        from sqlalchemy.dialects.postgresql import ARRAY  # slow to import, as in `insert_into`

        # An array of varchar would cut what is too long, instead of refusing it.
        types = [table.c[name].type for name in names]
        wide = [ARRAY(Text() if isinstance(kind, String) else kind) for kind in types]
        pairs = zip(names, wide, strict=True)
        arrays = [bindparam(f"b_{name}", type_=kind) for name, kind in pairs]
        rows = func.unnest(*arrays).table_valued(*names, name="rows").render_derived()
        self._elements = {name: rows.c[name] for name in names}

    def __getitem__(self, name: str) -> ColumnElement[Any]:
        """Return the parameter or column of a value."""
        return self._elements[name]

    def of(self, *names: str) -> dict[str, ColumnElement[Any]]:
        """Return some of the values by their names."""
        return {name: self._elements[name] for name in names}

    def select(self) -> Select[Any]:
        """Return the query of the values."""
        return select(*self._elements.values())

    def prepare(self, statement: Executable) -> Prepared:
        """Compile a statement that uses the values."""
        order = [f"b_{name}" for name in self.names]
        return prepare(statement, self._dialect, *order, by_columns=self.by_columns)

    def inserted(self, table: Table) -> postgresql.Insert | sqlite.Insert:
        """Return the insert of rows of these values, which supports ON CONFLICT."""
        insert = insert_into(table, self._dialect)
        if self.by_columns:
            return insert.from_select(list(self.names), self.select())
        return insert.values(self._elements)


def insert_into(table: Table, dialect: Dialect) -> postgresql.Insert | sqlite.Insert:
    """An insert that supports ON CONFLICT for existing rows."""
    if dialect.name != "postgresql":
        return sqlite.insert(table)
    from sqlalchemy.dialects import postgresql  # slow to import, and most databases are files

    return postgresql.insert(table)


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
    values = Values(table, dialect, *(key.name for key in keys), *sums, *others)
    insert = values.inserted(table)
    changes = {name: table.c[name] + insert.excluded[name] for name in sums}
    changes |= {name: insert.excluded[name] for name in changed}
    return values.prepare(insert.on_conflict_do_update(index_elements=keys, set_=changes))


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
