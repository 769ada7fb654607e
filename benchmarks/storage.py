"""The cost of storing: event rows per second, and leaderboards at a million matches.

    python benchmarks/storage.py [--seconds 1.0] [--matches 1000000] [--skip-leaderboard]

Part one commits event rows in batches of 1, 5, 25 and 100 through `Writer`, as the server does:
one submission per row, all waiting for the same transaction, on the server's event loop. Beside
it, in the same run, the bare driver stores the same rows in transactions of the same size:
`sqlite3` with executemany, asyncpg with executemany. ``us/row`` is processor time (user and
system, all threads) per row, the making of the row included; ``loop`` is the part of it that the
event loop's thread spends. Part two fills a database with matches and times the queries that
people wait for.

PostgreSQL is measured where PLYHOUSE_TEST_POSTGRES (default: the local server) answers.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import os
import secrets
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import uvloop
from msgspec.structs import astuple
from sqlalchemy import Connection, text

from plyhouse.server.results.ratings import PairScore, fit
from plyhouse.storage import leaderboards, match_lists, match_reads
from plyhouse.storage.errors import StorageError
from plyhouse.storage.rows import (
    EventRow,
    MatchRow,
    NewMatch,
    NewPairing,
    PairingRow,
    PairResult,
    SeatRow,
    new_id,
)
from plyhouse.storage.store import Store
from plyhouse.storage.writer import Writer

BATCHES = (1, 5, 25, 100)
POSTGRES = os.environ.get("PLYHOUSE_TEST_POSTGRES", "postgresql://postgres@127.0.0.1:5432/postgres")
COLUMNS = (
    "match_id, idx, kind, ply, seat, text, thought_ns, lag_ns, stall_ns, charged_ns, "
    "remaining_ns, data"
)


@dataclass
class Rate:
    """Figures of one run."""

    rows_per_second: float
    batch_ms: float
    row_us: float
    """Processor time per row, of all threads."""
    loop_us: float
    """Processor time per row, of the event loop's thread."""


class Stopwatch:
    """Wall and processor time since it was made."""

    def __init__(self) -> None:
        self.wall = time.perf_counter()
        self.process = time.process_time()
        self.thread = time.thread_time()

    def rate(self, batches: int, size: int) -> Rate:
        """Return the times of a batch and of a row."""
        wall = time.perf_counter() - self.wall
        process = time.process_time() - self.process
        thread = time.thread_time() - self.thread
        rows = batches * size
        return Rate(rows / wall, wall / batches * 1e3, process / rows * 1e6, thread / rows * 1e6)


def rows_of(matches: list[str], index: int) -> list[EventRow]:
    """One action in each of some matches."""
    return [
        EventRow(match, index, "action", index, index & 1, "c4", 12_345_678, 200_000, 0, 12_145_678,
                 5_912_345_678)
        for match in matches
    ]  # fmt: skip


async def prepare(store: Store, count: int) -> list[str]:
    """Store matches between two bots; return their ids."""
    seats = []
    for seat, name in enumerate(("ada", "bob")):
        player = await store.add_player(name)
        bot = await store.ensure_bot(player.id, "")
        version = await store.ensure_version(bot.id, "1")
        seats.append(SeatRow(seat, name, name, "1", player.id, bot.id, version))
    seed = secrets.token_bytes(32)
    commitment = hashlib.sha256(seed).hexdigest()
    pairing = PairingRow(new_id(), "pig", "move:1", True, seed, commitment, count, 0)
    ids = [new_id() for _ in range(count)]
    await store.apply(
        [
            NewPairing(pairing),
            *(
                NewMatch(
                    MatchRow(
                        *(match, pairing.id, "pig", "move:1", True, "forfeit", "0"),
                        *(commitment, seed, tuple(seats), 0),
                    )
                )
                for match in ids
            ),
        ]
    )
    return ids


