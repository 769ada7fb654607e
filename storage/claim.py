"""The claim on a database, which `plyhouse serve` holds so that no second server uses it.

Two servers that do not know of each other would both take up the matches that were running, and
each would store actions that the other knows nothing of.  The claim is advisory: programs that
only add a player or read a record do not ask for it, and work beside a server.  It ends when the
process dies, however that happens:

- SQLite file: a lock on ``FILE.lock`` beside it.  The file stays there, and means nothing without
  the lock.  It holds the process number of the server, for the message to the next one.  A file
  with hard links is refused: each name would have a lock, and a journal, of its own.
- PostgreSQL: a lease on a schema, which the server renews every `RENEW_S` and which is valid for
  `VALID_S`.  Another server may end a lease that has expired: from then on every transaction of the
  earlier server is refused, see `plyhouse.storage.leases`.  A server that could not renew its
  lease, because the database was out of reach, goes on if no other one has ended it meanwhile.
  Members of a cluster hold a lease each, and exclude single servers only.
- SQLite in memory: nobody else can see it, so there is nothing to claim.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Final, TypeAlias

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from plyhouse.storage import leases
from plyhouse.storage.errors import CannotOpen, ClaimLost, ServedAlready

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncEngine

log = logging.getLogger("plyhouse.storage.claim")

RENEW_S: Final = 2.0
"""How often a lease is renewed."""
VALID_S: Final = 6.0
"""How long a lease is valid after it was renewed."""
ANSWER_S: Final = 2.0
"""How long a renewal may take before it is tried again."""
SILENT_LEFT_S: Final = VALID_S - 3.0
"""The rest of a lease of a silent member of a cluster that the others need not wait for.

Its last renewal is three seconds old then, so it missed the next one by a second.  A member with
no trouble but a broken connection to NATS renews its lease, and keeps it.
"""
_PAUSE_S: Final = 0.25
_RETRIABLE: Final = frozenset({"55P03", "40P01"})  # time-out of a lock, deadlock
_OR_CLUSTER: Final = ", or start all its servers with --cluster"
_Errors: TypeAlias = tuple[type[BaseException], ...]
_BEYOND: Final = 1 << 30
"""Where the locked byte is on Windows, whose locks keep others from reading what they cover."""


class FileClaim:
    """The claim on a SQLite file; made by `FileClaim.take`."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    @classmethod
    def take(cls, path: Path, place: str) -> FileClaim | None:
        """Claim the database at ``path``; `ServedAlready` if another server has it.

        None if no file can be made there: then writing the database fails, too, with a better
        message.
        """
        beside = path.resolve()  # one lock for all the names that lead to the file
        names = beside.stat().st_nlink if beside.exists() else 1
        if names > 1:
            raise CannotOpen(
                f"{beside} has {names} names (hard links), by which a second server could use it "
                f"without notice; remove the others (find / -samefile {beside}), or copy the file"
            )
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

    async def lost(self) -> ClaimLost:
        """Wait until it is lost, which never happens."""
        await asyncio.Event().wait()
        raise AssertionError("nobody sets that event")

    async def release(self) -> None:
        """Let another server have the database; the file stays."""
        os.close(self._descriptor)


