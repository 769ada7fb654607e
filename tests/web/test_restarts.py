"""A match of each longer game is played to its end; the server restarts in the middle of it.

Each game is played by mouse, by touch or by keys, in turn; PLYHOUSE_INPUTS=all plays it by each.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final, get_args

import pytest
from playwright.async_api import Browser
from tests.harness.chances import own_chances
from tests.harness.ports import kept_port

from plyhouse.games.registry import BUILT_IN
from plyhouse.protocol.messages import Act, Sync
from plyhouse.server.serve import running_server

from .browser import Page, open_page
from .conftest import Bot, House, patient
from .person import Input, lay, play_on
from .test_play import MINE, challenged_by_all

pytestmark = [pytest.mark.browser]

LATE: Final = "-ooo-xoo-oooxooooooxoxooooxooxoooxoooxooooxoooooo-xxxooo--xxxooo x"
"""A position of Othello with few empty squares."""
SHORT: Final = {
    "backgammon": 'backgammon(position="3x2 2; 3x2 1; 0 31")',
    "battleship": 'battleship(columns=3,rows=3,fleet="2")',
    "breakthrough": "breakthrough(size=5)",
    "bridge": "bridge(boards=1)",
    "checkers": 'checkers(position="W:WK1,K5:BK32,K28",quiet_moves=4)',
    "chess": 'chess(fen="8/8/8/4k3/8/8/8/R3K3 w - - 94 80")',
    "connect_four": "connect_four(columns=4,rows=4,connect=3)",
    "go": "go(size=5)",
    "hearts": "hearts(deals=1)",
    "kalah": "kalah(houses=3,seeds=1)",
    "matrix": "matrix(rounds=3)",
    "monopoly": "monopoly(rounds=1)",
    "othello": f'othello(position="{LATE}")',
    "pacman": "pacman(steps=3)",
    "pig": "pig(target=10)",
    "prisoners_dilemma": "prisoners_dilemma(rounds=3)",
    "rock_paper_scissors": "rock_paper_scissors(rounds=3)",
    "texas_holdem": 'texas_holdem(hands=2,betting="fixed")',
}
"""Games of which a whole match is long, with parameters that make it short."""
PLAYED_TO_THEIR_END_ELSEWHERE: Final = {
    "coin_guess",
    "hexapawn",
    "leduc_poker",
    "rock_paper_scissors",
    "tic_tac_toe",
}
"""Games so short that `test_whole_games` plays them to their end by mouse and by touch.  Others
have the same drawings here: matrix games, Kuhn poker, breakthrough and connect four."""
SIZES: Final = {"mouse": (1366, 768), "touch": (390, 664), "keys": (1366, 768)}
GONE: Final = ("ERR_CONNECTION_REFUSED", "WebSocket connection")
"""What a browser reports while there is no server."""
MOST: Final = 200
"""Presses, which no match needs."""


def cases() -> list[tuple[str, Input]]:
    """Return each longer game with an input, or all games with all if that is asked for."""
    games, inputs = sorted(BUILT_IN), get_args(Input)
    if os.environ.get("PLYHOUSE_INPUTS") == "all":
        return [(game, by) for game in games for by in inputs]
    return [
        (game, inputs[at % len(inputs)])
        for at, game in enumerate(games)
        if game not in PLAYED_TO_THEIR_END_ELSEWHERE
    ]


async def reply(bot: Bot, rng: random.Random) -> None:
    """Play legal actions by chance until the match is over."""
    found = (await bot.ask(Sync, bot.match)).snapshot
    if found.your_turn:
        bot.send(Act, bot.match, found.ply, rng.choice(found.observation["legal"]))
    while (turn := await bot.turn()) is not None:
        legal = turn.observation["legal"]
        bot.play(turn, "pass" if "pass" in legal else rng.choice(legal))


@contextlib.asynccontextmanager
async def replying(bots: list[Bot], rng: random.Random) -> AsyncIterator[None]:
    """Let bots play meanwhile."""
    chances = own_chances(rng, len(bots))
    tasks = [asyncio.create_task(reply(bot, own)) for bot, own in zip(bots, chances, strict=True)]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@contextlib.asynccontextmanager
async def serving(folder: Path, before: House | None = None) -> AsyncIterator[House]:
    """A server of a file, at the address that the server ``before`` it had."""
    database = f"sqlite:///{folder / 'plyhouse.db'}"
    port = before.port if before else kept_port()
    async with running_server(patient(port=port, database=database)) as server:
        house = House(server)
        if before:
            house.know(before)
        yield house


async def lay_word(house: House, page: Page, match: str, by: Input) -> None:
    """Put a word of Scrabble on the board, if the rack has one without a blank."""
    await page.until(MINE)
    live = house.hub.directory.own[match].match
    game: Any = live.game
    placing = game.scene(game.observe(live.state, live.state.to_move)).elements[1]
    for each in placing.placed:
        if each[0] != "=" and each.replace("=", "").isupper():
            await lay(page, each, by)
            break


@pytest.mark.parametrize(("game", "by"), cases())
async def test_match_is_played_to_its_end_over_a_restart(
    browser: Browser, tmp_path: Path, game: str, by: Input
) -> None:
    rng = random.Random(game)
    async with open_page(browser, touch=by == "touch") as page:
        await page.show_as(*SIZES[by])
        async with serving(tmp_path) as first:
            seat = 0 if game == "pig" else 1  # a bot could win pig in its first turn
            bots = await challenged_by_all(first, page, SHORT.get(game, game), seat)
            async with replying(bots, rng):
                await page.until(MINE)
                if game == "scrabble":
                    await lay_word(first, page, bots[0].match, by)
                    await page.until(MINE)
        async with serving(tmp_path, first) as second:
            again = []
            for bot in bots:
                again.append(await second.bot(*bot.name.split("/")))
                again[-1].match = bot.match
            async with replying(again, rng):
                await page.until("document.querySelector('#state').textContent === ''")
                assert await play_on(page, rng, MOST, by)
        assert [each for each in page.errors if not any(gone in each for gone in GONE)] == []
