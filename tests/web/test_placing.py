"""Tiles that a person puts on the board of Scrabble, in the browser."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser

from plyhouse.games import get_game
from plyhouse.games.hidden.scrabble.words import word_list
from plyhouse.games.scene import scene_fields

from .browser import Page, open_page
from .conftest import House
from .pictures import boards_page
from .test_play import MINE, challenged

pytestmark = pytest.mark.browser

SHOW = """
import("plyhouse/scene").then(({{ drawScene }}) => {{
  window.played = [];
  const choose = (action) => window.played.push(action);
  document.body.replaceChildren(drawScene({scene}, null, choose, {{}}));
  window.drawn = true;
}})
"""
PLAY = "document.querySelector('.placing .main')"
PLACES = """JSON.stringify(['#scene .grid > svg', '.rack'].map(
    (part) => document.querySelector(part).getBoundingClientRect()))"""


async def shown(page: Page, folder: Path, tiles: str, spec: str = "scrabble") -> None:
    """Show the first turn of a seat that has drawn these tiles."""
    game: Any = get_game(spec)
    state = game.initial_state()
    for tile in tiles + "EEEEEEE":
        state = state.after(game.parse_chance(state, tile))
    scene = dataclasses.replace(
        game.scene(game.observe(state, 0)), seats=("seat 1", "seat 2"), viewer=0
    )
    html = folder / "page.html"
    html.write_text(boards_page(), encoding="utf-8")
    await page.go(html.resolve().as_uri())
    await page.until("window.ready")
    await page.evaluate(SHOW.format(scene=json.dumps(scene_fields(scene))))
    await page.until("window.drawn")


async def put(page: Page, tile: str, spot: str) -> None:
    await page.click(f".rack [data-piece='{tile}']")
    await page.click(f"[data-spot='{spot}']")


async def test_tiles_put_on_squares_are_played_when_they_make_a_word(
    page: Page, tmp_path: Path
) -> None:
    await shown(page, tmp_path, "CATVVWW")
    await put(page, "A", "I8")
    await put(page, "C", "H8")
    assert await page.evaluate(f"{PLAY}.disabled")
    await put(page, "T", "J8")
    assert await page.evaluate(f"{PLAY}.textContent") == "Play 8H CAT for 10"
    await page.click(".placing .main")
    assert await page.evaluate("window.played") == ["8H CAT"]


async def test_blank_asks_for_its_letter_and_tile_can_be_taken_back(
    page: Page, tmp_path: Path
) -> None:
    await shown(page, tmp_path, "CATVVW?")
    await put(page, "C", "H8")
    await put(page, "?", "I8")
    await page.click("[data-letter='A']")
    await put(page, "T", "J8")
    # With a blank there are too many plays to list them all: the server judges this one.
    assert await page.evaluate(f"{PLAY}.textContent") == "Play"
    assert not await page.evaluate(f"{PLAY}.disabled")
    await page.click("[data-spot='J8']")
    assert await page.evaluate("document.querySelectorAll('.rack .tile').length") == 5


async def test_listed_play_shows_its_points_beside_a_blank(page: Page, tmp_path: Path) -> None:
    await shown(page, tmp_path, "CATVVW?")
    for tile, spot in (("C", "H8"), ("A", "I8"), ("T", "J8")):
        await put(page, tile, spot)
    assert await page.evaluate(f"{PLAY}.textContent") == "Play 8H CAT for 10"
    await page.click(".placing .main")
    assert await page.evaluate("window.played") == ["8H CAT"]


async def test_tapped_tiles_are_exchanged(page: Page, tmp_path: Path) -> None:
    await shown(page, tmp_path, "CATVVW?")
    await put(page, "C", "H8")
    await page.click(".placing .choices button:nth-of-type(4)")
    assert await page.evaluate("document.querySelectorAll('.rack .tile').length") == 7
    assert await page.evaluate(f"{PLAY}.disabled")
    for tile in ("V", "W", "?", "A"):
        await page.click(f".rack [data-piece='{tile}']")
    await page.click(".rack [data-piece='A']")
    assert await page.evaluate(f"{PLAY}.textContent") == "Exchange V W ?"
    await page.click(".placing .main")
    assert await page.evaluate("window.played") == ["-VW?"]
    assert not await page.evaluate("document.querySelector('.moves')"), "no list beside the tiles"


async def test_typed_letters_lay_tiles_in_a_line_and_backspace_takes_one_back(
    page: Page, tmp_path: Path
) -> None:
    await shown(page, tmp_path, "CATVVW?")
    await page.evaluate("document.querySelector('[data-spot=H8]').focus()")
    await page.press("ArrowDown")
    await page.press("ArrowUp")
    for letter in "cab":  # the B is a blank
        await page.press(letter)
    laid = "[...document.querySelectorAll('.laid')].map((node) => node.parentNode.dataset.spot)"
    assert await page.evaluate(laid) == ["H8", "H9", "H10"]
    await page.press("Backspace")
    await page.press("t")
    assert await page.evaluate("document.activeElement.dataset.spot") == "H11"
    await page.click(".placing .main")
    assert await page.evaluate("window.played") == ["H8 CAT"]


async def test_board_and_rack_keep_their_places_from_turn_to_turn(house: House, page: Page) -> None:
    bot = await challenged(house, page, "scrabble")
    for size in ((1366, 768), (390, 664)):
        await page.show_as(*size)
        places = await page.evaluate(PLACES)
        await page.click(".row [data-action='-']")
        await page.until(f"!({MINE})")
        assert await page.evaluate(PLACES) == places, size
        await bot.act("-")
        await page.until(MINE)
        assert await page.evaluate(PLACES) == places, size
    assert page.errors == []


async def test_premium_squares_have_letters_and_plays_have_points(house: House, page: Page) -> None:
    bot = await challenged(house, page, "scrabble", seat=1)
    turn = await bot.turn()
    assert turn is not None
    play = next(each for each in turn.observation["legal"] if " " in each)
    bot.play(turn, play)
    await page.until(MINE)
    printed = await page.evaluate(
        "[...document.querySelectorAll('.printed')].map((node) => node.textContent)"
    )
    assert set(printed) == {"DL", "TL", "DW", "TW"}
    assert (await page.text("#events .action")).startswith(f"{play} +")
    assert await page.evaluate("document.querySelectorAll('#events .chance').length") == 0
    score = await page.text("#seats .above .score strong")
    assert (await page.text("#events .action")).endswith(f"+{score}")
    assert page.errors == []


async def test_any_tiles_are_played_where_plays_may_be_challenged(
    page: Page, tmp_path: Path
) -> None:
    await shown(page, tmp_path, "CATVVW?", "scrabble(challenges=single)")
    await put(page, "V", "H8")
    await put(page, "W", "J8")
    assert await page.evaluate(f"{PLAY}.disabled"), "there is a gap"
    await put(page, "?", "I8")
    assert await page.evaluate(f"{PLAY}.disabled"), "the blank has no letter"
    await page.click("[data-letter='A']")
    assert await page.evaluate(f"{PLAY}.textContent") == "Play"
    await page.click(".placing .main")
    assert await page.evaluate("window.played") == ["H8=V I8=a J8=W"]


async def test_page_does_not_tell_which_words_are_in_the_list(page: Page, tmp_path: Path) -> None:
    await shown(page, tmp_path, "CATVVW?", "scrabble(challenges=single)")
    labels = []
    for last in ("T", "V"):
        await put(page, "C", "H8")
        await put(page, "A", "I8")
        await put(page, last, "J8")
        assert not await page.evaluate(f"{PLAY}.disabled")
        labels.append(await page.evaluate("document.querySelector('.choices').outerHTML"))
        await page.click(".placing .choices button:nth-of-type(2)")
    assert labels[0] == labels[1]


async def test_person_lays_any_tiles_and_answers_a_play_by_buttons(
    house: House, page: Page
) -> None:
    bot = await challenged(house, page, "scrabble(challenges=double)")
    rack = "[...document.querySelectorAll('.rack [data-piece]')].map((node) => node.dataset.piece)"
    first, second = [tile for tile in await page.evaluate(rack) if tile != "?"][:2]
    await put(page, first, "H8")
    assert await page.evaluate(f"{PLAY}.disabled")
    await put(page, second, "I8")
    await page.click(".placing .main")
    turn = await bot.turn()
    assert turn is not None
    assert turn.observation["laid"] == ["H8", "I8"]
    assert turn.observation["legal"] == ["accept", "challenge"]
    assert turn.observation["rack_sizes"] == [5, 7]
    bot.play(turn, "accept")
    turn = await bot.turn()
    assert turn is not None
    third = next(tile for tile in turn.observation["rack"] if tile != "?")
    bot.play(turn, f"J8={third}")
    await page.until("document.querySelector('[data-action=accept]')")
    assert not await page.evaluate(PLAY), "the rack stays, but nothing is laid"
    await page.click("[data-action='challenge']")
    verdict = "stands" if first + second + third in word_list("enable") else "is taken back"
    await page.until(f"document.body.textContent.includes('{first + second + third} {verdict}')")
    assert page.errors == []


LAID = "[...document.querySelectorAll('.laid')].map((node) => node.parentNode.dataset.spot)"
IN_RACK = "document.querySelectorAll('.rack .tile').length"


@pytest.mark.parametrize("touch", [False, True])
async def test_tile_is_dragged_to_a_square_to_another_one_and_back(
    browser: Browser, tmp_path: Path, touch: bool
) -> None:
    async with open_page(browser, touch=touch) as page:
        await shown(page, tmp_path, "CATVVWW")
        await page.drag(".rack [data-piece='C']", "[data-spot='H8']", touch=touch)
        assert await page.evaluate(LAID) == ["H8"]
        await page.drag("[data-spot='H8']", "[data-spot='I9']", touch=touch)
        assert await page.evaluate(LAID) == ["I9"]
        assert await page.evaluate(IN_RACK) == 6
        await page.drag(".rack [data-piece='A']", "[data-spot='I9']", touch=touch)
        assert await page.evaluate(LAID) == ["I9"], "a tile lies there"
        await page.drag("[data-spot='I9']", ".rack", touch=touch)
        assert await page.evaluate(LAID) == []
        assert await page.evaluate(IN_RACK) == 7
        assert page.errors == []


async def test_tiles_are_put_in_another_order_by_dragging(page: Page, tmp_path: Path) -> None:
    await shown(page, tmp_path, "CATVVWB")
    order = "[...document.querySelectorAll('.rack .tile')].map((tile) => tile.dataset.piece)"
    before = await page.evaluate(order)
    await page.drag(f".rack [data-piece='{before[0]}']", f".rack [data-piece='{before[2]}']")
    assert await page.evaluate(order) == [*before[1:3], before[0], *before[3:]]
    assert page.errors == []


CANCELLED = """(async () => {
  const send = (node, type, x, y) => node.dispatchEvent(new PointerEvent(type,
    { bubbles: true, isPrimary: true, pointerId: 7, button: 0, clientX: x, clientY: y }));
  send(document.querySelector("[data-spot='H8']"), "pointerdown", 100, 100);
  send(document, "pointermove", 160, 160);
  send(document, "pointercancel", 160, 160);
})()"""
"""A drag that the browser takes over, as for a gesture of the system."""


async def test_cancelled_drag_leaves_a_tile_where_it_was(page: Page, tmp_path: Path) -> None:
    await shown(page, tmp_path, "CATVVWW")
    await put(page, "C", "H8")
    await page.evaluate(CANCELLED)
    assert await page.evaluate(LAID) == ["H8"]
    assert page.errors == []


async def test_blank_goes_on_asking_while_another_tile_is_dragged(
    page: Page, tmp_path: Path
) -> None:
    await shown(page, tmp_path, "CATVVW?")
    await put(page, "?", "I8")
    await page.drag(".rack [data-piece='C']", "[data-spot='H8']")
    await page.click("[data-letter='A']")
    await put(page, "T", "J8")
    assert not await page.evaluate(f"{PLAY}.disabled")
    assert page.errors == []
