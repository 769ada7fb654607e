"""Pages that keep themselves up to date: which of several answers they show."""

from __future__ import annotations

import asyncio

import pytest
from playwright.async_api import Route

from .browser import Page
from .conftest import House

pytestmark = pytest.mark.browser

KEEP = """{ const real = fetch; window.texts = []; window.fetch = (...asked) => {
  const answer = real(...asked);
  texts.push(answer.then((found) => found.clone().text()));
  return answer; }; } null"""
"""Run in a page: its answers are kept, to wait until it has read one."""
LOOK = "document.dispatchEvent(new Event('visibilitychange'))"
READ = "Promise.all(texts).then(() => new Promise((next) => setTimeout(next, 50)))"


async def test_late_answer_does_not_replace_a_later_one(house: House, page: Page) -> None:
    """What was done on the page was gone again until the next look."""
    await page.go(f"{house.url}/matches")
    await page.evaluate(KEEP)
    written, wanted = asyncio.Event(), asyncio.Event()

    async def hold(route: Route) -> None:
        answer = await route.fetch()
        written.set()
        await wanted.wait()
        await route.fulfill(response=answer)

    await page.tab.route("**/matches", hold, times=1)
    await page.evaluate(LOOK)
    await written.wait()
    await house.pair("tic_tac_toe")
    await page.evaluate(LOOK)
    await page.until("document.querySelector('#running a')")
    wanted.set()
    await page.evaluate(READ)
    assert await page.evaluate("document.querySelectorAll('#running a').length") > 0
    assert page.errors == []


async def test_page_that_was_asked_for_twice_at_once_looks_again_once(
    house: House, page: Page
) -> None:
    await page.go(f"{house.url}/matches")
    await page.evaluate(KEEP)
    await page.evaluate(
        "{ const later = setTimeout, forget = clearTimeout; window.due = new Set();"
        " window.setTimeout = (act, wait) => {"
        " const made = later(() => {}, 0); if (wait > 1000) due.add(made); return made; };"
        " window.clearTimeout = (made) => { due.delete(made); forget(made); }; } null"
    )
    await page.evaluate(f"{LOOK}, {LOOK}")
    await page.until("texts.length >= 2")
    await page.evaluate("Promise.all(texts).then(() => new Promise(requestAnimationFrame))")
    assert await page.until("due.size") == 1
    assert page.errors == []
