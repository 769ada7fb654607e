"""Time that a page needs over a slow network, until a person can move.

    PLYHOUSE_PURE=1 python -m benchmarks.slow_network

A proxy between the browser and the server delays everything by half a round trip each way and
limits the bytes a second of all connections together.  A new connection costs a round trip.
The browser has an empty cache at the first visit of a match, and keeps it for the second.
The server has shown the page once before, since it translates templates when they are first used.
"""

from __future__ import annotations

import asyncio
import contextlib
import time

import httpx
from playwright.async_api import Browser
from tests.web.browser import chromium, find_chromium, open_page
from tests.web.conftest import Bot, House, sign_in_before

from plyhouse.protocol.messages import Seek
from plyhouse.server.config import ServerConfig
from plyhouse.server.serve import running_server

NETWORKS = {"3G": (0.3, 200_000), "slow 3G": (0.4, 50_000)}
"""Seconds of a round trip, and bytes a second, as WebPageTest has them."""
CHUNK = 1460
GAME = "chess"


class SlowNetwork:
    """A proxy before a server."""

    def __init__(self, port: int, round_trip: float, rate: int) -> None:
        self._to = port
        self._half = round_trip / 2
        self._rate = rate
        self._free = 0.0
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = 0

    async def start(self) -> asyncio.Server:
        """Listen on a free port."""
        server = await asyncio.start_server(self._carry, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        return server

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(2 * self._half)
        there, onward = await asyncio.open_connection("127.0.0.1", self._to)
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.gather(self._pump(reader, onward), self._pump(there, writer))

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        waiting: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()

        async def deliver() -> None:
            while True:
                due, data = await waiting.get()
                await asyncio.sleep(max(0.0, due - time.monotonic()))
                if not data:
                    writer.close()
                    return
                writer.write(data)

        task = asyncio.create_task(deliver())
        self._tasks.add(task)
        with contextlib.suppress(OSError):
            while data := await reader.read(CHUNK):
                self._free = max(self._free, time.monotonic()) + len(data) / self._rate
                waiting.put_nowait((self._free + self._half, data))
        waiting.put_nowait((time.monotonic() + self._half, b""))
        await task


async def visit(browser: Browser, house: House, network: tuple[float, int]) -> list[str]:
    """Open a running match of one's own twice; return a line for each visit."""
    slow = SlowNetwork(house.port, *network)
    listener = await slow.start()
    lines = []
    async with open_page(browser) as page:
        there = House.__new__(House)
        there.__dict__.update(vars(house), url=f"http://127.0.0.1:{slow.port}", port=slow.port)
        await sign_in_before(page, there, "alice")
        bots = [await house.bot("alice", "alice"), await house.bot("bob")]
        match = await _begin(bots)
        async with httpx.AsyncClient(base_url=house.url, trust_env=False) as before:
            (await before.get(f"/matches/{match}")).raise_for_status()
        asked: list[str] = []
        page.tab.on("request", lambda each: asked.append(each.url))
        for visit in ("first", "second"):
            asked.clear()
            begun = time.monotonic()
            await page.leave_for(f"{there.url}/matches/{match}")
            await page.until("document.querySelector('#scene svg [tabindex]')")
            seconds = time.monotonic() - begun
            lines.append(f"{visit:6} {seconds:5.1f} s, {len(asked)} requests")
            await page.go("about:blank")
    listener.close()
    return lines


async def _begin(bots: list[Bot]) -> str:
    for bot in bots:
        bot.send(Seek, GAME, "total:900")
    await asyncio.gather(*(bot.begin() for bot in bots))
    return str(bots[0].match)


async def main() -> None:
    """Print the seconds."""
    program = find_chromium()
    assert program is not None
    config = ServerConfig(port=0, database="sqlite:///:memory:", peer_timeout=600)
    for name, network in NETWORKS.items():
        async with chromium(program) as browser, running_server(config) as server:
            for line in await visit(browser, House(server), network):
                print(f"{name:8} {line}")


if __name__ == "__main__":
    asyncio.run(main())
