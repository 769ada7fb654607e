"""Errors of the storage layer, in one hierarchy.

Every message is one sentence that names the problem and the fix; every class has a stable
``code``::

    StorageError                storage/failed
    ├── DatabaseLocked          storage/locked
    ├── ServedAlready           storage/served
    ├── DatabaseReadOnly        storage/read_only
    ├── DatabaseFull            storage/full
    ├── NotADatabase            storage/not_a_database
    ├── CannotOpen              storage/cannot_open
    ├── NewerSchema             storage/newer_schema
    ├── OlderSchema             storage/older_schema
    ├── Unreachable             storage/unreachable
    │   └── InDoubt             storage/in_doubt
    ├── LoginRefused            storage/login_refused
    ├── DriverMissing           storage/driver_missing
    ├── DriverBroken            storage/driver_broken
    ├── BadUrl                  storage/bad_url
    ├── WriterFull              storage/overloaded
    ├── StoreClosed             storage/closed
    │   └── ClaimLost           storage/claim_lost
    ├── InvalidName             storage/bad_name
    ├── InvalidScope            storage/bad_scope
    ├── InvalidValue            storage/bad_value
    ├── TokenRevoked            storage/revoked
    ├── Disabled                storage/disabled
    ├── LimitReached            storage/limit
    ├── NotNow                  storage/not_now
    ├── CompetitionRefusal      competition/... (each its own)
    ├── SubmissionRefusal       submission/... (each its own)
    ├── AlreadyExists           storage/exists
    ├── DisplayTaken            storage/display_taken
    └── Unknown                 storage/unknown
"""

# ruff: noqa: N818  (the names say what is wrong; "DatabaseLockedError" says it no better)
from __future__ import annotations

import sqlite3
from typing import ClassVar

from sqlalchemy import exc as sa

__all__ = [
    "AlreadyExists",
    "BadUrl",
    "CannotOpen",
    "ClaimLost",
    "CompetitionRefusal",
    "DatabaseFull",
    "DatabaseLocked",
    "DatabaseReadOnly",
    "Disabled",
    "DisplayTaken",
    "DriverBroken",
    "DriverMissing",
    "InDoubt",
    "InvalidName",
    "InvalidScope",
    "InvalidValue",
    "LimitReached",
    "LoginRefused",
    "NewerSchema",
    "NotADatabase",
    "NotNow",
    "OlderSchema",
    "ServedAlready",
    "StorageError",
    "StoreClosed",
    "SubmissionRefusal",
    "TokenRevoked",
    "Unknown",
    "Unreachable",
    "WriterFull",
    "public_message",
    "translate",
]


class StorageError(Exception):
    """Base of all storage errors; itself a failure that no subclass describes."""

    code: ClassVar[str] = "storage/failed"


class DatabaseLocked(StorageError):
    """Another program kept the database locked for longer than the busy time-out."""

    code = "storage/locked"


class ServedAlready(StorageError):
    """Another server runs on this database, and only one may."""

    code = "storage/served"


class DatabaseReadOnly(StorageError):
    """The database file, its folder or the database session is read-only."""

    code = "storage/read_only"


class DatabaseFull(StorageError):
    """The disk is full."""

    code = "storage/full"


class NotADatabase(StorageError):
    """The file is not a SQLite database, or belongs to another program."""

    code = "storage/not_a_database"


class CannotOpen(StorageError):
    """The database file cannot be opened or created."""

    code = "storage/cannot_open"


class NewerSchema(StorageError):
    """The database was made by a newer Plyhouse."""

    code = "storage/newer_schema"


class OlderSchema(StorageError):
    """The database needs a migration, and the caller did not ask for one."""

    code = "storage/older_schema"


class Unreachable(StorageError):
    """No database server answers at that address, or it went away."""

    code = "storage/unreachable"


class InDoubt(Unreachable):
    """The connection was lost during a commit, so the transaction may be stored or not.

    A caller that must know reads the rows back.  `plyhouse.storage.writer.Writer` does.
    """

    code = "storage/in_doubt"


class LoginRefused(StorageError):
    """The database server refused the user, the password or the database's name."""

    code = "storage/login_refused"


class DriverMissing(StorageError):
    """The driver of this kind of database is not installed."""

    code = "storage/driver_missing"


class DriverBroken(StorageError):
    """A package that storage needs is installed but cannot be imported."""

    code = "storage/driver_broken"


