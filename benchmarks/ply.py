"""Where the microseconds of a ply go: the server's own code, stage by stage, without sockets.

A hub with real sessions and a real database plays matches between clients in the same process,
which are not counted: so much processor time a ply.  Then a server that is interpreted plays them
once more, for the stages: they are taken out of one run by timing the calls at their borders, so
that together they are the whole, and calls within machine code have no border.

    python benchmarks/ply.py
    python benchmarks/ply.py --game pig --plies 50000
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgpack  # type: ignore[import-untyped]
import uvloop
from hosting import interpreter

from plyhouse.protocol.codec import MSGPACK
from plyhouse.protocol.connection import ServerConnection
from plyhouse.server.config import ServerConfig
from plyhouse.server.gateway.hub import Hub
from plyhouse.server.lobby.lobby import Lobby
from plyhouse.server.match.engine import Match
from plyhouse.server.table.live import LiveMatch
from plyhouse.server.wire.session import Session
from plyhouse.server.wire.transport import Upgrade
from plyhouse.storage.store import Store

STAGES: tuple[tuple[str, type, str], ...] = (
    ("read the frame, check that it may come", ServerConnection, "receive"),
    ("engine: rules, clock, observation, answers", Match, "act"),
    ("carry out effects, hand rows to the writer", LiveMatch, "act"),
    ("session: dispatch, find seat and match", Session, "received"),
    ("write frames (encoding included)", Session, "send"),
    ("tell what is durable, start clocks", LiveMatch, "stored"),
    ("find opponents, make matches", Lobby, "_pair"),
)
"""The timed calls: name, class, method.  Time within a stage that another stage takes is the
other's."""


class Stopwatch:
    """Shares the processor time of one thread out among nested stages."""

    def __init__(self) -> None:
        self.spent: defaultdict[str, float] = defaultdict(float)
        self._inside: list[float] = []
        """For each stage under way, the time that stages within it took."""

    def wrap(self, stage: str, method: Callable[..., Any]) -> Callable[..., Any]:
        """Time a method."""
        now = time.perf_counter

        def timed(*args: Any, **kwargs: Any) -> Any:
            self._inside.append(0.0)
            begin = now()
            try:
                return method(*args, **kwargs)
            finally:
                took = now() - begin
                self.spent[stage] += took - self._inside.pop()
                if self._inside:
                    self._inside[-1] += took

        return timed


class Ear:
    """The transport of one client: keeps the frames until they are looked at."""

    peer = "benchmark"
    remote = True
    upgrade: Upgrade | None = None

    def __init__(self) -> None:
        self.frames: list[bytes] = []

    def send(self, frame: Any) -> None:
        """Keep a frame."""
        self.frames.append(frame)

    def cork(self) -> None:
        """Frames are kept one by one."""

    def uncork(self) -> None:
        """There is nothing to write."""

    def pending(self) -> int:
        """Nothing is ever in the way."""
        return 0

    def network(self) -> None:
        """There is no network."""

    def trust(self) -> None:
        """The server knows the client."""

    def close(self, code: int, reason: str) -> None:
        """The server is done."""

    def abort(self) -> None:
        """The server is done."""


