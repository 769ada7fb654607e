"""All that a person can do in a turn is in sight without scrolling, in windows of all sizes."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from playwright.async_api import Browser

from plyhouse.games.registry import BUILT_IN

from .browser import Page, open_page
from .conftest import House
from .match_layout import look
from .person import opponent, play_on
from .test_card_tables import answering, play
from .test_play import MINE, challenged, challenged_by_all, enter

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


CHOICES = """[...document.querySelectorAll(`#scene .spot:is(.start, .next, .end) .ring,
    #match .hand .spot, #match .prompt > .choices:not(.many) button, #match .grid.table td button,
    #match .placing button, #match .laying button`)].filter((node) => {
  const { left, top, right, bottom, width } = node.getBoundingClientRect();
  return width && (top < -1 || left < -1 || bottom > innerHeight + 1 || right > innerWidth + 1);
}).map((node) => node.outerHTML.slice(0, 80))"""


THUMB = 24
"""Fewest pixels of a button's sides, by success criterion 2.5.8 of WCAG 2.2."""
SMALL = f"""[...document.querySelectorAll(`#match .hand .spot, #match .prompt .choices button,
    #match .grid.table td button, #match .placing button, #match .laying button`)].map((node) => {{
  const {{ width, height }} = node.getBoundingClientRect();
  return [node.textContent, width, height];
}}).filter(([, width, height]) => width && Math.min(width, height) < {THUMB})"""
BIDS = "liars_dice(seats=6,dice=5)"  # more rows than a phone shows at once


@pytest.mark.parametrize("game", sorted(BUILT_IN))
async def test_choices_of_every_game_are_in_sight_on_a_touch_screen(
    house: House, browser: Browser, game: str
) -> None:
    async with open_page(browser, touch=True) as page:
        await page.show_as(390, 664)
        async with opponent(house, page, game, random.Random(game)):
            await page.until(MINE)
            await look(page)
            assert await page.evaluate(CHOICES) == []
            assert await page.evaluate(SMALL) == []
        assert page.errors == []


@pytest.mark.parametrize("game", [BIDS, "liars_dice(dice=6)", "liars_dice(dice=5,faces=10)"])
async def test_bids_are_large_enough_for_a_thumb(house: House, page: Page, game: str) -> None:
    bots = await challenged_by_all(house, page, game, seat=1)
    turn = await bots[0].turn()
    assert turn is not None
    bots[0].play(turn, turn.observation["legal"][0])
    await page.until(MINE)
    for size in ((390, 664), (360, 640), (390, 844), (844, 390)):
        await page.show_as(*size)
        await look(page)
        assert await page.evaluate(SMALL) == [], size
    assert page.errors == []


async def test_squares_for_tiles_are_large_enough_for_a_thumb_on_a_high_phone(
    house: House, page: Page
) -> None:
    await challenged(house, page, "scrabble")
    await page.until(MINE)
    await page.show_as(390, 844)
    await look(page)
    width = "document.querySelector('#scene .spot').getBoundingClientRect().width"
    assert await page.evaluate(width) >= THUMB
    assert await page.evaluate("document.documentElement.scrollWidth") == 390
    assert page.errors == []


async def test_last_bids_are_as_high_as_other_buttons_on_a_phone(house: House, page: Page) -> None:
    bots = await challenged_by_all(house, page, "liars_dice(dice=6)", seat=1)
    turn = await bots[0].turn()
    assert turn is not None
    bots[0].play(turn, "11x6")
    await page.until(MINE)
    for size in ((390, 664), (360, 640)):
        await page.show_as(*size)
        await look(page)
        height = "document.querySelector('#match .grid.table td button').offsetHeight"
        assert await page.evaluate(height) >= 38, size
    assert page.errors == []


async def test_directions_are_in_sight_beside_a_maze_and_three_players(
    house: House, page: Page
) -> None:
    pad = """(() => {
      const column = document.querySelector("#own").getBoundingClientRect();
      return [...document.querySelectorAll(".pad [data-key]")]
        .map((node) => node.getBoundingClientRect())
        .map(({ left, right, width }) => [width, left >= column.left - 1, right <= innerWidth]);
    })()"""
    async with opponent(house, page, "pacman(steps=9)", random.Random(1)):
        await page.until(MINE)
        assert await out_of_sight(page) == {}
        for size in ((844, 390), (390, 664)):
            await page.show_as(*size)
            await look(page)
            for width, begins, ends in await page.evaluate(pad):
                assert (width >= 44, begins, ends) == (True, True, True), (size, width)
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
        await page.click("[data-request='resign']")
        await page.press_again("[data-request='resign']")
        await page.until("document.querySelector('#again > *')")
        await page.evaluate("scrollTo(0, 0)")
        for size in SIZES:
            await page.show_as(*size)
            await look(page)
            assert json.loads(await page.evaluate(OFFERS)) == [], size
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


