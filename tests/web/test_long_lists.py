"""Long tables: few rows at first, search, sorting, one's own row; and pages on paper."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx
import msgspec
import pytest
import pytest_asyncio

from plyhouse.server.results.leaderboards import board
from plyhouse.server.web.client import FOLDER, SHEETS
from plyhouse.server.web.pages.rendering import FIRST_ROWS

from .browser import Page, sign_in
from .conftest import House, patient
from .populated import Populated, populated

MANY = FIRST_ROWS + 10
SHOWN = "[...document.querySelectorAll('tbody tr')].filter((row) => row.checkVisibility())"
FIRST = f"{SHOWN}[0].innerText"
HEAD = "document.querySelectorAll('th .sort')[{}].click()"


@pytest.fixture
def many_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every leaderboard be long: the bots after the first two are those of students."""
    read = board

    async def long(*given: Any, **options: Any) -> list[Any]:
        lines = list(await read(*given, **options))
        return lines + [
            msgspec.structs.replace(lines[-1], player=f"student{rank}", rank=rank, rating=-rank)
            for rank in range(len(lines) + 1, MANY + 1)
        ]

    monkeypatch.setattr("plyhouse.server.web.pages.leaderboards.read_board", long)


@pytest_asyncio.fixture(loop_scope="session")
async def address(house: House, many_lines: None) -> str:
    await house.play("tic_tac_toe", "a1 b1 a2 b2 a3")
    return f"{house.url}/leaderboards/tic_tac_toe"


async def test_server_writes_all_rows_and_says_how_many_are_shown_at_first(address: str) -> None:
    async with httpx.AsyncClient() as web:
        text = (await web.get(address)).text
    assert text.count("<tr data-player=") == MANY
    assert f'data-first="{FIRST_ROWS}"' in text


@pytest.mark.browser
async def test_long_list_is_searched_sorted_and_shown_in_whole(address: str, page: Page) -> None:
    await page.go(address)
    assert await page.evaluate(f"{SHOWN}.length") == FIRST_ROWS
    assert await page.text(".list-tools [role=status]") == f"{FIRST_ROWS} of {MANY}"
    await page.tab.fill("input[type=search]", "STUDENT60")
    assert await page.evaluate(f"{SHOWN}.length") == 1
    assert await page.text(".list-tools [role=status]") == f"1 of {MANY} found"
    await page.tab.fill("input[type=search]", "")
    await page.click("button.rest")
    assert await page.evaluate(f"{SHOWN}.length") == MANY
    assert not await page.tab.is_visible("button.rest")
    await page.evaluate(HEAD.format(2))  # rating: the most first, then the least, then as it was
    assert "alice/bot" in await page.evaluate(FIRST)
    await page.evaluate(HEAD.format(2))
    assert f"student{MANY}" in await page.evaluate(FIRST)
    assert await page.evaluate("document.querySelector('[aria-sort]').ariaSort") == "ascending"
    await page.evaluate(HEAD.format(2))
    assert "alice/bot" in await page.evaluate(FIRST)
    assert page.errors == []


@pytest.mark.browser
async def test_a_player_jumps_to_the_own_row(house: House, address: str, page: Page) -> None:
    await page.go(house.url)
    await sign_in(page, await house.token(f"student{MANY}"))
    await page.go(address)
    await page.click(".list-tools button")
    assert f"student{MANY}" in await page.evaluate("document.activeElement.innerText")
    assert await page.evaluate("document.activeElement.getBoundingClientRect().top") > 0


@pytest.mark.browser
async def test_head_stays_in_sight(address: str, page: Page) -> None:
    await page.show_as(1366, 768)
    await page.go(address)
    await page.evaluate("scrollTo(0, 1500)")
    top = "document.querySelector('th').getBoundingClientRect().top"
    assert await page.evaluate(top) == 0