def until(seconds: float) -> Iterator[int]:
    """Count up until the time is over, at least ten times."""
    end = time.perf_counter() + seconds
    index = 0
    while time.perf_counter() < end or index < 10:
        yield index
        index += 1


class Submitting:
    """Submits a batch of single rows, and the next one when the last of them is durable."""

    def __init__(self, writer: Writer, ids: list[str], seconds: float) -> None:
        self.writer = writer
        self.ids = ids
        self.indices = until(seconds)
        self.open = 0
        self.batches = 0
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def submit(self) -> None:
        """Submit the next batch, or stop if the time is over."""
        index = next(self.indices, None)
        if index is None:
            self.over.set_result(None)
            return
        self.batches += 1
        self.open = len(self.ids)
        for row in rows_of(self.ids, index):
            self.writer.submit_then([row], self.stored)

    def stored(self, error: StorageError | None) -> None:
        """Take note of a row that is durable."""
        if error is not None:
            self.over.set_exception(error)
            return
        self.open -= 1
        if not self.open:
            self.submit()


async def measure_writer(url: str, size: int, seconds: float) -> Rate:
    """Rows through `Writer` of a server, ``size`` of them waiting at a time."""
    async with await Store.open(url) as store:
        await store.claim()
        writer = Writer(store)
        submitting = Submitting(writer, await prepare(store, size), seconds)
        watch = Stopwatch()
        submitting.submit()
        await submitting.over
        rate = watch.rate(submitting.batches, size)
        await writer.close()
    return rate


async def measure_sqlite(url: str, size: int, seconds: float) -> Rate:
    """The bare driver on the same tables, with the same settings."""
    async with await Store.open(url) as store:
        ids = await prepare(store, size)
    path, _, option = url.removeprefix("sqlite:///").partition("?synchronous=")
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(f"PRAGMA synchronous = {option or 'full'}")
    connection.execute("PRAGMA foreign_keys = ON")
    statement = f"INSERT INTO events ({COLUMNS}) VALUES ({', '.join('?' * 12)})"
    done = 0
    watch = Stopwatch()
    for index in until(seconds):
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany(statement, [astuple(row) for row in rows_of(ids, index)])
        connection.execute("COMMIT")
        done += 1
    rate = watch.rate(done, size)
    connection.close()
    return rate


async def measure_asyncpg(url: str, size: int, seconds: float) -> Rate:
    """The bare driver on the same tables."""
    import asyncpg  # type: ignore[import-untyped]

    async with await Store.open(url) as store:
        ids = await prepare(store, size)
    address, _, schema = url.partition("?schema=")
    connection = await asyncpg.connect(address, server_settings={"search_path": schema})
    values = ", ".join(f"${number}" for number in range(1, 13))
    statement = f"INSERT INTO events ({COLUMNS}) VALUES ({values})"
    done = 0
    watch = Stopwatch()
    for index in until(seconds):
        async with connection.transaction():
            await connection.executemany(statement, [astuple(r) for r in rows_of(ids, index)])
        done += 1
    rate = watch.rate(done, size)
    await connection.close()
    return rate


async def in_schema(work: Callable[[str], Awaitable[Rate]]) -> Rate:
    """Run ``work`` with the URL of a schema made for it."""
    import asyncpg

    schema = f"plyhouse_benchmark_{secrets.token_hex(4)}"
    connection = await asyncpg.connect(POSTGRES, timeout=5)
    try:
        await connection.execute(f"CREATE SCHEMA {schema}")
        return await work(f"{POSTGRES}?schema={schema}")
    finally:
        await connection.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE")
        await connection.close()


def show(name: str, size: int, ours: Rate, bare: Rate) -> None:
    """Print one line of part one."""
    print(
        f"{name:<16}{size:>6}{ours.rows_per_second:>10,.0f}{ours.batch_ms:>10.3f}"
        f"{ours.row_us:>8.1f}{ours.loop_us:>8.1f}"
        f"{bare.rows_per_second:>14,.0f}{bare.batch_ms:>10.3f}{bare.row_us:>8.1f}"
        f"{ours.row_us / bare.row_us:>8.2f}",
        flush=True,
    )


