"""Servers of several Pythons, compared on a machine that is busy with other things.

All servers run at once, and one process of clients drives them in turn: a quarter of a second
each, in another order in every round, while the bots of the others rest.  Other load on the machine
meets all of them alike.  Printed is the processor time of a ply, as the median and the
lower quartile of the rounds, and its ratio to the first server named, round by round.

A server is PYTHON:GAME:MATCHES; a bare relay (see ``hosting.py``) has the game ``relay``.  PYTHON
is the interpreter of an environment that Plyhouse is installed in, perhaps from another tree: so
two versions of the server are compared, or two builds of Python.

    python benchmarks/alternating.py .venv/bin/python:pig:25 other/bin/python:pig:25
"""

from __future__ import annotations

import argparse
import asyncio
import functools
import json
import os
import random
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import hosting
import uvloop

HERE = Path(__file__).parent
SETTLE = 0.1
"""Seconds before each slice in which nothing is measured."""
START_SECONDS = 120
MAKE_TOKEN = "import asyncio, sys, hosting; print(asyncio.run(hosting.make_token(sys.argv[1])))"


class Load(hosting.Load):
    """The clients of one server, who rest while another one is measured."""

    def __init__(self, settings: dict[str, Any]) -> None:
        super().__init__(settings)
        self.resting = True
        self.held: list[Callable[[], None]] = []
        """The frames that the clients would have sent meanwhile."""

    def go_on(self) -> None:
        """Let the clients play."""
        self.resting = False
        held, self.held = self.held, []
        for act in held:
            act()

    async def connect(self) -> None:
        """Connect everybody, and wait until all are in a match."""
        self.resting = False
        relay = not self.token
        for number in range(self.clients):
            path = f"/relay/{number // 2}" if relay else "/ws"
            kind: type[hosting.Client] = Echo if relay else Player
            make = functools.partial(kind, self, path, number)
            await asyncio.get_running_loop().create_connection(make, *self.address)
        async with asyncio.timeout(START_SECONDS):
            await self.everybody.wait()
        self.resting = True


class Player(hosting.Player):
    """A player that can rest."""

    load: Load

    def act(self, match: str, ply: int) -> None:
        """Play, or do so later."""
        if self.load.resting:
            self.load.held.append(functools.partial(self.act, match, ply))
        else:
            super().act(match, ply)

    def frame(self, data: bytes) -> None:
        """Answer a message; in the end the server says that it stops."""
        if not self.load.done:
            super().frame(data)


class Echo(hosting.Echo):
    """One end of a relayed pair that can rest."""

    load: Load

    def act(self) -> None:
        """Answer, or do so later."""
        if self.load.resting:
            self.load.held.append(self.act)
        else:
            super().act()


def make_token(python: str, database: str) -> str:
    """Make a database and an account, with the server's own Python."""
    env = {**os.environ, "PYTHONPATH": str(HERE)}
    command = [python, "-c", MAKE_TOKEN, database]
    done = subprocess.run(command, env=env, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout.strip()


def serve(python: str, role: str, settings: str, stack: ExitStack) -> subprocess.Popen[bytes]:
    """Start a server, which ends with the stack."""
    command = [python, str(HERE / "hosting.py"), "--role", role, "--settings", settings]
    server = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    stack.callback(server.wait)
    stack.callback(server.terminate)
    return server


async def begin(spec: str, folder: str, number: int, stack: ExitStack) -> Load:
    """Start a server, and connect its clients."""
    python, game, matches = spec.rsplit(":", 2)
    port = hosting.free_port()
    token = ""
    role, settings = "relay", json.dumps(port)
    if game != "relay":
        database = f"sqlite:///{Path(folder) / f'{number}.db'}?synchronous=normal"
        token = await asyncio.to_thread(make_token, python, database)
        role, settings = "server", json.dumps([port, database, "direct"])
    server = serve(python, role, settings, stack)
    until = time.monotonic() + START_SECONDS
    while True:
        try:
            await asyncio.to_thread(hosting.wait_for, port)
            break
        except SystemExit:
            if time.monotonic() > until or server.poll() is not None:
                raise
    load = Load(
        {
            "game": game,
            "pairs": int(matches),
            "seconds": 0.0,
            "pace": 0.0,
            "port": port,
            "server": server.pid,
            "token": token,
        }
    )
    await load.connect()
    return load


async def measure(load: Load, seconds: float) -> float:
    """Let the clients of one server play; return the microseconds of its processor for a ply."""
    load.go_on()
    await asyncio.sleep(SETTLE)
    plies, spent = load.plies, hosting.processor_time(load.server)
    await asyncio.sleep(seconds)
    plies = load.plies - plies
    spent = hosting.processor_time(load.server) - spent
    load.resting = True
    await asyncio.sleep(SETTLE / 2)  # what is under way ends
    return spent / max(1, plies) * 1e6


async def run(specs: list[str], rounds: int, seconds: float) -> None:
    """Measure, and print the table."""
    costs: dict[str, list[float]] = {spec: [] for spec in specs}
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        loads = {
            spec: await begin(spec, folder, number, stack) for number, spec in enumerate(costs)
        }
        for _ in range(rounds):
            for spec in random.sample(specs, len(specs)):
                costs[spec].append(await measure(loads[spec], seconds))
        for load in loads.values():
            load.done = True
    print(f"{'us a ply: median':>16} {'quartile':>9} {'ratio':>6}")
    for spec, found in costs.items():
        ratio = statistics.median(map(float.__truediv__, found, costs[specs[0]]))
        quartile = statistics.quantiles(found, n=4)[0]
        print(f"{statistics.median(found):>16.1f} {quartile:>9.1f} {ratio:>6.2f} {spec}")


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("servers", nargs="+", metavar="PYTHON:GAME:MATCHES")
    parser.add_argument("--rounds", type=int, default=24)
    parser.add_argument("--seconds", type=float, default=0.25)
    options = parser.parse_args()
    uvloop.run(run(options.servers, options.rounds, options.seconds))


if __name__ == "__main__":
    main()
