"""How late the plies of an honest bot are while one address floods the server with HTTP requests.

A server and two honest bots share one processor; the flood is a process on another.
Each flood comes from an address that the server has not seen yet, so that its first burst counts,
and each window with a flood follows a quiet one, with which it is compared.  A figure is the median
over all rounds; beside it stands the median of the ratios to the quiet window just before.

    python benchmarks/http_floods.py
    python benchmarks/http_floods.py --rounds 3 --seconds 3 --floods replay churn
"""

from __future__ import annotations

import argparse
import asyncio
import collections
import contextlib
import functools
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Final

import uvloop
from hosting import Load, Player, free_port, interpreter, make_token, measure, wait_for

CONNECTIONS: Final = 32
PAIRS, PACE = 2, 0.02
PATHS: Final = {
    "openapi": "/api/openapi.json",
    "metrics": "/metrics",
    "replay": "/api/v1/matches/{match}/replay",
    "churn": "/healthz",
    "front": "/",
    "sign-in": "/api/v1/session",
    "record": "/api/v1/matches/{match}/record",
    "chances": "/api/v1/matches/{match}/chances",
}
WRONG = json.dumps({"player": "load", "password": "not the password"})


# ----------------------------------------------------------------------------- the flood


class Flooder(asyncio.Protocol):
    """Sends a request, waits for the answer, and sends it again; comes back when it is cut off."""

    def __init__(self, flood: Flood) -> None:
        self.flood = flood
        self.buffer = b""
        self.transport: Any = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask."""
        self.transport = transport
        self.transport.write(self.flood.request)

    def data_received(self, data: bytes) -> None:
        """Ask again once the answer is whole."""
        self.buffer += data
        head, mark, body = self.buffer.partition(b"\r\n\r\n")
        if not mark:
            return
        length = 0
        for line in head.lower().split(b"\r\n"):
            if line.startswith(b"content-length:"):
                length = int(line[15:])
        if len(body) < length:
            return
        self.buffer = b""
        self.flood.answers[head[9:12].decode()] += 1
        if self.flood.churn:
            self.transport.abort()
        else:
            self.transport.write(self.flood.request)

    def connection_lost(self, exc: Exception | None) -> None:
        """Come back at once."""
        self.flood.gone.release()


class Flood:
    """One address that asks for the same again and again, on many connections."""

    def __init__(self, kind: str, port: int, address: str, match: str) -> None:
        path = PATHS[kind].format(match=match)
        host = f"127.0.0.1:{port}"
        head = f"Host: {host}\r\nAccept-Encoding: gzip\r\n"
        if kind == "sign-in":
            head += f"Origin: http://{host}\r\nContent-Type: application/json\r\n"
            head += f"Content-Length: {len(WRONG)}\r\n"
            self.request = f"POST {path} HTTP/1.1\r\n{head}\r\n{WRONG}".encode()
        else:
            self.request = f"GET {path} HTTP/1.1\r\n{head}\r\n".encode()
        self.churn = kind == "churn"
        self.port, self.address = port, address
        self.answers: collections.Counter[str] = collections.Counter()
        self.gone = asyncio.Semaphore(CONNECTIONS)

    async def run(self) -> None:
        """Keep all connections busy."""
        loop = asyncio.get_running_loop()
        while True:
            await self.gone.acquire()
            self.answers["connections"] += 1
            try:
                await loop.create_connection(
                    functools.partial(Flooder, self),
                    *("127.0.0.1", self.port),
                    local_addr=(self.address, 0),
                )
            except OSError:
                self.gone.release()
                await asyncio.sleep(0.001)


async def flood_for(kind: str, port: int, address: str, match: str, seconds: float) -> None:
    """Flood, and print how many answers came."""
    flood = Flood(kind, port, address, match)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await flood.run()
    print(json.dumps(flood.answers), flush=True)


# ------------------------------------------------------------------------ the honest bots


async def play_on(settings: dict[str, Any]) -> None:
    """Play until told to stop; for each line read, print the latencies since the last one."""
    load = Load(settings)
    loop = asyncio.get_running_loop()
    for number in range(10, 10 + load.clients):  # the first ones have a match of their own to end
        make = functools.partial(Player, load, "/ws", number)
        await loop.create_connection(make, *load.address)
    await load.everybody.wait()
    print("ready", flush=True)
    while await asyncio.to_thread(sys.stdin.readline):
        print(json.dumps(load.latencies), flush=True)
        load.latencies.clear()
    os._exit(0)


class Bots:
    """The process of the honest bots."""

    def __init__(self, child: subprocess.Popen[bytes]) -> None:
        assert child.stdin is not None
        assert child.stdout is not None
        self.say: IO[bytes] = child.stdin
        self.hear: IO[bytes] = child.stdout

    def latencies(self) -> list[float]:
        """Seconds from an action to its telling, since the last call."""
        self.say.write(b"\n")
        self.say.flush()
        found: list[float] = json.loads(self.hear.readline())
        return found


# ----------------------------------------------------------------------------- measuring


@contextlib.contextmanager
def on_processor(number: int) -> Iterator[None]:
    """Let what is started here run on one processor."""
    all_of_them = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {sorted(all_of_them)[number]})
    try:
        yield
    finally:
        os.sched_setaffinity(0, all_of_them)


@contextlib.contextmanager
def started(script: str, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a script beside this one."""
    path = str(Path(__file__).with_name(script))
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    child = subprocess.Popen([sys.executable, path, *arguments], **pipes)  # type: ignore[call-overload]
    try:
        yield child
    finally:
        child.terminate()
        child.wait()


