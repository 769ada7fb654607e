"""Looking after a database: copied to another kind, backed up, checked, brought up to date.

These are for the command line: each opens the databases that it works on by their URLs.  A copy
reads one consistent state, also beside a running server, and stores all of it or nothing.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sqlalchemy import Connection, and_, case, func, inspect, literal, or_, select, text

from plyhouse.storage import engines, schema
from plyhouse.storage.database import Database
from plyhouse.storage.errors import AlreadyExists, CannotOpen, OlderSchema, StorageError
from plyhouse.storage.models import (
    bots,
    cluster_batches,
    events,
    leaders,
    leases,
    match_seats,
    matches,
    meta,
    metadata,
    outputs,
    package_parts,
    packages,
    pairings,
    standings,
    submissions,
    tournament_entries,
    tournaments,
)
from plyhouse.storage.rows import RUNNING
from plyhouse.storage.sessions import ROLE
from plyhouse.storage.urls import parse_url

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection

OF_SERVERS: Final = (leases, leaders, cluster_batches)
"""Tables about the servers that run on a database, which a copy leaves out."""
TABLES: Final = tuple(table for table in metadata.sorted_tables if table not in (meta, *OF_SERVERS))
"""All tables with what users stored, each after those that it refers to."""
ROWS_AT_ONCE: Final = 2_000
LONG_ROWS: Final = {package_parts.name: 8, outputs.name: 64}
"""Rows at once of tables whose rows are long."""

Progress = Callable[[str, int], None]
"""Told the name of a table and how many of its rows are copied."""


# ------------------------------------------------------------------------------------- copying


async def copy(source_url: str, target_url: str, progress: Progress | None = None) -> int:
    """Copy everything into an empty database of any kind; return how many rows that was.

    Raises `AlreadyExists` if there is something in the target, and `ServedAlready` if a server
    runs on one of the two: what is played meanwhile would be missing in the copy.
    """
    source = await Database.open(source_url, migrate=False, create=False)
    try:
        await source.claim()
        target = await Database.open(target_url)
        try:
            await target.claim()
            return await _copy(source, target, progress)
        finally:
            await target.close()
    finally:
        await source.close()


async def _copy(source: Database, target: Database, progress: Progress | None) -> int:
    if target.target.in_memory:
        raise CannotOpen("a copy in memory would be gone at once; give a file or a server")
    total = 0
    async with _session(source, write=False) as reader, _session(target, write=True) as writer:
        await writer.run_sync(_refuse_full, target.target.place)
        for table in TABLES:
            count = 0
            at_once = LONG_ROWS.get(table.name, ROWS_AT_ONCE)
            query = select(table).execution_options(yield_per=at_once)
            async with reader.stream(query) as found:
                async for rows in found.mappings().partitions(at_once):
                    await writer.execute(table.insert(), [dict(row) for row in rows])
                    count += len(rows)
                    if progress is not None:
                        progress(table.name, count)
            stored = await writer.scalar(select(func.count()).select_from(table))
            if stored != count:
                raise StorageError(f"{count} rows of {table.name} were copied, and {stored} came")
            total += count
        owned = pairings.update().where(pairings.c.owner.is_not(None))
        await writer.execute(owned.values(owner=None))  # leases are not copied
        # Of the facts about the database, only the roles of accounts are copied.
        roles = await reader.execute(select(meta).where(meta.c.name.startswith(ROLE)))
        for row in roles.mappings():
            await writer.execute(meta.insert(), [dict(row)])
        if writer.dialect.name == "postgresql":
            await writer.run_sync(_count_on)
    return total


@contextlib.asynccontextmanager
async def _session(database: Database, *, write: bool) -> AsyncIterator[AsyncConnection]:
    """One long transaction, committed at the end."""
    engine = engines.tool_engine(database.target, write=write)
    try:
        async with engine.connect() as connection, connection.begin():
            yield connection
    except Exception as error:
        known = database.explain(error)
        if known is None or known is error:
            raise
        raise known from error
    finally:
        await engine.dispose()


def _refuse_full(connection: Connection, place: str) -> None:
    for table in TABLES:
        if connection.execute(select(literal(1)).select_from(table).limit(1)).first():
            raise AlreadyExists(
                f"{place} is not empty (there is something in {table.name}); "
                "copy into a new database"
            )


def _count_on(connection: Connection) -> None:
    """Let PostgreSQL give the next ids after those that were copied."""
    for table in TABLES:
        key = table.autoincrement_column
        if key is None:
            continue
        sequence = connection.execute(
            select(func.pg_get_serial_sequence(table.name, key.name))
        ).scalar_one()
        last = connection.execute(select(func.max(key))).scalar_one()
        if sequence is not None and last is not None:
            connection.execute(select(func.setval(sequence, last)))


# ------------------------------------------------------------------------------------ backing up


async def backup(url: str, path: Path) -> None:
    """Write a copy of the database to a new SQLite file, also while a server runs on it.

    The file appears at its place when it is whole.  It holds seeds of matches that are still
    played, and can be read by its owner only.
    """
    part = _beside(path)
    source = await Database.open(url, migrate=False, create=False)
    try:
        os.close(os.open(part, os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o600))
        if source.target.path is not None:
            _copy_file(source.target.path, part)
        else:
            target = await Database.open(f"sqlite:///{part}")
            try:
                await _copy(source, target, None)
            finally:
                await target.close()
        descriptor = os.open(part, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)
        part.rename(path)
    except (sqlite3.Error, OSError) as error:
        raise source.explain(error) or error from error
    finally:
        await source.close()
        for name in (part.name, f"{part.name}-wal", f"{part.name}-shm"):
            part.with_name(name).unlink(missing_ok=True)


def _beside(path: Path) -> Path:
    """Where a file is written that will be at ``path`` when it is whole."""
    if path.exists():
        raise AlreadyExists(f"{path} is there already; give the name of a new file")
    if not path.absolute().parent.is_dir():
        raise CannotOpen(f"the folder {path.parent} does not exist; create it first")
    part = path.with_name(path.name + ".part")
    part.unlink(missing_ok=True)
    return part


def _copy_file(source: Path, target: Path) -> None:
    with (
        contextlib.closing(
            sqlite3.connect(f"{source.absolute().as_uri()}?mode=ro", uri=True)
        ) as old,
        contextlib.closing(sqlite3.connect(target)) as new,
    ):
        old.backup(new)  # In one piece: in steps it would restart whenever the server writes.
        # One file, without the log beside it; the next server makes one again.
        new.execute("PRAGMA journal_mode = DELETE")


# ------------------------------------------------------------------------------------- checking


async def check(url: str) -> list[str]:
    """Look for what cannot be in a sound database; one sentence for each thing found."""
    database = await Database.open(url, migrate=False, create=False)
    try:
        return await database.read(_check)
    finally:
        await database.close()


def _check(connection: Connection) -> list[str]:
    found = []
    if connection.dialect.name == "sqlite":
        for (line,) in connection.execute(text("PRAGMA integrity_check(20)")):
            if line != "ok":
                found.append(f"SQLite says: {line}.")
        for table, row, parent, _ in connection.execute(text("PRAGMA foreign_key_check")):
            found.append(f"Row {row} of {table} refers to nothing in {parent}.")
    found += _gaps(connection)
    found += _unended(connection)
    found += _miscounted(connection)
    found += _lonely(connection)
    found += _packageless(connection)
    return found


def _gaps(connection: Connection) -> list[str]:
    """Events are numbered from 0, without gaps."""
    count, last = func.count(), func.max(events.c.idx)
    query = (
        select(events.c.match_id, count, last)
        .group_by(events.c.match_id)
        .having(or_(last != count - 1, func.min(events.c.idx) != 0))
    )
    return [
        f"Match {match} has {events_} events and the last is number {last_}."
        for match, events_, last_ in connection.execute(query)
    ]


def _unended(connection: Connection) -> list[str]:
    """A pairing is over when all of its matches are."""
    left = func.sum(case((matches.c.finished_ms.is_(None), 1), else_=0))
    query = (
        select(pairings.c.id, pairings.c.finished_ms, left)
        .join(matches, matches.c.pairing_id == pairings.c.id)
        .group_by(pairings.c.id, pairings.c.finished_ms)
        .having(and_(pairings.c.finished_ms.is_not(None), left > 0))
    )
    return [
        f"Pairing {pairing} is over, and {count} of its matches are not."
        for pairing, _, count in connection.execute(query)
    ]


def _miscounted(connection: Connection) -> list[str]:
    """The leaderboards count the rated matches that have a result."""
    played = (
        select(matches.c.game, match_seats.c.bot_id, func.count().label("games"))
        .join(matches, matches.c.id == match_seats.c.match_id)
        .where(matches.c.rated, match_seats.c.result.is_not(None))
        .group_by(matches.c.game, match_seats.c.bot_id)
        .subquery()
    )
    same = and_(standings.c.game == played.c.game, standings.c.bot_id == played.c.bot_id)
    query = (
        select(standings.c.game, bots.c.name, standings.c.games, func.coalesce(played.c.games, 0))
        .join(bots, bots.c.id == standings.c.bot_id)
        .outerjoin(played, same)
        .where(standings.c.games != func.coalesce(played.c.games, 0))
    )
    return [
        f"The leaderboard of {game} counts {counted} matches of {bot}, who played {count}."
        for game, bot, counted, count in connection.execute(query)
    ]


def _lonely(connection: Connection) -> list[str]:
    """A competition that is played has somebody to play it."""
    query = (
        select(tournaments.c.id, func.count(tournament_entries.c.bot_id))
        .outerjoin(tournament_entries, tournament_entries.c.tournament_id == tournaments.c.id)
        .where(tournaments.c.status.in_(RUNNING))
        .group_by(tournaments.c.id)
        .having(func.count(tournament_entries.c.bot_id) < 2)
    )
    return [
        f"Competition {competition} is running with {count} entries."
        for competition, count in connection.execute(query)
    ]


def _packageless(connection: Connection) -> list[str]:
    """Submitted packages are included, unless they were refused."""
    query = (
        select(submissions.c.id, submissions.c.status)
        .outerjoin(packages, packages.c.digest == submissions.c.digest)
        .where(submissions.c.status != "refused", packages.c.digest.is_(None))
        .order_by(submissions.c.id)
    )
    found = [
        f"Submission {submission} is {status}, and its package is not there."
        for submission, status in connection.execute(query)
    ]
    size = func.coalesce(func.sum(func.length(package_parts.c.part)), 0)
    sizes = (
        select(packages.c.digest, packages.c.bytes, size)
        .outerjoin(package_parts, package_parts.c.digest == packages.c.digest)
        .group_by(packages.c.digest, packages.c.bytes)
        .having(size != packages.c.bytes)
    )
    return found + [
        f"Package {digest[:12]} has {there} bytes of {size}."
        for digest, size, there in connection.execute(sizes)
    ]


# ------------------------------------------------------------------------------------- upgrading


def _has_leases(connection: Connection) -> bool:
    return bool(inspect(connection).has_table(leases.name))


async def upgrade(url: str) -> tuple[str, str]:
    """Bring the schema up to date while no server runs; return its revision before and after."""
    try:
        database = await Database.open(url, migrate=False, create=False)
    except OlderSchema:
        pass
    else:
        await database.close()
        return schema.HEAD, schema.HEAD
    database = Database(parse_url(url))
    try:
        before = await database.read(schema.revision)
        if before is None:
            raise CannotOpen(
                f"{database.target.place} has no tables yet; plyhouse serve makes them"
            )
        if database.target.path is not None or await database.read(_has_leases):
            await database.claim()
    finally:
        await database.close()
    database = await Database.open(url)
    await database.close()
    return before, schema.HEAD
