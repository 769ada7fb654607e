"""The cost of spectators: a wall of live boards, the first view of a page, many spectators.

A real server and real browsers on one machine, which share its processors.  Bots play in the
server's process at a fixed pace, so that every figure is one of showing, not of playing.

    python benchmarks/watching.py                  # all three
    python benchmarks/watching.py wall --matches 50 --rate 10
    python benchmarks/watching.py first-view
    python benchmarks/watching.py spectators --spectators 1000

*wall*: frames per second of ``/wall`` in headless Chromium while so many matches are played at so
many plies a second, and the longest gap between two frames that 99 of 100 keep below.
*first-view*: bytes on the wire and time until the board is drawn, for somebody who has never been
here.  *spectators*: time from a bot's action to each spectator having read it, with drawings, as
web pages ask for them; and the growth of the server's memory.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import resource
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from playwright.async_api import Browser
from websockets.asyncio.client import connect

from plyhouse.games.registry import get_game
from plyhouse.protocol.codec import JSON, MSGPACK
from plyhouse.protocol.messages import (
    Act,
    Error,
    Hello,
    MatchMessage,
    Ping,
    Pong,
    Ready,
    Seek,
    Turn,
    Welcome,
)
from plyhouse.server.config import ServerConfig
from plyhouse.server.gateway.hub import Hub
from plyhouse.server.serve import running_server
from plyhouse.server.wire.memory import MemoryClient

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from tests.web.browser import Page, chromium, find_chromium, open_page

GAMES = ("go(size=7)",)
"""Games that random players do not finish soon; a drawing has about the size of connect four's."""


class Seat:
    """A bot in the server's process, which reads all that it is sent and plays when told to."""

    def __init__(self, client: MemoryClient) -> None:
        self.client = client
        self.match = ""
        self.seat = -1
        self.ply = -1
        self.welcome = asyncio.Event()
        self._last = 0
        self._changed = asyncio.Event()
        self.reader = asyncio.create_task(self._read())

    def send(self, kind: type[Any], *args: Any, **fields: Any) -> None:
        self._last += 1
        self.client.send(MSGPACK.encode(kind(self._last, *args, **fields)))

    async def _read(self) -> None:
        while (frame := await self.client.recv()) is not None:
            message = MSGPACK.decode_server(frame)
            if isinstance(message, Ping):
                self.client.send(MSGPACK.encode(Pong(message.id)))
            elif isinstance(message, Error):
                if message.code != "server/shutting_down":
                    print(f"refused: {message.code}: {message.message}", file=sys.stderr)
                return
            elif isinstance(message, Welcome):
                self.welcome.set()
            elif isinstance(message, MatchMessage):
                self.match, self.seat = message.snapshot.match, message.snapshot.seat or 0
                self.send(Ready, self.match)
            elif isinstance(message, Turn):
                self.ply = message.ply
                self._changed.set()

    async def turn(self, ply: int) -> None:
        """Wait until this seat has been told that the ply is its turn."""
        while self.ply < ply:
            self._changed.clear()
            await self._changed.wait()


class Table:
    """Two bots at one board, and the position, from which a random action is taken."""

    def __init__(self, game: str, seats: list[Seat], rng: random.Random) -> None:
        self.seats = sorted(seats, key=lambda seat: seat.seat)
        self.state = get_game(game).initial_state()
        self.game = get_game(game)
        self.rng = rng
        self.played: list[float] = []
        """When each ply was sent, in seconds of the monotonic clock."""

    @property
    def match(self) -> str:
        return self.seats[0].match

    async def play(self) -> bool:
        """Play one ply; False if the match is over."""
        if self.state.to_move < 0:
            return False
        seat = self.seats[self.state.to_move]
        ply = len(self.played)
        await seat.turn(ply)
        actions = {self.game.format(self.state, each): each for each in self.state.actions()}
        if len(actions) > 1:
            actions.pop("pass", None)  # two of them would end a match of go
        text, action = self.rng.choice(list(actions.items()))
        self.played.append(time.monotonic())
        seat.send(Act, self.match, ply, text)
        self.state = self.state.after(action)
        return True

    async def run(self, rate: float) -> None:
        """Play ``rate`` plies a second until cancelled or over."""
        due = time.monotonic() + self.rng.random() / rate
        while True:
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            due += 1 / rate
            if not await self.play():
                return


async def seat(hub: Hub, name: str) -> Seat:
    await hub.store.add_player(name)
    made = Seat(hub.connect())
    made.send(Hello, await hub.store.add_token(name), "bot")
    await asyncio.wait_for(made.welcome.wait(), 30)
    return made


