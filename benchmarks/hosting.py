"""How many plies per second one server process hosts, and how much latency it adds to a ply.

Clients are one process that answers at once with a random legal action; the server stores every
ply in a SQLite file before it tells anyone.  Beside it, on the same machine and in the same run,
stands a bare relay: the same uvicorn, uvloop and websockets, one frame in, two frames out, nothing
decoded and nothing stored, with the same clients and the same frames: an ``act`` comes in, an
``accepted`` goes back and a ``turn`` on to the other end, as long as those of a match.

Every figure is the median of three windows.  In addition to plies per second, which depend on other
load, it prints the processor time that the serving process spends on a ply (user and
system, all threads), which hardly does.

``synchronous`` is SQLite's setting: with ``full``, the default, an action is on the disk before
anyone hears of it, and every commit waits for the disk; with ``normal`` it survives a kill of the
server, but the last moments may be lost when the machine loses power.

    python benchmarks/hosting.py
    python benchmarks/hosting.py --pairs 25 --seconds 10 --games pig
    python benchmarks/hosting.py --pairs 25 --wire direct asgi --no-latency
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import contextlib
import functools
import itertools
import json
import os
import platform
import random
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import msgpack  # type: ignore[import-untyped]
import uvloop

SUBPROTOCOL = "plyhouse.v1+msgpack"
WARM_UP = 1.0
WINDOWS = 3
ACCEPTED = b"\xa4type\xa8accepted"
MATCH = "1m7wmk169c0000"
ACT_FRAME = {"type": "act", "id": 1234, "match": MATCH, "ply": 17, "action": "4"}
CLOCKS = [{"seat": 0, "remaining_ms": 600123}, {"seat": 1, "remaining_ms": 600456}]
EVENTS = [{"ply": 16, "seat": 0, "action": "3", "ms": 0}, {"ply": 17, "seat": 1, "action": "4"}]
LEDGER = {
    "ply": 17,
    "seat": 1,
    "thought_ms": 1,
    "lag_refunded_ms": 1,
    "stall_ms": 0,
    "charged_ms": 0,
    "remaining_ms": 600456,
}
ACCEPTED_FRAME = {
    "type": "accepted",
    "re": 1234,
    "match": MATCH,
    "ply": 17,
    "events": EVENTS[1:],
    "clocks": CLOCKS,
    "ledger": LEDGER,
}
TURN_FRAME = {
    "type": "turn",
    "match": MATCH,
    "ply": 18,
    "events": EVENTS,
    "observation": {
        "seat": 0,
        "to_move": 0,
        "legal": ["1", "2", "3", "4", "5", "6", "7"],
        "board": [".......", ".......", "...o...", "..ox...", "..xo.x.", ".oxoxxo"],
        "winner": None,
        "connect": 4,
    },
    "clocks": CLOCKS,
    "deadline_ms": 600123,
}
"""The frames of a ply of connect four, which pass the relay."""
LENGTHS = ("connect_four(columns=3,connect=3,rows=3)", "connect_four(columns=7,connect=4,rows=6)")
"""One game in a short and a long form, to tell the cost of a match from that of its plies."""
WIRES = ("direct", "asgi")
"""How frames reach a session: cut where they are read, or through ASGI."""
PACED_RATE = 10.0
"""Plies per second and match in the latency test."""


# ------------------------------------------------------------------------- the clients


class Client(asyncio.Protocol):
    """A websocket client reduced to what the test needs; subclasses answer frames."""

    def __init__(self, load: Load, path: str, number: int) -> None:
        self.load = load
        self.path = path
        self.number = number
        self.buffer = b""
        self.open = False
        self.transport: Any = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask for the websocket."""
        self.transport = transport
        key = base64.b64encode(os.urandom(16)).decode()
        self.transport.write(
            f"GET {self.path} HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n"
            f"Sec-WebSocket-Protocol: {SUBPROTOCOL}\r\n\r\n".encode()
        )

    def data_received(self, data: bytes) -> None:
        """Cut what was read into frames."""
        data = self.buffer + data if self.buffer else data
        if not self.open:
            head, mark, data = data.partition(b"\r\n\r\n")
            if not mark:
                self.buffer = head
                return
            if b" 101 " not in head:
                self.load.stop(f"the server refused the connection: {head!r}")
            self.open = True
            self.opened()
        at, size = 0, len(data)
        while size - at >= 2:
            length, start = data[at + 1], at + 2
            if length == 126:
                length, start = int.from_bytes(data[at + 2 : at + 4], "big"), at + 4
            elif length == 127:
                length, start = int.from_bytes(data[at + 2 : at + 10], "big"), at + 10
            if size < start + length:
                break
            if data[at] & 15 == 2:
                self.frame(data[start : start + length])
            elif data[at] & 15 == 8 and not self.load.done:
                self.load.stop(f"the server closed: {data[start + 2 : start + length]!r}")
            at = start + length
        self.buffer = data[at:]

    def send(self, payload: bytes) -> None:
        """Send a masked frame; the mask of zeros leaves the payload as it is."""
        size = len(payload)
        head = bytes((0x82, 0x80 | size)) if size < 126 else b"\x82\xfe" + size.to_bytes(2, "big")
        self.transport.write(head + b"\0\0\0\0" + payload)

    def opened(self) -> None:
        """The connection is open."""

    def frame(self, data: bytes) -> None:
        """A frame has come."""


