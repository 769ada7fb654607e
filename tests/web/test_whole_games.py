"""Every game is played by mouse and by touch, to its result, on a page that fits each window."""

from __future__ import annotations

import contextlib
import random

import pytest
from playwright.async_api import Browser

from plyhouse.games.registry import BUILT_IN

from .browser import open_page
from .conftest import House
from .match_layout import assert_in_sight
from .person import OVER, opponent, play_on

pytestmark = [pytest.mark.browser]

PRESSES = 4
"""Clicks, and then taps, after which a person resigns a long game."""


@pytest.mark.parametrize("game", sorted(BUILT_IN))
async def test_game_is_played_to_its_result_by_mouse_and_by_touch(
    house: House, browser: Browser, game: str
) -> None:
    rng = random.Random(game)
    async with open_page(browser, touch=True) as page, contextlib.AsyncExitStack() as matches:
        await matches.enter_async_context(opponent(house, page, game, rng))
        await page.until("document.querySelector('#scene .scene')")
        if game != "pacman":  # which ends
            await assert_in_sight(page, game)
        await page.show_as(1366, 768)
        over = await play_on(page, rng, PRESSES)
        await page.show_as(360, 640)
        if over:  # a short game: once more
            await matches.aclose()
            await matches.enter_async_context(opponent(house, page, game, rng))
        if not await play_on(page, rng, PRESSES, "touch"):
            await page.tab.tap('[data-request="resign"]')
            await page.press_again('[data-request="resign"]')
            await page.until(OVER)
        assert page.errors == []
