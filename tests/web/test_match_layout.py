"""Parts of a match's page keep their places; test_whole_games.py looks at the page of each game."""

from __future__ import annotations

import json

import pytest

from .browser import Page
from .conftest import House
from .match_layout import SIZES, look
from .test_play import MINE, challenged, spot

pytestmark = pytest.mark.browser


async def test_buttons_of_a_chess_match_are_in_sight_beside_a_large_board_at_every_size(
    house: House, page: Page
) -> None:
    await challenged(house, page, "chess")
    for size in SIZES:
        await page.show_as(*size)
        seen = await look(page)
        for _, _, _, bottom in seen["own"]:
            assert bottom <= size[1], (size, bottom)
        [[width, height]] = seen["boards"]
        if size[0] > size[1]:
            assert height >= 0.73 * size[1], (size, height)
        else:
            assert width >= 0.85 * size[0], (size, width)


@pytest.mark.parametrize("size", [(360, 640), (844, 390), (1366, 768)])
async def test_board_keeps_its_place_while_a_move_is_chosen(
    house: House, page: Page, size: tuple[int, int]
) -> None:
    bot = await challenged(house, page, 'chess(fen="4k3/P7/8/8/8/8/8/R3K2R w KQ - 0 1")')
    await page.show_as(*size)
    await look(page)
    place = "JSON.stringify(document.querySelector('#scene .grid svg').getBoundingClientRect())"
    before = json.loads(await page.evaluate(place))
    for name in ("e1", "h1", "a7"):
        await page.click(spot(name))
        assert json.loads(await page.evaluate(place)) == before, name
    await page.click(spot("a8"))  # asks for the piece
    await page.until("document.querySelector('.choices[aria-label=\"Which one?\"] button')")
    assert json.loads(await page.evaluate(place)) == before
    await page.click('[data-action="a7a8q"]')
    await bot.act("e8e7")
    await page.until(MINE)
    assert json.loads(await page.evaluate(place)) == before


async def test_seats_are_on_their_sides_of_the_board_and_change_with_it(
    house: House, page: Page
) -> None:
    await challenged(house, page, "chess", seat=1)
    await page.until("document.querySelector('#scene .scene')")
    below = "document.querySelector('#seats .below .who').textContent"
    assert await page.evaluate(below) == "ann"
    await page.click(".flip")
    assert await page.evaluate(below) == "bob/bot"


async def test_what_follows_a_match_stays_below_the_window_until_its_board_is_drawn(
    house: House, page: Page
) -> None:
    match = await house.play("tic_tac_toe", "b2 b1 a1 c3 a3 c1 a2")
    await page.tab.route("**/match*.js", lambda route: route.abort())  # it is still loading
    for size in SIZES:
        await page.show_as(*size)
        await page.go(f"{house.url}/matches/{match}")
        assert await page.evaluate("document.querySelector('#match .scene')") is None
        top = await page.evaluate("document.querySelector('.about').getBoundingClientRect().top")
        assert top >= size[1], size