class Player(Client):
    """Plays one match after the other on a Plyhouse server."""

    def __init__(self, load: Load, path: str, number: int) -> None:
        super().__init__(load, path, number)
        self.random = random.Random(number)
        self.heights = [0] * 7
        self.hold = 0.0
        self.legal: list[str] = []
        self.request = 0

    def say(self, kind: str, **fields: Any) -> None:
        """Send a message."""
        self.request += 1
        self.send(msgpack.packb({"type": kind, "id": self.request, **fields}))

    def opened(self) -> None:
        """Log in."""
        self.say("hello", token=self.load.token, bot=f"b{self.number}", max_matches=1)

    def frame(self, data: bytes) -> None:
        """Answer a message."""
        if data.startswith(ACCEPTED, 1):
            return
        message = msgpack.unpackb(data)
        kind = message["type"]
        if kind == "turn":
            self.load.arrived(message["match"])
            if self.load.game == "connect_four":
                for event in message.get("events", ()):
                    self.heights[int(event["action"]) - 1] += 1
            elif self.load.game != "pig":
                self.legal = message["observation"]["legal"]
            else:
                seen = message["observation"]
                total = seen["turn_total"]
                enough = seen["scores"][seen["turn"]] + total >= seen["target"]
                self.hold = 1.0 if enough else 0.25 if total else 0.0
            if self.load.pace:
                asyncio.get_running_loop().call_later(
                    self.load.pace, self.act, message["match"], message["ply"]
                )
            else:
                self.act(message["match"], message["ply"])
        elif kind == "match":
            self.load.begun(self.number)
            self.heights = [0] * 7
            self.say("ready", match=message["snapshot"]["match"], nonce="ab12")
        elif kind == "finished":
            self.load.matches += 1
        elif kind == "ping":
            self.send(msgpack.packb({"type": "pong", "re": message["id"]}))
        elif kind == "welcome":
            self.say("seek", game=self.load.game, time_control="total:600+1", count=0)
        elif kind == "error":
            self.load.stop(f"the server complains: {message}")

    def act(self, match: str, ply: int) -> None:
        """Play a random legal action."""
        if self.load.game == "connect_four":
            heights = self.heights
            column = self.random.randrange(7)
            while heights[column] >= 6:
                column = (column + 1) % 7
            heights[column] += 1
            action = str(column + 1)
        elif self.load.game != "pig":
            action = self.random.choice(self.legal)
        else:
            action = "hold" if self.random.random() < self.hold else "roll"
        self.load.acted(match)
        self.say("act", match=match, ply=ply, action=action)


