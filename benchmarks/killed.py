"""The losses of bots when the server, or a connection of its database, is killed in mid-game.

Each series plays many matches over real sockets and measures two things: plies that the server
acknowledged and the database does not have (must be 0), and plies whose charge exceeds the time
that the bot itself measured from its turn to its action (and the delay of this program before).

- ``calm``: nothing is killed.  Its figures are the noise of the measurement.
- ``sqlite`` and ``postgresql``: SIGKILL ends the server process again and again.
- ``backends``: PostgreSQL terminates the backends that are in COMMIT, and bots drop their
  connection in one turn of 50.
- ``reconnects``: bots drop their connection in one turn of 5.

In the last two, each COMMIT takes 30 ms.

    python benchmarks/killed.py
    python benchmarks/killed.py --series backends --seconds 60

PostgreSQL must be at ``PLYHOUSE_TEST_POSTGRES``; each series makes a schema and drops it.

23 November 2026, 2 cores with other load, Python 3.11.7, PostgreSQL 15, ``--bots 12``:

========== ===== ================== ==== ================ ==========
series     kills acknowledged plies lost charged too much worst (ms)
========== ===== ================== ==== ================ ==========
calm           0             17,554    0                0         11
sqlite        30             34,876    0                0         10
postgresql    10              6,321    0                0         14
backends      59              4,157    0                0          6
reconnects     0              3,114    0                0          9
========== ===== ================== ==== ================ ==========

At commit 58cb881, which charges the time of logins, 126 of 2,820 plies of ``reconnects`` were
charged too much, by up to 186 ms (16 bots, 15 s).
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import random
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import asyncpg  # type: ignore[import-untyped]
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

from plyhouse.games.registry import get_game
from plyhouse.protocol.codec import MSGPACK
from plyhouse.protocol.messages import (
    Accepted,
    Act,
    Error,
    Hello,
    MatchMessage,
    MatchSnapshot,
    Ping,
    Pong,
    Ready,
    Seek,
    Turn,
    Welcome,
)
from plyhouse.storage import match_reads
from plyhouse.storage.store import Store

POSTGRES: Final = os.environ.get(
    "PLYHOUSE_TEST_POSTGRES", "postgresql://postgres@127.0.0.1:5432/postgres"
)
GAME: Final = "connect_four"
TOO_MUCH_MS: Final = 25.0
"""Charges above the bot's own time by more than this count; less is noise of the measurement."""
BEAT_SECONDS: Final = 0.005
REMEMBERED: Final = 0.5
"""Seconds for which delays of this program are remembered."""
COMMIT_SECONDS: Final = 0.03
SLOW_COMMITS: Final = f"""
CREATE FUNCTION take_time() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF current_setting('bench.slept', true) IS DISTINCT FROM '1' THEN
        PERFORM set_config('bench.slept', '1', true), pg_sleep({COMMIT_SECONDS});
    END IF;
    RETURN NULL;
END $$;
"""
SLOW_TABLE: Final = (
    "CREATE CONSTRAINT TRIGGER take_time AFTER INSERT OR UPDATE ON {0} "
    "DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION take_time()"
)


@dataclass
class Tally:
    """The observations of the bots of one series."""

    kills: int = 0
    acknowledged: dict[tuple[str, int], str] = field(default_factory=dict)
    """The action of each acknowledged ply of a match."""
    excess: list[float] = field(default_factory=list)
    """Charge beyond the bot's own time, in milliseconds, of each acknowledged ply."""
    lost: int = 0

    def line(self, name: str) -> str:
        """Return the row of the table."""
        over = [each for each in self.excess if each > TOO_MUCH_MS]
        return (
            f"| {name} | {self.kills} | {len(self.acknowledged):,} | {self.lost} | {len(over)} | "
            f"{max(self.excess, default=0.0):.0f} |"
        )


class Lateness:
    """Measures how late this program reads its sockets, on a machine that others use as well."""

    def __init__(self) -> None:
        self._late: deque[tuple[float, float]] = deque()
        self._last = time.perf_counter()

    async def watch(self) -> None:
        """Measure until cancelled."""
        self._last = time.perf_counter()
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            now = time.perf_counter()
            self._late.append((now, now - self._last - BEAT_SECONDS))
            self._last = now
            while self._late[0][0] < now - REMEMBERED:
                self._late.popleft()

    def now(self) -> float:
        """Return the longest delay of late, in seconds."""
        ongoing = time.perf_counter() - self._last - BEAT_SECONDS
        return max(0.0, ongoing, *(late for _, late in self._late))