async def table(hub: Hub, number: int, game: str) -> Table:
    """A match of two new bots that has begun."""
    seats = [await seat(hub, f"{side}{number}") for side in ("ann", "bob")]
    for each in seats:
        each.send(Seek, game, "total:36000")
    first = [asyncio.create_task(each.turn(0)) for each in seats]  # one of them is to move
    done, waiting = await asyncio.wait(first, timeout=30, return_when=asyncio.FIRST_COMPLETED)
    for task in waiting:
        task.cancel()
    if not done:
        raise TimeoutError(f"no match of {game} has begun")
    return Table(game, seats, random.Random(number))


@asynccontextmanager
async def projected(browser: Browser) -> AsyncIterator[Page]:
    async with open_page(browser) as page:
        await page.show_as(1920, 1080)
        yield page


FRAMES = """
new Promise((resolve) => {
  const gaps = []; let last = performance.now(); const end = last + %d;
  const look = (now) => { gaps.push(now - last); last = now;
    if (now < end) requestAnimationFrame(look); else resolve(gaps); };
  requestAnimationFrame(look);
})
"""


async def main_thread(page: Page) -> float:
    """Seconds for which the page's main thread was at work so far."""
    tools = await page.tab.context.new_cdp_session(page.tab)
    await tools.send("Performance.enable", {"timeDomain": "threadTicks"})
    metrics = (await tools.send("Performance.getMetrics"))["metrics"]
    await tools.detach()
    return float(next(each["value"] for each in metrics if each["name"] == "TaskDuration"))


async def wall(
    hub: Hub, url: str, browser: Browser, matches: int, rate: float, length: float
) -> None:
    """Frames per second of the wall."""
    tables = [await table(hub, number, GAMES[number % len(GAMES)]) for number in range(matches)]
    async with projected(browser) as page:
        await page.go(f"{url}/wall")
        await page.until(f"document.querySelectorAll('.tile svg').length === {matches}")
        still = await page.evaluate(FRAMES % 2000)
        runs = [asyncio.create_task(each.run(rate)) for each in tables]
        await asyncio.sleep(1)
        count = (
            "[...document.querySelectorAll('.tile .foot')]"
            ".reduce((sum, each) => sum + (parseInt(each.textContent.slice(4)) || 0), 0)"
        )
        before, start = sum(len(each.played) for each in tables), time.monotonic()
        busy = await main_thread(page)
        gaps = await page.evaluate(FRAMES % int(length * 1000))
        passed = time.monotonic() - start
        busy = (await main_thread(page) - busy) / passed
        played = sum(len(each.played) for each in tables) - before
        shown = await page.evaluate(count)
        behind = sum(len(each.played) for each in tables) - shown
        assert not page.errors, page.errors
    for run in runs:
        run.cancel()
    gaps = sorted(gaps[1:])
    print(f"wall of {matches} matches, {played / passed:.0f} plies/s played:")
    rest = 1000 * len(still) / sum(still)
    print(f"  {1000 * len(gaps) / sum(gaps):.1f} frames/s (at rest {rest:.1f})")
    print(f"  99 % of gaps below {gaps[int(len(gaps) * 0.99)]:.0f} ms, longest {gaps[-1]:.0f} ms")
    print(f"  the page's main thread is at work {100 * busy:.0f} % of the time")
    print(f"  boards are {behind / matches:.1f} plies behind on average")


async def first_view(hub: Hub, url: str, browser: Browser) -> None:
    """Bytes and time until a board is there, in a browser without anything kept."""
    match = (await table(hub, 0, "connect_four")).match
    for path, there in (
        (f"/matches/{match}", "#scene svg"),
        ("/wall", ".tile svg"),
        ("/matches", "table"),
        ("/", "main"),
    ):
        best = None
        for _ in range(3):
            async with projected(browser) as page:
                await page.leave_for(f"{url}{path}")
                await page.until(
                    f"location.pathname === '{path}' && document.querySelector('{there}')"
                )
                took = await page.evaluate("performance.now()")
                sent = await page.evaluate(
                    "[...performance.getEntriesByType('navigation'),"
                    " ...performance.getEntriesByType('resource')]"
                    ".reduce((sum, each) => sum + each.transferSize, 0)"
                )
            best = min(best or (took, sent), (took, sent))
        assert best is not None
        name = "/matches/ID" if path.endswith(match) else path
        print(f"first view of {name}: {best[1] / 1000:.1f} kB, {best[0]:.0f} ms")


