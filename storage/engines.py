"""Engines of SQLAlchemy, set up for SQLite and PostgreSQL."""

from __future__ import annotations

import contextlib
import importlib
import logging
import socket
import sqlite3
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL

from plyhouse.storage.statements import ROWS_AT_ONCE
from plyhouse.storage.urls import Target

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncEngine

log = logging.getLogger("plyhouse.storage.engines")

WRITER_PAGES: Final = 8_000
"""Length of the log, in pages, at which a commit still sees to it itself (32 MB)."""
PAUSE_SECONDS: Final = 0.3
"""Time between two portions: commits of so long go together, and pages that changed several
times are written once."""


class Checkpoints:
    """A thread that follows a writer; `written` wakes it, `stop` ends it.

    ``connect`` opens a connection to the same database; the thread calls it.

    SQLite does that within the commit that makes the log too long. Every thousand pages, a commit
    and everything that waits for it take a hundred times as long.  Here a thread with its own
    connection does it in small portions, for which no commit waits.  The writer's limit stays as a
    higher fallback (`WRITER_PAGES`), because a log that always has new pages could not restart
    otherwise.
    """

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        self._connect = connect
        self._dirty = threading.Event()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="plyhouse-checkpoints", daemon=True)
        self._thread.start()

    def written(self) -> None:
        """Something was committed."""
        if not self._dirty.is_set():
            self._dirty.set()

    def stop(self) -> None:
        """End the thread and wait for it; its connection is closed then."""
        self._stopped.set()
        self._dirty.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            connection = self._connect()
        except sqlite3.Error as error:
            log.warning("checkpoints left to the writer", extra={"why": str(error)})
            return
        with contextlib.closing(connection):
            while True:
                self._dirty.wait()
                if self._stopped.wait(PAUSE_SECONDS):
                    return
                self._dirty.clear()
                if self._stopped.is_set():  # between the two lines above: what woke us is gone
                    return
                # Failures here (a full disk, a lock) hit the writer, too, which reports them.
                with contextlib.suppress(sqlite3.Error):
                    connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()


_CONNECT_TIMEOUT_S = 10.0
SILENT_S: Final = 15
"""Seconds without an acknowledgement after which a connection to PostgreSQL counts as lost."""
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
    engine = create_async_engine(
        target.url.set(drivername="postgresql+asyncpg"), connect_args=arguments
    )

    @event.listens_for(engine.sync_engine, "connect")
    def connected(connection: Any, _record: object) -> None:
        end_when_silent(connection.driver_connection._transport.get_extra_info("socket"))

    return engine


def end_when_silent(wire: socket.socket | None) -> None:
    """Let the kernel end a connection whose other end has vanished after `SILENT_S`.

    Usually it sends data again for a quarter of an hour, and everything that is to be stored waits
    for that.  A server that lives acknowledges data however long a statement takes.
    """
    if wire is None or wire.family not in (socket.AF_INET, socket.AF_INET6):
        return
    wire.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (
        ("TCP_KEEPIDLE", SILENT_S // 3),
        ("TCP_KEEPINTVL", SILENT_S // 3),
        ("TCP_KEEPCNT", 2),
        ("TCP_USER_TIMEOUT", SILENT_S * 1000),
    ):
        option = getattr(socket, name, None)  # some systems have not all of them
        if option is not None:
            wire.setsockopt(socket.IPPROTO_TCP, option, value)


def server_errors() -> tuple[type[BaseException], ...]:
    """Return the errors of PostgreSQL's driver, which is optional and untyped.

    While connecting, SQLAlchemy lets them through.
    """
    asyncpg = importlib.import_module("asyncpg")
    return asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError


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
