"""How late a flag falls: the time from the deadline to its message, on real sockets.

Clients that never move have `BUDGET` seconds a move.  From the arrival of their ``turn`` to that
of ``finished`` passes the budget and what the server is late; the limit is 50 ms.  The same is
measured while other matches are played as fast as the server can (`benchmarks/hosting.py`'s
clients, in another process).

    python benchmarks/flags.py
    python benchmarks/flags.py --sleepers 100 --busy 0 50
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgpack  # type: ignore[import-untyped]
from websockets.asyncio.client import connect
from websockets.typing import Subprotocol

HERE = Path(__file__).parent
HOSTING = HERE / "hosting.py"
BUDGET = 0.3
STAGGER = 0.037
WARM_UP = 1.5
LIMIT_MS = 50.0


async def sleeper(uri: str, token: str, number: int, late: list[float]) -> None:
    """Seek matches, never move, and note how late each own flag falls.

    Pairs come one after the other, so that flags do not all fall at once; what falls within the
    first `WARM_UP` seconds is not counted.
    """
    await asyncio.sleep(number // 2 * STAGGER)
    counted = time.perf_counter() + WARM_UP
    async with connect(
        uri, subprotocols=[Subprotocol("plyhouse.v1+msgpack")], compression=None
    ) as socket:
        sent = 0

        async def say(kind: str, **fields: Any) -> None:
            nonlocal sent
            sent += 1
            await socket.send(msgpack.packb({"type": kind, "id": sent, **fields}))

        await say("hello", token=token, bot=f"sleeper{number}", max_matches=1)
        begun = 0.0
        async for frame in socket:
            now = time.perf_counter()
            message = msgpack.unpackb(frame)
            kind = message["type"]
            if kind == "welcome":
                await say("seek", game="connect_four", time_control=f"move:{BUDGET}", count=0)
            elif kind == "match":
                begun = 0.0
                await say("ready", match=message["snapshot"]["match"], nonce="ab12")
            elif kind == "turn":
                begun = now
            elif kind == "finished" and begun and now > counted:
                late.append((now - begun - BUDGET) * 1e3)
            elif kind == "ping":
                await socket.send(msgpack.packb({"type": "pong", "re": message["id"]}))
            elif kind == "error":
                raise SystemExit(f"the server complains: {message}")


async def measure(port: int, token: str, sleepers: int, seconds: float) -> list[float]:
    """Let pairs of sleepers lose on time; how late each flag fell, in milliseconds."""
    late: list[float] = []
    uri = f"ws://127.0.0.1:{port}/ws"
    tasks = [asyncio.create_task(sleeper(uri, token, n, late)) for n in range(2 * sleepers)]
    done, _ = await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    for task in tasks:
        task.cancel()
    for task in done:
        task.result()
    await asyncio.gather(*tasks, return_exceptions=True)
    return late


@contextlib.contextmanager
def process(*arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run hosting.py in one of its roles."""
    child = subprocess.Popen([sys.executable, str(HOSTING), *arguments], stdout=subprocess.DEVNULL)
    try:
        yield child
    finally:
        child.terminate()
        child.wait()


def run(busy: int, sleepers: int, seconds: float) -> tuple[list[float], int]:
    """Measure beside so many busy matches; also how many flags fell."""
    sys.path.insert(0, str(HERE))
    import hosting

    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        database = f"sqlite:///{Path(folder) / 'bench.db'}"
        token = asyncio.run(hosting.make_token(database))
        port = hosting.free_port()
        server = stack.enter_context(
            process("--role", "server", "--settings", json.dumps([port, database]))
        )
        hosting.wait_for(port)
        if busy:
            settings = {
                "game": "connect_four", "pairs": busy, "seconds": seconds + 60, "pace": 0.0,
                "port": port, "server": server.pid, "token": token,
            }  # fmt: skip
            stack.enter_context(process("--role", "load", "--settings", json.dumps(settings)))
            time.sleep(2)
        late = asyncio.run(measure(port, token, sleepers, seconds))
        return sorted(late), len(late)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--busy", type=int, nargs="+", default=[0, 5, 50])
    parser.add_argument("--sleepers", type=int, default=20, help="pairs of clients")
    parser.add_argument("--seconds", type=float, default=10.0)
    options = parser.parse_args()
    print(f"how late flags fall (milliseconds; limit {LIMIT_MS:g})")
    print(f"{'busy matches':>12} {'flags':>6} {'median':>8} {'p99':>8} {'most':>8}  within")
    for busy in options.busy:
        late, count = run(busy, options.sleepers, options.seconds)
        if not count:
            raise SystemExit("no flag fell")
        within = sum(each <= LIMIT_MS for each in late) / count
        print(
            f"{busy:>12} {count:>6} {statistics.median(late):>8.2f} "
            f"{late[int(count * 0.99)]:>8.2f} {late[-1]:>8.2f} {within:>7.1%}",
            flush=True,
        )


if __name__ == "__main__":
    main()
