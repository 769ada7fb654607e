"""People who play with keys keep their place: while others move, and in the next turn."""

from __future__ import annotations

import pytest

from .browser import Page, sign_in
from .conftest import House, Wire
from .test_play import MINE, challenged

pytestmark = pytest.mark.browser

PLACE = "document.activeElement.dataset.at ?? document.activeElement.id"
WHERE = "document.querySelector('#where').textContent"


async def press(page: Page, *keys: str) -> None:
    for key in keys:
        await page.press(key)


async def test_focus_stays_on_the_spot_that_was_played(house: House, page: Page) -> None:
    bot = await challenged(house, page, "go(size=9)")
    await press(page, "ArrowDown", "ArrowRight", "Enter")
    await page.until(f"!{MINE}")
    assert await page.evaluate(PLACE) == "1,1"
    await bot.act("pass")
    await page.until(MINE)
    assert await page.evaluate(PLACE) == "1,1"
    await press(page, "ArrowRight")
    assert await page.evaluate(PLACE) == "1,2"
    assert page.errors == []


async def test_focus_stays_in_the_row_of_a_column_game(house: House, page: Page) -> None:
    bot = await challenged(house, page, "connect_four")
    await press(page, "ArrowDown", "ArrowRight", "ArrowRight", "Enter")
    await bot.act("1")
    await page.until(MINE)
    assert await page.evaluate(PLACE) == "1,2"
    assert page.errors == []


@pytest.mark.parametrize(
    ("game", "action", "answer"),
    [("texas_holdem", "call", "raise 4"), ("nim", None, None), ("kuhn_poker", "check", "bet")],
)
async def test_arrow_keys_do_not_leave_the_position_after_an_own_action(
    house: House, page: Page, game: str, action: str | None, answer: str | None
) -> None:
    bot = await challenged(house, page, game)
    if action:
        await page.evaluate(f"document.querySelector('[data-action=\"{action}\"]').focus()")
    await press(page, "Enter")
    await page.until(f"!{MINE}")
    await page.until(f"{WHERE}.startsWith('1 / 1')")
    before = await page.evaluate(WHERE)
    await press(page, "ArrowLeft")
    assert await page.evaluate(WHERE) == before
    turn = await bot.turn()
    assert turn is not None
    bot.play(turn, answer or turn.observation["legal"][0])
    await page.until(MINE)
    assert await page.evaluate("document.activeElement.matches('#match :is(.spot, [data-action])')")
    assert page.errors == []


async def test_arrow_keys_lead_over_coins(house: House, page: Page) -> None:
    await challenged(house, page, "coins")
    await page.evaluate("document.querySelector('#scene .spot').focus()")
    first = await page.evaluate("document.activeElement.dataset.spot")
    await press(page, "ArrowRight")
    assert await page.evaluate("document.activeElement.dataset.spot") not in (first, None)
    assert page.errors == []


async def test_action_without_a_connection_is_sent_when_it_is_back(
    house: House, wire: Wire, page: Page
) -> None:
    bot = await challenged(house, page, "tic_tac_toe")
    await page.go(f"{wire.url}/play")
    await sign_in(page, await house.token("ann"))
    await page.go(f"{wire.url}/matches/{bot.match}")
    await page.until(MINE)
    await wire.cut()
    await page.until("document.querySelector('#state').textContent.includes('Trying again')")
    await page.click("[data-spot='b2']")
    await wire.mend()
    turn = await bot.turn()
    assert turn is not None
    assert [event.action for event in turn.events] == ["b2"]


async def test_first_turn_with_bids_in_a_table_only_has_the_focus_there(
    house: House, page: Page
) -> None:
    await challenged(house, page, "liars_dice")
    assert await page.evaluate("document.activeElement.matches('#match [data-action]')")
    assert page.errors == []