class Table:
    """Clients in this process that play one match after the other."""

    def __init__(self, hub: Hub, token: str, game: str, matches: int) -> None:
        self.game = game
        self.ears = [Ear() for _ in range(2 * matches)]
        self.sessions = [hub.attach(ear, MSGPACK.subprotocol) for ear in self.ears]
        self.random = random.Random(1)
        self.request = 10
        self.plies = self.matches = 0
        for number in range(len(self.ears)):
            self.say(number, "hello", token=token, bot=f"b{number}", max_matches=1)

    def say(self, client: int, kind: str, **fields: Any) -> None:
        """Let a client send a request."""
        self.request += 1
        frame = msgpack.packb({"type": kind, "id": self.request, **fields})
        self.sessions[client].received(frame, time.monotonic_ns())

    def answers(self) -> list[tuple[int, str, dict[str, Any]]]:
        """Return the clients' answers to the messages that they received."""
        found: list[tuple[int, str, dict[str, Any]]] = []
        for client, ear in enumerate(self.ears):
            frames, ear.frames = ear.frames, []
            for message in map(msgpack.unpackb, frames):
                kind = message["type"]
                if kind == "turn":
                    action = self.random.choice(message["observation"]["legal"])
                    act = {"match": message["match"], "ply": message["ply"], "action": action}
                    found.append((client, "act", act))
                elif kind == "match":
                    found.append((client, "ready", {"match": message["snapshot"]["match"]}))
                elif kind == "welcome":
                    seek = {"game": self.game, "time_control": "total:600+1", "count": 0}
                    found.append((client, "seek", seek))
                elif kind == "ping":
                    pong = msgpack.packb({"type": "pong", "re": message["id"]})
                    self.sessions[client].received(pong, time.monotonic_ns())
                elif kind == "finished":
                    self.matches += 1
                elif kind == "error":
                    raise SystemExit(f"the server complains: {message}")
        return found

    async def play(self, plies: int) -> float:
        """Play so many plies; return the processor time of the clients."""
        mine = 0.0
        wanted = self.plies + plies
        while self.plies < wanted:
            begin = time.thread_time()
            answers = self.answers()
            mine += time.thread_time() - begin
            for client, kind, fields in answers:
                self.plies += kind == "act"
                self.say(client, kind, **fields)
            await asyncio.sleep(0 if answers else 0.0002)
        return mine


async def run(game: str, plies: int, matches: int, synchronous: str, *, stages: bool) -> None:
    """Play, and print the sums or the table of stages."""
    watch = Stopwatch()
    with tempfile.TemporaryDirectory() as folder:
        database = f"sqlite:///{Path(folder) / 'ply.db'}?synchronous={synchronous}"
        async with await Store.open(database) as store:
            await store.add_player("load")
            token = await store.add_token("load")
        hub = await Hub.open(ServerConfig(database=database, log_level="error"))
        table = Table(hub, token, game, matches)
        await table.play(plies // 5)
        gc.collect()  # as a server does when it has started
        gc.freeze()
        gc.set_threshold(20_000, 20, 50)
        table.matches = 0
        begin, main = time.process_time(), time.thread_time()
        bare = await table.play(plies)
        whole, loop = time.process_time() - begin - bare, time.thread_time() - main - bare
        length = plies / max(1, table.matches / 2)
        if stages:
            for stage, kind, name in STAGES:
                setattr(kind, name, watch.wrap(stage, getattr(kind, name)))
            # The same again with stopwatches, which cost something themselves: shares, not sums.
            await table.play(plies)
        await hub.close()
    timed = sum(watch.spent.values())
    variant = "interpreted" if hasattr(Match.act, "__code__") else "compiled"
    print(f"\n{interpreter()}; the server's core is {variant}")
    print(f"{game}, {matches} matches at a time, {length:.1f} plies each, {synchronous} commits")
    print(f"{'stage':<46} {'us/ply':>7}")
    for stage, _, _ in STAGES if stages else ():
        print(f"{stage:<46} {watch.spent[stage] / timed * loop / plies * 1e6:>7.1f}")
    print(f"{'the loop thread in all':<46} {loop / plies * 1e6:>7.1f}")
    print(f"{'the storage thread':<46} {(whole - loop) / plies * 1e6:>7.1f}")
    print(f"{'in all, without sockets':<46} {whole / plies * 1e6:>7.1f}")


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--game", default="connect_four")
    parser.add_argument("--plies", type=int, default=20_000)
    parser.add_argument("--matches", type=int, default=25)
    parser.add_argument("--synchronous", default="normal")
    parser.add_argument("--stages", action="store_true", help="the stages only")
    options = parser.parse_args()
    stages = options.stages
    what = (options.game, options.plies, options.matches, options.synchronous)
    uvloop.run(run(*what, stages=stages))
    if not stages:
        again = [sys.executable, __file__, "--stages", *sys.argv[1:]]
        subprocess.run(again, env={**os.environ, "PLYHOUSE_PURE": "server"}, check=True)


if __name__ == "__main__":
    main()
