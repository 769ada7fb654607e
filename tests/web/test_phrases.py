"""People at a board say phrases to each other, and may hide those of others."""

from __future__ import annotations

import pytest

from plyhouse.protocol.messages import Hello, Said, Say, Seek

from .browser import Page
from .conftest import Bot, House
from .test_play import MINE, enter

pytestmark = pytest.mark.browser

SHOWN = "[...document.querySelectorAll('#seats .phrase')].map((each) => each.textContent).join()"


async def test_phrase_is_said_shown_beside_the_player_and_hidden(house: House, page: Page) -> None:
    bob = Bot(house.hub.connect(), "bob")
    bob.send(Hello, await house.token("bob"), scenes=True)
    await bob.welcomed()
    await page.show_as(390, 844)
    await enter(house, page, game="chess", time="total:300")
    await page.until("document.querySelector('#waiting').dataset.asked")
    bob.send(Seek, "chess", "total:300")
    await bob.begin()
    if bob.seat == 0:
        await bob.act("e2e4")
    await page.until(MINE)
    await page.click('[data-request="say"]')
    assert "no free chat" in await page.text("#phrases")
    await page.click('[data-phrase="good_luck"]')
    await page.until(f"{SHOWN} === 'Good luck!'")
    said = await bob._next(Said)
    assert (said.seat, said.phrase) == (1 - bob.seat, "good_luck")
    bob.send(Say, bob.match, "thanks")
    await page.until(f"{SHOWN}.includes('Thanks!')")
    assert await page.text("#heard") == "bob: Thanks!"
    await page.press("b")
    await page.click("#setting-quiet")
    await page.press("Escape")
    bob.send(Say, bob.match, "oops")
    await page.click('[data-request="say"]')
    await page.click('[data-phrase="well_played"]')
    await page.until(f"{SHOWN}.includes('Well played!')")
    assert "Oops!" not in await page.evaluate(SHOWN)
    assert page.errors == []
