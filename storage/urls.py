"""Database URLs as users write them, and what they mean.

``sqlite:///plyhouse.db`` (relative), ``sqlite:////var/lib/plyhouse.db`` (absolute),
``sqlite:///:memory:`` and ``postgresql://user:password@host:port/database``. A file name is taken
literally, up to the ``?`` before options:

=================== ======================= ==================================================
option              values (default first)  meaning
=================== ======================= ==================================================
``synchronous``     ``full``, ``normal``    ``normal``: the last moments may be lost when the
                                            machine loses power (never when a program dies)
``busy_timeout_ms`` 5000, 0 to 600000       how long to wait for another program's lock
``mode``            ``rw``, ``ro``          SQLite only: ``ro`` opens for reading only
``schema``          ``public``              PostgreSQL only: the schema to live in
``sslmode``         as libpq                PostgreSQL only
=================== ======================= ==================================================
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from plyhouse.storage.errors import BadUrl, CannotOpen

_FORMS = "sqlite:///file.db, sqlite:///:memory: or postgresql://user@host/database"
_SSL_MODES = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")
_MAX_BUSY_MS = 600_000
FULL_SYNC = True
"""True if databases wait for the disk unless their URL says otherwise."""


@dataclass(frozen=True, slots=True)
class Target:
    """A database URL taken apart."""

    kind: str
    """``sqlite`` or ``postgresql``."""
    url: URL
    """Without options and without a driver."""
    place: str
    """Names the database in messages; never with the password."""
    path: Path | None = None
    """The file of a SQLite database; None for one in memory."""
    full_sync: bool = True
    busy_timeout_ms: int = 5000
    read_only: bool = False
    schema: str | None = None
    ssl: str | None = None

    @property
    def in_memory(self) -> bool:
        """True if this is a SQLite database that lives and dies with its connection."""
        return self.kind == "sqlite" and self.path is None


def parse_url(text: str) -> Target:
    """Read a database URL; `BadUrl` says what is wrong with it."""
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        raise BadUrl(f"{text!r} is not a database URL; write {_FORMS}") from None
    kind = url.get_backend_name()
    if kind not in ("sqlite", "postgresql"):
        raise BadUrl(f"{kind!r} databases are not supported; write {_FORMS}")
    options = {
        name: value if isinstance(value, str) else value[-1] for name, value in url.query.items()
    }
    full_sync = FULL_SYNC
    if "synchronous" in options:
        full_sync = _choice(options, "synchronous", ("full", "normal")) == "full"
    busy = _busy(options.pop("busy_timeout_ms", "5000"))
    bare = url.set(drivername=kind, query={})
    if kind == "sqlite":
        # SQLAlchemy 2.1 decodes %-escapes in file names and 2.0 does not: take the text itself.
        file = text.partition(":///")[2].partition("?")[0]
        target = _sqlite(bare.set(database=file), options, full_sync=full_sync, busy=busy)
    else:
        target = _postgresql(bare, options, full_sync=full_sync, busy=busy)
    if options:
        allowed = "mode" if kind == "sqlite" else "schema, sslmode"
        raise BadUrl(
            f"the database URL has an unknown option {min(options)!r}; "
            f"there are synchronous, busy_timeout_ms, {allowed}"
        )
    return target


def _refuse_out_of_reach(path: Path) -> None:
    """Raise `CannotOpen` if this user may not enter a folder on the way to a file."""
    for folder in reversed(path.absolute().parents):
        try:
            folder.stat()
        except PermissionError:
            raise CannotOpen(f"{path} is out of reach: {not_permitted(folder.parent)}") from None
        except OSError:
            return  # what is missing is said elsewhere
    try:
        path.exists()
    except PermissionError:
        raise CannotOpen(f"{path} is out of reach: {not_permitted(path.parent)}") from None


def not_permitted(path: Path) -> str:
    """Say who owns a file or folder and what this user may not do with it, and the fix."""
    status = path.stat()
    kind = "folder" if path.is_dir() else "file"
    return (
        f"the {kind} {path} belongs to {_user(status.st_uid)}, has the permissions "
        f"{stat.filemode(status.st_mode)}, and this program runs as {_user(os.geteuid())}; run it "
        f"as the owner, or change that: chown {_user(os.geteuid())} {path}"
    )


def _user(number: int) -> str:
    try:
        import pwd

        return pwd.getpwuid(number).pw_name
    except (ImportError, KeyError):
        return f"user {number}"


def _sqlite(url: URL, options: dict[str, str], *, full_sync: bool, busy: int) -> Target:
    if url.host:
        raise BadUrl(
            f"a SQLite URL has three slashes before a relative file: write sqlite:///{url.host}"
        )
    mode = _choice(options, "mode", ("rw", "ro"))
    if url.database in (None, "", ":memory:"):
        return Target(
            "sqlite",
            url.set(database=":memory:"),
            "the database in memory",
            full_sync=full_sync,
            busy_timeout_ms=busy,
        )
    path = Path(str(url.database))
    _refuse_out_of_reach(path)
    if path.is_dir():
        raise CannotOpen(f"{path} is a folder; give a file in it, such as {path / 'plyhouse.db'}")
    if not path.parent.is_dir():
        raise CannotOpen(f"the folder {path.parent} does not exist; create it first")
    if mode == "ro" and not path.exists():
        raise CannotOpen(f"{path} does not exist; without mode=ro it would be created")
    return Target(
        "sqlite",
        url,
        f"the database {path}",
        path=path,
        full_sync=full_sync,
        busy_timeout_ms=busy,
        read_only=mode == "ro",
    )


def _postgresql(url: URL, options: dict[str, str], *, full_sync: bool, busy: int) -> Target:
    if not url.database:
        raise BadUrl("the PostgreSQL URL names no database; write postgresql://user@host/database")
    schema = options.pop("schema", None)
    if schema is not None and not schema.isidentifier():
        raise BadUrl(f"schema={schema!r} is not a name; use letters, digits and _")
    ssl = _choice(options, "sslmode", _SSL_MODES) if "sslmode" in options else None
    return Target(
        "postgresql",
        url,
        f"the database {url.render_as_string(hide_password=True)}",
        full_sync=full_sync,
        busy_timeout_ms=busy,
        schema=schema,
        ssl=ssl,
    )


def _choice(options: dict[str, str], name: str, allowed: tuple[str, ...]) -> str:
    value = options.pop(name, allowed[0]).lower()
    if value not in allowed:
        raise BadUrl(
            f"{name}={value!r} in the database URL is not possible; use {' or '.join(allowed)}"
        )
    return value


def _busy(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > _MAX_BUSY_MS:
        raise BadUrl(f"busy_timeout_ms={text!r} is not possible; use 0 to {_MAX_BUSY_MS}")
    return int(text)
