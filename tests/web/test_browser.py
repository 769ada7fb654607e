"""The web pages in a real browser: what people see, while bots play what the test says."""

from __future__ import annotations

from typing import Any

import pytest

from plyhouse.server.web.pages.client_pages import GROUPS

from .browser import Page
from .conftest import House, Wire

pytestmark = pytest.mark.browser

# The first player has four in the lowest row.
FOUR = "1 1 2 2 3 3 4"
LOOKS = 2000
"""Every so many ms a list looks for what is new."""
DISCS = "document.querySelectorAll('#scene .stone').length"


async def clean(page: Page) -> None:
    assert page.errors == []


async def test_front_page_shows_leaderboards_and_results(house: House, page: Page) -> None:
    await house.play("connect_four", FOUR)
    await page.go(f"{house.url}/")
    text = await page.text("main")
    assert "Connect four" in text
    assert "alice/bot" in text
    assert "bob/bot" in text
    await page.click("section h3 a")
    there = "location.pathname === '/leaderboards/connect_four'"
    await page.until(f"{there} && document.readyState === 'complete'")
    assert "rating" in await page.text("table")
    await clean(page)


async def test_running_match_is_listed_opened_and_followed(house: House, page: Page) -> None:
    await page.shorten(LOOKS)
    await page.go(f"{house.url}/matches")
    await page.until("document.querySelector('#running').innerText.includes('None')")
    first, second = await house.pair("connect_four")
    await page.until("document.querySelector('#running a')")  # by itself
    await page.click("#running a")
    await page.until(f"location.pathname === '/matches/{first.match}'")
    await page.until("document.querySelector('#where')?.textContent.includes('live')")
    assert await page.evaluate(DISCS) == 0
    await first.act("4")
    await page.until(f"{DISCS} === 1")
    await second.act("5")
    await page.until(f"{DISCS} === 2")
    assert await page.evaluate("document.querySelectorAll('.cell.mark').length") == 1
    assert await page.evaluate("document.querySelectorAll('#events .ply').length") == 2
    # The clock of the seat to move runs, that of the other stands.
    clocks = "[...document.querySelectorAll('.clock')].map((each) => each.textContent)"
    before = await page.evaluate(clocks)
    await page.until(f"{clocks}[0] !== {before[0]!r}")
    assert (await page.evaluate(clocks))[1] == before[1]
    second.resign()
    await page.until("document.querySelector('#outcome').textContent.includes('wins')")
    assert f"{first.name} wins by resignation" in await page.text("#outcome")
    await page.until("document.querySelector('#record a')?.textContent === 'Record'")
    await clean(page)


async def test_one_who_comes_late_sees_what_was_before(house: House, page: Page) -> None:
    first, second = await house.pair("connect_four")
    for bot, action in ((first, "1"), (second, "2"), (first, "3")):
        await bot.act(action)
    await page.go(f"{house.url}/matches/{first.match}")
    await page.until(f"{DISCS} === 3")
    await page.press("ArrowLeft")
    await page.until(f"{DISCS} === 2")
    await second.act("7")  # A viewer of an earlier position is not torn away.
    await page.until("document.querySelectorAll('#events .ply').length === 4")
    assert await page.evaluate(DISCS) == 2
    await page.press("End")
    await page.until(f"{DISCS} === 4")
    await clean(page)


async def test_finished_match_is_replayed_with_the_keyboard(house: House, page: Page) -> None:
    match = await house.play("connect_four", FOUR)
    await page.go(f"{house.url}/matches/{match}")
    await page.until(f"{DISCS} === 7")
    assert "wins" in await page.text("#outcome")
    await page.press("Home")
    await page.until(f"{DISCS} === 0")
    for discs in range(1, 8):
        await page.press("ArrowRight")
        await page.until(f"{DISCS} === {discs}")
        assert await page.evaluate("document.querySelectorAll('.cell.mark').length") == 1
    await page.press("ArrowRight")
    assert await page.evaluate(DISCS) == 7
    await page.press("ArrowLeft")
    await page.until(f"{DISCS} === 6")
    # The same with the buttons, which the Tab key finds.
    await page.evaluate("document.querySelector('#first').focus()")
    await page.press("Tab")
    assert await page.evaluate("document.activeElement.id") == "back"
    await page.press("Enter")
    await page.until(f"{DISCS} === 5")
    assert await page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    await clean(page)


