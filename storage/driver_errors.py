"""Errors of database drivers and of SQLAlchemy, translated to a `StorageError`."""

from __future__ import annotations

import sqlite3

from sqlalchemy import exc as sa

from plyhouse.storage.errors import (
    AlreadyExists,
    CannotOpen,
    DatabaseFull,
    DatabaseLocked,
    DatabaseReadOnly,
    DriverBroken,
    DriverMissing,
    InvalidValue,
    LoginRefused,
    NotADatabase,
    StorageError,
    Unknown,
    Unreachable,
    WriterFull,
)

_DRIVERS = {"asyncpg": "plyhouse[postgresql]", "aiosqlite": "plyhouse"}
"""The package to install for a missing driver."""

_SILENT_CLIENT = "25P03"
"""The state in which PostgreSQL ends the transaction of a client that is silent for too long."""


def translate(error: BaseException, place: str) -> StorageError:
    """Return a driver's error as a `StorageError`.

    ``place`` names the database, without its password.
    """
    if isinstance(error, StorageError):
        return error
    if isinstance(error, ModuleNotFoundError) and error.name in _DRIVERS:
        return DriverMissing(
            f"the driver {error.name!r} for {place} is not installed; "
            f"install it with: pip install '{_DRIVERS[error.name]}'"
        )
    if isinstance(error, ImportError):
        return DriverBroken(
            f"a package that {place} needs cannot be imported ({_first_line(error)}); "
            "install Plyhouse and the driver anew, and look for a file of yours of that name"
        )
    if isinstance(error, (UnicodeError, OverflowError)):
        return _unstorable(place, error)
    if isinstance(error, sa.TimeoutError):
        return WriterFull(
            f"every connection to {place} was busy for too long ({_first_line(error)}); "
            "try again later"
        )
    original = error.orig if isinstance(error, sa.DBAPIError) else error
    if isinstance(original, sqlite3.Error):
        return _from_sqlite(original, place)
    if isinstance(original, OSError):  # refused, unresolvable, timed out: TimeoutError is one too
        return _unreachable(place, original)
    state = _sqlstate(original)
    if state is not None or isinstance(error, sa.DBAPIError):
        return _from_postgresql(error, original, state, place)
    return StorageError(f"{place} failed: {_first_line(error)}")


def is_undone(error: BaseException) -> bool:
    """Return whether PostgreSQL cannot have carried out the statement that failed so.

    Either asyncpg knew that the connection was lost and sent nothing, or PostgreSQL had ended the
    transaction before, as its client stood still.
    """
    import asyncpg  # type: ignore[import-untyped]  # optional, and slow to import

    cause: BaseException | None = error
    while cause is not None:
        unsent = isinstance(cause, (asyncpg.InterfaceError, asyncpg.InternalClientError))
        if unsent or _sqlstate(cause) == _SILENT_CLIENT:
            return True
        cause = cause.__cause__
    return False


def _unreachable(place: str, error: BaseException | None) -> Unreachable:
    return Unreachable(
        f"no database server answers at {place} ({_first_line(error)}); "
        "start it, or correct host and port"
    )


def _unstorable(place: str, error: BaseException | None) -> InvalidValue:
    return InvalidValue(
        f"{place} cannot store such a value ({_first_line(error)}); "
        "use texts without NUL and numbers of up to 64 bits"
    )


def _from_sqlite(error: sqlite3.Error, place: str) -> StorageError:
    text = _first_line(error)
    name = getattr(error, "sqlite_errorname", "") or ""
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")) or "is locked" in text:
        return DatabaseLocked(
            f"{place} is locked by another program; stop that program, or wait until it is done"
        )
    if name.startswith("SQLITE_READONLY") or "readonly" in text:
        return DatabaseReadOnly(
            f"{place} cannot be written; make the file and its folder writable for this user"
        )
    if name.startswith("SQLITE_NOTADB") or "not a database" in text:
        return NotADatabase(f"{place} is not a SQLite database; give another file or a new name")
    if name.startswith("SQLITE_CORRUPT"):
        return NotADatabase(f"{place} is damaged ({text}); restore it from a backup")
    if name.startswith("SQLITE_FULL"):
        return DatabaseFull(f"the disk that holds {place} is full; make room on it")
    if name.startswith("SQLITE_CANTOPEN") or "unable to open" in text:
        return CannotOpen(f"{place} cannot be opened; give a file in a folder that exists")
    if isinstance(error, sqlite3.IntegrityError):
        return _from_constraint(text, foreign="FOREIGN KEY" in text, place=place)
    return StorageError(f"{place} failed: {text}")


def _from_postgresql(
    error: BaseException, original: BaseException | None, state: str | None, place: str
) -> StorageError:
    text = _first_line(original)
    match state:
        case "55P03" | "57014" | "40001" | "40P01":
            return DatabaseLocked(f"{place} is locked by another session; wait until it is done")
        case "25006" | "42501":
            return DatabaseReadOnly(
                f"{place} may not be written by this user ({text}); grant it the right to write"
            )
        case "28000" | "28P01":
            return LoginRefused(f"{place} refused the login ({text}); correct user and password")
        case "3D000":
            return LoginRefused(f"{place} does not exist ({text}); create it with createdb")
        case "3F000":
            return LoginRefused(f"{place} lacks the schema ({text}); create it first")
        case "53300":
            return Unreachable(
                f"{place} accepts no more connections ({text}); raise its max_connections, or stop "
                "a program that uses it"
            )
        case "53100":
            return DatabaseFull(f"the disk that holds {place} is full; make room on it")
        case "23503":
            return _from_constraint(text, foreign=True, place=place)
        case "23505" | "23502" | "23514":
            return _from_constraint(text, foreign=False, place=place)
    if state is not None and state.startswith("22"):
        return _unstorable(place, original)
    lost = isinstance(error, sa.DBAPIError) and error.connection_invalidated
    if lost or (state is not None and state.startswith(("08", "57P", _SILENT_CLIENT))):
        return _unreachable(place, original)
    return StorageError(f"{place} failed: {text}")


def _from_constraint(text: str, *, foreign: bool, place: str) -> StorageError:
    if foreign:
        return Unknown(
            f"{place} has no row that this one refers to ({text}); store that one before it"
        )
    return AlreadyExists(f"{place} has this row already ({text}); store every row only once")


def _sqlstate(error: BaseException | None) -> str | None:
    """Return the SQLSTATE of a PostgreSQL error, or None: asyncpg and SQLAlchemy both set it."""
    state = getattr(error, "sqlstate", None) or getattr(error, "pgcode", None)
    return state if isinstance(state, str) else None


def _first_line(error: BaseException | None) -> str:
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0]
