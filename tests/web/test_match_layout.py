"""Parts of a match's page keep their places; test_whole_games.py looks at the page of each game."""

from __future__ import annotations

import json

import pytest
from playwright.async_api import Browser

from .browser import Page, open_page
from .conftest import House
from .match_layout import SIZES, look
from .test_play import MINE, challenged, enter, spot

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
    assert await page.text('[data-action="a7a8q"] span') == "a8=Q+"
    choice = await page.evaluate(
        """[...document.querySelectorAll(".on-spot button")].map((each) => {
          const { left, top, width } = each.getBoundingClientRect();
          const on = document.querySelector('[data-spot="a8"] .cell').getBoundingClientRect();
          return [Math.abs(left - on.left) < 4, top >= on.top - 2, width >= on.width - 6];
        })"""
    )
    assert choice == [[True, True, True]] * 4, "a column of pieces on the square"
    capitals = "getComputedStyle(document.querySelector('.on-spot span'), '::first-letter')"
    assert await page.evaluate(f"{capitals}.textTransform") == "none", "a8 is no piece"
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


@pytest.mark.parametrize("size", [(360, 640), (390, 844), (1366, 768)])
async def test_hint_takes_the_place_of_the_status_and_leaves_no_gap_without_it(
    house: House, page: Page, size: tuple[int, int]
) -> None:
    await challenged(house, page, "chess")
    await page.show_as(*size)
    await look(page)
    boxes = """['.status', '#own', '#scene .grid svg'].map((part) => {
      const { left, top, width, height } = document.querySelector(part).getBoundingClientRect();
      return [left, top, width, height];
    })"""
    gap = """(() => {
      const above = [...document.querySelectorAll(".status, .moves")].map(
        (each) => each.getBoundingClientRect()).filter(({ height }) => height);
      const { top } = document.querySelector("#own").getBoundingClientRect();
      return top - Math.max(...above.map(({ bottom }) => bottom).filter((each) => each <= top));
    })()"""
    before = await page.evaluate(boxes)
    assert await page.evaluate(gap) <= 16
    await page.click(spot("g1"))
    assert await page.evaluate("document.querySelector('.hint').checkVisibility()")
    assert not await page.evaluate("document.querySelector('.status .said').checkVisibility()")
    assert await page.evaluate(boxes) == before
    await page.press("Escape")
    assert await page.evaluate("document.querySelector('.status .said').checkVisibility()")
    assert await page.evaluate(boxes) == before
    assert page.errors == []


async def test_maze_is_as_wide_as_an_upright_phone_and_takes_swipes(
    house: House, browser: Browser
) -> None:
    async with open_page(browser, touch=True) as page:
        await page.show_as(390, 844)
        await enter(house, page, game="pacman(ghosts=random,steps=10)", time="total:300+5")
        await page.until(MINE)
        await look(page)
        box = "document.querySelector('#scene .maze svg').getBoundingClientRect().toJSON()"
        maze = await page.evaluate(box)
        assert (maze["left"], maze["width"]) == (0, 390)
        assert (await look(page))["wide"] <= 0
        key = await page.evaluate(
            "document.querySelector('.pad button[data-key^=Arrow]').getAttribute('data-key')"
        )
        dx, dy = {"ArrowLeft": (-1, 0), "ArrowRight": (1, 0), "ArrowUp": (0, -1),
                  "ArrowDown": (0, 1)}[key]  # fmt: skip
        x, y = maze["left"] + maze["width"] / 2, maze["top"] + maze["height"] / 2
        tools = await page.tab.context.new_cdp_session(page.tab)
        for kind, step in (("touchStart", 0), ("touchMove", 20), ("touchMove", 50)):
            points = [{"x": x + dx * step, "y": y + dy * step}]
            await tools.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        await tools.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        await tools.detach()
        await page.until("document.querySelectorAll('#events .action').length")
        assert await page.evaluate("scrollY") == 0, "the page does not scroll with it"
        assert await page.evaluate(box) == maze
        assert page.errors == []


async def test_words_that_take_a_second_line_beside_a_smaller_board_do_not_hide_the_clock(
    house: House, page: Page
) -> None:
    await challenged(house, page, "nim")
    await page.until("document.querySelector('#scene .scene > .words')")
    words = "Taking the last one wins, and taking none at all is not allowed here"
    await page.evaluate(f"document.querySelector('#scene .words').textContent = {words!r}")
    for size in ((1366, 768), (1366, 720), (1280, 740)):
        await page.show_as(*size)
        for _, top, _, bottom in (await look(page))["clocks"]:
            assert (top >= 0, bottom <= size[1]) == (True, True), (size, bottom)


@pytest.mark.parametrize("game", ["othello", "chess"])
async def test_projector_on_a_phone_has_a_large_board_above_both_players(
    house: House, page: Page, game: str
) -> None:
    first, _ = await house.pair(game)
    await page.show_as(390, 664)
    await page.go(f"{house.url}/projector?match={first.match}")
    await page.until("document.querySelectorAll('#seats .clock').length === 2")
    for size, least in (((390, 664), 350), ((844, 390), 260)):
        await page.show_as(*size)
        seen = await look(page)
        assert min(seen["boards"][0]) >= least
        assert [bottom for *_, bottom in seen["clocks"] if bottom > size[1]] == []
    assert page.errors == []


@pytest.mark.parametrize("game", ["tic_tac_toe", "chess"])
async def test_board_on_the_projector_is_as_high_as_the_screen_lets_it_be(
    house: House, page: Page, game: str
) -> None:
    bots = await house.pair(game)
    await page.show_as(1920, 1080)
    await page.go(f"{house.url}/projector?match={bots[0].match}")
    await page.until("document.querySelector('#scene .boards svg')")
    [[_, height]] = (await look(page))["boards"]
    assert height >= 0.8 * 1080
    assert page.errors == []
