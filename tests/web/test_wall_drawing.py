"""What the wall draws again: as little as possible, as it shows fifty boards at once."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

from plyhouse.clients import web

from .browser import Page
from .conftest import House
from .test_watching import HURRY

SHEETS = ("style.css", "boards.css", "tables.css")
ON_THE_WALL = re.compile(
    r"(?:^|[\s,>+~(])(?:html|body|main|#content|#wall|a|\.(?:wall|tile|field|scene|boards|board|grid))"
    r"[\w.#\[\]=\"-]*:has\("
)
"""A selector that asks :has() of what the page of the wall consists of."""


@pytest.mark.parametrize("name", SHEETS)
def test_style_sheet_asks_has_of_no_part_of_the_wall(name: str) -> None:
    # With one such rule, Chromium looks at the styles of the whole page for each new square.
    text = (Path(web.__file__).parent / name).read_text()
    selectors = re.findall(r"[^{}]+(?=\{)", re.sub(r"/\*.*?\*/", "", text, flags=re.S))
    found = [
        each.strip()
        for each in selectors
        if ON_THE_WALL.search(each) and not re.search(r"\.match\.page\b", each)
    ]
    assert found == []


@pytest.mark.browser
async def test_board_of_the_wall_stays_when_dice_beside_it_come_and_go(
    house: House, page: Page
) -> None:
    bots = await house.pair("backgammon")
    await page.tab.add_init_script(HURRY)
    await page.go(f"{house.url}/wall")
    await page.until("document.querySelector('.tile svg')")
    await page.evaluate(
        "window.cells = 0; window.board = document.querySelector('.tile .boards svg');"
        "new MutationObserver((found) => { for (const each of found) for (const node of"
        " each.addedNodes) if (node.querySelector?.('.cell')) cells += 1; })"
        ".observe(board, { subtree: true, childList: true })"
    )
    waiting = {asyncio.create_task(bot.turn()): bot for bot in bots}
    try:
        for _ in range(4):
            done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            task = done.pop()
            bot, turn = waiting.pop(task), task.result()
            assert turn is not None
            waiting[asyncio.create_task(bot.turn())] = bot
            bot.play(turn, turn.observation["legal"][0])
            foot = "document.querySelector('.tile .foot').textContent"
            await page.until(f"{foot}.startsWith('ply {turn.ply + 1} ') || !board.isConnected")
            assert await page.evaluate("board.isConnected")
    finally:
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
    await page.until("board.querySelectorAll('.mark').length > 0")
    assert await page.evaluate("cells") == 0, "no spot was drawn again"
    assert page.errors == []
