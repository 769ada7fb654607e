"""Arrows and marks on a board, and how many people watch it."""

from __future__ import annotations

import pytest

from plyhouse.protocol.messages import Watch

from .browser import Page
from .conftest import House

pytestmark = pytest.mark.browser

DRAWN = "[...document.querySelectorAll('.annotations > *')].map((each) => each.localName)"
PLACE = """
(() => {
  const piece = document.querySelector('[data-place="0,%d,%d"]').getBoundingClientRect();
  return [piece.left + piece.width / 2, piece.top + piece.height / 2];
})()
"""
WATCHING = "document.querySelector('#watching')"


async def test_right_button_draws_and_a_click_clears(house: House, page: Page) -> None:
    first, second = await house.pair("chess")
    await page.show_as(1366, 768)
    await page.go(f"{house.url}/matches/{first.match}")
    await page.until("document.querySelector('#where')?.textContent.includes('live')")
    knight, pawn = [await page.evaluate(PLACE % place) for place in ((7, 6), (6, 4))]
    mouse = page.tab.mouse
    await mouse.click(*pawn, button="right")
    assert await page.evaluate(DRAWN) == ["circle"]
    await mouse.move(*knight)
    await mouse.down(button="right")
    await mouse.move(*pawn)
    await mouse.up(button="right")
    assert await page.evaluate(DRAWN) == ["circle", "path"]
    await mouse.click(*pawn, button="right")  # the same again takes it away
    assert await page.evaluate(DRAWN) == ["path"]
    await mouse.click(*knight)
    assert await page.evaluate(DRAWN) == []
    # The menu of the browser is kept for what no mouse asks for.
    kept = (
        "document.querySelector('#scene svg').dispatchEvent("
        "new Event('contextmenu', { bubbles: true, cancelable: true }))"
    )
    assert await page.evaluate(kept)

    # To watch alone is no news; a second spectator is, until they leave.
    assert await page.evaluate(f"{WATCHING}.hidden")
    spectator = await house.spectator()
    await spectator.ask(Watch, first.match)
    await page.until(f"!{WATCHING}.hidden && {WATCHING}.textContent === '2 watching'")
    spectator.client.close()
    await page.until(f"{WATCHING}.hidden")
    assert page.errors == []
    second.resign()
    await first.finish()
