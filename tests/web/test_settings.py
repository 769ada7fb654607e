"""Board settings: how people want to see and play matches, kept by the browser."""

from __future__ import annotations

import json
from typing import Any

import pytest

from .browser import Page
from .conftest import House
from .test_play import ACTIONS, MINE, challenged, spot

pytestmark = pytest.mark.browser

BOARD = "document.querySelector('#scene .grid svg').getBoundingClientRect()"
KEPT = "JSON.parse(localStorage.getItem('plyhouse.board'))"
# The least contrast of white and black men, with their outlines, to the squares under them.
CONTRAST = """
(() => {
  const board = document.querySelector('#scene .grid');
  const linear = (value) => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  const light = (text) => {
    const part = text.match(/[\\d.]+/g).slice(0, 3).map((each) => linear(Number(each) / 255));
    return 0.2126 * part[0] + 0.7152 * part[1] + 0.0722 * part[2]; };
  const ratio = (one, other) => (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
  const style = (found) => getComputedStyle(board.querySelector(found));
  const fill = (found) => light(style(found).fill);
  const squares = ['.cell:not(.dark, .mark)', '.cell.dark:not(.mark)'].map(fill);
  const [white, black] = ['.figure.seat-white', '.figure.seat-black'];
  return Math.min(ratio(fill(white), fill(black)), ...squares.map((square) => Math.min(
    ratio(fill(black), square), ratio(light(style(white).stroke), square))));
})()
"""


async def choose(page: Page, name: str, value: Any) -> None:
    """Choose a setting in the dialog, as a person does."""
    await page.evaluate(
        f"(() => {{ const field = document.querySelector('#setting-{name}');"
        f" field.value = {json.dumps(value)};"
        " for (const kind of ['input', 'change']) field.dispatchEvent(new Event(kind)); })()"
    )


async def test_settings_change_the_board_and_are_kept(house: House, page: Page) -> None:
    first, _ = await house.pair("chess")
    await first.act("e2e4")
    await page.show_as(1366, 768)
    await page.go(f"{house.url}/matches/{first.match}")
    await page.until("document.querySelectorAll('#events .ply').length === 1")
    await page.press("b")
    await page.until("document.querySelector('#settings').open")
    assert await page.evaluate("document.activeElement.closest('#settings') !== null")
    await page.evaluate(
        "{ const still = new CSSStyleSheet();"
        " still.replaceSync('* { transition: none !important; }');"
        " document.adoptedStyleSheets = [still]; }"
    )
    fills = set()
    for dark in (False, True):
        await page.show_as(1366, 768, dark=dark)
        for board in ("", "green", "blue", "grey"):
            await choose(page, "board", board)
            fills.add(await page.evaluate("getComputedStyle(document.querySelector('.cell')).fill"))
            for pieces in ("", "walnut", "navy"):
                await choose(page, "pieces", pieces)
                assert await page.evaluate(CONTRAST) >= 3, (dark, board, pieces)
    assert len(fills) == 4
    width = await page.evaluate(f"{BOARD}.height")
    await choose(page, "size", "60")
    await page.until(f"{BOARD}.height < {width} * 0.7")
    assert await page.text("#settings output") == "60 %"
    await page.press("Escape")
    # The switch for sounds is in sight, and says whether it is on.
    pressed = "document.querySelector('#sound').ariaPressed"
    assert await page.evaluate(pressed) == "false"
    await page.click("#sound")
    assert await page.evaluate(pressed) == "true"
    await page.press("m")
    assert await page.evaluate(pressed) == "false"
    assert await page.evaluate(KEPT) == {
        "sound": False, "confirm": False, "quiet": False, "board": "grey", "pieces": "navy",
        "size": 60,
    }  # fmt: skip
    await page.evaluate("localStorage.setItem('plyhouse.board', '{\"size\": 9, \"board\": 7}')")
    await page.go(f"{house.url}/matches/{first.match}?again")
    await page.until(f"{BOARD}.height > {width} * 0.95")
    # At 400 % zoom, a window of 1280x1024 has 320x256 pixels: nothing is cut off at its side.
    await page.show_as(320, 256)
    await page.until("innerWidth === 320")
    assert await page.evaluate("document.documentElement.scrollWidth") <= 320
    assert await page.evaluate(f"{BOARD}.width") >= 280
    await page.press("b")
    dialog = "document.querySelector('#settings').getBoundingClientRect()"
    await page.until(f"{dialog}.height > 0")
    assert await page.evaluate(f"[{dialog}.top >= 0, {dialog}.bottom <= 256]") == [True, True]
    assert page.errors == []


async def test_move_is_played_once_it_is_confirmed(house: House, page: Page) -> None:
    await page.go(f"{house.url}/play")
    await page.evaluate("localStorage.setItem('plyhouse.board', '{\"confirm\": true}')")
    bot = await challenged(house, page, "chess")
    asked = "document.querySelector('[data-confirm=yes]')"
    await page.click(spot("e2"))
    await page.click(spot("e4"))
    await page.until(asked)
    assert await page.text("[data-confirm=yes]") == "Play e4"
    assert await page.evaluate(f"document.activeElement === {asked}")
    # Another choice: the board is as before, and nothing was played.
    await page.press("Escape")
    await page.until(f"!{asked} && document.querySelector('[data-request=resign]')")
    assert await page.evaluate(f"{MINE} && {ACTIONS}.length === 0")
    await page.click(spot("d2"))
    await page.click(spot("d4"))
    await page.until(asked)
    await page.press("Enter")
    await page.until(f"{ACTIONS}.length === 1 && !({MINE})")
    # A move chosen in advance is asked for when the turn comes.
    await page.click(spot("c2"))
    await page.click(spot("c4"))
    await bot.act("d7d5")
    await page.until(asked)
    assert await page.evaluate(ACTIONS) == ["d4", "d5"]
    await page.click("[data-confirm=yes]")
    await page.until(f"{ACTIONS}.length === 3")
    assert await page.evaluate(ACTIONS) == ["d4", "d5", "c4"]
    assert page.errors == []


async def test_turn_of_backgammon_is_seen_before_it_is_confirmed(house: House, page: Page) -> None:
    await page.go(f"{house.url}/play")
    await page.evaluate("localStorage.setItem('plyhouse.board', '{\"confirm\": true}')")
    side = "24x2 13x5 8x3 6x5"
    await challenged(house, page, f'backgammon(position="{side}; {side}; 0 31")')
    asked = "document.querySelector('[data-confirm=yes]')"
    for _ in range(12):
        if await page.evaluate(f"Boolean({asked})"):
            break
        following = ".spot.next, .spot.end"
        chosen = f"document.querySelector('{following}') || document.querySelector('.spot.start')"
        await page.evaluate(f"({chosen}).dispatchEvent(new MouseEvent('click', {{bubbles: true}}))")
    await page.until(asked)
    assert (await page.text("[data-confirm=yes]")).startswith("Play ")
    before = await page.evaluate(f"{ACTIONS}.length")
    assert await page.evaluate("document.querySelectorAll('.board-dice .die.used').length") == 2
    await page.click("[data-confirm=yes]")
    await page.until(f"{ACTIONS}.length > {before}")
    assert page.errors == []