async def part_one(folder: Path, seconds: float) -> None:
    """Event rows per second."""
    print(
        f"{'database':<16}{'batch':>6}{'rows/s':>10}{'ms/batch':>10}{'us/row':>8}{'loop':>8}"
        f"{'bare rows/s':>14}{'ms/batch':>10}{'us/row':>8}{'ratio':>8}"
    )
    for option in ("normal", "full"):
        for size in BATCHES:
            url = f"sqlite:///{folder}/{{}}-{option}-{size}.db?synchronous={option}"
            ours = await measure_writer(url.format("ours"), size, seconds)
            bare = await measure_sqlite(url.format("bare"), size, seconds)
            show(f"SQLite {option}", size, ours, bare)
    for size in BATCHES:
        try:
            ours = await in_schema(partial(measure_writer, size=size, seconds=seconds))
        except (OSError, ImportError) as error:
            print(f"PostgreSQL: not measured ({error})")
            return
        bare = await in_schema(partial(measure_asyncpg, size=size, seconds=seconds))
        show("PostgreSQL", size, ours, bare)


FILL = """
WITH RECURSIVE n(i) AS (SELECT :first UNION ALL SELECT i + 1 FROM n WHERE i < :last)
"""


def fill(connection: Connection, first: int, last: int, bots: int) -> None:
    """Insert finished matches straight into the tables; the sums come after (see `sum_up`)."""
    span = {"first": first, "last": last, "bots": bots}
    for statement in (
        "INSERT INTO pairings (id, round, game, time_control, rated, seed, commitment, matches,"
        " created_ms, finished_ms) "
        + FILL
        + "SELECT printf('p%013d', i), 0, 'pig', 'move:1', 1, x'00', '', 1, i, i FROM n",
        "INSERT INTO matches (id, pairing_id, game, time_control, rated, illegal_rule, stream,"
        " nonces, status, ply, created_ms, started_ms, finished_ms, termination, reason) "
        + FILL
        + "SELECT printf('m%013d', i), printf('p%013d', i), 'pig', 'move:1', 1, 'forfeit', '0',"
        " '[]', 'finished', 40, i, i, i, 'normal', '' FROM n",
        "INSERT INTO match_seats (match_id, seat, bot_id, version_id, returned, score, result) "
        + FILL
        + "SELECT printf('m%013d', i), 0, 1 + i % :bots, 1 + i % :bots, 1, 1, 'W' FROM n",
        "INSERT INTO match_seats (match_id, seat, bot_id, version_id, returned, score, result) "
        + FILL
        + "SELECT printf('m%013d', i), 1, 1 + (i * 7 + 3) % :bots, 1 + (i * 7 + 3) % :bots,"
        " -1, 0, 'L' FROM n",
    ):
        connection.execute(text(statement), span)


def sum_up(connection: Connection) -> None:
    """Make standings and pair results as the server would have kept them."""
    for statement in (
        "INSERT INTO standings (game, version_id, bot_id, latest, score, games, wins, draws,"
        " losses, returned, returned_squares, rating, low, high)"
        " SELECT 'pig', bot_id, bot_id, 1, SUM(score), COUNT(*),"
        " SUM(result = 'W'), 0, SUM(result = 'L'), SUM(returned), SUM(returned * returned),"
        " bot_id * 7919 % 1000, 0, 0 FROM match_seats"
        " GROUP BY bot_id",
        "INSERT INTO pair_results"
        " (game, version_a, version_b, wins_a, draws, wins_b, score_a, squares_a)"
        " SELECT 'pig', MIN(a.bot_id, b.bot_id), MAX(a.bot_id, b.bot_id),"
        " SUM(a.bot_id < b.bot_id), 0, SUM(a.bot_id > b.bot_id), SUM(a.bot_id < b.bot_id),"
        " SUM(a.bot_id < b.bot_id) FROM match_seats a JOIN match_seats b"
        " ON a.match_id = b.match_id AND a.seat = 0 AND b.seat = 1 AND a.bot_id <> b.bot_id"
        " GROUP BY 2, 3",
    ):
        connection.execute(text(statement))


