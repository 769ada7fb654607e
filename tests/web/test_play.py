"""A person plays in a real browser: with the mouse, with the keyboard, spot after spot."""

from __future__ import annotations

import asyncio
import json

import pytest
from playwright.async_api import Browser
from tests.harness.patience import PATIENCE

from plyhouse.games import get_game
from plyhouse.protocol.messages import Answer, Challenge, DeclineDraw, OfferDraw, Seek
from plyhouse.server.lobby import lobby

from .browser import Page, open_page, sign_in
from .conftest import Bot, House, sign_in_before

pytestmark = pytest.mark.browser

MINE = "document.title.startsWith('Your turn: ')"
ACTIONS = "[...document.querySelectorAll('#events .action')].map((each) => each.textContent)"
FOCUS = "document.activeElement.dataset.spot"


def spot(name: str) -> str:
    """The selector of a place on the board."""
    return f'[data-spot="{name}"]'


async def enter(house: House, page: Page, **fields: str) -> None:
    """The person `ann`, who is signed in, fills in the form and asks for a match."""
    await page.evaluate("delete document.body.dataset.ready")  # from the earlier page
    await page.go(f"{house.url}/play")
    await page.until("document.body.dataset.ready")
    await sign_in(page, await house.token("ann"))
    await page.evaluate("document.querySelector('#more').open = true")
    for name, value in fields.items():
        chosen = f"document.querySelector('#{name}').value = {json.dumps(value)}"
        await page.evaluate(chosen)
    await page.click("#play button")


async def challenged(house: House, page: Page, game: str, seat: int = 0) -> Bot:
    """A match of `ann`, who has ``seat``, against the bot that challenged her."""
    return (await challenged_by_all(house, page, game, seat))[0]


async def challenged_by_all(house: House, page: Page, game: str, seat: int = 0) -> list[Bot]:
    """A match of `ann` against a bot for every other seat; the first one challenged all."""
    bot = await house.bot("bob")
    guests = ("carol", "dave", "erin", "frank")[: get_game(game).seats - 2]
    games = [get_game(game).info.name]
    others = [await house.bot(name, games=games) for name in guests]
    ann = await house.bot("ann", "ann", games=games)  # in person, until her page takes over
    names = [f"{name}/bot" for name in guests]
    asked = await bot.ask(Challenge, "ann", game, "total:300+5", False, 1 - seat, others=names)
    assert asked.challenge, asked
    for each in (ann, *others):
        await each.ask(Answer, asked.challenge, True)
    for each in (bot, *others):
        await each.begin()
    await sign_in_before(page, house, "ann")
    await page.go(f"{house.url}/matches/{bot.match}")
    if seat == 0:
        await page.until(MINE)
    return [bot, *others]


@pytest.mark.parametrize("code", ["auth/timeout", "auth/rate"])
async def test_person_whose_login_is_late_comes_back(house: House, page: Page, code: str) -> None:
    """The page only watched from then on, and its person lost on time."""
    (bot,) = await challenged_by_all(house, page, "tic_tac_toe")
    live = house.hub.directory.own[bot.match]
    (ann,) = [each for each in live.holders if each.presence.player == "ann"]
    line = ann.line
    assert line is not None
    line.fail(code)
    async with asyncio.timeout(PATIENCE):
        while ann.line in (None, line):  # noqa: ASYNC110 (the page comes back by itself)
            await asyncio.sleep(0.05)
    await page.until(MINE)


async def opened(page: Page, kind: str) -> set[str]:
    """The spots that can be chosen now."""
    script = f"[...document.querySelectorAll('.spot.{kind}')].map((node) => node.dataset.spot)"
    return set(await page.evaluate(script))


async def test_a_finger_drags_a_piece_and_the_page_stays(house: House, browser: Browser) -> None:
    async with open_page(browser, touch=True) as page:
        await page.show_as(390, 664)
        await challenged(house, page, "chess")
        await page.drag(spot("e2"), spot("e4"), touch=True)
        await page.until(f"{ACTIONS}.length === 1")
        assert await page.evaluate(ACTIONS) == ["e4"]
        assert page.errors == []


async def test_a_person_finds_an_opponent_by_seeking(house: House, page: Page) -> None:
    bot = await house.bot("bob")
    bot.send(Seek, "tic_tac_toe", "total:300")
    await enter(house, page, game="tic_tac_toe", time="total:300")
    await bot.begin()
    moves = ["b2", "a1"]
    if bot.seat == 0:
        await bot.act(moves[0])
    await page.until(MINE)
    await page.click(spot(moves[1 - bot.seat]))
    await page.until(f"{ACTIONS}.length === {2 - bot.seat} && !({MINE})")
    assert await page.evaluate(ACTIONS) == moves[: 2 - bot.seat]
    assert "ann/ann" not in await page.text("#seats")
    assert page.errors == []