class BadUrl(StorageError):
    """The database URL cannot be read, or has an option that does not exist."""

    code = "storage/bad_url"


class WriterFull(StorageError):
    """More is waiting to be written than the writer accepts."""

    code = "storage/overloaded"


class StoreClosed(StorageError):
    """The store or its writer was closed."""

    code = "storage/closed"


class ClaimLost(StoreClosed):
    """Another server has claimed the database, so this one must not write to it."""

    code = "storage/claim_lost"


class InvalidName(StorageError):
    """A name is not of the allowed form."""

    code = "storage/bad_name"


class InvalidScope(StorageError):
    """A token's scope does not exist."""

    code = "storage/bad_scope"


class InvalidValue(StorageError):
    """A text or number cannot be stored, such as a text with a NUL or a number of 65 bits."""

    code = "storage/bad_value"


class TokenRevoked(StorageError):
    """The token was once valid and has been revoked."""

    code = "storage/revoked"


class Disabled(StorageError):
    """An organiser has disabled the player or the bot."""

    code = "storage/disabled"


class LimitReached(StorageError):
    """The server allows no more objects of this kind."""

    code = "storage/limit"


class NotNow(StorageError):
    """The request does not fit the current state, such as pausing a finished competition."""

    code = "storage/not_now"


class CompetitionRefusal(StorageError):
    """The rules of a competition forbid the request; ``code`` names the rule."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code  # type: ignore[misc]  # one class, as all are handled alike


class SubmissionRefusal(StorageError):
    """A submission cannot be accepted or removed; ``code`` says why.

    ``retry_after`` is the number of seconds after which to try again, if known.
    """

    def __init__(self, code: str, text: str, retry_after: int | None = None) -> None:
        super().__init__(text)
        self.code = code  # type: ignore[misc]  # one class, as all are handled alike
        self.retry_after = retry_after


class AlreadyExists(StorageError):
    """The object to create already exists."""

    code = "storage/exists"


class DisplayTaken(StorageError):
    """A display name looks like the name or the display name of another player."""

    code = "storage/display_taken"


class Unknown(StorageError):
    """The requested object does not exist."""

    code = "storage/unknown"


_FOR_EVERYBODY = (
    InvalidName,
    InvalidScope,
    TokenRevoked,
    Disabled,
    LimitReached,
    NotNow,
    CompetitionRefusal,
    SubmissionRefusal,
    AlreadyExists,
    DisplayTaken,
    Unknown,
)


def public_message(error: StorageError) -> str:
    """Return a message for remote users that does not reveal where the database is.

    Errors of the database's driver name its file, or its host and user, for the log and for users
    of this machine.
    """
    if isinstance(error, _FOR_EVERYBODY) and error.__cause__ is None:
        return str(error)
    if isinstance(error, InvalidValue):
        return "such a value cannot be stored; use texts without NUL and numbers of up to 64 bits"
    if isinstance(error, (DatabaseFull, DatabaseReadOnly)):
        return "the server cannot write to its database now; its organiser has to see to that"
    if isinstance(error, (DatabaseLocked, Unreachable, WriterFull, StoreClosed)):
        return "the server's database does not answer; try again in a while"
    return "the server's database failed; its log says more"


_DRIVERS = {"asyncpg": "plyhouse[postgresql]", "aiosqlite": "plyhouse"}
"""The package to install for a missing driver."""


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
    original = error.orig if isinstance(error, sa.DBAPIError) else error
    if isinstance(original, sqlite3.Error):
        return _from_sqlite(original, place)
    if isinstance(original, OSError):  # refused, unresolvable, timed out: TimeoutError is one too
        return _unreachable(place, original)
    state = _sqlstate(original)
    if state is not None or isinstance(error, sa.DBAPIError):
        return _from_postgresql(error, original, state, place)
    return StorageError(f"{place} failed: {_first_line(error)}")


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
        case "55P03" | "57014":
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
        case "53100":
            return DatabaseFull(f"the disk that holds {place} is full; make room on it")
        case "23503":
            return _from_constraint(text, foreign=True, place=place)
        case "23505" | "23502" | "23514":
            return _from_constraint(text, foreign=False, place=place)
    if state is not None and state.startswith("22"):
        return _unstorable(place, original)
    lost = isinstance(error, sa.DBAPIError) and error.connection_invalidated
    if lost or (state is not None and state.startswith(("08", "57P"))):
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
