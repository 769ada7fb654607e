"""The claim on a database, which `plyhouse serve` holds so that no second server uses it.

Two servers would both take up the matches that were running, and each would store actions that
the other knows nothing of.  The claim is advisory: programs that only add a player or read a
record do not ask for it, and work beside a server.  It is released by the operating system or the
database server when the process dies, however that happens:

- SQLite file: a lock on ``FILE.lock`` beside it.  The file stays there, and means nothing without
the lock.
  It holds the process number of the server, for the message to the next one.
- PostgreSQL: an advisory lock of a session, one for each schema.  It lasts as long as that
  connection: when the database server restarts under a running Plyhouse server, it is gone.
  The connection is watched: from the moment it is lost nothing is written, and the claim is asked
  for again.  It is lost for good if another server has it or had it meanwhile, which a mark in
  the table ``meta`` shows, or if it cannot be had within `PATIENCE_S`.  The connection must be to
  PostgreSQL itself or to a pool of sessions: a pool of transactions would share the lock.
- SQLite in memory: nobody else can see it, so there is nothing to claim.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import secrets
import sys
import time
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from sqlalchemy import select, text

from plyhouse.storage.errors import CannotOpen, ClaimLost, ServedAlready
from plyhouse.storage.models import meta

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

__all__ = ["FileClaim", "SessionClaim"]

log = logging.getLogger("plyhouse.storage.claim")

PATIENCE_S: Final = 60.0
"""How long a lost claim is asked for again before the server gives up."""
CHECK_S: Final = 5.0
"""How often the connection that holds the claim is tried, and how long it may take to answer."""
_PAUSE_S: Final = 0.25
_MARK: Final = "claim"
"""Row of the table ``meta`` that says which server had the claim last."""
_LOCK_CLASS: Final = 0x506C7968
"""First key of our advisory locks in PostgreSQL ("Plyh"); the second stands for the schema."""
_NAME: Final = "plyhouse serve "
"""``application_name`` of the session that holds the claim; process number and mark follow."""
_Errors: TypeAlias = tuple[type[BaseException], ...]
_BEYOND: Final = 1 << 30
"""Where the locked byte is on Windows, whose locks keep others from reading what they cover."""


class FileClaim:
    """The claim on a SQLite file; made by `FileClaim.take`."""

    held: Final = True
    """The operating system keeps it for as long as the process lives."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    @classmethod
    def take(cls, path: Path, place: str) -> FileClaim | None:
        """Claim the database at ``path``; `ServedAlready` if another server has it.

        None if no file can be made there: then writing the database fails, too, with a better
        message.
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

    def refusal(self) -> None:
        """Why it is lost for good: it is not."""

    async def lost(self) -> ClaimLost:
        """Wait until it is lost, which never happens."""
        await asyncio.Event().wait()
        raise AssertionError("nobody sets that event")

    async def release(self) -> None:
        """Let another server have the database; the file stays."""
        os.close(self._descriptor)


class _NotYet(OSError):  # noqa: N818  (a condition, named after what it is)
    """Our earlier session still holds the claim; it will end."""


class SessionClaim:
    """The claim on a schema of a PostgreSQL database; made by `SessionClaim.take`."""

    def __init__(self, engine: AsyncEngine, place: str, errors: _Errors) -> None:
        self._engine = engine
        self._place = place
        self._errors = errors
        self._mark = secrets.token_hex(8)
        """Written whenever we get the claim: as long as it is unchanged, nobody else has had it."""
        self._connection: AsyncConnection | None = None
        self._gone = asyncio.Event()
        self._end: asyncio.Future[ClaimLost] = asyncio.get_running_loop().create_future()
        self._watch: asyncio.Task[None] | None = None

    @classmethod
    async def take(cls, engine: AsyncEngine, place: str, errors: _Errors) -> SessionClaim:
        """Claim the schema that ``engine`` works in; `ServedAlready` if another server has it.

        Lets the ``errors`` of SQLAlchemy and the driver through.
        """
        claim = cls(engine, place, errors)
        await claim._take(None)
        claim._watch = asyncio.get_running_loop().create_task(claim._keep())
        return claim

    @property
    def held(self) -> bool:
        """True if the connection that holds it was alive when last heard of."""
        return self._connection is not None and not self._gone.is_set()

    async def lost(self) -> ClaimLost:
        """Wait until it is lost for good; return why."""
        return await asyncio.shield(self._end)

    def refusal(self) -> ClaimLost | None:
        """Why it is lost for good; None as long as it is not."""
        return self._end.result() if self._end.done() else None

    async def release(self) -> None:
        """Let another server have the schema."""
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.wait({self._watch})
        if self._connection is not None:
            with contextlib.suppress(Exception):  # Every error ends the session, and its locks.
                await self._connection.execute(text("SELECT pg_advisory_unlock_all()"))
        await self._drop()

    async def _take(self, mark: str | None) -> None:
        """Get the lock; with ``mark``, raise `ClaimLost` if the database has another one."""
        connection = await self._engine.connect()
        gone = asyncio.Event()
        try:
            # Not within a transaction, which would keep old rows from being cleared away.
            await connection.execution_options(isolation_level="AUTOCOMMIT")
            driver = (await connection.get_raw_connection()).driver_connection
            assert driver is not None  # noqa: S101 (for the type checker)
            driver.add_termination_listener(lambda _: gone.set())
            schema = (await connection.execute(text("SELECT current_schema()"))).scalar_one()
            keys = {"a": _LOCK_CLASS, "b": zlib.crc32(str(schema).encode()) & 0x7FFFFFFF}
            named = {"application_name": f"{_NAME}{os.getpid()} {self._mark}"}
            for name, value in (named | _KEEP_ALIVE).items():
                await connection.execute(
                    text("SELECT set_config(:name, :value, false)"), {"name": name, "value": value}
                )
            lock = text("SELECT pg_try_advisory_lock(:a, :b)")
            if not (await connection.execute(lock, keys)).scalar_one():
                holder = (await connection.execute(_HOLDER, keys)).scalar_one_or_none() or ""
                if mark is not None and str(holder).endswith(mark):
                    raise _NotYet("the database server has not noticed yet that we were cut off")
                raise _served(str(holder).removeprefix(_NAME).partition(" ")[0], self._place)
            row = meta.c.name == _MARK
            found = (await connection.execute(select(meta.c.value).where(row))).scalar_one_or_none()
            if mark is not None and found != mark:
                raise ClaimLost(
                    f"another Plyhouse server has used {self._place} meanwhile; "
                    "start this one again"
                )
            values = {"name": _MARK, "value": self._mark}
            await connection.execute(
                meta.insert().values(values)
                if found is None
                else meta.update().where(row).values(values)
            )
        except BaseException:
            with contextlib.suppress(Exception):
                await connection.invalidate()  # it has another name now: not for the pool
                await connection.close()
            raise
        self._connection, self._gone = connection, gone

    async def _keep(self) -> None:
        """Watch the connection, and get the claim again when it is lost."""
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(CHECK_S):
                    await self._gone.wait()
            if self._gone.is_set() or not await self._answers():
                self._gone.set()
                log.warning(
                    "the claim on %s is lost; nothing is stored until it is had again", self._place
                )
                await self._drop()
                why = await self._take_again()
                if why is not None:
                    self._end.set_result(why)
                    return
                log.warning("the claim on %s is had again", self._place)

    async def _answers(self) -> bool:
        assert self._connection is not None  # noqa: S101 (for the type checker)
        try:
            async with asyncio.timeout(CHECK_S):
                await self._connection.execute(text("SELECT 1"))
        except self._errors:
            return False
        return True

    async def _take_again(self) -> ClaimLost | None:
        """Try for a while; why it cannot be, or None."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            try:
                async with asyncio.timeout(max(CHECK_S, deadline - time.monotonic())):
                    await self._take(self._mark)
            except ServedAlready as error:
                return ClaimLost(str(error))
            except ClaimLost as error:
                return error
            except self._errors as error:
                if time.monotonic() >= deadline:
                    return ClaimLost(
                        f"{self._place} was out of reach for {PATIENCE_S:g} s ({error}), and "
                        "another server may use it now; start this one again"
                    )
            else:
                return None
            await asyncio.sleep(_PAUSE_S)

    async def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(Exception):
                await connection.invalidate()
                await connection.close()


_KEEP_ALIVE: Final = {
    "tcp_keepalives_idle": "30",
    "tcp_keepalives_interval": "10",
    "tcp_keepalives_count": "3",
}
"""When our machine dies, another server is to get the claim within a minute and not two hours."""
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