async def timed(name: str, call: Callable[[], Awaitable[object]], repeats: int = 50) -> None:
    """Print median and worst time of a call."""
    times = []
    for _ in range(repeats):
        begun = time.perf_counter()
        await call()
        times.append((time.perf_counter() - begun) * 1e3)
    print(f"{name:<52}{statistics.median(times):>10.2f}{max(times):>10.2f}")


async def rate(results: list[PairResult]) -> None:
    """Fit ratings, as the server does in a thread."""
    fit(PairScore(r.version_a, r.version_b, r.games, r.score_a, r.squares_a) for r in results)


async def part_two(folder: Path, matches: int) -> None:
    """Queries over many matches, on SQLite."""
    bots = 1000
    begun = time.perf_counter()
    async with await Store.open(f"sqlite:///{folder}/many.db?synchronous=normal") as store:
        database = store._database
        names = [{"i": i, "name": f"bot{i}"} for i in range(1, bots + 1)]

        def people(connection: Connection) -> None:
            for statement in (
                "INSERT INTO players VALUES (:i, :name, :name, 0)",
                "INSERT INTO bots VALUES (:i, :i, :name, :name, 'bot', 0)",
                "INSERT INTO versions VALUES (:i, :i, '1', 0)",
            ):
                connection.execute(text(statement), names)

        await database.write(people)
        step = 100_000
        for first in range(0, matches, step):
            last = min(first + step, matches) - 1
            await database.write(partial(fill, first=first, last=last, bots=bots))
        await database.write(sum_up)
        path = folder / "many.db"
        print(
            f"\n{matches:,} matches of {bots:,} bots, made in {time.perf_counter() - begun:.0f} s, "
            f"{path.stat().st_size / 1e6:,.0f} MB"
        )
        print(f"{'query':<52}{'median ms':>10}{'worst':>10}")
        middle = f"m{matches // 2:013d}"
        await timed("leaderboard, first 100", lambda: store.read(leaderboards.leaderboard, "pig"))
        await timed(
            "leaderboard, 100 from 900",
            lambda: store.read(leaderboards.leaderboard, "pig", 100, 900),
        )
        await timed(
            "pair results for the rating fit",
            lambda: store.read(leaderboards.pair_results_of, "pig"),
            10,
        )
        results = await store.read(leaderboards.pair_results_of, "pig")
        await timed("rating fit (no query)", partial(rate, results), 3)
        await timed(
            "newest 50 matches of the game",
            lambda: store.read(match_lists.list_matches, match_lists.MatchFilter(game="pig")),
        )
        await timed(
            "50 matches from the middle",
            lambda: store.read(
                match_lists.list_matches, match_lists.MatchFilter(game="pig"), before=middle
            ),
        )
        await timed(
            "newest 50 matches of a bot",
            lambda: store.read(match_lists.list_matches, match_lists.MatchFilter(bots=((7,),))),
        )
        await timed("unfinished matches", lambda: store.read(match_reads.running_matches))
        await timed("one match", lambda: store.read(match_reads.stored_match, middle))


def main() -> None:
    """Run both parts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=1.0, help="per figure of part one")
    parser.add_argument("--matches", type=int, default=1_000_000, help="in part two")
    parser.add_argument("--skip-leaderboard", action="store_true", help="only part one")
    parser.add_argument("--folder", help="where to put the databases (default: temporary)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        uvloop.run(part_one(Path(name), options.seconds))
        if not options.skip_leaderboard:
            uvloop.run(part_two(Path(name), options.matches))


if __name__ == "__main__":
    main()