async def test_who_finds_nobody_is_told_why(
    house: House, page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lobby, "TELL_SECONDS", 0.0)
    await enter(house, page, game="tic_tac_toe", time="total:60")
    await page.until("document.querySelector('#state').textContent.includes('Nobody is found')")
    assert page.errors == []


async def test_what_is_wrong_with_the_form_is_said(house: House, page: Page) -> None:
    wrong = (
        ({"game": "ches"}, "chess", "game"),
        ({"game": "pig(seats=3)", "opponent": "nobody"}, "3 seats", "game"),
        ({"time": "soon"}, "soon", "time"),
        ({"opponent": "nobody"}, "nobody", "opponent"),
    )
    for fields, words, focus in wrong:
        await enter(house, page, **fields)
        await page.until(f"document.querySelector('#state').textContent.includes('{words}')")
        await page.until(f"document.activeElement.id === '{focus}'")
    assert page.errors == []


async def test_person_accepts_a_challenge_and_plays(house: House, page: Page) -> None:
    bot = await house.bot("bob")
    await enter(house, page)
    await page.until("document.querySelector('#waiting').dataset.asked")
    asked = await bot.ask(Challenge, "ann", "tic_tac_toe", "total:300+5", False, 1)
    assert asked.challenge, asked
    await page.until("document.querySelector('[data-challenge]')")
    assert "tic_tac_toe" in await page.text("[data-challenge]")
    await page.click("[data-challenge] button")
    await bot.begin()
    await page.until(MINE)
    assert page.errors == []


SAID = "document.querySelector('.status .said').textContent"
HEARD = "document.querySelector('#heard').textContent"


async def test_who_is_to_move_is_told_so_beside_the_board_and_aloud(
    house: House, page: Page
) -> None:
    bot = await challenged(house, page, "tic_tac_toe", seat=1)
    await page.until(f"{SAID} === 'X to move'")
    await bot.act("b2")
    await page.until(MINE)
    assert await page.evaluate(SAID) == "Your turn"
    assert (await page.evaluate(HEARD)).endswith(": b2. b2, X; Your turn")
    await page.click(spot("a1"))
    await page.until(f"!({MINE}) && {SAID} === 'X to move'")
    # An earlier position offers no turn.
    await bot.act("c3")
    await page.until(MINE)
    await page.press("ArrowLeft")
    await page.until(f"{SAID} === 'X to move'")
    assert page.errors == []


async def test_who_is_to_move_is_told_so_where_seats_have_no_names(
    house: House, page: Page
) -> None:
    await challenged(house, page, "pig")
    assert await page.evaluate(SAID) == "Your turn: roll or hold"
    assert await page.evaluate(HEARD) == "Your turn: roll or hold"
    assert "seat " not in await page.text("#seats"), "a number says nothing beside a name"
    assert page.errors == []


async def test_a_piece_is_chosen_then_where_it_goes(house: House, page: Page) -> None:
    bot = await challenged(house, page, "chess")
    assert await opened(page, "start") == {f"{file}2" for file in "abcdefgh"} | {"b1", "g1"}
    await page.click(spot("g1"))
    assert await opened(page, "next") == {"f3", "h3"}
    assert "g1, white knight" in await page.text(".hint")
    disabled = "document.querySelector('{}').ariaDisabled"
    for name, expected in (("g1", "false"), ("e2", "false"), ("a6", "true")):
        assert await page.evaluate(disabled.format(spot(name))) == expected, name
    await page.click(spot("e2"))  # another piece instead
    assert await opened(page, "next") == {"e3", "e4"}
    await page.click(spot("e2"))  # once more: given up
    assert await opened(page, "next") == set()
    await page.click(spot("e2"))
    await page.click(spot("a6"), disabled=True)  # which leads nowhere
    assert await opened(page, "next") == set()
    await page.click(spot("e2"))
    await page.click(spot("e4"))
    await bot.act("e7e5")
    await page.until(f"{MINE} && document.querySelector('.spot.start')")
    assert await page.evaluate(ACTIONS) == ["e4", "e5"]
    assert page.errors == []


async def test_help_closes_after_the_first_move_and_stays_closed(house: House, page: Page) -> None:
    await challenged(house, page, "tic_tac_toe")
    await page.until(MINE)
    assert await page.evaluate("document.querySelector('#how-to').hidden") is False
    await page.click(spot("b2"))
    await page.until("document.querySelector('#how-to') === null")
    await page.go(await page.evaluate("location.href"))
    await page.until("document.querySelector('#scene svg')")
    assert await page.evaluate("document.querySelector('#how-to').hidden") is True