class Server:
    """A server process at a fixed port."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder, self.url = folder, url
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self._process: subprocess.Popen[str] | None = None

    async def start(self) -> None:
        """Start it, and wait until it listens."""
        with (self.folder / "server.log").open("a") as log:
            self._process = subprocess.Popen(  # noqa: ASYNC220 - it returns at once
                [sys.executable, "-m", "plyhouse.clients.cli.main", "serve",
                 "--port", str(self.port), "--database", self.url, "--log-level", "warning"],
                cwd=self.folder, stdout=subprocess.PIPE, stderr=log, text=True,
            )  # fmt: skip
        assert self._process.stdout is not None
        line = await asyncio.to_thread(self._process.stdout.readline)
        if not line.startswith("Plyhouse is listening"):
            raise RuntimeError(f"the server did not start: {line!r}; see {self.folder}/server.log")

    async def end(self, sign: signal.Signals) -> None:
        """End it with a signal, if it runs."""
        if self._process is not None:
            self._process.send_signal(sign)
            await asyncio.to_thread(self._process.communicate)
            self._process = None


class Bot:
    """A bot that plays at random, and connects again whenever it is cut off."""

    def __init__(
        self, server: Server, token: str, tally: Tally, lateness: Lateness, leaves: float
    ) -> None:
        self._server, self._token, self._tally = server, token, tally
        self._lateness = lateness
        self._leaves = leaves
        """The share of its turns in which it drops its connection and comes back."""
        self._game = get_game(GAME)
        self._random = random.Random(token)
        self._told: dict[tuple[str, int], float] = {}
        """When it was first told that a ply of a match is its turn."""
        self._sent: dict[tuple[str, int], tuple[float, str]] = {}
        self._thinking: set[asyncio.Task[None]] = set()
        self._number = 1

    async def stay(self) -> None:
        """Play until cancelled."""
        url = f"ws://127.0.0.1:{self._server.port}/ws"
        while True:
            with contextlib.suppress(OSError, WebSocketException, TimeoutError):
                async with connect(
                    url,
                    subprotocols=[MSGPACK.subprotocol],  # type: ignore[list-item]
                    compression=None,
                    close_timeout=0.1,
                ) as wire:
                    await self._play(wire)
            await asyncio.sleep(0.01)

    async def _say(self, wire: ClientConnection, kind: type[Any], *said: Any) -> None:
        self._number += 1
        frame = MSGPACK.encode(kind(self._number, *said))
        with contextlib.suppress(WebSocketException):
            await wire.send(frame)

    async def _play(self, wire: ClientConnection) -> None:
        hello = Hello(1, self._token, "bot", max_matches=4, takeover=True, version="1")
        await wire.send(MSGPACK.encode(hello))
        async for frame in wire:
            now = time.perf_counter()
            message = MSGPACK.decode_server(frame)
            if isinstance(message, Ping):
                await wire.send(MSGPACK.encode(Pong(message.id)))
            elif isinstance(message, Turn):
                self._think(wire, message, now)
            elif isinstance(message, Accepted):
                self._accepted(message)
            elif isinstance(message, Error) and message.re == 1:
                return  # the login was refused: try again
            elif isinstance(message, Error):
                print(f"refused: {message}", file=sys.stderr)
            elif isinstance(message, MatchMessage):
                await self._enter(wire, message.snapshot, now)
            elif isinstance(message, Welcome):
                for snapshot in message.matches:
                    await self._enter(wire, snapshot, now)
                await self._say(wire, Seek, GAME, "total:600", False, 0)

    async def _enter(self, wire: ClientConnection, snapshot: MatchSnapshot, now: float) -> None:
        if snapshot.status == "waiting":
            await self._say(wire, Ready, snapshot.match, "ab12")
        elif snapshot.your_turn:
            self._think(wire, snapshot, now)

    def _think(self, wire: ClientConnection, turn: Turn | MatchSnapshot, now: float) -> None:
        self._told.setdefault((turn.match, turn.ply), now - self._lateness.now())
        task = asyncio.create_task(self._answer(wire, turn))
        self._thinking.add(task)
        task.add_done_callback(self._thinking.discard)

    async def _answer(self, wire: ClientConnection, turn: Turn | MatchSnapshot) -> None:
        key = turn.match, turn.ply
        await asyncio.sleep(self._random.uniform(0.0, 0.03))
        if isinstance(turn, Turn) and self._random.random() < self._leaves:
            wire.transport.abort()
            return
        known = self._sent.get(key)
        if known is None:
            random_state = self._game.decode_observation(turn.observation)
            state = self._game.sample_state(random_state, self._random)
            action = self._game.format(state, self._random.choice(state.actions()))
        else:
            action = known[1]
        self._sent[key] = time.perf_counter(), action
        await self._say(wire, Act, turn.match, turn.ply, action)

    def _accepted(self, message: Accepted) -> None:
        key = message.match, message.ply
        if message.ledger is None or key in self._tally.acknowledged:
            return
        sent, action = self._sent[key]
        self._tally.acknowledged[key] = action
        own = (sent - self._told[key]) * 1000
        self._tally.excess.append(message.ledger.charged_ms - own)


@contextlib.asynccontextmanager
async def a_database(kind: str, folder: Path) -> AsyncIterator[str]:
    """A separate database, and its URL."""
    if kind == "sqlite":
        yield f"sqlite:///{folder / 'killed.db'}"
        return
    schema = f"killed_{secrets.token_hex(6)}"
    link = await asyncpg.connect(POSTGRES)
    await link.execute(f"CREATE SCHEMA {schema}")
    try:
        yield f"{POSTGRES}?schema={schema}"
    finally:
        await link.execute(f"DROP SCHEMA {schema} CASCADE")
        await link.close()


async def slow_down(url: str, tables: list[str]) -> None:
    """Let each transaction that writes one of these tables take longer to commit."""
    schema = url.rpartition("=")[2]
    link = await asyncpg.connect(POSTGRES, server_settings={"search_path": schema})
    await link.execute(SLOW_COMMITS)
    for table in tables:
        await link.execute(SLOW_TABLE.format(table))
    await link.close()


async def kill_servers(server: Server, tally: Tally, count: int) -> None:
    """Kill the server again and again."""
    for _ in range(count):
        await asyncio.sleep(random.uniform(1.0, 2.0))
        await server.end(signal.SIGKILL)
        tally.kills += 1
        await server.start()
    await asyncio.sleep(2.0)


async def kill_backends(tally: Tally, seconds: float) -> None:
    """Terminate backends of the server that are in COMMIT, a few each second."""
    link = await asyncpg.connect(POSTGRES)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        killed = await link.fetchval(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE "
            "application_name = 'plyhouse' AND state = 'active' AND query ILIKE 'COMMIT%'"
        )
        tally.kills += killed
        await asyncio.sleep(0.5 if killed else 0.002)
    await link.close()
    await asyncio.sleep(2.0)


async def count_lost(url: str, tally: Tally) -> int:
    """Count acknowledged plies that the database does not have as they were played."""
    lost = 0
    async with await Store.open(url) as store:
        stored: dict[tuple[str, int], str] = {}
        for match in {match for match, _ in tally.acknowledged}:
            for row in (await store.read(match_reads.stored_match, match)).events:
                if row.kind == "action":
                    stored[match, row.ply] = row.text
    for key, action in tally.acknowledged.items():
        lost += stored.get(key) != action
    return lost


async def run(name: str, options: argparse.Namespace) -> Tally:
    """Play one series."""
    tally = Tally()
    kind = "sqlite" if name in ("sqlite", "calm") else "postgresql"
    with tempfile.TemporaryDirectory(prefix="plyhouse-killed-") as place:
        folder = Path(place)
        async with a_database(kind, folder) as url:
            async with await Store.open(url) as store:
                players = [await store.add_player(f"p{n}") for n in range(options.bots)]
                tokens = [await store.add_token(each) for each in players]
            if name in ("backends", "reconnects"):
                also = ["tokens", "bots", "versions"] if name == "reconnects" else []
                await slow_down(url, ["events", *also])
            server = Server(folder, url)
            await server.start()
            leaves = {"reconnects": 0.2, "backends": 0.02}.get(name, 0.0)
            lateness = Lateness()
            bots = [Bot(server, token, tally, lateness, leaves) for token in tokens]
            playing = [asyncio.create_task(bot.stay()) for bot in bots]
            playing.append(asyncio.create_task(lateness.watch()))
            try:
                if name in ("sqlite", "postgresql"):
                    count = options.sqlite_kills if kind == "sqlite" else options.postgres_kills
                    await kill_servers(server, tally, count)
                elif name == "backends":
                    await kill_backends(tally, options.seconds)
                else:
                    await asyncio.sleep(options.seconds)
            finally:
                for task in playing:
                    task.cancel()
                await asyncio.gather(*playing, return_exceptions=True)
                await server.end(signal.SIGKILL)
                if options.log:
                    print((folder / "server.log").read_text(), file=sys.stderr)
            tally.lost = await count_lost(url, tally)
    return tally


SERIES: Final = ("calm", "sqlite", "postgresql", "backends", "reconnects")


def main() -> None:
    """Run the series and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--series", choices=SERIES, action="append", help="default: all")
    parser.add_argument("--bots", type=int, default=16)
    parser.add_argument("--sqlite-kills", type=int, default=30)
    parser.add_argument("--postgres-kills", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=30.0, help="length of other series")
    parser.add_argument("--log", action="store_true", help="print the servers' logs")
    options = parser.parse_args()
    print("| series | kills | acknowledged plies | lost | charged too much | worst (ms) |")
    print("|---|---|---|---|---|---|")
    for name in options.series or SERIES:
        print(asyncio.run(run(name, options)).line(name), flush=True)


if __name__ == "__main__":
    main()
