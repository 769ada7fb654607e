"""Keys, hints and notices on the page of a match, and where the focus is."""

from __future__ import annotations

import pytest
from playwright.async_api import Browser

from .browser import Page, open_page
from .conftest import House
from .match_layout import SIZES
from .test_browser import FOUR
from .test_play import MINE, challenged, spot
from .test_watching import HURRY

pytestmark = pytest.mark.browser

WHERE = "document.querySelector('#where').textContent"
HINT = "document.querySelector('.hint').textContent"
FOCUS = "document.activeElement.dataset.at"
NOTICE = "The server takes no more than one request at a time from a match; try this one again."
COVERED = """
(async (text) => {
  (await import("/web/dom.js")).say(text);
  const state = document.querySelector("#state");
  const over = state.getBoundingClientRect();
  const inside = over.left >= 0 && over.right <= innerWidth && over.top >= 0
    && over.bottom <= innerHeight && over.width > 60 && state.scrollWidth <= state.clientWidth + 1;
  const controls = document.querySelectorAll(
    "a, button, input, select, textarea, summary, .spot.open, .boards svg");
  const covered = [...controls].filter((node) => {
    if (!node.checkVisibility({ visibilityProperty: true }) || state.contains(node)) return false;
    const { left, top, right, bottom } = node.getBoundingClientRect();
    return Math.min(right, over.right) - Math.max(left, over.left) > 1
      && Math.min(bottom, over.bottom) - Math.max(top, over.top) > 1;
  }).map((node) => node.outerHTML.slice(0, 80));
  const board = document.querySelector("#scene .grid svg").getBoundingClientRect();
  return [inside, covered, [board.x, board.y, board.width, board.height]];
})
"""


@pytest.mark.parametrize("touch", [False, True])
async def test_hint_names_escape_only_where_a_keyboard_is_likely(
    house: House, browser: Browser, touch: bool
) -> None:
    async with open_page(browser, touch=touch) as page:
        bot = await challenged(house, page, "chess")
        await page.click(spot("e2"))
        # The button Undo says it where there is no keyboard.
        assert ("Escape gives it up" in await page.evaluate(HINT)) is not touch
        shown = await page.evaluate("document.body.innerText")
        assert ("Escape" in shown) is not touch
        await (page.click(".undo") if touch else page.press("Escape"))
        assert await page.evaluate(HINT) == ""
        await page.click(spot("e2"))
        await page.click(spot("e4"))
        await page.until(f"!({MINE}) && document.querySelector('[data-spot=d2]')")
        await page.click(spot("d2"))  # for the next turn
        assert ("Escape gives it up" in await page.evaluate(HINT)) is not touch
        assert bot.seat == 1
        assert page.errors == []


async def test_notices_cover_no_control_and_move_no_board(house: House, page: Page) -> None:
    await challenged(house, page, "chess")
    await page.until("document.querySelector('#scene .grid svg')")
    for size in SIZES:
        await page.show_as(*size)
        for text in ("", "bob/bot offers a draw.", NOTICE):
            await page.evaluate(
                "new Promise((next) => requestAnimationFrame(() => setTimeout(next, 0)))"
            )
            inside, covered, board = await page.evaluate(f"{COVERED}({text!r})")
            if not text:
                before = board
                continue
            assert inside, (size, text)
            assert covered == [], (size, text)
            assert board == before, (size, text)


async def test_projector_and_back_keep_the_position(house: House, page: Page) -> None:
    await page.tab.add_init_script(HURRY)
    match = await house.play("connect_four", FOUR)
    await house.pair("connect_four")  # the projector would go on to this one
    await page.go(f"{house.url}/matches/{match}")
    await page.until(f"{WHERE} === '7 / 7'")
    for _ in range(4):
        await page.press("ArrowLeft")
    await page.until(f"{WHERE} === '3 / 7'")
    await page.press("p")
    await page.until(f"location.pathname === '/projector' && {WHERE} === '3 / 7'")
    await page.press("ArrowRight")
    await page.evaluate(
        "new Promise((done) => setTimeout(done, 1000))"
    )  # twenty looks for another match
    assert await page.evaluate(WHERE) == "4 / 7"
    await page.press("p")
    await page.until(f"location.pathname === '/matches/{match}' && {WHERE} === '4 / 7'")
    await page.press("End")
    await page.press("p")
    await page.until(f"location.pathname === '/projector' && !location.search.includes('{match}')")
    assert page.errors == []


async def test_projector_and_back_keep_the_position_of_a_running_match(
    house: House, page: Page
) -> None:
    bots = await house.pair("connect_four")
    for ply in range(4):
        await bots[ply % 2].act("4")
    await page.go(f"{house.url}/matches/{bots[0].match}#2")
    await page.until(f"{WHERE}.startsWith('2 / 4')")
    await page.press("p")
    await page.until(f"location.pathname === '/projector' && {WHERE}.startsWith('2 / 4')")
    await page.press("p")
    await page.until(f"location.pathname !== '/projector' && {WHERE}.startsWith('2 / 4')")


