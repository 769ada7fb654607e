"""A server on which every kind of page has something to show, and the addresses of all of them.

For what looks at all pages: the test of their accessibility, `benchmarks/lighthouse.py`, and people
(``python -m tests.web.populated FOLDER`` takes a picture of each: phone, desk, light and dark).
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.harness.finals import Course, weaker_resigns
from tests.harness.server import BotClient, Server

from plyhouse.protocol.messages import Accepted, Act, Error, Resign
from plyhouse.server.config import ServerConfig
from plyhouse.server.serve import running_server
from plyhouse.storage import match_lists
from plyhouse.storage.rows import MatchRow

from .browser import chromium, find_chromium, open_page, sign_in

__all__ = ["Populated", "populated"]

FILE = """
name = "Spring cup"
games = ["connect_four"]
time_control = "total:60"
board = "public"
rules = "Bots keep to their seats."
[[baselines]]
bot = "staff/bot"
grade = "pass"
at_least = 0.4
"""
AT_ONE_GO = 3600.0
"""Seconds that bots may be silent: they answer no pings while people or tests look at pages."""
IN_MEMORY = ServerConfig(port=0, database="sqlite:///:memory:", guests=True, peer_timeout=AT_ONE_GO)
LOOKS = (((1440, 900), False), ((1440, 900), True), ((390, 844), True))
"""Sizes of windows, and whether it is dark."""
SAID = {"value": 0.25, "depth": 4, "nodes": 812, "pv": ["4", "5"], "text": "the middle is mine"}


@dataclass(frozen=True)
class Populated:
    """A server with something on every page."""

    house: Server
    pages: dict[str, str]
    """Paths that everybody sees, by what they are."""
    staff: dict[str, str]
    """Paths that are shown with `token`."""
    token: str
    """Of an organiser."""


async def _meet(clients: list[BotClient], game: str, time_control: str) -> list[BotClient]:
    """Let two bots meet in a rated match; returns them in the order of their seats."""
    for client in clients:
        answer = await client.seek(game, time_control, rated=True)
        assert not isinstance(answer, Error), answer
    found = await asyncio.gather(*(client.start() for client in clients))
    return clients if found[0].seat == 0 else clients[::-1]


async def _newest(house: Server) -> MatchRow:
    return (
        await house.hub.store.read(match_lists.list_matches, match_lists.MatchFilter(), limit=1)
    )[0]


async def _act(client: BotClient, match: str, ply: int, action: str, info: Any = None) -> None:
    answer = await client.ask(Act, match, ply, action, info)
    assert isinstance(answer, Accepted), answer
    assert answer.info_refused == ""


@contextlib.asynccontextmanager
async def populated(config: ServerConfig = IN_MEMORY) -> AsyncIterator[Populated]:
    """Run such a server on its own port."""
    async with running_server(config) as server, contextlib.AsyncExitStack() as stack:
        house = Server(server, stack)
        clients = [await house.bot("alice", "one"), await house.bot("bob", "two")]
        seated = await _meet(clients, "connect_four", "total:60")
        over = (await _newest(house)).id
        for ply, action in enumerate("1122334"):
            await _act(seated[ply % 2], over, ply, action, SAID if ply < 6 else None)
        await house.hub.ratings.settle()
        seated = await _meet(clients, "connect_four", "total:300")
        await seated[0].ask(Resign, (await _newest(house)).id)
        await house.hub.ratings.settle()
        cup = Course(house, FILE, "spring cup")
        await cup.freeze("connect_four", "ada", "ben", "cyd", staff=("staff",))
        await cup.play(weaker_resigns(["ada", "staff", "ben", "cyd"]))
        seated = await _meet(clients, "othello", "total:3000")
        now = (await _newest(house)).id
        await _act(seated[0], now, 0, "d3")
        pages = {
            "front": "/",
            "leaderboard": "/leaderboards/connect_four",
            "games": "/games",
            "rules": "/games/connect_four",
            "matches": "/matches",
            "match live": f"/matches/{now}",
            "replay": f"/matches/{over}",
            "bot": "/bots/alice/one",
            "player": "/players/alice",
            "competitions": "/competitions",
            "competition": "/competitions/spring%20cup",
            "new competition": "/competitions/new",
            "join": "/join",
            "play": "/play",
            "account": "/account",
            "wall": "/wall",
            "projector": f"/projector?match={now}",
            "embed": f"/embed/{over}",
            "api": "/api",
            "404": "/matches/none",
        }
        staff = {
            "competition (staff)": "/competitions/spring%20cup",
            "new competition (staff)": "/competitions/new",
            "report": "/competitions/spring%20cup/report?student=ben",
            "account (signed in)": "/account",
        }
        yield Populated(house, pages, staff, cup.tokens["olga"])


async def _pictures(folder: Path, only: str) -> None:
    program = find_chromium()
    if program is None:
        raise SystemExit("No Chromium is installed (PLYHOUSE_CHROMIUM can name one).")
    async with chromium(program) as browser, populated() as house, open_page(browser) as page:
        url = house.house.server.url
        for pages in (house.pages, house.staff):
            if pages is house.staff:
                await page.go(f"{url}/account")
                await sign_in(page, house.token)
            for name, path in pages.items():
                if only and only not in name:
                    continue
                for size, dark in (
                    ((1440, 900), False),
                    ((1440, 900), True),
                    ((390, 844), True),
                ):
                    await page.show_as(*size, dark=dark)
                    await page.go(url + path)
                    await asyncio.sleep(0.7)  # for people who look: what comes over the socket
                    shade = "dark" if dark else "light"
                    await page.screenshot(folder / f"{name} {size[0]} {shade}.png")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="", help="pages whose name has this")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    asyncio.run(_pictures(given.folder, given.only))
