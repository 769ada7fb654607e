"""The pictures of docs/: boards of all games, pages of a server, and a screen of the terminal.

``python -m tests.web.docs_pictures docs/pictures`` takes all of them again, ``--only leaderboard
games/chess`` some; ``python -m tests.web.docs_pictures clients/web/boards --tiles`` takes the small
ones of the page on which people choose a game.  It needs Chromium (PLYHOUSE_CHROMIUM can name one).
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import json
import random
import shlex
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from tests.harness.class_results import Cup
from tests.harness.server import BotClient, Server
from tests.harness.terminal_match import sitting
from tests.harness.zygote import forked_command

from plyhouse.games.base import State
from plyhouse.games.registry import BUILT_IN, get_game
from plyhouse.protocol.messages import Accepted, Act, Error
from plyhouse.search import Limit, alpha_beta
from plyhouse.server.config import ServerConfig
from plyhouse.server.serve import running_server

from .browser import Page, chromium, find_chromium, open_page, sign_in
from .pictures import boards_page, positions

__all__ = ["PAGES", "take"]

BOARD_WIDTH = 480
WIDE_BOARD_WIDTH = 700
"""Of a table that a narrower page would draw taller than wide."""
TILE_SIDE = 180
"""The longer side of a tile's picture: twice the height in which the page shows it."""
TILE_COLOUR = "#24563f"
"""As in clients/web/style.css."""
TILE_QUALITY = 70
"""Of a tile's picture, which a screen of twice the dots shows as it is."""
SIDES = (
    "(({{width, height}}) => [width, height])(document.querySelector('{}').getBoundingClientRect())"
)
LATEST = 24
"""Plies after which a board is drawn at the latest."""
PLAYERS = {"ada/minimax": 5, "ben/mybot": 3, "cyd/careful": 2, "dan/greedy": 1, "eve/first": 0}
"""Bots and the depths of their searches; 0 plays at random."""


async def boards(page: Page, folder: Path, names: list[str]) -> None:
    """Draw one position of each game, as the seat to move sees it."""
    async for name in drawn_boards(page, folder, names):
        await page.screenshot(folder / "games" / f"{name}.webp", ".scene")


async def tiles(page: Page, folder: Path) -> None:
    """Write a small picture of each game: of its board, or of its table."""
    async for name in drawn_boards(page, folder, sorted(BUILT_IN)):
        # What the board leaves free of its box, and its round corners, look like the tile; texts
        # would be too small to read.
        await page.evaluate(
            f"document.documentElement.style.background = '{TILE_COLOUR}';"
            "document.body.style.background = 'none';"
            "for (const each of document.querySelectorAll('.table-top .info')) each.remove()"
        )
        there = "Boolean(document.querySelector('{}'))"
        for part in (".table-top", ".grid svg"):
            if await page.evaluate(there.format(part)):
                width, height = await page.evaluate(SIDES.format(part))
                if height > width and part == ".table-top":
                    await page.show_as(WIDE_BOARD_WIDTH + 32, 800)
                    width, height = await page.evaluate(SIDES.format(part))
                scale = TILE_SIDE / max(width, height)
                await page.screenshot(
                    folder / f"{name}.webp", part, scale=scale, quality=TILE_QUALITY
                )
                break
        await page.show_as(BOARD_WIDTH + 32, 800)


