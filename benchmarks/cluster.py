"""Costs of a cluster: ``python -m benchmarks.cluster``; needs PostgreSQL and a NATS server.

Pairs of bots play connect four as fast as they can, on one server with SQLite, on one with
PostgreSQL, and on clusters.  *Local* pairs use one server, *crossing* pairs use two.  Servers
*apart* are no cluster: each has tables of its own, so they show what a ply costs only because so
many processes share this machine.  Processor times are those of the server processes; the load runs
in this process.  Bots as fast as they can be keep two processors busy with one server: the plies of
more servers then share them, and each commit stores fewer.  ``--think`` keeps the load of each
server the same.  The last tables show the time of one ply between two servers, and the memory of
idle connections.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import random
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.harness.cluster import Process, Processes, tokens
from tests.harness.postgres import POSTGRES, schema
from websockets.asyncio.client import connect

from plyhouse.protocol.codec import MSGPACK
from plyhouse.protocol.messages import (
    Accepted,
    Act,
    Error,
    Finished,
    Hello,
    MatchMessage,
    Ping,
    Pong,
    Ready,
    Seek,
    Turn,
    Welcome,
)
from plyhouse.server.cluster.nats_server import LocalNats
from plyhouse.storage.store import Store

TICKS = os.sysconf("SC_CLK_TCK")


class Load:
    """Bots that count logins and plies."""

    def __init__(self) -> None:
        self.logins = 0
        self.plies = 0
        self.sent: dict[tuple[str, int], float] = {}
        self.delays: list[float] = []
        """Seconds from the write of an action to the read of the opponent's next turn."""

    async def play(self, url: str, token: str, secret: str, think: float) -> None:
        numbers = iter(range(1, 1 << 40))
        async with connect(url, subprotocols=[MSGPACK.subprotocol], compression=None) as wire:  # type: ignore[list-item]

            async def send(message: Any) -> None:
                await wire.send(MSGPACK.encode(message))

            async def act(match: str, ply: int, legal: list[str]) -> None:
                if think:
                    await asyncio.sleep(think * random.random())
                self.sent[match, ply] = time.perf_counter()
                await send(Act(next(numbers), match, ply, random.choice(legal)))

            await send(Hello(next(numbers), token, "bot"))
            while True:
                message = MSGPACK.decode_server(await wire.recv())
                if isinstance(message, Ping):
                    await send(Pong(message.id))
                elif isinstance(message, Welcome):
                    self.logins += 1
                    await send(Seek(next(numbers), "connect_four", "total:600", invitation=secret))
                elif isinstance(message, MatchMessage):
                    shown = message.snapshot
                    if shown.status == "waiting":
                        await send(Ready(next(numbers), shown.match, "ab12"))
                    elif shown.your_turn:
                        await act(shown.match, shown.ply, shown.observation["legal"])
                elif isinstance(message, Turn):
                    sent = self.sent.pop((message.match, message.ply - 1), None)
                    if sent is not None:
                        self.delays.append(time.perf_counter() - sent)
                    await act(message.match, message.ply, message.observation["legal"])
                elif isinstance(message, Accepted):
                    self.plies += 1
                elif isinstance(message, Finished):
                    await send(Seek(next(numbers), "connect_four", "total:600", invitation=secret))
                elif isinstance(message, Error):
                    raise RuntimeError(message.message)