async def watch(url: str, match: str, count: int) -> None:
    """The spectators, in a process of their own: arrivals of each ply, as JSON."""
    address = url.replace("http", "ws") + "/ws"
    arrived: dict[int, list[float]] = {}
    ready = 0
    started = asyncio.Event()

    async def one() -> None:
        nonlocal ready
        async with connect(
            address, subprotocols=["plyhouse.v1+json"], compression=None, proxy=None, max_size=None,  # type: ignore[list-item]
            open_timeout=60,
        ) as wire:  # fmt: skip
            await wire.send(str(JSON.encode(Hello(1, "", scenes=True))))
            async for frame in wire:
                now = time.monotonic()
                kind = str(frame)[:40]
                if '"update"' in kind:
                    at = str(frame).index('"ply":')
                    ply = int(str(frame)[at + 6 : at + 14].split(",")[0].split("}")[0])
                    arrived.setdefault(ply, []).append(now)
                elif '"ping"' in kind:
                    await wire.send(json.dumps({"type": "pong", "re": json.loads(frame)["id"]}))
                elif '"welcome"' in kind:
                    await wire.send(json.dumps({"type": "watch", "id": 2, "match": match}))
                elif '"match"' in kind:
                    ready += 1
                    if ready == count:
                        started.set()
                elif '"error"' in kind:
                    raise RuntimeError(str(frame)[:300])

    gate = asyncio.Semaphore(50)

    async def soon() -> None:
        async with gate:
            task = asyncio.create_task(one())
            await asyncio.sleep(0.05)
        await task

    tasks = [asyncio.create_task(soon()) for _ in range(count)]
    await started.wait()
    print("ready", flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
    for task in tasks:
        task.cancel()
    print(json.dumps(arrived), flush=True)


def memory() -> float:
    """Return the memory of this process, in MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


async def spectators(hub: Hub, url: str, count: int, plies: int) -> None:
    """Latency of one match for many spectators."""
    board = await table(hub, 1000, "connect_four")
    await asyncio.sleep(0.2)
    before = memory()
    process = await asyncio.create_subprocess_exec(
        sys.executable, __file__, "watch", "--url", url, "--match", board.match,
        "--spectators", str(count),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=2**28,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdin is not None
    assert (await process.stdout.readline()).strip() == b"ready"
    joined = memory()
    most = joined
    for _ in range(plies):
        await asyncio.sleep(1.0)
        if not await board.play():
            break
        most = max(most, memory())
    await asyncio.sleep(1.0)
    most = max(most, memory())
    process.stdin.write(b"\n")
    await process.stdin.drain()
    arrived = json.loads(await process.stdout.readline())
    await process.wait()
    late = sorted(
        1000 * (when - board.played[int(ply) - 1])
        for ply, times in arrived.items()
        for when in times
    )
    expected = count * len(board.played)
    print(f"{count} spectators of one match, {len(board.played)} plies, with drawings:")
    print(f"  read {len(late)} of {expected} updates; median {late[len(late) // 2]:.0f} ms, "
          f"p99 {late[int(len(late) * 0.99)]:.0f} ms, longest {late[-1]:.0f} ms")  # fmt: skip
    print(
        f"  server's memory: {before:.0f} MB before, {joined:.0f} MB joined, {most:.0f} MB at most"
    )


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", nargs="?", default="all",
                        choices=("all", "wall", "first-view", "spectators", "watch"))  # fmt: skip
    parser.add_argument("--matches", type=int, default=50)
    parser.add_argument("--rate", type=float, default=10.0, help="plies per second of each match")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--spectators", type=int, default=1000)
    parser.add_argument("--plies", type=int, default=15)
    parser.add_argument("--url", default="", help=argparse.SUPPRESS)
    parser.add_argument("--match", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.what == "watch":
        await watch(options.url, options.match, options.spectators)
        return
    room = 2 * options.spectators + 200
    config = ServerConfig(
        port=0,
        database="sqlite:///:memory:",
        log_level="error",
        max_connections=room,
        max_connections_per_address=room,
        max_pending_logins_per_address=room,
        max_spectators=room,
    )
    async with running_server(config) as server:
        if options.what in ("all", "first-view", "wall"):
            program = find_chromium()
            if program is None:
                raise SystemExit("No Chromium is installed (PLYHOUSE_CHROMIUM can name one).")
            async with chromium(program) as browser:
                if options.what != "wall":
                    await first_view(server.hub, server.url, browser)
                if options.what != "first-view":
                    await wall(
                        server.hub,
                        server.url,
                        browser,
                        options.matches,
                        options.rate,
                        options.seconds,
                    )
        if options.what in ("all", "spectators"):
            await spectators(server.hub, server.url, options.spectators, options.plies)


if __name__ == "__main__":
    asyncio.run(main())
