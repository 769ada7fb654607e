"""Every game is played by mouse and by touch, from its first action to its result."""

from __future__ import annotations

import random

import pytest
from playwright.async_api import Browser

from plyhouse.games.registry import BUILT_IN

from .browser import open_page
from .conftest import House
from .person import OVER, opponent, play_on

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PRESSES = 12
"""Clicks or taps after which a person resigns a long game."""


@pytest.mark.parametrize("game", sorted(BUILT_IN))
async def test_game_is_played_to_its_result_by_mouse_and_by_touch(
    house: House, browser: Browser, game: str
) -> None:
    for touch, size in ((False, (1366, 768)), (True, (360, 640))):
        rng = random.Random(f"{game} {touch}")
        async with open_page(browser, touch=touch) as page:
            await page.show_as(*size)
            async with opponent(house, page, game, rng):
                if not await play_on(page, rng, PRESSES, touch=touch):
                    resign = page.tab.locator('[data-request="resign"]')
                    for _ in range(2):  # it asks once more
                        await (resign.tap() if touch else resign.click())
                    await page.until(OVER)
            assert page.errors == []