class Echo(Client):
    """One end of a relayed pair: answers the other end's frames, ignores its own."""

    def opened(self) -> None:
        """Begin once everybody is there."""
        self.pair = f"{self.number // 2}"
        self.load.begun(self.number)
        self.load.waiting.append(self)
        if len(self.load.waiting) == self.load.clients:
            for client in self.load.waiting:
                if client.number % 2:
                    client.act()

    def frame(self, data: bytes) -> None:
        """Answer the other end's frame."""
        if data.startswith(ACCEPTED, 1):
            return
        msgpack.unpackb(data)  # a player reads it
        self.load.arrived(self.pair)
        if self.load.pace:
            asyncio.get_running_loop().call_later(self.load.pace, self.act)
        else:
            self.act()

    def act(self) -> None:
        """Send what stands for an action."""
        self.load.acted(self.pair)
        self.send(msgpack.packb(ACT_FRAME))


class Load:
    """All clients of one run, and what they measured."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.game: str = settings["game"]
        self.token: str = settings.get("token", "")
        self.clients: int = 2 * settings["pairs"]
        self.pace: float = settings["pace"]
        self.seconds: float = settings["seconds"]
        self.waiting: list[Any] = []
        self.playing: set[int] = set()
        """Clients that have been in a match."""
        self.everybody = asyncio.Event()
        self.plies = 0
        self.matches = 0
        """Matches that were over, once for each end."""
        self.done = False
        self.sent: dict[str, float] = {}
        self.latencies: list[float] = []
        self.server: int = settings["server"]
        """Id of the process that serves."""
        self.address: tuple[str, int] = ("127.0.0.1", settings["port"])

    def begun(self, number: int) -> None:
        """A client has its first match."""
        self.playing.add(number)
        if len(self.playing) == self.clients:
            self.everybody.set()

    def acted(self, match: str) -> None:
        """An action is being sent."""
        self.plies += 1
        if self.pace:
            self.sent[match] = time.perf_counter()

    def arrived(self, match: str) -> None:
        """The opponent has been told of an action."""
        if self.pace:
            sent = self.sent.pop(match, None)
            if sent is not None:
                self.latencies.append(time.perf_counter() - sent)

    def stop(self, why: str) -> NoReturn:
        """Give up: a test in which something went wrong measures nothing."""
        print(why, file=sys.stderr)
        os._exit(1)

    async def run(self) -> dict[str, Any]:
        """Connect everybody, let them play, and return plies per second and latencies in ms."""
        loop = asyncio.get_running_loop()
        relay = not self.token
        for number in range(self.clients):
            path = f"/relay/{number // 2}" if relay else "/ws"
            kind: type[Client] = Echo if relay else Player
            make = functools.partial(kind, self, path, number)
            await loop.create_connection(make, *self.address)
        async with asyncio.timeout(60):
            await self.everybody.wait()
        await asyncio.sleep(WARM_UP)
        self.latencies.clear()
        rates, costs = [], []
        self.matches, begun = 0, self.plies
        for _ in range(WINDOWS):
            plies, begin, spent = self.plies, time.perf_counter(), processor_time(self.server)
            await asyncio.sleep(self.seconds / WINDOWS)
            plies = self.plies - plies
            rates.append(plies / (time.perf_counter() - begin))
            costs.append((processor_time(self.server) - spent) / max(1, plies) * 1e6)
        self.done = True
        ordered = sorted(self.latencies)
        result = {"rate": statistics.median(rates), "cost": statistics.median(costs)}
        result["plies"] = (self.plies - begun) / max(1, self.matches / 2)
        if ordered:
            result["p50"] = statistics.median(ordered) * 1e3
            result["p95"] = ordered[int(len(ordered) * 0.95)] * 1e3
            result["p99"] = ordered[int(len(ordered) * 0.99)] * 1e3
        return result


# --------------------------------------------------------------------------- the relay


def relay_application() -> Any:
    """A raw ASGI application: a frame from one end is answered, and passed on to the other."""
    ends: dict[str, list[Any]] = {}
    accepted = {"type": "websocket.send", "bytes": msgpack.packb(ACCEPTED_FRAME)}
    turn = {"type": "websocket.send", "bytes": msgpack.packb(TURN_FRAME)}

    async def application(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept", "subprotocol": SUBPROTOCOL})
        pair = ends.setdefault(scope["path"], [])
        pair.append(send)
        while (await receive())["type"] == "websocket.receive":
            await send(accepted)
            for end in pair:
                if end is not send:
                    await end(turn)
        pair.remove(send)

    return application


def serve_relay(port: int) -> None:
    """Run the relay as the server runs: same uvicorn, same loop, same websocket settings."""
    import uvicorn

    uvicorn.run(
        relay_application(),
        port=port,
        loop="uvloop",
        ws="websockets-sansio",
        ws_per_message_deflate=False,
        ws_ping_interval=None,
        lifespan="off",
        log_level="error",
        access_log=False,
    )


# -------------------------------------------------------------------------- running it


def interpreter() -> str:
    """Describe the Python that runs this, and whether it is optimised (docs/performance.md)."""
    how = "built without profile-guided optimisation"
    if "--enable-optimizations" in (sysconfig.get_config_var("CONFIG_ARGS") or ""):
        how = "built with profile-guided optimisation"
    elif sys.base_prefix == "/usr":  # Debian notes how it made the shared library instead
        how = "of the distribution, which optimises without noting it there"
    return f"Python {platform.python_version()}, {how}"


def free_port() -> int:
    """A port that nobody uses now."""
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def process(*arguments: str) -> Iterator[int]:
    """Run this script in another role; gives the id of the process."""
    child = subprocess.Popen([sys.executable, __file__, *arguments])
    try:
        yield child.pid
    finally:
        child.terminate()
        child.wait()


def processor_time(process: int) -> float:
    """Seconds of processor time that a process has used, with all its threads (Linux)."""
    if not sys.platform.startswith("linux"):
        return 0.0
    # Its clock of processor time; see clock_getcpuclockid(3).
    return time.clock_gettime((~process << 3) | 2)


def wait_for(port: int) -> None:
    """Wait until somebody listens."""
    import socket

    for _ in range(1200):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    raise SystemExit(f"nobody listens on port {port}")


def measure(settings: dict[str, Any]) -> dict[str, Any]:
    """Run the clients in a process of their own."""
    done = subprocess.run(
        [sys.executable, __file__, "--role", "load", "--settings", json.dumps(settings)],
        check=True,
        stdout=subprocess.PIPE,
    )
    result: dict[str, Any] = json.loads(done.stdout)
    return result


async def make_token(database: str) -> str:
    """Make an account in a fresh database."""
    from plyhouse.storage.store import Store

    store = await Store.open(database)
    await store.add_player("load")
    token = await store.add_token("load")
    await store.close()
    return token


def serve_house(port: int, database: str, wire: str) -> None:
    """Run the server; ``wire`` is one of `WIRES`."""
    from plyhouse.server import serve as serving
    from plyhouse.server.config import ServerConfig
    from plyhouse.server.wire.direct import websocket_protocol

    if wire == "asgi":
        vars(serving)["websocket_protocol"] = functools.partial(websocket_protocol, direct=False)
    # All bots have one account, which gets a quarter of the connections.
    config = ServerConfig(
        port=port,
        database=database,
        log_level="warning",
        max_connections=4_000,
        max_connections_per_address=4_000,
        max_plies_per_day=0,
    )
    serving.serve(config, lambda line: None)


def hosted(
    game: str,
    pairs: int,
    seconds: float,
    pace: float,
    sync: str = "full",
    wire: str = "direct",
) -> dict[str, Any]:
    """Measure a Plyhouse server."""
    with tempfile.TemporaryDirectory() as folder:
        database = f"sqlite:///{Path(folder) / 'bench.db'}?synchronous={sync}"
        token = asyncio.run(make_token(database))
        port = free_port()
        with process(
            "--role", "server", "--settings", json.dumps([port, database, wire])
        ) as server:
            wait_for(port)
            return measure(
                {
                    "game": game,
                    "pairs": pairs,
                    "seconds": seconds,
                    "pace": pace,
                    "port": port,
                    "server": server,
                    "token": token,
                }
            )


def relayed(pairs: int, seconds: float, pace: float) -> dict[str, Any]:
    """Measure the bare relay."""
    port = free_port()
    with process("--role", "relay", "--settings", json.dumps(port)) as server:
        wait_for(port)
        return measure(
            {
                "game": "",
                "pairs": pairs,
                "seconds": seconds,
                "pace": pace,
                "port": port,
                "server": server,
            }
        )


def print_per_match(pairs: int, seconds: float) -> None:
    """Separate the cost of a ply from that of a match, by matches of different lengths."""
    short, long = (hosted(game, pairs, seconds, 0.0, "normal") for game in LENGTHS)
    # cost = ply + match / plies, for both
    match = (short["cost"] - long["cost"]) / (1 / short["plies"] - 1 / long["plies"])
    ply = long["cost"] - match / long["plies"]
    print(
        f"\nmatches of {short['plies']:.1f} and {long['plies']:.1f} plies: {short['cost']:.1f} and "
        f"{long['cost']:.1f} us a ply; so a ply costs {ply:.1f} us and a match {match:.0f} us"
    )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--pairs", type=int, nargs="+", default=[1, 25, 100])
    parser.add_argument("--seconds", type=float, default=6.0)
    parser.add_argument("--games", nargs="+", default=["connect_four", "pig"])
    parser.add_argument("--synchronous", nargs="+", default=["full", "normal"])
    parser.add_argument("--wire", nargs="+", choices=WIRES, default=["direct"])
    parser.add_argument("--no-latency", action="store_true")
    parser.add_argument("--role", choices=["main", "load", "relay", "server"], default="main")
    parser.add_argument("--settings", default="")
    options = parser.parse_args()
    if options.role == "load":
        print(json.dumps(uvloop.run(Load(json.loads(options.settings)).run())))
        return
    if options.role == "relay":
        serve_relay(json.loads(options.settings))
        return
    if options.role == "server":
        serve_house(*json.loads(options.settings))
        return
    print(interpreter())
    print(
        f"{'matches':>8} {'game':<13} {'synchronous':<12} {'plies /s':>9} {'us /ply':>8} "
        "share of the relay, and times its cost"
    )
    for pairs in options.pairs:
        relay = relayed(pairs, options.seconds, 0.0)
        rate, cost = relay["rate"], relay["cost"]
        print(f"{pairs:>8} {'bare relay':<13} {'':<12} {rate:>9,.0f} {cost:>8.1f}", flush=True)
        for game, sync, wire in itertools.product(options.games, options.synchronous, options.wire):
            ours = hosted(game, pairs, options.seconds, 0.0, sync, wire)
            how = sync if wire == "direct" else f"{sync} {wire}"
            print(
                f"{pairs:>8} {game:<13} {how:<12} {ours['rate']:>9,.0f} {ours['cost']:>8.1f} "
                f"{ours['rate'] / rate:>5.0%} {ours['cost'] / cost:>5.1f}x",
                flush=True,
            )
    print_per_match(options.pairs[-1], options.seconds)
    if options.no_latency:
        return
    pace = 1 / PACED_RATE
    print(f"\nlatency of a ply at 100 matches, {PACED_RATE:g} plies/s each (milliseconds)")
    print(f"{'':<14} {'plies /s':>10} {'p50':>8} {'p99':>8}")
    bare = relayed(100, options.seconds, pace)
    print(f"{'bare relay':<14} {bare['rate']:>10,.0f} {bare['p50']:>8.2f} {bare['p99']:>8.2f}")
    for game in options.games:
        ours = hosted(game, 100, options.seconds, pace, options.synchronous[0])
        print(f"{game:<14} {ours['rate']:>10,.0f} {ours['p50']:>8.2f} {ours['p99']:>8.2f}")
        added = [ours[key] - bare[key] for key in ("p50", "p99")]
        print(f"{'  added':<14} {'':>10} {added[0]:>8.2f} {added[1]:>8.2f}")


if __name__ == "__main__":
    main()