@pytest.mark.browser
async def test_paper_has_every_row_and_no_buttons(address: str, page: Page) -> None:
    await page.show_as(680, 900)  # as wide as A4 between its margins
    await page.go(address)
    await page.tab.emulate_media(media="print")
    assert await page.evaluate(f"{SHOWN}.length") == MANY
    for selector in ("header", "footer", ".list-tools", "button.rest"):
        assert not await page.tab.is_visible(selector), selector
    display = "getComputedStyle(document.querySelector('tbody tr')).display"
    assert await page.evaluate(display) == "table-row"
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    ink = "getComputedStyle(document.body).color"
    black = await page.evaluate(ink)
    await page.tab.emulate_media(media="print", color_scheme="dark")
    assert await page.evaluate(ink) == black, "paper is white"


@pytest.mark.browser
async def test_paper_of_a_competition_has_no_files_and_no_colours_to_explain(
    full: Populated, page: Page
) -> None:
    await page.go(full.house.server.url + full.pages["competition"])
    selectors = (".files", "h2:has(+ .files)", ".legend", ".fold:not([open])")
    for selector in selectors:
        assert await page.tab.locator(selector).first.is_visible(), selector
    await page.tab.emulate_media(media="print")
    for selector in selectors:
        assert not await page.tab.locator(selector).first.is_visible(), selector


INK = """[...document.querySelectorAll("#seats .who, .badge, .status .said, .grid.table span")]
  .filter((node) => node.checkVisibility())
  .map((node) => getComputedStyle(node).color.match(/\\d+/g).slice(0, 3).map(Number))
  .map((rgb) => Math.max(...rgb))"""
CUT = """[...document.querySelectorAll("#events, .middle .grid")]
  .filter((node) => node.scrollHeight > node.clientHeight + 1).map((node) => node.className)"""


@pytest.mark.browser
async def test_paper_of_a_match_has_dark_ink_and_all_plies_and_no_controls(
    house: House, page: Page
) -> None:
    bots = await house.pair("bridge")
    for bid in ("1C", "1D", "1H", "1S", "2C", "2D", "2H", "2S", "3C", "3D", "3H", "3S"):
        mover = bots.pop(0)
        await mover.act(bid)
        bots.append(mover)
    await page.show_as(680, 900)
    await page.go(f"{house.url}/matches/{bots[0].match}")
    await page.until("document.querySelectorAll('#events .action').length === 12")
    await page.tab.emulate_media(media="print")
    await page.evaluate("new Promise((next) => requestAnimationFrame(() => next()))")
    assert max(await page.evaluate(INK)) < 160, "cream letters need their green ground"
    assert await page.evaluate(CUT) == []
    assert not await page.tab.is_visible(".steps")
    assert page.errors == []


@pytest_asyncio.fixture(loop_scope="session")
async def full() -> AsyncIterator[Populated]:
    async with populated(patient()) as made:
        yield made


@pytest.mark.browser
async def test_a_list_stays_as_it_was_sorted_when_the_page_is_written_again(
    full: Populated, page: Page
) -> None:
    url = full.house.server.url
    await page.go(f"{url}{full.pages['competition']}")
    first = "document.querySelector('#standings tbody tr').innerText"
    sort = "[...document.querySelectorAll('#standings .sort')].find((b) => b.innerText === 'score')"
    await page.evaluate(f"{sort}.click(); {sort}.click()")
    assert "cyd/bot" in await page.evaluate(first)
    await page.evaluate("document.querySelector('#standings tbody tr').dataset.old = 'yes'")
    async with page.tab.expect_response(f"**{full.pages['competition']}"):
        await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    await page.until(
        "!document.querySelector('#standings [data-old]') && "
        "document.querySelector('#standings [aria-sort=ascending]')"
    )
    assert "cyd/bot" in await page.evaluate(first)


async def test_rules_and_progress_come_before_the_standings(full: Populated) -> None:
    async with httpx.AsyncClient(base_url=full.house.server.url) as web:
        text = (await web.get(full.pages["competition"])).text
    heads = ["Progress", "Scoring", "Rules", "Standings", "Who beat whom"]
    places = [text.index(f"<h2>{head}</h2>") for head in heads]
    assert places == sorted(places)


def test_every_sheet_of_the_client_is_in_the_one_of_pages() -> None:
    assert sorted(SHEETS) == sorted(path.name for path in FOLDER.glob("*.css"))