async def test_projector_stays_at_a_match_whose_end_came_while_it_looked_for_another(
    house: House, page: Page
) -> None:
    """A second look closed the connection to the next match, or led on to a third one."""
    await page.go(f"{house.url}/play")
    entered, waits = await page.evaluate(
        """(async () => {
        const { Queue } = await import("/web/queue.js");
        let id = "first";
        const answers = [];
        window.fetch = () => new Promise((done) => {
          answers.push(() => done(new Response('[{"match": "next"}]')));
        });
        const due = new Set();
        window.setTimeout = () => { due.add(due.size + 1); return due.size; };
        window.clearTimeout = (made) => due.delete(made);
        const entered = [];
        const here = () => ({ id, competition: "", game: "", held: false });
        const enter = (next) => { entered.push(id = next); };
        const queue = new Queue(here, enter, () => {}, () => {});
        const looks = [queue.look(), queue.look()];
        queue.rest(); // the result has come to the screen
        for (const answer of answers) answer();
        await Promise.all(looks);
        return [entered, due.size];
        })()"""
    )
    assert (entered, waits) == (["next"], 0)


async def test_list_of_keys_has_those_for_playing_too(house: House, page: Page) -> None:
    match = await house.play("connect_four", FOUR)
    await page.go(f"{house.url}/matches/{match}")
    await page.until(f"{WHERE} === '7 / 7'")
    await page.press("?")
    await page.until("document.querySelector('#help').open")
    lists = await page.evaluate(
        "[...document.querySelectorAll('#help h3')].map((head) => [head.textContent, "
        "[...head.nextElementSibling.querySelectorAll('kbd')].map((key) => key.textContent)])"
    )
    found = dict(lists)
    assert {"Tab", "\u2190 \u2191 \u2192 \u2193", "Enter", "Escape"} <= set(found["To play"])
    assert {"Space", "\u2190 \u2192", "p", "?"} <= set(found["To step through a match"])


async def test_skip_link_is_the_first_stop_and_leads_past_the_menu(
    house: House, page: Page
) -> None:
    match = await house.play("connect_four", FOUR)
    await page.go(f"{house.url}/matches/{match}")
    await page.until(f"{WHERE} === '7 / 7'")
    await page.press("Tab")
    assert await page.evaluate("document.activeElement.className") == "skip"
    assert await page.evaluate("document.activeElement.getBoundingClientRect().top >= 0")
    await page.press("Enter")
    await page.until("document.activeElement.id === 'content'")
    await page.press("Tab")
    assert await page.evaluate("document.querySelector('main').contains(document.activeElement)")


@pytest.mark.parametrize("seat", [0, 1])
async def test_focus_is_on_the_board_when_the_first_turn_comes(
    house: House, page: Page, seat: int
) -> None:
    bot = await challenged(house, page, "tic_tac_toe", seat=seat)
    if seat == 1:
        await page.until("document.querySelector('#scene svg')")
        await bot.act("b2")
    await page.until(f"{MINE} && {FOCUS}")
    await page.press("ArrowRight")
    await page.press("Enter")
    await page.until(f"!({MINE})")
    await bot.act("c1")
    await page.until(f"{MINE} && {FOCUS}")  # as the spot is taken, another one has it
    assert page.errors == []


async def test_focus_stays_where_a_person_has_put_it(house: House, page: Page) -> None:
    bot = await challenged(house, page, "tic_tac_toe", seat=1)
    await page.until(
        "document.querySelector('#scene svg')?.checkVisibility({ visibilityProperty: true })"
    )
    await page.evaluate("document.querySelector('#keys').focus()")
    await bot.act("b2")
    await page.until(MINE)
    assert await page.evaluate("document.activeElement.id") == "keys"


MARKS = """
[...document.querySelectorAll("#scene .spot.open")].flatMap((spot) => {
  const [ring, hole] = [".ring", ".hole"].map((name) => spot.querySelector(name));
  const { fill, stroke, strokeOpacity } = getComputedStyle(ring);
  const dot = getComputedStyle(hole).fill !== "none";
  return [[spot.querySelector(".stone") !== null, fill,
    stroke !== "none" && Number(strokeOpacity) > 0.4, dot ? Number(hole.getAttribute("r")) : 0]];
})
"""


@pytest.mark.parametrize(("game", "chosen"), [("othello", ""), ("checkers", "9"), ("chess", "e2")])
async def test_marks_of_legal_spots_differ_from_discs(
    house: House, page: Page, game: str, chosen: str
) -> None:
    await challenged(house, page, game)
    if chosen:
        await page.click(spot(chosen))
    radius = "Number(document.querySelector('#scene .stone circle')?.getAttribute('r') ?? 32)"
    disc = await page.evaluate(radius)
    marks = await page.evaluate(MARKS)
    empty = [mark for mark in marks if not mark[0]]
    assert empty
    for _, fill, outlined, dot in empty:
        assert fill == "none", "an outline at most"
        assert outlined or dot > 0
        assert dot <= disc / 2, "a dot is much smaller than a disc"