class Lease:
    """The claim on a schema of a PostgreSQL database; made by `Lease.take`."""

    def __init__(self, engine: AsyncEngine, place: str, errors: _Errors) -> None:
        self._engine = engine
        self._place = place
        self._errors = errors
        self.epoch = 0
        """The number of the lease, which identifies the server in a cluster."""
        self._renewed = monotonic()
        self._end: asyncio.Future[ClaimLost] = asyncio.get_running_loop().create_future()
        self._renewing: asyncio.Task[None] | None = None

    @classmethod
    async def take(
        cls,
        engine: AsyncEngine,
        place: str,
        errors: _Errors,
        shared: bool = False,
        address: str = "",
        version: str = "",
    ) -> Lease:
        """Claim the schema that ``engine`` works in; `ServedAlready` if another server has it.

        A member of a cluster is ``shared``: other members do not matter.  They reach it at the URL
        ``address``, and it runs this ``version`` of Plyhouse.

        Waits for the lease of a server that died to expire.  Lets the ``errors`` of SQLAlchemy and
        the driver through.
        """
        lease = cls(engine, place, errors)
        holder = f"{socket.gethostname()}:{os.getpid()}"
        await lease._acquire(
            lambda connection: leases.acquire(
                connection, holder, valid_ms(), shared=shared, address=address, version=version
            )
        )
        lease._renewing = asyncio.get_running_loop().create_task(lease._renew())
        return lease

    def fence(self, connection: Connection) -> None:
        """Keep the lease from being ended before this transaction is over.

        Raises `ClaimLost` if another server has ended it.
        """
        if not leases.fence(connection, self.epoch, valid_ms()):
            raise self.ended()

    def ended(self) -> ClaimLost:
        """Return that another server has ended the lease, as an error."""
        return ClaimLost(
            f"another Plyhouse server has taken over {self._place}, because this one did not "
            "renew its lease in time; start this one again"
        )

    @property
    def left_s(self) -> float:
        """How long the lease is valid, in seconds; negative when others may end it.

        Members of a cluster end it up to `SILENT_LEFT_S` earlier if they hear nothing of this one.
        """
        return self._renewed + VALID_S - monotonic()

    async def lost(self) -> ClaimLost:
        """Wait until another server has ended the lease; return that as an error."""
        return await asyncio.shield(self._end)

    async def release(self) -> None:
        """Let another server have the schema."""
        if self._renewing is not None:
            self._renewing.cancel()
            await asyncio.wait({self._renewing})
        with contextlib.suppress(*self._errors, TimeoutError):  # Then it expires.
            async with asyncio.timeout(VALID_S), self._engine.begin() as connection:
                await connection.run_sync(leases.end, self.epoch)

    async def _acquire(self, acquire: Callable[[Connection], int | leases.Held]) -> None:
        """Try until the lease is ours, or a server renews its own."""
        first: leases.Held | None = None
        while True:
            self._renewed = monotonic()
            try:
                async with self._engine.begin() as connection:
                    found = await connection.run_sync(acquire)
            except DBAPIError as error:
                if getattr(error.orig, "sqlstate", None) not in _RETRIABLE:
                    raise
                continue  # A server whose lease expired has not finished its transaction.
            if isinstance(found, int):
                self.epoch = found
                return
            if first is None or first.epoch != found.epoch:
                first = found
            elif found.expires_ms > first.expires_ms:  # It was renewed, so that server runs.
                raise _served(found.holder.rpartition(":")[2], self._place, _OR_CLUSTER)
            await asyncio.sleep(_PAUSE_S)

    async def _renew(self) -> None:
        """Renew the lease until another server has ended it."""
        errors: _Errors = (*self._errors, TimeoutError)
        held, pause = True, RENEW_S
        while held:
            await asyncio.sleep(pause)
            begun = monotonic()
            try:
                async with asyncio.timeout(ANSWER_S), self._engine.begin() as connection:
                    held = await connection.run_sync(
                        leases.renew, self.epoch, valid_ms(), silent_left_ms()
                    )
                self._renewed, pause = begun, RENEW_S
            except errors as error:
                log.warning(
                    "lease not renewed", extra={"database": self._place, "why": repr(error)}
                )
                pause = _PAUSE_S
            except Exception:  # nobody would notice if this task ended
                log.exception("lease not renewed", extra={"database": self._place})
                pause = _PAUSE_S
        self._end.set_result(self.ended())


def valid_ms() -> int:
    """Return for how many ms a renewal keeps a lease valid."""
    return round(VALID_S * 1000)


def silent_left_ms() -> int:
    """Return `SILENT_LEFT_S` in ms."""
    return round(SILENT_LEFT_S * 1000)


def _served(holder: str, place: str, otherwise: str = "") -> ServedAlready:
    who = f" (process {holder})" if holder.isascii() and holder.isdigit() else ""
    return ServedAlready(
        f"another Plyhouse server{who} uses {place}; stop it or choose another database{otherwise}"
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