async def test_spectator_of_hidden_cards_sees_none_before_the_end(house: House, page: Page) -> None:
    first, second = await house.pair("kuhn_poker")
    await page.go(f"{house.url}/matches/{first.match}")
    backs, faces = (f"document.querySelectorAll('.{each}').length" for each in ("back", "card"))
    await page.until(f"{backs} === 2")
    await first.act("check")
    await page.until("document.querySelectorAll('#events .ply').length === 1")
    assert await page.evaluate(faces) == 0
    hidden = await page.evaluate(
        "[...document.querySelectorAll('#events .action')].map((each) => each.textContent)"
    )
    assert hidden == ["check"], "deals stay out of the list"
    # Nor does the server hand anything out that the page could hide.
    for query, status in (("", 200), ("?seat=0", 409)):
        answer: Any = await page.evaluate(
            f"fetch('/api/v1/matches/{first.match}/replay{query}')"
            ".then(async (answer) => [answer.status, await answer.json()])"
        )
        assert answer[0] == status
    assert page.errors == page.errors[:1]  # the refusal, which the browser notes
    page.errors.clear()
    await second.act("check")
    await page.until("!document.querySelector('.seen')?.hidden")
    # All is over: now one may look at it with the eyes of a seat.
    await page.evaluate(
        "(() => { const seen = document.querySelector('#seen'); seen.value = '0';"
        "seen.dispatchEvent(new Event('change')); })()"
    )
    await page.press("Home")
    await page.until(f"{faces} === 1 && {backs} === 1")
    await clean(page)


async def test_dice_and_scores_are_drawn(house: House, page: Page) -> None:
    first, _ = await house.pair("pig")
    await page.go(f"{house.url}/matches/{first.match}")
    await page.until("document.querySelectorAll('.counter svg').length >= 2")
    await first.act("roll")
    await page.until("document.querySelector('.dice .pip')")
    await clean(page)


async def test_lost_connection_comes_back_with_what_was_missed(
    house: House, wire: Wire, page: Page
) -> None:
    first, second = await house.pair("connect_four")
    await page.go(f"{wire.url}/matches/{first.match}")
    await first.act("1")
    await page.until(f"{DISCS} === 1 && document.querySelector('.clock.running')")
    await wire.cut()
    await page.until("document.querySelector('#state').textContent.includes('Trying again')")
    assert await page.evaluate("document.querySelector('.clock.running') === null")
    await second.act("2")
    await first.act("3")
    await page.until("document.querySelector('#state').textContent.includes('cannot be reached')")
    await page.until("document.querySelector('#state button')?.textContent === 'Try now'")
    await wire.mend()
    await page.evaluate("document.querySelector('#state button')?.click()")
    await page.until(f"{DISCS} === 3")
    await page.until("document.querySelector('#state').textContent === ''")
    await page.press("ArrowLeft")
    await page.until(f"{DISCS} === 2")  # also what happened while nobody saw it
    await wire.cut()
    await second.act("4")
    first.resign()
    await wire.mend()
    await page.until("document.querySelector('#outcome').textContent.includes('resignation')")


async def test_list_says_that_the_server_is_gone_and_comes_back(
    house: House, wire: Wire, page: Page
) -> None:
    await page.shorten(LOOKS)
    await page.go(f"{wire.url}/matches")
    await wire.cut()
    await page.until("document.querySelector('#state').textContent.includes('Trying again')")
    first, _ = await house.pair("tic_tac_toe")
    await wire.mend()
    await page.until("document.querySelector('#running a')")
    assert await page.evaluate("document.querySelector('#state').textContent") == ""
    assert first.match in await page.evaluate("document.querySelector('#running a').href")


