"""One server for one database: what `plyhouse serve` holds for as long as it lives.

Two servers would both take up the matches that were running, and each would store actions that
the other knows nothing of.  The claim is advisory: programs that only add a player or read a
record do not ask for it, and work beside a server.  It is released by the operating system or the
database server when the process dies, however that happens:

- SQLite file: a lock on ``FILE.lock`` beside it (which stays there, and means nothing by itself).
  It holds the process number of the server, for the message to the next one.
- PostgreSQL: an advisory lock of a session, one for each schema.  It lasts as long as that
  connection: when the database server restarts under a running Plyhouse server, it is gone.
- SQLite in memory: nobody else can see it, so there is nothing to claim.
"""

from __future__ import annotations

import contextlib
import os
import sys
import zlib
from pathlib import Path
from typing import Final

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from plyhouse.storage.errors import CannotOpen, ServedAlready

__all__ = ["FileClaim", "SessionClaim"]

_LOCK_CLASS: Final = 0x506C7968
"""First key of our advisory locks in PostgreSQL ("Plyh"); the second stands for the schema."""
_NAME: Final = "plyhouse serve "
"""``application_name`` of the session that holds the claim, followed by the process number."""
_BEYOND: Final = 1 << 30
"""Where the locked byte is on Windows, whose locks keep others from reading what they cover."""


class FileClaim:
    """The claim on a SQLite file; made by `FileClaim.take`."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    @classmethod
    def take(cls, path: Path, place: str) -> FileClaim | None:
        """Claim the database at ``path``; `ServedAlready` if another server has it.

        None if no file can be made there: then the database cannot be written either, which is
        better said by whoever tries.
        """
        beside = path.resolve()  # one lock for all the names that lead to the file
        beside = beside.with_name(beside.name + ".lock")
        try:
            descriptor = _open(beside)
        except (PermissionError, FileNotFoundError):
            return None
        except OSError as error:
            if error.errno is not None and not os.access(beside.parent, os.W_OK):
                return None  # a file system for reading only
            raise CannotOpen(
                f"{beside} cannot be opened ({error.strerror}); remove what is there"
            ) from error
        try:
            locked = _lock(descriptor)
        except OSError as error:
            os.close(descriptor)
            raise CannotOpen(
                f"{beside} cannot be locked ({error.strerror}); keep the database on a file "
                "system with locks"
            ) from error
        if not locked:
            holder = _read(descriptor)
            os.close(descriptor)
            raise _served(holder, place)
        with contextlib.suppress(OSError):  # another user's file: the lock is what counts
            os.ftruncate(descriptor, 0)
            os.write(descriptor, b"%d\n" % os.getpid())
        return cls(descriptor)

    async def release(self) -> None:
        """Let another server have the database; the file stays."""
        os.close(self._descriptor)


class SessionClaim:
    """The claim on a schema of a PostgreSQL database; made by `SessionClaim.take`."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    @classmethod
    async def take(cls, engine: AsyncEngine, place: str) -> SessionClaim:
        """Claim the schema that ``engine`` works in; `ServedAlready` if another server has it.

        Lets the errors of SQLAlchemy and the driver through.
        """
        connection = await engine.connect()
        try:
            # Not within a transaction, which would keep old rows from being cleared away.
            await connection.execution_options(isolation_level="AUTOCOMMIT")
            schema = (await connection.execute(text("SELECT current_schema()"))).scalar_one()
            keys = {"a": _LOCK_CLASS, "b": zlib.crc32(str(schema).encode()) & 0x7FFFFFFF}
            await connection.execute(
                text("SELECT set_config('application_name', :name, false)"),
                {"name": f"{_NAME}{os.getpid()}"},
            )
            lock = text("SELECT pg_try_advisory_lock(:a, :b)")
            if not (await connection.execute(lock, keys)).scalar_one():
                holder = (await connection.execute(_HOLDER, keys)).scalar_one_or_none() or ""
                raise _served(str(holder).removeprefix(_NAME), place)
        except BaseException:
            await connection.invalidate()  # it has another name now: not for the pool
            await connection.close()
            raise
        return cls(connection)

    async def release(self) -> None:
        """Let another server have the schema."""
        with contextlib.suppress(Exception):  # whatever it is, the session ends, and its locks
            await self._connection.execute(text("SELECT pg_advisory_unlock_all()"))
        await self._connection.invalidate()
        await self._connection.close()


_HOLDER: Final = text(
    "SELECT application_name FROM pg_stat_activity WHERE pid = (SELECT pid FROM pg_locks"
    " WHERE locktype = 'advisory' AND granted AND classid = :a AND objid = :b AND database ="
    " (SELECT oid FROM pg_database WHERE datname = current_database()))"
)


def _served(holder: str, place: str) -> ServedAlready:
    who = f" (process {holder})" if holder.isascii() and holder.isdigit() else ""
    return ServedAlready(
        f"another Plyhouse server{who} uses {place}; stop it or choose another database"
    )


def _open(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except PermissionError:  # made by another user: to lock it, reading is enough
        return os.open(path, os.O_RDONLY)


def _read(descriptor: int) -> str:
    os.lseek(descriptor, 0, os.SEEK_SET)
    return os.read(descriptor, 32).decode(errors="replace").strip()


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> bool:
        os.lseek(descriptor, _BEYOND, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except PermissionError:
            return False
        finally:
            os.lseek(descriptor, 0, os.SEEK_SET)
        return True

else:
    import fcntl

    def _lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
