"""Measure pages of a server that does not lead a cluster, with a leader and without one.

Two servers have some finished matches of bots.  Requests go to the second one, one after the other,
then the same to the leader itself.  Then SIGKILL ends the leader, and all pages are asked for until
`TAKEOVER_S` later.  Needs PostgreSQL and a NATS server.

    python -m benchmarks.cluster_pages --requests 200
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
from collections.abc import Sequence

import httpx
from tests.harness.cluster import Process, Processes, RestlessBot, tokens
from tests.harness.postgres import POSTGRES, schema
from tests.harness.processor_time import processor_time_of

from plyhouse.server.cluster.nats_server import LocalNats
from plyhouse.storage.store import Store

GAME = "connect_four"
MATCHES = 8
TAKEOVER_S = 15.0
UNLIMITED = ("--http-burst", "1000000", "--http-per-second", "100000")
CALLS = "/api/v1/matches"


async def fill(servers: Processes, database: str) -> str:
    """Let two bots play; return the id of a finished match."""
    playing = []
    for number, token in enumerate(await tokens(database, 2)):
        bot = RestlessBot(servers, token, "bot", number)
        bot.wanted, bot.seek = MATCHES, (GAME, "move:60")
        playing.append(bot)
    tasks = [asyncio.create_task(bot.run()) for bot in playing]
    await asyncio.gather(*(bot.done.wait() for bot in playing))
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return next(iter(playing[0].played))


async def seconds(web: httpx.AsyncClient, path: str) -> tuple[float, int]:
    begun = time.perf_counter()
    answer = await web.get(path)
    return time.perf_counter() - begun, answer.status_code


def used(server: Process) -> float:
    """Return the milliseconds of processor time that a process has used."""
    return processor_time_of(server.process.pid) / 1e6


async def medians(paths: Sequence[str], leader: Process, other: Process, requests: int) -> None:
    """Print what each path takes at both servers, and the processor time of both."""
    print(f"{'path':<32}  {'leader ms':>9}  {'other ms':>9}  {'CPU ms, leader + other':>24}")
    for path in paths:
        line = f"{path[:32]:<32}"
        for server in (leader, other):
            async with httpx.AsyncClient(base_url=server.url, timeout=60) as web:
                for _ in range(10):
                    await seconds(web, path)
                before = used(leader), used(other)
                took = [(await seconds(web, path))[0] for _ in range(requests)]
            after = used(leader), used(other)
            line += f"  {1000 * statistics.median(took):9.1f}"
        spent = [(b - a) / requests for a, b in zip(before, after, strict=True)]
        print(f"{line}  {spent[0]:>12.1f} + {spent[1]:>5.1f}", flush=True)


async def takeover(paths: Sequence[str], leader: Process, other: Process, end: Processes) -> None:
    """Print how long each path waits for its answer while the next leader comes."""

    async def ask(path: str) -> list[tuple[float, int]]:
        found = []
        async with httpx.AsyncClient(base_url=other.url, timeout=60) as web:
            while time.monotonic() < killed + TAKEOVER_S:
                found.append(await seconds(web, path))
                await asyncio.sleep(0.05)
        return found

    await end.kill(leader)
    killed = time.monotonic()
    every = await asyncio.gather(*map(ask, paths))
    print(f"{'after a crash':<32}  {'median ms':>9}  {'longest s':>9}  {'errors':>6}")
    for path, found in zip(paths, every, strict=True):
        times = [took for took, _ in found]
        errors = sum(status >= 500 for _, status in found)
        median = f"{1000 * statistics.median(times):9.1f}"
        print(f"{path[:32]:<32}  {median}  {max(times):9.2f}  {errors:>6}", flush=True)


async def measure(database: str, nats: str, requests: int) -> None:
    async with await Store.open(database):
        pass
    servers = Processes(database, nats, *UNLIMITED)
    try:
        leader, other = await servers.start(), await servers.start()
        match = await fill(servers, database)
        paths = ["/", "/leaderboards", f"/leaderboards/{GAME}", "/matches", f"/matches/{match}"]
        paths += ["/bots/player0/bot", f"{CALLS}?sort=ended", f"{CALLS}/{match}/replay"]
        paths += ["/api/v1/session", "/api/v1/seeks"]
        await medians(paths, leader, other, requests)
        await takeover(paths, leader, other, servers)
    finally:
        await servers.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=200)
    given = parser.parse_args()
    with LocalNats() as nats, schema() as name:
        asyncio.run(measure(f"{POSTGRES}?schema={name}", nats.url, given.requests))


if __name__ == "__main__":
    main()
