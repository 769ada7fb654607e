"""Faults in a cluster under load: ``python -m benchmarks.cluster_chaos --faults 30 --matches 300``.

Three servers play matches of mixed games while servers are killed, frozen past their lease and
stopped, while NATS is away, and while the database ends the connections of one server.  Bots
connect to any server that lives.  Afterwards all records are compared with what the bots were told.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import asyncpg  # type: ignore[import-untyped]
from tests.harness.cluster import Process, Processes, RestlessBot, tokens
from tests.harness.postgres import POSTGRES, schema

from plyhouse.games.registry import get_game
from plyhouse.server.cluster.nats_server import LocalNats
from plyhouse.server.results.record import stored_record
from plyhouse.server.results.verify import verify
from plyhouse.storage import match_reads
from plyhouse.storage.store import Store

GAMES = ["connect_four", "pig", "leduc_poker", "tic_tac_toe", "othello", "backgammon"]
SERVERS = 3
CHARGED_MS = 1_000
"""Plies that cost more are printed: the bots think for 300 ms at most."""
FREEZE_SECONDS = 9.0
"""Longer than a lease is valid."""


class Chaos:
    """One run."""

    def __init__(
        self, database: str, nats: LocalNats, seed: int, pause: float, pythons: list[str]
    ) -> None:
        self.servers = Processes(database, nats.url, pythons=pythons)
        self.nats = nats
        self.random = random.Random(seed)
        self.pause = pause
        self.faults: list[tuple[float, str]] = []
        """Each fault with the instant of its beginning."""

    def _victim(self) -> Process:
        return self.random.choice(self.servers.alive)

    async def kill(self) -> None:
        await self.servers.kill(self._victim())

    async def stop(self) -> None:
        code = await self.servers.stop(self._victim())
        assert code == 0, f"a server ended with {code}"

    async def freeze(self) -> None:
        frozen = self._victim()
        self.servers.alive.remove(frozen)
        frozen.send(signal.SIGSTOP)
        await asyncio.sleep(FREEZE_SECONDS)
        frozen.send(signal.SIGCONT)
        try:
            await asyncio.wait_for(frozen.process.wait(), 15)
        except TimeoutError:  # nobody had ended its lease, so it goes on
            self.servers.alive.append(frozen)

    async def no_nats(self) -> None:
        self.nats.stop()
        await asyncio.sleep(3)
        await asyncio.to_thread(self.nats.start)

    async def no_database(self) -> None:
        ports = _ports(self._victim().process.pid)
        connection = await asyncpg.connect(POSTGRES)
        try:
            await connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE client_port = ANY($1::int[])",
                ports,
            )
        finally:
            await connection.close()

    async def fault(self, kinds: Sequence[Callable[[], Awaitable[None]]]) -> None:
        """Let one fault happen, then start what is missing."""
        kind = self.random.choice(kinds)
        self.faults.append((time.monotonic(), kind.__name__))
        await kind()
        while len(self.servers.alive) < SERVERS:
            await self.servers.start()
        await asyncio.sleep(self.pause * (1 + self.random.random()))


def _ports(pid: int) -> list[int]:
    """The local ports of the TCP connections of a process."""
    inodes = set()
    for each in Path(f"/proc/{pid}/fd").iterdir():
        try:
            inodes.add(os.readlink(each).removeprefix("socket:[").removesuffix("]"))
        except OSError:
            continue
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return [int(row[1].rpartition(":")[2], 16) for row in rows if row[9] in inodes]


async def check(bots: list[RestlessBot], database: str) -> list[str]:
    """Return everything that is wrong."""
    wrong = [problem for bot in bots for problem in bot.problems]
    matches = set()
    async with await Store.open(database) as store:
        for bot in bots:
            for played in bot.played.values():
                stored = await store.read(match_reads.stored_match, played.match)
                if played.match not in matches:
                    matches.add(played.match)
                    if stored.header.termination != "normal":
                        wrong.append(f"{played.match} ended by {stored.header.termination!r}")
                    record = stored_record(stored, get_game(stored.header.game))
                    if stored.header.finished_ms and not verify(record).ok:
                        wrong.append(f"{played.match} does not verify")
                told = {
                    event.ply: event.text
                    for event in stored.events
                    if event.kind == "action" and event.seat == played.seat
                }
                lost = played.actions.items() - told.items()
                if lost:
                    wrong.append(f"{played.match}: {sorted(lost)} were accepted and are lost")
    print(f"{len(matches)} matches compared")
    return wrong


async def run(
    database: str,
    nats: LocalNats,
    faults: int,
    matches: int,
    rolling: int,
    seed: int,
    pause: float,
    pythons: list[str],
    names: list[str] | None,
) -> int:
    async with await Store.open(database):
        pass
    chaos = Chaos(database, nats, seed, pause, pythons)
    for _ in range(SERVERS):
        await chaos.servers.start()
    pairs = 2 * len(GAMES)
    each = -(-matches // pairs)
    bots = []
    for number, token in enumerate(await tokens(database, 2 * pairs)):
        bot = RestlessBot(chaos.servers, token, "bot", seed + number)
        game = GAMES[number // 2 % len(GAMES)]
        bot.seek, bot.wanted, bot.think = (game, "total:120"), each, 0.3
        bot.invitation = f"pair {number // 2} of this run"
        bots.append(bot)
    tasks = [asyncio.create_task(bot.run()) for bot in bots]
    began = time.monotonic()
    kinds = [chaos.kill, chaos.stop, chaos.freeze, chaos.no_nats, chaos.no_database]
    kinds = [each for each in kinds if names is None or each.__name__ in names]
    for _ in range(faults):
        await chaos.fault(kinds)
    for _ in range(rolling):
        await chaos.fault([chaos.stop])
    counts = Counter(kind for _, kind in chaos.faults)
    print(f"{dict(counts)} in {time.monotonic() - began:.0f} s", flush=True)
    try:
        async with asyncio.timeout(600):
            await asyncio.gather(*(bot.done.wait() for bot in bots))
    except TimeoutError:
        print("some matches did not end")
    for task in tasks:
        task.cancel()
    await chaos.servers.close()
    wrong = await check(bots, database)
    played = [each for bot in bots for each in bot.played.values()]
    charges = [each for bot in bots for each in bot.charges]
    charged = [ledger.charged_ms for _, ledger in charges]
    for instant, ledger in charges:
        if ledger.charged_ms > CHARGED_MS:
            before = [each for each in chaos.faults if each[0] < instant]
            why = f"{instant - before[-1][0]:.1f} s after {before[-1][1]}" if before else "no fault"
            print(f"{why}: {ledger}")
    away = sorted(seconds for bot in bots for seconds in bot.away)
    print(f"plies {len(charged)}, most charged for one {max(charged)} ms")
    print(f"longest wait in a match {max(each.longest_wait for each in played):.1f} s")
    if away:
        median = away[len(away) // 2]
        print(f"reconnects {len(away)}: median {median:.2f} s, longest {away[-1]:.2f} s")
    for each_wrong in wrong:
        print("WRONG:", each_wrong)
    for server in chaos.servers.all:
        for line in server.lines:
            if "Traceback" in line or "[error" in line:
                print("LOG:", line.rstrip())
    return 1 if wrong else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--faults", type=int, default=30)
    parser.add_argument("--matches", type=int, default=300)
    parser.add_argument("--rolling", type=int, default=0, help="stops one after the other")
    parser.add_argument("--kinds", nargs="*", help="faults to choose from, such as kill no_nats")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pause", type=float, default=2, help="seconds after a fault, at least")
    parser.add_argument(
        "--also", metavar="PYTHON", help="an interpreter with another version, for every second one"
    )
    given = parser.parse_args()
    with schema() as name, LocalNats() as nats:
        work = run(
            f"{POSTGRES}?schema={name}",
            nats,
            given.faults,
            given.matches,
            given.rolling,
            given.seed,
            given.pause,
            [sys.executable, *([given.also] if given.also else [])],
            given.kinds,
        )
        return asyncio.run(work)


if __name__ == "__main__":
    raise SystemExit(main())
