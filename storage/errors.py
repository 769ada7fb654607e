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

This module does not touch SQLAlchemy, so that programs without a database can handle the errors.
`plyhouse.storage.driver_errors` makes them from those of the drivers.
"""

# ruff: noqa: N818  (the names say what is wrong; "DatabaseLockedError" says it no better)
from __future__ import annotations

from typing import ClassVar, Final


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
    """The database needs a migration, which the caller did not ask for or an older version has."""

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


TRANSIENT: Final[tuple[type[StorageError], ...]] = (
    DatabaseLocked,
    DatabaseFull,
    Unreachable,
    WriterFull,
)
"""Temporary storage errors: repeat the write until it succeeds."""

PERSISTENT_ATTEMPTS: Final = 3
"""How often to try a write that fails with another storage error.  More than once, because rows of
others may have spoilt the common transaction.
"""

RETRY_SECONDS: Final = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
"""Seconds before each repetition; the last number holds for all later ones."""
