"""The store: queries and changes of a database, awaited by the server.

Queries are functions of a connection in the modules of this package.  `Store.read` and
`Store.write` run one in a transaction: ``await store.read(competition_sql.find, name)``.  Pass
`Store.now` to functions that take the time.

Methods raise `plyhouse.storage.errors.StorageError`, whose subclasses say what is wrong. Writes
have reached the disk when a method returns. For the stream of actions during matches use
`plyhouse.storage.writer.Writer`, which shares transactions between matches.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import stat
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Concatenate, Final, ParamSpec, Self, TypeVar, cast

from sqlalchemy import Connection

from plyhouse.protocol.api.bots import Bot
from plyhouse.protocol.api.people import ErasedPlayer, PlayerAccount
from plyhouse.storage import (
    competition_entries,
    erasure,
    people,
    schema,
    suspensions,
)
from plyhouse.storage.database import Database
from plyhouse.storage.errors import CannotOpen, ClaimLost, DatabaseFull, DatabaseReadOnly
from plyhouse.storage.match_writes import operations
from plyhouse.storage.personal_data import known_names
from plyhouse.storage.rows import By, EventRow, Identity, Op, wall_ms
from plyhouse.storage.statements import parts
from plyhouse.storage.submissions import Submissions
from plyhouse.storage.urls import not_permitted, parse_url

OWNER_ONLY = 0o600
OTHERS = stat.S_IRWXO
BESIDE = ("-wal", "-shm", "-journal")
"""Ends of the names of files that stand beside a database."""


def protect_file(url: str, *, create: bool) -> None:
    """Let only its owner and, if it exists already, its group read a SQLite file.

    ``create`` creates a missing file for its owner alone.  SQLite gives the same permissions to the
    files beside it.  Raises `BadUrl` or `CannotOpen` as `parse_url` does, and `CannotOpen` or
    `DatabaseReadOnly` with the permission that is missing.
    """
    target = parse_url(url)
    if target.path is None or os.name != "posix":
        return
    if not target.read_only:
        with contextlib.suppress(OSError):
            if create and not target.path.exists():
                flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY
                os.close(os.open(target.path, flags, OWNER_ONLY))
            permissions = stat.S_IMODE(target.path.stat().st_mode)
            if permissions & OTHERS:
                target.path.chmod(permissions & ~OTHERS)
    _refuse_unusable(target.path, read_only=target.read_only)


def _refuse_unusable(path: Path, *, read_only: bool) -> None:
    """Raise `CannotOpen` or `DatabaseReadOnly` for what this user may not read or write.

    Files that a command has made by ``sudo`` are such, those beside the database as well.
    """
    wanted = os.R_OK if read_only else os.R_OK | os.W_OK
    for each in (path, *(path.with_name(path.name + end) for end in BESIDE)):
        if each.exists() and not _may(each, wanted):
            kind = DatabaseReadOnly if _may(each, os.R_OK) else CannotOpen
            raise kind(f"the database {path} cannot be used: {not_permitted(each)}")
    folder = path.absolute().parent
    if not read_only and not _may(folder, os.W_OK):
        raise DatabaseReadOnly(f"the database {path} cannot be used: {not_permitted(folder)}")


def _may(path: Path, mode: int) -> bool:
    return os.access(path, mode, effective_ids=os.access in os.supports_effective_ids)


P = ParamSpec("P")
T = TypeVar("T")

_TOUCH_EVERY_MS = 60_000
LEAST_FREE: Final = 8 * 1024 * 1024
"""Bytes left on the disk of a database file below which it counts as full."""
_EVENTS = {EventRow}


def _notes(
    connection: Connection, bot: Bot, version: int, label: str, now_ms: int
) -> tuple[str, list[str]]:
    return (
        suspensions.reason_of(connection, version),
        competition_entries.unhelped(connection, bot, label, now_ms),
    )


class Store:
    """An open Plyhouse database; made by `Store.open`, also usable with ``async with``."""

    def __init__(self, database: Database, clock: Callable[[], int]) -> None:
        self._database = database
        self._clock = clock
        self._operations = operations(database.dialect)
        self.submissions = Submissions(database)
        """Takes packages of bots."""

    @classmethod
    async def open(
        cls,
        url: str,
        *,
        migrate: bool = True,
        create: bool = True,
        clock: Callable[[], int] = wall_ms,
    ) -> Store:
        """Open the database at a URL (see `plyhouse.storage.urls`), made or migrated if need be.

        Without ``create`` a file that does not exist raises `CannotOpen` and is not made.
        Without ``migrate`` a database of an older schema raises `OlderSchema`. ``clock`` gives
        the wall-clock time in ms.
        """
        protect_file(url, create=create)
        return cls(await Database.open(url, migrate=migrate, create=create), clock)

    async def claim(self, *, shared: bool = False, address: str = "", version: str = "") -> None:
        """Be the one server of this database until it is closed; raises `ServedAlready`.

        With ``shared`` be a member of a cluster on PostgreSQL.  Members exclude single servers
        only; others reach this one at the URL ``address``, and it runs this ``version``.

        After the death of a server on PostgreSQL this waits some seconds for its lease to expire.

        Stores that are open for a moment, to add a player or read a record, need no claim.
        """
        await self._database.claim(shared=shared, address=address, version=version)

    @property
    def epoch(self) -> int:
        """The epoch of the lease of this server, which identifies it; 0 without a lease."""
        return self._database.epoch

    @property
    def lease_left_s(self) -> float | None:
        """How long this server's lease is valid, in seconds; None without a lease.

        When it is negative, the server could not renew its lease, and another one may end it.
        """
        lease = self._database.lease
        return None if lease is None else lease.left_s

    async def claim_lost(self) -> ClaimLost:
        """Wait until another server has taken over the database; return that as an error.

        From then on everything that writes raises it.  Happens with PostgreSQL only, when this
        server did not renew its lease in time (`plyhouse.storage.claim`).
        """
        return await self._database.claim_lost()

    async def close(self) -> None:
        """Close the connections; close a `Writer` of this store before."""
        await self._database.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def probe(self) -> None:
        """Write something and see it reach the disk; raises what keeps that from happening.

        Also raises `DatabaseFull` while a file's disk has next to no room left: writing within
        what the log has already taken up would still work then, and not for long.
        """
        target = self._database.target
        now = self._clock()
        await self._database.write(lambda c: schema.put_meta(c, "probed_ms", str(now)))
        if target.path is not None:
            free = shutil.disk_usage(target.path.absolute().parent).free
            if free < LEAST_FREE:
                raise DatabaseFull(
                    f"the disk that holds {target.place} has {free:,} bytes left; make room on it"
                )

    def now(self) -> int:
        """Return the wall-clock time by which the database keeps dates, in ms."""
        return self._clock()

    async def read(
        self, query: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run ``query(connection, *args, **kwargs)`` on one consistent state of the database.

        The database refuses a query that writes.
        """
        return await self._database.read(lambda c: query(c, *args, **kwargs))

    async def write(
        self, change: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run ``change(connection, *args, **kwargs)`` in a transaction; return once it is durable.

        ``change`` may run again after its transaction was rolled back.
        """
        return await self._database.write(lambda c: change(c, *args, **kwargs))

    @property
    def place(self) -> str:
        """Name of the database for messages, without a password."""
        return self._database.target.place

    # people

    async def add_player(self, name: str, display: str = "") -> PlayerAccount:
        """Make a player; raises `InvalidName` or `AlreadyExists` (names ignore case)."""
        now = self._clock()
        return await self._database.write(lambda c: people.add_player(c, name, now, display))

    async def add_token(
        self, player: str | int | PlayerAccount, scopes: Sequence[str] = ("play",), label: str = ""
    ) -> str:
        """Make a token for a player (name, id or row); this is the only time it can be seen."""
        now = self._clock()
        player_id = await self._player_id(player)
        return await self._database.write(
            lambda c: people.add_token(c, player_id, scopes, label, now)
        )

    async def authenticate(self, token: str) -> Identity | None:
        """Return whose token this is, None for nobody's; raises `TokenRevoked` or `Disabled`."""
        found = await self._database.read(lambda c: people.authenticate(c, token))
        if found is None:
            return None
        identity, last_used = found
        now = self._clock()
        stale = last_used is None or now - last_used >= _TOUCH_EVERY_MS
        if stale and not self._database.target.read_only:
            token_id = identity.token_id
            self._database.write_behind(lambda c: people.touch_token(c, token_id, now))
        return identity

    async def ensure_bot(
        self, player_id: int, name: str, kind: str = "bot", limit: int | None = None
    ) -> Bot:
        """Return a player's bot by name (empty: the player's own), made now if need be.

        Raises `LimitReached` if the player has ``limit`` others already.
        """
        if name:
            people.check_name(name, "bot")
            found = await self._database.read(lambda c: people.find_bot(c, player_id, name))
            if found is not None:
                return found
        now = self._clock()
        return await self._database.write(
            lambda c: people.ensure_bot(c, player_id, name, kind, now, limit)
        )

    async def ensure_version(
        self, bot_id: int, label: str, limit: int | None = None, *, digest: str = ""
    ) -> int:
        """Return the id of a bot's version by label and digest, made now if need be.

        Raises `LimitReached` if the bot has ``limit`` others already.
        """
        now = self._clock()
        return await self._database.write(
            lambda c: people.ensure_version(c, bot_id, label, now, limit, digest)
        )

    async def log_in(
        self,
        bot: Bot,
        label: str,
        limit: int | None = None,
        *,
        digest: str = "",
        games: Collection[str] = (),
    ) -> int:
        """Like `ensure_version`, and the bot submits it to the competitions of its student.

        ``games`` are those that it accepts; where it plays none of them it is not entered.
        """
        now = self._clock()

        def work(connection: Connection) -> int:
            version = people.ensure_version(connection, bot.id, label, now, limit, digest)
            competition_entries.mark_connected(connection, version)
            competition_entries.enter_connected(
                connection, bot.player_id, bot.id, version, now, games
            )
            return version

        return await self._database.write(work)

    async def known_login(
        self, player_id: int, name: str, label: str, digest: str = ""
    ) -> tuple[Bot, int, str, list[str]] | None:
        """Return a bot, its version, why that is suspended, and `competition_entries.unhelped`.

        None if `log_in` has to write: the bot or the version is new, or may be submitted to a
        competition.  A bot that
        comes back in the middle of a match is known: its clock must not wait for commits.  Raises
        `InvalidName` for names and labels that nothing can have.
        """
        now = self._clock()
        people.check_name(name, "bot")

        def work(connection: Connection) -> tuple[Bot, int, str, list[str]] | None:
            row = people.find_bot(connection, player_id, name)
            if row is None:
                return None
            version = people.find_version(connection, row.id, label, digest)
            if version is None or competition_entries.changes(connection, row, version, now):
                return None
            return row, version, *_notes(connection, row, version, label, now)

        return await self._database.read(work)

    async def version_notes(self, bot: Bot, version: int, label: str) -> tuple[str, list[str]]:
        """Return why a version is suspended, and `competition_entries.unhelped`."""
        now = self._clock()
        return await self._database.read(
            lambda connection: _notes(connection, bot, version, label, now)
        )

    # matches

    async def apply(self, ops: Iterable[Op]) -> None:
        """Store operations in one transaction of their own: all of them or none."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def done(error: BaseException | None) -> None:
            if future.cancelled():
                return
            if error is None:
                future.set_result(None)
            else:
                future.set_exception(error)

        self.apply_soon(list(ops), done)
        await future

    def apply_soon(self, ops: Sequence[Op], done: Callable[[BaseException | None], None]) -> None:
        """Like `apply`, with a callback, which the event loop calls when they are durable.

        It gets None, or the `StorageError` that `apply` would raise (ValueError for returns
        that do not fit the match).
        """
        if set(map(type, ops)) == _EVENTS:
            rows = cast("Sequence[EventRow]", ops)
            self._database.add_events_soon(self._operations.add_events, rows, done)
        else:
            apply = self._operations.apply
            epoch = self.epoch
            self._database.write_soon(lambda link: apply(link, ops, epoch), done)

    async def erase(self, player_id: int, by: By) -> ErasedPlayer:
        """Erase an account that `erasure.begin` has disabled; you may repeat it.

        Raises `CompetitionRefusal` (``erasure/playing``) if it has begun a match since.
        """
        names = await self.read(known_names, player_id)
        ids = await self.read(erasure.played, player_id)
        for part in parts(ids, erasure.AT_ONCE):
            await self.write(erasure.rewrite_matches, player_id, part, names)
        erased = await self.write(erasure.finish, player_id, names, by, self.now())
        await self._database.drop_log()
        return erased

    async def _player_id(self, player: str | int | PlayerAccount) -> int:
        if isinstance(player, PlayerAccount):
            return player.id
        if isinstance(player, int):
            return player
        return (await self.read(people.player, player)).id
