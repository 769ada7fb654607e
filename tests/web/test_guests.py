"""A visitor without an account: from the first page to the end of a match, in a real browser."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser
from tests.harness.patience import PATIENCE

from plyhouse.clients.builtin_bots.launcher import StartedBots
from plyhouse.server.serve import running_server
from plyhouse.storage import leaderboards, match_lists

from .browser import Page, open_page
from .conftest import House, Wire, patient

pytestmark = pytest.mark.browser

MINE = "document.title.startsWith('Your turn: ')"
OVER = "document.querySelector('#outcome')?.textContent"
PLAYED = "document.querySelectorAll('#events .ply').length"
RESIGN = "document.querySelector('[data-request=resign]')"
AWAY = "[...document.querySelectorAll('#seats .away')].map((each) => each.textContent).join('')"
READY = "document.body.dataset.ready"
# Plays any action there is, as a person without a plan would: spot after spot, or by a button.
STEP = """(() => {
  if (!document.title.startsWith('Your turn: ')) return false;
  const open = (kind) => [...document.querySelectorAll(`.spot.${kind}`)];
  const next = [...open('end'), ...open('next')];
  const found = next.length ? next : open('start');
  const buttons = [...document.querySelectorAll('.choices [data-action]')];
  const all = found.length ? found : buttons;
  if (!all.length) return false;
  const node = all[Math.floor(Math.random() * all.length)];
  node.dispatchEvent(new MouseEvent('click', { bubbles: true }));
  return true;
})()"""


@pytest_asyncio.fixture(loop_scope="session")
async def hosted() -> AsyncIterator[House]:
    """A server with built-in bots, as `plyhouse serve` starts it on a loopback address."""
    async with running_server(patient(), builtin_bots=StartedBots) as server:
        yield House(server)


async def begin(page: Page, url: str, game: str, level: str) -> float:
    """From an empty tab into a match; returns when the page was asked for."""
    asked = time.monotonic()
    await page.go(f"{url}/")
    await page.click(f'[data-game="{game}"]')
    await page.until(f"location.pathname === '/play' && {READY}")
    await page.click(f'[data-level="{level}"]')
    await page.until("location.pathname.startsWith('/matches/')")
    return asked


async def play_on(page: Page) -> str:
    """Play any actions until the match is over; returns the result in words."""
    async with asyncio.timeout(PATIENCE):
        while not await page.evaluate(f"{OVER} ?? ''"):
            if not await page.evaluate(STEP):
                await page.until(f"{OVER} || ({MINE})")
    return await page.text("#outcome")


async def test_a_guest_plays_a_game_of_each_kind_against_a_bot_of_the_house(
    hosted: House, page: Page
) -> None:
    seconds = None
    for game, level in (("tic_tac_toe", "hard"), ("pig", "easy"), ("kuhn_poker", "medium")):
        asked = await begin(page, hosted.url, game, level)
        if seconds is None:
            await page.until(MINE)
            before = await page.evaluate(PLAYED)
            assert await page.evaluate(STEP)
            await page.until(f"{PLAYED} > {before}")
            seconds = time.monotonic() - asked
            sys.stdout.write(f"from opening the page to the first own action: {seconds:.1f} s\n")
        result = await play_on(page)
        assert result.startswith(("You win", "You lose", "Draw")), result
        assert "guest-" in await page.text("#seats")
        assert f"house/{level}" in await page.text("#seats")
    assert seconds is not None
    assert seconds < PATIENCE
    (row, *others) = await hosted.hub.store.read(
        match_lists.list_matches, match_lists.MatchFilter(status="finished"), limit=10
    )
    assert len(others) == 2
    assert not any(each.rated for each in (row, *others))
    for game in ("tic_tac_toe", "pig", "kuhn_poker"):
        assert await hosted.hub.store.read(leaderboards.leaderboard, game) == []
    # Once more against the same.
    before = await page.evaluate("location.pathname")
    await page.click("[data-rematch]")
    there = f"location.pathname.startsWith('/matches/') && location.pathname !== '{before}'"
    await page.until(f"{there} && document.querySelector('#scene .scene')")
    assert len(hosted.hub.directory.own) == 1
    assert page.errors == []


async def test_a_guest_plays_a_game_of_one_seat_from_its_tile_and_again(
    house: House, page: Page
) -> None:
    await page.go(f"{house.url}/")
    await page.click('[data-game="pacman"]')
    await page.until(f"location.pathname === '/play' && {READY}")
    assert await page.evaluate("document.activeElement.id") == "begin"
    assert "1" in await page.text("#players")
    shown = "[...document.querySelectorAll('#chosen button')].filter((each) => each.offsetParent)"
    assert await page.evaluate(f"{shown}.map((each) => each.id)") == ["begin"]
    await page.click("#begin")
    await page.until(f"location.pathname.startsWith('/matches/') && ({MINE})")
    (live,) = house.hub.directory.own.values()
    assert live.match.game.spec == "pacman(ghosts=random)"
    before = await page.evaluate(PLAYED)
    assert await page.evaluate(STEP)
    await page.until(f"{PLAYED} > {before}")
    # Unfinished matches are offered, without an absent opponent.
    for path in ("/play", "/"):
        await page.go(house.url + path)
        await page.until("document.querySelector('#unfinished button')")
        assert await page.text("#unfinished p") == (
            "You have an unfinished match: Pacman (ghosts=random). Go on with it"
        )
    await page.click("#unfinished button")
    await page.until(MINE)
    await page.press_again("[data-request=resign]")
    await page.until("document.querySelector('[data-rematch]')")
    assert await page.text("[data-rematch]") == "Play again"
    await page.click("[data-rematch]")
    other = f"location.pathname !== '/matches/{live.id}' && location.pathname.startsWith('/match')"
    await page.until(f"{other} && ({MINE})")
    (again,) = house.hub.directory.own.values()
    assert again.match.game.spec == "pacman(ghosts=random)"
    assert page.errors == []


async def test_a_guest_chooses_the_size_of_the_board_and_the_side(
    hosted: House, page: Page
) -> None:
    await page.go(f"{hosted.url}/play?game=go")
    await page.until(READY)
    await page.click("#choices [data-choice=size][value='5']")
    await page.click("#seat [value='1']")
    await page.click('[data-level="easy"]')
    await page.until("location.pathname.startsWith('/matches/')")
    game, first, second = await page.evaluate(
        "fetch(`/api/v1${location.pathname}`).then((answer) => answer.json())"
        ".then((match) => [match.game, ...match.seats.map((seat) => seat.player)])"
    )
    assert (game, first) == ("go(size=5)", "house")
    assert second.startswith("guest-")


async def test_a_guest_plays_with_two_bots_of_the_house(hosted: House, page: Page) -> None:
    await page.go(f"{hosted.url}/play?game=kuhn_poker")
    await page.until(READY)
    await page.click('#players [value="3"]')
    assert await page.text('[data-level="easy"]') == "Play easy (2 bots)"
    await page.click('[data-level="easy"]')
    await page.until("location.pathname.startsWith('/matches/')")
    result = await play_on(page)
    assert "win" in result or "Draw" in result, result
    for bot in ("house/easy", "house/easy-2"):
        assert bot in await page.text("#seats")
    (over,) = await hosted.hub.store.read(match_lists.list_matches, match_lists.MatchFilter())
    got = {
        seat.player if seat.in_person else f"{seat.player}/{seat.bot}": round(returned)
        for seat, returned in zip(over.seats, over.returns, strict=True)
    }
    line = "document.querySelector('#sitting').textContent"
    await page.until(f"{line}.startsWith('Hand 1 of 10: ')")
    said = (await page.evaluate(line)).partition(": ")[2].replace("\u2212", "-")
    shown = [each.rsplit(" ", 1) for each in said.split(", ")]
    assert {name: int(number) for name, number in shown} == got
    before = await page.evaluate("location.pathname")
    await page.click("[data-rematch]")
    there = f"location.pathname.startsWith('/matches/') && location.pathname !== '{before}'"
    await page.until(f"{there} && document.querySelector('#scene .scene')")
    (live,) = hosted.hub.directory.own.values()
    assert live.match.game.spec == "kuhn_poker(seats=3)"
    assert page.errors == []


class Frames:
    """The messages that a page receives over its websockets."""

    def __init__(self, page: Page) -> None:
        self.received: list[str] = []
        page.tab.on("websocket", lambda wire: wire.on("framereceived", self._note))

    def _note(self, frame: str | bytes) -> None:
        self.received.append(frame if isinstance(frame, str) else frame.decode())


async def test_neither_of_two_browsers_ever_receives_the_card_of_the_other(
    house: House, browser: Browser, page: Page
) -> None:
    async with open_page(browser) as other:
        frames = []
        for each in (page, other):
            frames.append(Frames(each))
            await each.shorten(3000)  # when it looks for those who seek
            await each.go(f"{house.url}/play?game=kuhn_poker")
            await each.until(READY)
        await page.click("#seek")
        await page.until("document.querySelector('#waiting').dataset.asked")
        # The other one finds the seek in the list, and joins.
        await other.until("document.querySelector('#seeks button')")
        assert "kuhn_poker" in await other.text("#seeks")
        await other.click("#seeks button")
        for each in (page, other):
            await each.until("location.pathname.startsWith('/matches/')")
        # Both check, which ends in a showdown; before, nothing may have told a card.
        await asyncio.gather(
            *(each.until("document.querySelector('#scene .card')") for each in (page, other))
        )
        seats = {}
        for each in (page, other):
            seats[await each.evaluate(MINE)] = each
        first, second = seats[True], seats[False]
        assert first is not second
        await first.click('[data-action="check"]')
        await second.until(MINE)
        live = next(iter(hosted_matches(house)))
        cards = live.match.position.state
        dealt = [live.match.position.game.observe(cards, seat) for seat in (0, 1)]
        for viewer, kept in zip((page, other), frames, strict=True):
            mine = [json.loads(frame) for frame in kept.received if '"observation"' in frame]
            assert mine, "the page was told something"
            seat = next(
                message["snapshot"]["seat"]
                for message in map(json.loads, kept.received)
                if message["type"] == "match" and message["snapshot"].get("seat") is not None
            )
            theirs = dealt[1 - seat].card
            text = "".join(kept.received)
            assert f'"card":"{dealt[seat].card}"' in text.replace(" ", ""), text[:2000]
            assert f'"card":"{theirs}"' not in text.replace(" ", "")
            assert await viewer.evaluate("document.querySelectorAll('#scene .back').length") == 1
        await second.click('[data-action="check"]')
        for each in (page, other):
            await each.until(OVER)
            assert each.errors == []


def hosted_matches(house: House) -> Any:
    return house.hub.directory.own.values()


async def test_a_match_survives_the_network_and_goes_on_in_a_new_tab(
    hosted: House, browser: Browser, page: Page
) -> None:
    wire = Wire(hosted.port)
    await wire.mend()
    try:
        # In go nobody can win within the few plies that are played here at random.
        await begin(page, wire.url, "go", "easy")
        await page.until(MINE)
        await page.evaluate(STEP)
        await page.until(MINE)
        await wire.cut()
        await page.until("document.querySelector('#state').textContent.includes('Trying again')")
        await wire.mend()
        await page.until(f"document.querySelector('#state').textContent === '' && {MINE}")
        played = await page.evaluate(PLAYED)
        await page.evaluate(STEP)
        await page.until(f"{PLAYED} > {played} && {MINE}")
        # The same person in a new tab: offered on the page of play, not forced.
        match = await page.evaluate("location.pathname")
        page.errors.clear()  # the browser notes each connection that failed
        async with open_page(browser, beside=page) as tab:
            await tab.go(f"{wire.url}/play")
            await tab.until("document.querySelector('#unfinished button')")
            assert await tab.evaluate("location.pathname") == "/play"
            await tab.click("#unfinished button")
            await tab.until(f"location.pathname === '{match}' && {MINE}")
            await page.until(
                "document.querySelector('#state').textContent.includes('another window')"
            )
            # The earlier positions are there, and the last one can still be played.
            stones = "document.querySelector('#scene .stone circle')"
            await tab.until(stones)
            # In the position these keys lead from spot to spot.
            await tab.evaluate("document.activeElement.blur()")
            await tab.press("Home")
            await tab.until(f"!{stones}")
            await tab.press("End")
            await tab.until(stones)
            played = await tab.evaluate(PLAYED)
            assert await tab.evaluate(STEP)
            await tab.until(f"{PLAYED} > {played} && {MINE}")
            told = f"{RESIGN}.textContent"
            assert await tab.evaluate(f"({RESIGN}.click(), {told})") == "Really resign?"
            await tab.evaluate(f"{RESIGN}.dispatchEvent(new FocusEvent('blur'))")
            assert await tab.evaluate(told) == "Resign"
            await tab.click('[data-request="resign"]')
            await tab.press_again('[data-request="resign"]')
            await tab.until(OVER)
            assert tab.errors == []
    finally:
        await wire.cut()
    assert page.errors == []


async def test_who_is_away_is_shown_with_the_seconds_left(house: House, page: Page) -> None:
    bot = await house.bot("bob")
    await page.go(f"{house.url}/play?game=pig")
    await page.until(READY)
    await page.click("#seek")
    await page.until("document.querySelector('#waiting').dataset.asked")
    from plyhouse.protocol.messages import Seek

    bot.send(Seek, "pig", "total:300+5")
    await bot.begin()
    await page.until("document.querySelector('#scene .scene')")
    bot.client.close()
    await page.until(f"/^away, \\d+ s left$/.test({AWAY})")
    row = "document.querySelector('#seats li:has(.away:not(:empty)) .who').textContent"
    assert await page.evaluate(row) == "bob/bot"
    said = "document.querySelector('.match > .unseen').textContent"
    assert await page.evaluate(said) == "bob/bot has lost the connection."
    await house.bot("bob")
    await page.until(f"{AWAY} === ''")
    assert page.errors == []


async def test_pages_of_play_look_right(hosted: House, page: Page, pictures: Path | None) -> None:
    if pictures is None:
        pytest.skip("PLYHOUSE_PICTURES names no folder")
    for name, width, height, dark in (
        ("desktop", 1440, 900, False),
        ("dark", 1440, 900, True),
        ("phone", 390, 844, False),
        ("phone-dark", 390, 844, True),
    ):
        await page.show_as(width, height, dark=dark)
        await page.go(f"{hosted.url}/")
        await page.screenshot(pictures / f"front-{name}.png")
        await page.go(f"{hosted.url}/play?game=connect_four")
        await page.until(READY)
        await page.screenshot(pictures / f"play-{name}.png")
        await page.go(f"{hosted.url}/account")
        await page.until("!document.querySelector('#signed-out').hidden")
        await page.screenshot(pictures / f"account-{name}.png")
        wide = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
        assert not await page.evaluate(wide)