@pytest.mark.parametrize("width", [390, 1600])
async def test_pages_fit_their_window(house: House, page: Page, width: int) -> None:
    match = await house.play("connect_four", FOUR)
    await page.show_as(width, 844)
    for path in (
        "/",
        "/matches",
        f"/matches/{match}",
        "/leaderboards/connect_four",
        "/play",
        "/api",
    ):
        await page.go(f"{house.url}{path}")
        if path.endswith(match):
            await page.until(f"{DISCS} === 7")
        wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert await page.evaluate(wide) <= 0, path
    await clean(page)


async def test_unknown_match_and_old_address(house: House, page: Page) -> None:
    await page.go(f"{house.url}/matches/nosuchmatch")
    assert "No public match is called nosuchmatch." in await page.text("main")
    page.errors.clear()  # the browser notes the 404
    await page.leave_for(f"{house.url}/web/")
    await page.until("location.pathname === '/matches' && document.querySelector('#running')")
    await clean(page)


async def test_no_name_of_a_game_is_broken_within_a_word(house: House, page: Page) -> None:
    broken = """[...document.querySelectorAll(".tile b")].filter((name) => {
      const text = document.createRange();
      text.selectNodeContents(name);
      const lines = new Set([...text.getClientRects()].map((line) => Math.round(line.top)));
      return lines.size > name.textContent.trim().split(/[ -]+/).length;
    }).map((name) => name.textContent)"""
    for width in (360, 390, 664, 844, 1024, 1100, 1366, 1920):
        await page.show_as(width, 800)
        await page.go(f"{house.url}/play")
        assert await page.evaluate(broken) == [], width
    await clean(page)


@pytest.mark.parametrize("width", [400, 1100])
async def test_dice_are_not_larger_than_what_they_move(
    house: House, page: Page, width: int
) -> None:
    await page.show_as(width, 900)
    first, _ = await house.pair("backgammon")
    await page.go(f"{house.url}/matches/{first.match}")
    await page.until("document.querySelector('.board-dice .die')")
    height = "document.querySelector('{}').getBoundingClientRect().height"
    die = await page.evaluate(height.format(".board-dice .die"))
    checker = await page.evaluate(height.format(".stone circle"))
    assert checker / 2 <= die <= checker * 1.5, (die, checker)


async def test_home_page_plays_the_latest_match_and_leads_to_it(house: House, page: Page) -> None:
    match = await house.play("connect_four", "4 4 3 3 2 2 1")
    await page.go(f"{house.url}/")
    discs = "document.querySelectorAll('#hero .stone').length"
    await page.until(f"{discs} > 2")
    await page.click("#hero button")
    await page.until("document.querySelector('#hero button').textContent === 'Continue'")
    await page.click("#hero a")
    await page.until(f"location.pathname === '/matches/{match}'")
    await clean(page)


async def test_games_of_the_home_page_have_pictures_in_groups(house: House, page: Page) -> None:
    await page.go(f"{house.url}/play")
    groups = "[...document.querySelectorAll('#tiles h3')].map((each) => each.textContent)"
    assert await page.evaluate(groups) == list(GROUPS)
    assert await page.evaluate("document.querySelectorAll('#tiles .initial').length") == 0
    await page.evaluate("for (const each of document.images) each.loading = 'eager'")
    await page.until("[...document.images].every((each) => each.complete && each.naturalWidth)")
    await clean(page)


async def test_menu_of_a_phone_opens_and_leads_to_pages(house: House, page: Page) -> None:
    await page.show_as(390, 844)
    await page.go(f"{house.url}/")
    assert not await page.evaluate("document.querySelector('nav').checkVisibility()")
    await page.click(".menu")
    await page.click("nav a[href='/leaderboards']")
    there = "location.pathname === '/leaderboards'"
    await page.until(f"{there} && document.readyState === 'complete'")
    assert await page.text("h1") == "Leaderboards"
    await clean(page)