async def drawn_boards(page: Page, folder: Path, names: list[str]) -> AsyncIterator[str]:
    """Draw one position of each game in turn; yields its name when it is on the page."""
    html = folder / "boards.html"
    html.write_text(boards_page(), encoding="utf-8")
    await page.show_as(BOARD_WIDTH + 32, 800)
    await page.go(html.resolve().as_uri())
    await page.until("window.ready")
    for name in names:
        found = positions(name, range(LATEST + 1))
        board = found[LATEST if len(found) > LATEST + 1 else (len(found) - 1) // 2]
        await page.evaluate(f"show({json.dumps([board])}, 1)")
        yield name
    html.unlink()


class Club:
    """A server, and bots that play on it."""

    def __init__(self, house: Server) -> None:
        self.house = house

    async def meet(self, game: str, names: list[str], **seek: Any) -> list[BotClient]:
        """Seat two bots in a match; return their connections in the order of their seats."""
        clients = []
        for name in names:
            player, _, bot = name.partition("/")
            clients.append(await self.house.bot(player, bot))
        for client in clients:
            answer = await client.seek(game, "total:600", **seek)
            assert not isinstance(answer, Error), answer
        self.snapshots = await asyncio.gather(*(client.start() for client in clients))
        return clients if self.snapshots[0].seat == 0 else clients[::-1]

    async def play(self, game: str, names: list[str], plies: int = 1000, **seek: Any) -> str:
        """Let two bots play to the end or for some plies, and return the match."""
        clients = await self.meet(game, names, **seek)
        match = self.snapshots[0].match
        rules = get_game(game)
        state: State = rules.initial_state()
        bots = names if self.snapshots[0].seat == 0 else names[::-1]
        for ply in range(plies):
            if state.to_move < 0:
                break
            depth = PLAYERS[bots[state.to_move]]
            action = random.Random(ply).choice(state.actions())
            info = None
            if depth:
                result = alpha_beta(rules, state, Limit(depth=depth), seed=ply + 1)
                action = result.action
                info = {"value": result.value, "depth": result.depth, "nodes": result.nodes}
            text = rules.format(state, action)
            answer = await clients[state.to_move].ask(Act, match, ply, text, info)
            assert isinstance(answer, Accepted), answer
            state = state.after(action)
        if state.to_move < 0:
            await asyncio.gather(*(client.close() for client in clients))
        return match

    async def script(self, game: str, names: list[str], actions: str) -> str:
        """Let two bots play these actions, and return the match."""
        clients = await self.meet(game, names)
        match = self.snapshots[0].match
        for ply, action in enumerate(actions.split()):
            answer = await clients[ply % 2].ask(Act, match, ply, action)
            assert isinstance(answer, Accepted), answer
        await asyncio.gather(*(client.close() for client in clients))
        return match


@contextlib.asynccontextmanager
async def club() -> AsyncIterator[Club]:
    """Run a server in memory that reviews matches."""
    config = ServerConfig(
        port=0,
        database="sqlite:///:memory:",
        guests=True,
        review_command=shlex.join([*forked_command(), "review", "-", "--json"]),
        review_seconds=60.0,
    )
    async with running_server(config) as server, contextlib.AsyncExitStack() as stack:
        yield Club(Server(server, stack))


async def match_page(page: Page, folder: Path) -> None:
    """A match that is running."""
    async with club() as at:
        match = await at.play("othello", ["ada/minimax", "ben/mybot"], plies=22)
        await page.show_as(1100, 760)
        await page.go(f"{at.house.server.url}/matches/{match}")
        await page.until("document.querySelector('#where')?.textContent.startsWith('22 / 22')")
        await page.screenshot(folder / "match.webp", whole=False)


async def leaderboard_page(page: Page, folder: Path) -> None:
    """A leaderboard of five bots that all met twice."""
    async with club() as at:
        for pair in itertools.permutations(PLAYERS, 2):
            await at.play("connect_four", list(pair), rated=True)
        await at.house.hub.ratings.settle()
        await page.show_as(1000, 420)
        await page.go(f"{at.house.server.url}/leaderboards/connect_four")
        await page.screenshot(folder / "leaderboard.webp", whole=False)


async def review_page(page: Page, folder: Path) -> None:
    """A lost match with its review, at the ply that lost it."""
    async with club() as at:
        actions = "b2 b1 a1 c3 a3 c1 a2"
        match = await at.script("tic_tac_toe", ["ada/minimax", "ben/mybot"], actions)
        await page.show_as(1100, 840)
        await page.go(f"{at.house.server.url}/matches/{match}")
        await page.until("document.querySelector('#review button')")
        await page.click("#review button")
        await page.until("document.querySelector('#review button[data-ply=\"1\"]')")
        await page.click("#review button[data-ply='1']")
        await page.until("document.querySelector('#where').textContent.startsWith('1 / ')")
        await asyncio.sleep(1)  # pieces move
        await page.screenshot(folder / "review.webp", whole=False)


async def organiser_page(page: Page, folder: Path) -> None:
    """A competition, as its organiser sees it."""
    async with club() as at:
        cup = Cup(at.house, rounds=1)
        await cup.hold()
        await page.show_as(1300, 1900)
        await page.go(f"{at.house.server.url}/account")
        await sign_in(page, cup.tokens["olga"])
        await page.go(f"{at.house.server.url}/competitions/spring%20cup")
        await page.screenshot(folder / "organiser.webp", whole=False)


async def play_page(page: Page, folder: Path) -> None:
    """The page on which people choose a game."""
    async with club() as at:
        await page.show_as(1100, 740)
        await page.go(f"{at.house.server.url}/play")
        await asyncio.sleep(1)  # what comes over the socket
        await page.screenshot(folder / "play.webp", whole=False)


async def terminal_screen(page: Page, folder: Path) -> None:
    """A match against a bot in the terminal client."""
    replies = iter(["4", "3", "4", "2", "6"])
    drawing = folder / "terminal.svg"
    async with sitting("connect_four", lambda _: next(replies), size=(100, 30)) as at:
        await at.pilot.press("ctrl+t")  # light
        for column in "3456":
            await at.pilot.press("slash", column, "enter")
            await at.my_turn()
        drawing.write_text(at.app.export_screenshot(title="plyhouse play connect_four"))
    await page.show_as(1000, 640)
    await page.go(drawing.resolve().as_uri())
    await page.screenshot(folder / "terminal.webp", "svg")
    drawing.unlink()


PAGES = {
    "match": match_page,
    "leaderboard": leaderboard_page,
    "review": review_page,
    "organiser": organiser_page,
    "play": play_page,
    "terminal": terminal_screen,
}


async def take(page: Page, folder: Path, only: list[str]) -> None:
    """Write the pictures into the folder; all of them if ``only`` is empty."""
    (folder / "games").mkdir(parents=True, exist_ok=True)
    await boards(page, folder, [n for n in sorted(BUILT_IN) if not only or f"games/{n}" in only])
    for name, picture in PAGES.items():
        if not only or name in only:
            await picture(page, folder)


async def _all(program: str, folder: Path, only: list[str], small: bool) -> None:
    async with chromium(program) as browser, open_page(browser) as page:
        await (tiles(page, folder) if small else take(page, folder, only))


def main() -> None:
    """Take the pictures that the command line asks for."""
    parser = argparse.ArgumentParser(description="Take the pictures of the documentation.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="+", default=[], metavar="PICTURE")
    parser.add_argument("--tiles", action="store_true", help="small pictures of all games")
    options = parser.parse_args()
    program = find_chromium()
    if program is None:
        parser.error("no Chromium is installed (PLYHOUSE_CHROMIUM can name one)")
    asyncio.run(_all(program, options.folder, options.only, options.tiles))


if __name__ == "__main__":
    main()