def _processor(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def _resident(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


async def measured(
    servers: list[Process],
    keys: list[str],
    pairs: int,
    seconds: float,
    *,
    cross: bool,
    think: float = 0,
) -> tuple[float, float, list[float]]:
    """Return plies per second, processor microseconds per ply, and the delays of turns.

    ``keys`` are the tokens of the two bots of each pair.
    """
    load = Load()
    urls = [each.ws_url for each in servers]
    tasks = []
    for pair in range(pairs):
        for side in range(2):
            place = (pair + side * cross) % len(urls)
            secret = f"pair-{pair}-of-the-benchmark"
            tasks.append(load.play(urls[place], keys[2 * pair + side], secret, think))
    running = [asyncio.create_task(each) for each in tasks]
    played = 0
    # A login costs as much as a hundred plies, and the first pairs play while others log in.
    while load.logins < len(running) or load.plies < played + 10 * pairs:
        if load.logins < len(running):
            played = load.plies
        await asyncio.sleep(0.1)
        for task in running:
            if task.done():
                task.result()
    load.delays.clear()
    pids = [each.process.pid for each in servers]
    before, plies, began = sum(map(_processor, pids)), load.plies, time.perf_counter()
    await asyncio.sleep(seconds)
    passed = time.perf_counter() - began
    used, played = sum(map(_processor, pids)) - before, load.plies - plies
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)
    return played / passed, used / played * 1e6, load.delays


async def _run(
    database: str, nats: str, count: int, options: argparse.Namespace, *, cross: bool, **load: Any
) -> tuple[float, float, list[float]]:
    """Measure new servers on a database; see `measured`."""
    async with await Store.open(database):
        pass
    servers = Processes(database, nats)
    try:
        for _ in range(count):
            await servers.start()
        pairs = load.pop("pairs", options.pairs * count)
        load.setdefault("think", options.think)
        keys = await tokens(database, 2 * pairs)
        return await measured(servers.alive, keys, pairs, options.seconds, cross=cross, **load)
    finally:
        await servers.close()


async def _apart(
    databases: list[str], options: argparse.Namespace
) -> tuple[float, float, list[float]]:
    """Measure servers that share nothing but the machine and the PostgreSQL server."""
    count = len(databases)
    async with contextlib.AsyncExitStack() as stack:
        servers, keys = [], [""] * (2 * options.pairs * count)
        for place, database in enumerate(databases):
            async with await Store.open(database):
                pass
            own = Processes(database, "")
            stack.push_async_callback(own.close)
            servers.append(await own.start())
            made = await tokens(database, 2 * options.pairs)
            for pair in range(options.pairs):
                at = 2 * (pair * count + place)
                keys[at : at + 2] = made[2 * pair : 2 * pair + 2]
        return await measured(
            servers, keys, options.pairs * count, options.seconds, cross=False, think=options.think
        )


def table(options: argparse.Namespace) -> None:
    print(f"{'servers':>24}  {'plies/s':>8}  {'µs CPU a ply':>12}")
    with tempfile.TemporaryDirectory() as folder:
        lite = f"sqlite:///{folder}/plyhouse.db"
        rate, cost, _ = asyncio.run(_run(lite, "", 1, options, cross=False))
    print(f"{'1, SQLite':>24}  {rate:8.0f}  {cost:12.0f}", flush=True)
    base = 0.0

    def row(label: str, rate: float, cost: float) -> None:
        print(f"{label:>24}  {rate:8.0f}  {cost:12.0f}  {cost / base:5.2f} times one", flush=True)

    with LocalNats() as nats:
        for count in options.servers:
            for cross in (False, True) if count > 1 else (False,):
                with schema() as name:
                    database = f"{POSTGRES}?schema={name}"
                    rate, cost, _ = asyncio.run(
                        _run(database, nats.url, count, options, cross=cross)
                    )
                base = base or cost
                row(f"{count}, {'crossing' if cross else 'local'}", rate, cost)
            if count > 1:
                with contextlib.ExitStack() as stack:
                    names = [stack.enter_context(schema()) for _ in range(count)]
                    databases = [f"{POSTGRES}?schema={name}" for name in names]
                    rate, cost, _ = asyncio.run(_apart(databases, options))
                row(f"{count}, apart", rate, cost)


def latency(options: argparse.Namespace) -> None:
    print(f"\n{'one ply, 4 slow pairs':>24}  {'p50 ms':>8}  {'p99 ms':>8}")
    with LocalNats() as nats:
        for cross in (False, True):
            with schema() as name:
                database = f"{POSTGRES}?schema={name}"
                work = _run(database, nats.url, 2, options, cross=cross, pairs=4, think=0.05)
                _, _, delays = asyncio.run(work)
            cuts = statistics.quantiles(delays, n=100)
            label = "crossing" if cross else "local"
            print(f"{label:>24}  {cuts[49] * 1e3:8.2f}  {cuts[98] * 1e3:8.2f}", flush=True)


def idle(most: int) -> None:
    print(f"\n{'idle connections':>24}  {'KiB each':>8}  {'µs CPU a login':>14}")
    with LocalNats() as nats, schema() as name:
        asyncio.run(_connect_idle(f"{POSTGRES}?schema={name}", nats.url, most))


async def _connect_idle(database: str, nats: str, most: int) -> None:
    async with await Store.open(database):
        pass
    limits = ("--max-connections", "--max-connections-per-address", "--max-bots-per-player")
    options = [word for limit in limits for word in (limit, str(2 * most))]
    servers = Processes(database, nats, *options, "--connections-per-second", "0")
    wires: list[asyncio.Task[None]] = []
    try:
        server = await servers.start()
        keys = await tokens(database, 8)
        pid = server.process.pid
        empty = _resident(pid)
        for target in (most // 4, most):
            begun, busy = len(wires), _processor(pid)
            while len(wires) < target:
                wires += await asyncio.gather(
                    *(_idle(server.ws_url, keys[n % len(keys)], len(wires) + n) for n in range(50))
                )
            grown = _resident(pid) - empty
            login = (_processor(pid) - busy) / (len(wires) - begun) * 1e6
            each = grown / len(wires) / 1024
            print(f"{len(wires):>24}  {each:8.1f}  {login:14.0f}", flush=True)
        busy, began = _processor(pid), time.perf_counter()
        await asyncio.sleep(30)
        busy = (_processor(pid) - busy) / (time.perf_counter() - began)
        assert not any(wire.done() for wire in wires), "the server closed idle connections"
        print(f"{len(wires)} idle connections take {busy:.2f} s of processor time per second")
    finally:
        for wire in wires:
            wire.cancel()
        await asyncio.gather(*wires, return_exceptions=True)
        await servers.close()


async def _idle(url: str, token: str, number: int) -> asyncio.Task[None]:
    """Log in; return the task that answers pings."""
    wire = await connect(
        url,
        subprotocols=[MSGPACK.subprotocol],  # type: ignore[list-item]
        compression=None,
        ping_interval=None,
        open_timeout=60,
    )
    await wire.send(MSGPACK.encode(Hello(1, token, f"bot{number}")))
    while not isinstance(answer := MSGPACK.decode_server(await wire.recv()), Welcome):
        assert isinstance(answer, Ping), answer
        await wire.send(MSGPACK.encode(Pong(answer.id)))
    return asyncio.create_task(_answer_pings(wire))


async def _answer_pings(wire: Any) -> None:
    async for frame in wire:
        message = MSGPACK.decode_server(frame)
        if isinstance(message, Ping):
            await wire.send(MSGPACK.encode(Pong(message.id)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=32, help="pairs of bots per server")
    parser.add_argument("--think", type=float, default=0, help="longest thinking time in seconds")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--servers", type=int, nargs="*", default=[1, 2, 4])
    parser.add_argument("--idle", type=int, default=0, help="connections; 20000 need 64,000 files")
    given = parser.parse_args()
    table(given)
    latency(given)
    if given.idle:
        idle(given.idle)


if __name__ == "__main__":
    main()
