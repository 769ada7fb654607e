"""All that a person can do in a turn is in sight without scrolling, in windows of all sizes."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from .browser import Page
from .conftest import House
from .match_layout import look
from .person import opponent, play_on
from .test_play import MINE, challenged

pytestmark = pytest.mark.browser

SIZES = [(1366, 768), (1366, 650), (844, 390), (390, 664)]
OUT = """JSON.stringify([...document.querySelectorAll(
    "#match .placing button, #match .prompt > .choices:not(.many) button")].filter((node) => {
  const { left, top, right, bottom, width } = node.getBoundingClientRect();
  return width && (top < 0 || left < 0 || bottom > innerHeight || right > innerWidth);
}).map((node) => [node.textContent, node.getBoundingClientRect().bottom]))"""


async def out_of_sight(page: Page) -> dict[tuple[int, int], Any]:
    """Return by size the buttons of a turn that are not in the window."""
    found = {}
    for size in SIZES:
        await page.show_as(*size)
        await look(page)
        found[size] = json.loads(await page.evaluate(OUT))
    return {size: out for size, out in found.items() if out}


@pytest.mark.parametrize("game", ["monopoly", "scrabble", "battleship"])
async def test_actions_of_a_turn_are_in_sight(house: House, page: Page, game: str) -> None:
    await challenged(house, page, game)
    assert await out_of_sight(page) == {}
    assert page.errors == []


async def test_directions_are_in_sight_beside_a_maze_and_three_players(
    house: House, page: Page
) -> None:
    async with opponent(house, page, "pacman(steps=9)", random.Random(1)):
        await page.until(MINE)
        assert await out_of_sight(page) == {}
    assert page.errors == []


DRAWN = "#scene .boards .grid > svg"
BOARDS = f"""JSON.stringify([...document.querySelectorAll("{DRAWN}")].map((node) => {{
  const {{ top, bottom, width }} = node.getBoundingClientRect();
  return [top, bottom, width];
}}))"""


async def test_both_boards_of_battleship_are_in_sight_on_a_phone(house: House, page: Page) -> None:
    async with opponent(house, page, 'battleship(fleet="5,3")', random.Random(1)):
        await page.until(MINE)
        await page.click(".laying .lay")
        await page.until(f"{MINE} && document.querySelectorAll('{DRAWN}').length === 2")
        await page.show_as(390, 664)
        await look(page)
        (top, _, width), (_, bottom, _) = json.loads(await page.evaluate(BOARDS))
        assert top >= 0
        assert bottom <= 664
        assert width >= 270
        assert "Your turn" in await page.text("#prompt .status")
    assert page.errors == []


async def test_amounts_of_an_offer_are_in_sight(house: House, page: Page) -> None:
    rng = random.Random(1)
    trade, buy = "#match [data-action^='trade']", "#match .prompt [data-action^='buy']"
    async with opponent(house, page, "monopoly", rng):
        can = f"""{MINE} && document.querySelector("{trade}") &&
          document.querySelector("#seats .below .deeds")"""
        while not await page.evaluate(can):
            if await page.evaluate(f'document.querySelector("{buy}")'):
                await page.click(buy)
                await page.until(f'!document.querySelector("{buy}")')
            else:
                assert not await play_on(page, rng, 1)
        await page.click(trade)
        for kind in ("ask nothing", "give "):
            await page.click(f"#match .prompt [data-action^='{kind}']")
        await page.until("document.querySelector('#match [data-action^=\"get \"]')")
        assert await out_of_sight(page) == {}
    assert page.errors == []


CUT = """[...document.querySelectorAll("#match .placing .row button")]
  .filter((node) => node.scrollWidth > node.clientWidth).map((node) => node.textContent)"""


async def test_buttons_below_a_rack_of_four_seats_are_whole_and_in_sight(
    house: House, page: Page
) -> None:
    async with opponent(house, page, "scrabble(seats=4)", random.Random(1)):
        await page.until(MINE)
        assert await out_of_sight(page) == {}
        for size in SIZES:
            await page.show_as(*size)
            assert await page.evaluate(CUT) == [], size
    assert page.errors == []
