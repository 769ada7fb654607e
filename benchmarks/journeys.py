"""How many modules four journeys through the product touch, and how often they change module.

    PLYHOUSE_PURE=1 python -m benchmarks.journeys

A *move* is a call from one module of the product into another one, in any thread.  Imports do not
count, and calls of machine code cannot be seen, so the code must be interpreted.
"""

from __future__ import annotations

import asyncio
import io
import sys
import tempfile
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import httpx
from tests.harness.hub_finals import Course
from tests.harness.server import BotClient

from plyhouse.games import native
from plyhouse.protocol.codec import MSGPACK
from plyhouse.protocol.messages import Act, MatchMessage, Ready, Seek, Turn
from plyhouse.server.app import create_app
from plyhouse.server.config import ServerConfig
from plyhouse.server.gateway.hub import Hub
from plyhouse.storage import competition_sql

ROOT = Path(__file__).resolve().parent.parent
PRODUCT = ("games", "search", "learning", "protocol", "storage", "server", "bots", "clients")
FILE = """\
name = "Cup"
games = ["pig"]
time_control = "total:60"
[[baselines]]
bot = "staff/b0"
grade = "pass"
[[baselines]]
bot = "staff/b1"
"""
BOT = """\
from plyhouse.bots import Bot


class First(Bot):
    async def act(self, turn):
        return turn.actions[0]
"""


class Trace:
    """The modules that calls enter, and the moves between them."""

    def __init__(self) -> None:
        self.modules: set[str] = set()
        self.moves = 0
        self._names: dict[str, str] = {}

    def name(self, file: str) -> str:
        """Return the module of a file of the product; "" for other code."""
        if file not in self._names:
            path = Path(file)
            inside = path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] in PRODUCT
            self._names[file] = str(path.relative_to(ROOT)) if inside else ""
        return self._names[file]

    def event(self, frame: FrameType, event: str, _: object) -> None:
        """Note a call; functions that run while a module is imported do not count."""
        if event != "call" or not (module := self.name(frame.f_code.co_filename)):
            return
        caller = frame.f_back
        origin = ""
        while caller is not None:
            if caller.f_code.co_name == "<module>" and "importlib" not in caller.f_code.co_filename:
                if self.name(caller.f_code.co_filename):
                    return
            elif not origin:
                origin = self.name(caller.f_code.co_filename)
            caller = caller.f_back
        if frame.f_code.co_name == "<module>":
            return
        self.modules.add(module)
        self.moves += bool(origin) and origin != module

    @contextmanager
    def running(self) -> Iterator[None]:
        """Trace all threads meanwhile."""
        sys.setprofile(self.event)
        try:
            yield
        finally:
            sys.setprofile(None)


async def ply(folder: Path, trace: Trace) -> None:
    """From the frame of an action until both seats have heard of it."""
    hub = await Hub.open(ServerConfig(database=f"sqlite:///{folder / 'ply.db'}"))
    clients: list[BotClient] = []
    for name in ("ada", "bob"):
        await hub.store.add_player(name)
        client = BotClient(hub.connect(), MSGPACK)
        await client.hello(await hub.store.add_token(name), "bot", games=["tic_tac_toe"])
        await client.ask(Seek, "tic_tac_toe", "total:60")
        clients.append(client)
    for client in clients:
        await client.ask(Ready, (await client.next(MatchMessage)).snapshot.match)
    for number in range(4):
        client = clients[number % 2]
        turn = await client.next(Turn)
        action = turn.observation["legal"][0]
        if number < 3:
            await client.ask(Act, turn.match, turn.ply, action)
            continue
        with trace.running():
            await client.ask(Act, turn.match, turn.ply, action)
            await clients[0].next(Turn)
    for client in clients:
        await client.close()
    await hub.close()


async def web(hub: Hub, token: str) -> httpx.AsyncClient:
    """Return a client of the server's web application in this process."""
    app = create_app()
    app.serve(hub)
    return httpx.AsyncClient(
        base_url="http://server",
        headers={"Authorization": f"Bearer {token}"},
        transport=httpx.ASGITransport(app),
    )


async def upload(folder: Path, trace: Trace) -> None:
    """From the request with a package until its answer."""
    hub = await Hub.open(ServerConfig(database=f"sqlite:///{folder / 'upload.db'}", hosted=True))
    await hub.store.add_player("ada")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("first.py", BOT)
    async with await web(hub, await hub.store.add_token("ada")) as client:
        await client.get("/api/v1/submissions")
        with trace.running():
            query = {"file": "first.zip", "bot": "first"}
            answer = await client.post(
                "/api/v1/submissions", content=packed.getvalue(), params=query
            )
    answer.raise_for_status()
    await hub.close()


async def competition(folder: Path, trace: Trace) -> None:
    """From the text of a competition file to its grades, played by connected bots."""
    course = Course(f"sqlite:///{folder / 'cup.db'}")
    await course.start()
    with trace.running():
        await course.open(FILE, 4)
        await course.run()
        await course.finished()
        row = await course.hub.store.read(competition_sql.find, "Cup")
        results = await course.hub.boards.results.of(row)
        await course.hub.boards.grades(results)
    await course.stop()


async def match_page(folder: Path, trace: Trace) -> None:
    """From the request of a finished match's page until its answer."""
    course = Course(f"sqlite:///{folder / 'page.db'}")
    await course.start()
    await course.open(FILE, 2)
    await course.run()
    await course.finished()
    hub = course.hub
    async with await web(hub, await hub.store.add_token("s00")) as client:
        listed = await client.get("/api/v1/matches")
        (path, *_) = [f"/matches/{each['match']}" for each in listed.json()]
        with trace.running():
            answer = await client.get(path)
    answer.raise_for_status()
    await course.stop()


def main() -> None:
    """Print the table."""
    if native.COMPILED:
        raise SystemExit("machine code cannot be traced: set PLYHOUSE_PURE=1")
    print(f"{'journey':<14}{'modules':>9}{'moves':>9}")
    for journey in (ply, upload, competition, match_page):
        trace = Trace()
        with tempfile.TemporaryDirectory() as folder:
            threading.setprofile(trace.event)
            asyncio.run(journey(Path(folder), trace))
            threading.setprofile(None)
        print(f"{journey.__name__:<14}{len(trace.modules):>9}{trace.moves:>9,}")


if __name__ == "__main__":
    main()