async def test_the_keyboard_is_enough(house: House, page: Page) -> None:
    bot = await challenged(house, page, "breakthrough(size=4)")
    await page.click("#how-to button")
    assert await page.evaluate("document.querySelector('#how-to')") is None
    assert await page.evaluate("document.activeElement.classList.contains('spot')")
    await page.evaluate(f"document.querySelector('{spot('a4')}').focus()")
    for key, there in (
        ("ArrowUp", "a4"),
        ("ArrowDown", "a3"),
        ("ArrowDown", "a2"),
        ("ArrowRight", "b2"),
    ):
        await page.press(key)
        assert await page.evaluate(FOCUS) == there
    named = "document.activeElement.getAttribute('aria-label')"
    chosen = "document.activeElement.getAttribute('aria-selected')"
    assert await page.evaluate(named) == "b2, white pawn, can be chosen"
    await page.press("Enter")
    assert await page.evaluate(chosen) == "true"
    assert await opened(page, "next") == {"a3", "c3"}
    await page.press("Escape")
    assert (await page.evaluate(chosen), await page.evaluate(FOCUS)) == ("false", "b2")
    await page.press(" ")
    await page.press("ArrowUp")
    await page.press("ArrowRight")
    assert await page.evaluate(named) == "c3, black pawn, possible next"
    await page.press("Enter")
    await bot.act("b4c3")
    await page.until(MINE)
    assert await page.evaluate("localStorage.getItem('plyhouse.played')") == '["breakthrough"]'
    assert await page.evaluate(FOCUS) == "c3"  # where one was
    assert await page.evaluate(ACTIONS) == ["b2xc3", "b4xc3"]
    assert page.errors == []


async def test_what_a_pawn_becomes_is_asked(house: House, page: Page) -> None:
    fen = "7k/P7/8/8/8/8/8/K7 w - - 0 1"
    bot = await challenged(house, page, f'chess(fen="{fen}")')
    await page.click(spot("a7"))
    await page.click(spot("a8"))
    asked = "[...document.querySelectorAll('.choices[aria-label=\"Which one?\"] button')]"
    names = await page.evaluate(f"{asked}.map((each) => each.textContent)")
    assert [name[:4] for name in names] == ["a8=Q", "a8=R", "a8=B", "a8=N"]
    assert await page.evaluate("document.activeElement.dataset.action") == "a7a8q"
    await page.press("Escape")
    assert await page.evaluate(f"{asked}.length") == 0
    await page.click(spot("a7"))
    await page.click(spot("a8"))
    await page.click('[data-action="a7a8r"]')
    await bot.act("h8g7")
    await page.until(MINE)
    assert (await page.evaluate(ACTIONS))[0] == "a8=R+"
    assert page.errors == []


async def test_ways_of_a_jump_are_told_apart(house: House, page: Page) -> None:
    # A man jumps two of four, by either side of a square.
    bot = await challenged(house, page, 'checkers(position="B:W6,7,14,15,28:B2")')
    await page.click(spot("2"))
    assert await opened(page, "next") == {"9", "11"}
    assert await opened(page, "end") == {"18"}
    await page.click(spot("18"))  # at once to the end: which way?
    asked = "[...document.querySelectorAll('.choices [data-action]')]"
    names = await page.evaluate(f"{asked}.slice(0, 2).map((each) => each.textContent)")
    assert sorted(names) == ["2x11x18", "2x9x18"]
    await page.press("Escape")
    await page.click(spot("2"))
    await page.click(spot("11"))  # the rest is clear
    await bot.act("28-24")
    await page.until(MINE)
    assert (await page.evaluate(ACTIONS))[0] == "2x11x18"
    assert page.errors == []


async def test_actions_without_a_spot_are_buttons(house: House, page: Page) -> None:
    bot = await challenged(house, page, "go(size=5)")
    await page.click(spot("C3"))
    await bot.act("pass")
    await page.until(MINE)
    await page.click('[data-action="pass"]')
    await page.until("document.querySelector('#outcome').textContent.startsWith('You win')")
    assert not await page.evaluate(MINE)
    assert page.errors == []


async def test_a_person_may_come_back_and_resign(house: House, page: Page) -> None:
    bot = await challenged(house, page, "chess")
    await page.tab.reload(wait_until="commit")
    await page.until(MINE)
    await page.click(spot("e2"))
    await page.click(spot("e4"))
    assert await page.evaluate("document.querySelector('[data-request=offer_draw]') !== null")
    await page.click('[data-request="resign"]')
    assert not await page.text("#outcome")
    assert await page.press_again('[data-request="resign"]') == "Really resign?"
    await page.until(
        "document.querySelector('#outcome').textContent === 'You lose by resignation.'"
    )
    await bot.finish()
    await page.until("document.querySelector('#own').children.length === 0")
    assert page.errors == []


async def test_draws_are_offered_declined_and_accepted(house: House, page: Page) -> None:
    bot = await challenged(house, page, "chess")
    await page.click('[data-request="offer_draw"]')
    await page.until("document.querySelector('#state').textContent.includes('You have offered')")
    bot.send(DeclineDraw, bot.match)
    await page.until("document.querySelector('#state').textContent.includes('declined')")
    bot.send(OfferDraw, bot.match)
    await page.until("document.querySelector('[data-request=accept_draw]')")
    await page.click('[data-request="accept_draw"]')
    await page.until("document.querySelector('#outcome').textContent.includes('Draw by agreement')")
    assert page.errors == []