DEEDS = """["above", "below"].map((side) =>
  document.querySelectorAll(`#seats .${side} .small-deed`).length)"""
OWN = """JSON.stringify([...document.querySelectorAll("#own button, .prompt > .choices button")]
  .filter((node) => node.getBoundingClientRect().bottom > innerHeight)
  .map((node) => node.textContent))"""


async def test_resigning_is_in_sight_beside_a_rack(house: House, page: Page) -> None:
    async with opponent(house, page, "scrabble", random.Random(1)):
        await page.until(MINE)
        for size in SIZES:
            await page.show_as(*size)
            await look(page)
            assert json.loads(await page.evaluate(OWN)) == [], size


async def test_resigning_is_in_sight_beside_a_maze(house: House, page: Page) -> None:
    await enter(house, page, game="pacman(ghosts=random,steps=10)", time="total:300+5")
    await page.until(MINE)
    for size in SIZES:
        await page.show_as(*size)
        await look(page)
        assert json.loads(await page.evaluate(OWN)) == [], size
    assert page.errors == []


LINES = """(() => {
  const range = document.createRange();
  range.selectNodeContents(document.querySelector("#seats .above .score strong"));
  return range.getClientRects().length;
})()"""


async def test_score_beside_a_long_action_stays_in_one_line(house: House, page: Page) -> None:
    bot = await challenged(house, page, "scrabble", seat=1)
    for kind in ("8", "-"):  # the longest word, then an exchange of all tiles
        turn = await bot.turn()
        assert turn is not None
        # A rack of consonants has no word.
        bot.play(
            turn, max(turn.observation["legal"], key=lambda each: (each[0] == kind, len(each)))
        )
        await page.until(MINE)
        if kind == "8":
            await page.click(".placing .row button:has-text('Pass')")
    await page.until("document.querySelector('#seats .did').textContent.startsWith('exchanges')")
    for size in SIZES:
        await page.show_as(*size)
        await look(page)
        assert await page.evaluate(LINES) == 1, size
    assert page.errors == []


def buying(legal: list[str]) -> str:
    """Return an action of a player who buys what can be bought."""
    return next((each for each in ("buy", "roll", "pass", "reject") if each in legal), legal[0])


async def test_resigning_is_in_sight_when_both_players_own_deeds(house: House, page: Page) -> None:
    bots = await challenged_by_all(house, page, "monopoly")
    await page.show_as(*SIZES[-1])
    async with answering(bots, buying):
        while min(await page.evaluate(DEEDS)) < 2 or max(await page.evaluate(DEEDS)) < 4:
            assert await play(page, buying)
            await look(page)  # the dice decide how long names, buttons and deeds are
            assert json.loads(await page.evaluate(OWN)) == [], await page.text("#prompt")
        for size in SIZES:
            await page.show_as(*size)
            await look(page)
            assert json.loads(await page.evaluate(OWN)) == [], size
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


OFFERS = """JSON.stringify([...document.querySelectorAll("#outcome, #again *")].filter((node) => {
  const { top, bottom } = node.getBoundingClientRect();
  return top < 0 || bottom > innerHeight;
}).map((node) => node.textContent))"""


@pytest.mark.parametrize(
    "game", ["chess", "go", "kalah", "othello", "monopoly", "scrabble", "battleship"]
)
async def test_result_and_rematch_are_in_sight_when_a_match_is_over(
    house: House, page: Page, game: str
) -> None:
    bot = await challenged(house, page, game)
    bot.resign()
    await page.until("document.querySelector('#again button') && document.querySelector('.ended')")
    for size in SIZES:
        await page.show_as(*size)
        await look(page)
        assert json.loads(await page.evaluate(OFFERS)) == [], size
        # The result says it already.
        assert "The match is over" not in await page.evaluate("document.body.innerText")
    assert page.errors == []