def longest_match(port: int) -> str:
    """The finished match with most plies."""
    url = f"http://127.0.0.1:{port}/api/v1/matches?status=finished&game=backgammon&limit=50"
    with urllib.request.urlopen(url) as answer:
        found = json.load(answer)
    return str(max(found, key=lambda row: row["ply"])["match"])


def percentile(latencies: list[float], share: float) -> float:
    """In milliseconds."""
    return sorted(latencies)[min(len(latencies) - 1, int(len(latencies) * share))] * 1e3


def window(bots: Bots, seconds: float, flood: list[Any] | None) -> tuple[float, float, str]:
    """p50 and p99 of a while, and what the flood was answered."""
    bots.latencies()
    answers = ""
    if flood is None:
        time.sleep(seconds)
    else:
        with on_processor(1):
            child = subprocess.Popen(
                [sys.executable, __file__, "--role", "flood", "--settings", json.dumps(flood)],
                stdout=subprocess.PIPE,
            )
        said = child.communicate()[0]
        answers = " ".join(f"{key}:{count}" for key, count in sorted(json.loads(said).items()))
    found = bots.latencies()
    if len(found) < 20:
        raise SystemExit(f"only {len(found)} plies in {seconds:g} s: nothing can be said")
    return percentile(found, 0.5), percentile(found, 0.99), answers


def report(kinds: list[str], rounds: int, seconds: float) -> None:
    """Measure, and print the table."""
    with tempfile.TemporaryDirectory() as folder:
        database = f"sqlite:///{Path(folder) / 'floods.db'}?synchronous=normal"
        token = asyncio.run(make_token(database))
        port = free_port()
        settings = {"port": port, "token": token, "pairs": PAIRS, "pace": PACE, "seconds": 3.0}
        with contextlib.ExitStack() as stack:
            with on_processor(0):
                server = stack.enter_context(
                    started(
                        "hosting.py",
                        *("--role", "server"),
                        *("--settings", json.dumps([port, database, "direct"])),
                    )
                )
                wait_for(port)
                settings["server"] = server.pid
                measure({**settings, "game": "backgammon", "pairs": 1, "pace": 0.0})
                settings["game"] = "connect_four"
                child = stack.enter_context(
                    started("http_floods.py", "--role", "bots", "--settings", json.dumps(settings))
                )
            bots = Bots(child)
            bots.hear.readline()
            time.sleep(1)
            match = longest_match(port)
            addresses = (f"127.0.1.{number}" for number in itertools.count(1))
            quiet: list[tuple[float, float]] = []
            flooded: dict[str, list[tuple[float, float, float, float]]] = {k: [] for k in kinds}
            answers: dict[str, str] = {}
            for _ in range(rounds):
                for kind in kinds:
                    *before, _ = window(bots, seconds, None)
                    quiet.append((before[0], before[1]))
                    flood = [kind, port, next(addresses), match, seconds]
                    p50, p99, answers[kind] = window(bots, seconds, flood)
                    print(f"{kind}: {p50:.2f} {p99:.2f} ms {answers[kind]}", file=sys.stderr)
                    flooded[kind].append((p50, p50 / before[0], p99, p99 / before[1]))
                    time.sleep(1)
    print(f"{interpreter()}; {rounds} rounds of {seconds:g} s; ms from an action to its telling")
    print(f"{'flood':<10} {'p50':>14} {'p99':>15}  answers in the last round")
    p50, p99 = (statistics.median(each[at] for each in quiet) for at in (0, 1))
    print(f"{'none':<10} {p50:7.2f}        {p99:8.2f}")
    for kind, found in flooded.items():
        p50, times50, p99, times99 = map(statistics.median, zip(*found, strict=True))
        row = f"{kind:<10} {p50:7.2f} {times50:5.1f}x {p99:8.2f} {times99:5.1f}x"
        print(f"{row}  {answers[kind]}")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--floods", nargs="+", choices=list(PATHS), default=list(PATHS))
    parser.add_argument("--role", choices=["main", "flood", "bots"], default="main")
    parser.add_argument("--settings", default="")
    asked = parser.parse_args()
    if asked.role == "flood":
        uvloop.run(flood_for(*json.loads(asked.settings)))
    elif asked.role == "bots":
        uvloop.run(play_on(json.loads(asked.settings)))
    else:
        report(asked.floods, asked.rounds, asked.seconds)


if __name__ == "__main__":
    main()
