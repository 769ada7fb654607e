"""Which schema a database has, and how it is brought up to date.

A new database is made from the models; one of an earlier version, back to `OLDEST`, is migrated
when a store is opened.  Migrations ship inside the package (`plyhouse.storage.migrations`) and run
by Alembic, which is only imported when there is something to migrate: every match on one's own
machine makes a database.  Tests compare what migrations make, from nothing, with the models.
"""

from __future__ import annotations

from functools import cache
from importlib import metadata as packages
from pathlib import Path
from typing import Any

from sqlalchemy import (
    Column,
    Connection,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    create_mock_engine,
    inspect,
    select,
    text,
)

from plyhouse.storage import models
from plyhouse.storage.errors import NewerSchema, NotADatabase, OlderSchema
from plyhouse.storage.rows import wall_ms

KNOWN = ("0018", "0019", "0020", "0021", "0022", "0023", "0024", "0025", "0026")
"""All schema revisions this Plyhouse knows, oldest first; a test compares them with the files.

The first one is that of `OLDEST`, and makes all tables.
"""

OLDEST = "0.2.0"
"""The oldest version whose databases are upgraded."""

HEAD = KNOWN[-1]

VERSION_TABLE = "plyhouse_schema"
"""Not Alembic's usual name, so that Plyhouse can share a schema with another program."""

_versions = Table(
    VERSION_TABLE,
    MetaData(),
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name=f"{VERSION_TABLE}_pkc"),
)
"""As Alembic makes it and goes on with it."""

_ADVISORY_LOCK = int.from_bytes(b"Plyhouse", "big")


def revision(connection: Connection) -> str | None:
    """Return the database's schema revision; None when Plyhouse never used it."""
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    found = connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}"))  # noqa: S608
    return found.scalar_one_or_none()


def check(connection: Connection, place: str) -> None:
    """Raise unless the database has exactly the schema this Plyhouse works with."""
    found = revision(connection)
    if found == HEAD:
        return
    _refuse_unknown(connection, place, found)
    raise OlderSchema(
        f"{place} has schema {found or 'none'} and this Plyhouse works with {HEAD}; "
        "open it once for writing (plyhouse serve does) to migrate it"
    )


def upgrade(connection: Connection, place: str) -> None:
    """Bring the database to `HEAD` within the connection's transaction.

    Always writes a row, so that a database that cannot be written is found out now and not in
    the middle of a match.
    """
    found = revision(connection)
    if found != HEAD:
        if connection.dialect.name == "postgresql":  # SQLite's BEGIN IMMEDIATE is such a lock
            schema = f"hashtextextended(coalesce(current_schema(), ''), {_ADVISORY_LOCK})"
            connection.execute(text(f"SELECT pg_advisory_xact_lock({schema})"))
            found = revision(connection)
        _refuse_unknown(connection, place, found)
        if found is None:
            create(connection)
        elif found != HEAD:
            migrate(connection)
        if found != HEAD:
            put_meta(connection, "plyhouse_version", packages.version("plyhouse"))
    put_meta(connection, "opened_ms", str(wall_ms()))


def _refuse_unknown(connection: Connection, place: str, found: str | None) -> None:
    """Refuse a database that is neither empty nor of a known revision."""
    if found is None:
        _refuse_foreign(connection, place)
    elif found < KNOWN[0]:
        raise OlderSchema(
            f"{place} has schema {found}, of a Plyhouse before {OLDEST}; "
            f"open it once with Plyhouse {OLDEST}, then with this one"
        )
    elif found not in KNOWN:
        raise _newer(connection, place, found)


def _newer(connection: Connection, place: str, found: str) -> NewerSchema:
    maker = "a newer Plyhouse"
    if inspect(connection).has_table(models.meta.name):
        table = models.meta
        query = select(table.c.value).where(table.c.name == "plyhouse_version")
        version = connection.execute(query).scalar_one_or_none()
        if version is not None:
            maker = f"Plyhouse {version}"
    return NewerSchema(
        f"{place} was made by {maker} (schema {found}, this one knows up to {HEAD}); "
        "upgrade Plyhouse or give another database"
    )


def _refuse_foreign(connection: Connection, place: str) -> None:
    """Refuse a database that holds another program's tables where ours would go."""
    tables = set(inspect(connection).get_table_names())
    if connection.dialect.name == "postgresql":  # there, sharing a schema is common
        tables &= set(models.metadata.tables)
    if tables:
        raise NotADatabase(
            f"{place} belongs to another program (it has a table {min(tables)!r}); "
            "give another database"
        )


def put_meta(connection: Connection, name: str, value: str) -> None:
    """Write a row of the table of facts about the database itself."""
    table = models.meta
    changed = connection.execute(
        table.update().where(table.c.name == name).values(value=value)
    ).rowcount
    if not changed:
        connection.execute(table.insert().values(name=name, value=value))


def create(connection: Connection) -> None:
    """Make all tables of `HEAD` where there are none of ours, within the caller's transaction."""
    for statement in _statements(connection.engine.url.drivername):
        connection.exec_driver_sql(statement)
    connection.execute(_versions.insert().values(version_num=HEAD))


@cache
def _statements(driver: str) -> tuple[str, ...]:
    """The statements that make the tables with this driver; compiling them is slow."""
    written: list[str] = []

    def write(statement: Any, *_: object, **__: object) -> None:
        written.append(str(statement.compile(dialect=mock.dialect)))

    mock = create_mock_engine(f"{driver}://", write)
    for tables in (models.metadata, _versions.metadata):
        tables.create_all(mock, checkfirst=False)
    return tuple(written)


def migrate(connection: Connection, to: str = "head") -> None:
    """Run the migrations up to a revision within the connection's transaction."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    folder = Path(__file__).parent / "migrations"
    config.set_main_option("script_location", str(folder).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    command.upgrade(config, to)
