"""A fleet that a person arranges on the board of Battleship, and places at once."""

from __future__ import annotations

from typing import Any

import pytest

from .browser import Page
from .conftest import Bot, House
from .test_play import ACTIONS, MINE, challenged, spot

pytestmark = pytest.mark.browser

GAME = 'battleship(columns=6,rows=6,fleet="3,2")'
SEEDED = (
    """{ let seed = 7; Math.random = () => (seed = (seed * 16807) % 2147483647) / 2147483647; }"""
)
LYING = """[...document.querySelectorAll("#scene .spot.start")].map((node) => node.dataset.spot)"""


async def begun(house: House, page: Page) -> Bot:
    """Begin to place a fleet, the same one in each run."""
    await page.tab.add_init_script(SEEDED)
    return await challenged(house, page, GAME)


async def lying(page: Page) -> set[str]:
    """Return the cells on which ships lie for now."""
    return set(await page.evaluate(LYING))


async def arrange(page: Page, *, length: int, cell: str, down: bool) -> None:
    """Move the ship of a length so that it begins at a cell, and turn it if it has to be."""
    own = await page.evaluate(
        f"""[...document.querySelectorAll("#scene .spot.start")].filter((node) =>
          node.getAttribute("aria-label").includes("ship of {length}"))
          .map((node) => node.dataset.spot)"""
    )
    await page.click(spot(own[0]))
    if (own[0][0] == own[1][0]) != down:
        await page.click(".laying .turn")
    if await page.evaluate("document.querySelector('#scene .spot.chosen')?.dataset.spot") != cell:
        await page.click(spot(cell))


async def place_by_hand(page: Page) -> None:
    """Move the smaller ship out of the way, then both to known cells."""
    await arrange(page, length=2, cell="e6", down=False)
    await arrange(page, length=3, cell="a1", down=True)


async def test_fleet_is_moved_and_turned_and_then_placed_ship_by_ship(
    house: House, page: Page
) -> None:
    bot = await begun(house, page)
    assert len(await lying(page)) == 5, "a fleet by chance to begin with"
    await place_by_hand(page)
    assert await lying(page) == {"a1", "a2", "a3", "e6", "f6"}
    await page.drag(spot("a2"), spot("b4"))
    assert await lying(page) == {"b3", "b4", "b5", "e6", "f6"}
    await page.click(spot("b4"))  # which turns what is chosen about this cell
    assert await lying(page) == {"a4", "b4", "c4", "e6", "f6"}
    await page.click(".laying .lay")
    await page.until(f"{ACTIONS}.length === 2")
    assert await page.evaluate(ACTIONS) == ["a4-c4", "e6-f6"]
    for ship in ("a1-a3", "f1-f2"):
        await bot.act(ship)
    await page.until(MINE)
    assert not await page.evaluate("document.querySelector('.laying')")
    assert page.errors == []


async def test_fleet_at_random_has_room_and_other_places_each_time(
    house: House, page: Page
) -> None:
    await begun(house, page)
    seen: set[Any] = set()
    for _ in range(12):
        await page.click(".laying .random")
        cells = await lying(page)
        assert len(cells) == 5, "no ship covers another one"
        seen.add(frozenset(cells))
    assert len(seen) > 1
    assert page.errors == []


async def test_keys_move_and_turn_a_ship(house: House, page: Page) -> None:
    await begun(house, page)
    await place_by_hand(page)
    await page.evaluate(f"document.querySelector({spot('a1')!r}).focus()")
    for key in ("ArrowRight", "ArrowRight", "Enter"):
        await page.press(key)
    assert await lying(page) == {"c1", "c2", "c3", "e6", "f6"}
    await page.press("Enter")
    assert await lying(page) == {"c1", "d1", "e1", "e6", "f6"}
    assert page.errors == []
