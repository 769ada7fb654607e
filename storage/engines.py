"""Engines of SQLAlchemy, set up for SQLite and PostgreSQL."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL

from plyhouse.storage.checkpoints import WRITER_PAGES
from plyhouse.storage.statements import ROWS_AT_ONCE
from plyhouse.storage.urls import Target

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncEngine

__all__ = ["reading_engine", "server_engine", "server_errors", "tool_engine", "writing_engine"]

_CONNECT_TIMEOUT_S = 10.0
_CACHED_STATEMENTS = 4 * ROWS_AT_ONCE
"""Statements that SQLite's driver keeps compiled: one for each number of events, and the rest."""


def writing_engine(target: Target) -> Engine:
    """Make the engine that writes to a SQLite database, a file or memory."""
    engine = create_engine(
        _file_url(target, "sqlite", "rwc"),
        connect_args={"cached_statements": _CACHED_STATEMENTS},
    )
    _set_up_sqlite(engine, target, "BEGIN IMMEDIATE", reader=False)
    return engine


def reading_engine(target: Target, connections: int) -> Engine:
    """Make the engine that reads from a SQLite file."""
    engine = create_engine(_file_url(target, "sqlite", "ro"), pool_size=connections)
    _set_up_sqlite(engine, target, "BEGIN", reader=True)
    return engine


def server_engine(target: Target) -> AsyncEngine:
    """Make an engine for a PostgreSQL server."""
    # Slow to import: it brings SQLAlchemy's whole ORM along, of which we use nothing.
    from sqlalchemy.ext.asyncio import create_async_engine

    settings = {
        "application_name": "plyhouse",
        "jit": "off",  # all our queries are short
        "lock_timeout": str(target.busy_timeout_ms),
    }
    if target.schema is not None:
        settings["search_path"] = target.schema
    if not target.full_sync:
        settings["synchronous_commit"] = "off"
    arguments: dict[str, object] = {"server_settings": settings, "timeout": _CONNECT_TIMEOUT_S}
    if target.ssl is not None:
        arguments["ssl"] = target.ssl
    return create_async_engine(
        target.url.set(drivername="postgresql+asyncpg"), connect_args=arguments
    )


def server_errors() -> tuple[type[BaseException], ...]:
    """Return the errors of PostgreSQL's driver, which is optional and untyped.

    While connecting, SQLAlchemy lets them through.
    """
    asyncpg = importlib.import_module("asyncpg")
    return asyncpg.PostgresError, asyncpg.InterfaceError


def tool_engine(target: Target, *, write: bool) -> AsyncEngine:
    """Make an engine for a tool that reads or writes whole tables in one transaction.

    The caller disposes of it.
    """
    if target.kind == "postgresql":
        engine = server_engine(target)
        return engine if write else engine.execution_options(isolation_level="REPEATABLE READ")
    from sqlalchemy.ext.asyncio import create_async_engine

    engine = create_async_engine(_file_url(target, "sqlite+aiosqlite", "rw" if write else "ro"))
    begin = "BEGIN IMMEDIATE" if write else "BEGIN"
    _set_up_sqlite(engine.sync_engine, target, begin, reader=not write)
    return engine


def _file_url(target: Target, driver: str, mode: str) -> URL:
    if target.path is None:
        return URL.create(driver, database=":memory:")
    name = "file:" + quote(str(target.path))
    return URL.create(driver, database=name, query={"uri": "true", "mode": mode})


def _set_up_sqlite(engine: Engine, target: Target, begin: str, *, reader: bool) -> None:
    @event.listens_for(engine, "connect")
    def connected(connection: Any, _record: object) -> None:
        connection.isolation_level = None  # we say BEGIN ourselves, see `begun`
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout = {target.busy_timeout_ms}")
        cursor.execute("PRAGMA foreign_keys = ON")
        if reader:
            cursor.execute("PRAGMA query_only = ON")
        else:
            cursor.execute("PRAGMA journal_mode = WAL")
            cursor.execute("PRAGMA secure_delete = ON")  # what is erased is overwritten
            cursor.execute(f"PRAGMA wal_autocheckpoint = {WRITER_PAGES}")
            cursor.execute(f"PRAGMA synchronous = {'FULL' if target.full_sync else 'NORMAL'}")
        cursor.close()

    @event.listens_for(engine, "begin")
    def begun(connection: Connection) -> None:
        connection.exec_driver_sql(begin)
