"""A match in a frame of another page: its board is as large as the frame lets it be."""

from __future__ import annotations

from typing import Any

import pytest

from plyhouse.protocol.messages import Seek

from .browser import Page
from .conftest import House
from .match_layout import look
from .test_card_tables import play_passively
from .test_table_room import CUT, OVERLAPS

pytestmark = pytest.mark.browser

FRAMES = [(390, 844), (390, 664), (320, 480), (600, 400), (400, 300), (844, 390)]
SEEN = """(() => {
  const box = (node) => node.getBoundingClientRect();
  const board = document.querySelector("#scene .boards .grid > svg");
  const { width, height } = box(board);
  const { width: across, height: down } = board.viewBox.baseVal;
  const scale = Math.min(width / across, height / down);
  const parts = [...document.querySelectorAll(
    `#scene .boards svg, #seats > li, .prompt > .status, .steps button, .steps input, #where,
    .foot > *, #outcome`)]
    .filter((node) => node.checkVisibility() && box(node).width > 1);
  const out = parts.filter((node) => {
    const { left, top, right, bottom } = box(node);
    return left < -1 || top < -1 || right > innerWidth + 1 || bottom > innerHeight + 1;
  });
  const over = parts.flatMap((one, index) => parts.slice(index + 1).filter((other) => {
    const [a, b] = [box(one), box(other)];
    return Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2
      && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2;
  }).map((other) => `${one.outerHTML.slice(0, 60)} | ${other.outerHTML.slice(0, 60)}`));
  return { share: Math.max(across * scale / innerWidth, down * scale / innerHeight), over,
    out: out.map((node) => node.outerHTML.slice(0, 90)),
    clocks: [...document.querySelectorAll("#seats .clock")]
      .every((node) => node.checkVisibility()) };
})()"""


@pytest.mark.parametrize(
    ("game", "share"),
    [("chess", 0.9), ("connect_four", 0.8), ("backgammon", 0.65), ("kalah", 0.6), ("go", 0.8)],
)
async def test_board_takes_the_frame_and_all_else_is_in_sight(
    house: House, page: Page, game: str, share: float
) -> None:
    bots = await house.pair(game)
    await page.go(f"{house.url}/embed/{bots[0].match}")
    await page.until("document.querySelector('#scene .boards svg')")
    for over in (False, True):
        if over:
            bots[0].resign()
            await page.until("document.querySelector('#outcome').textContent")
        for size in FRAMES:
            await page.show_as(*size)
            await look(page)
            seen: dict[str, Any] = await page.evaluate(SEEN)
            assert seen["out"] == [], size
            assert seen["over"] == [], size
            assert seen["clocks"], size
            assert seen["share"] >= share, (size, seen["share"])
    assert page.errors == []


async def test_small_frame_shows_scores_and_clocks_beside_a_board(house: House, page: Page) -> None:
    bots = await house.pair("scrabble")
    await page.go(f"{house.url}/embed/{bots[0].match}")
    turn = await bots[0].turn()
    assert turn is not None
    bots[0].play(turn, next(each for each in turn.observation["legal"] if each[0].isalnum()))
    await page.until("document.querySelector('#seats .did')")
    await page.show_as(400, 300)
    await look(page)
    seen = await page.evaluate(SEEN)
    assert (seen["out"], seen["clocks"]) == ([], True)
    scores = """[...document.querySelectorAll("#seats :is(.score strong, .clock)")]
      .every((node) => node.getBoundingClientRect().right <= innerWidth)"""
    assert await page.evaluate(scores)
    assert page.errors == []


async def test_maze_takes_the_width_of_a_frame(house: House, page: Page) -> None:
    bot = await house.bot("ann")
    bot.send(Seek, "pacman(ghosts=random)", "total:300", rated=False)
    await bot.begin()
    await page.go(f"{house.url}/embed/{bot.match}")
    await page.until("document.querySelector('#scene .boards svg')")
    await page.show_as(400, 300)
    await look(page)
    seen = await page.evaluate(SEEN)
    assert seen["out"] == []
    assert seen["share"] >= 0.95
    assert await page.tab.locator(".places .counter").first.is_visible()
    assert page.errors == []


OUT = """[...document.querySelectorAll(`#seats > li, .table-top :is(.whole-card, .heap, .did, td),
    .hand svg`)].filter((node) => {
  const { left, top, right, bottom, width } = node.getBoundingClientRect();
  const table = document.querySelector("#match > .position").getBoundingClientRect();
  return width > 3 && (left < table.left || top < table.top || right > table.right
    || bottom > table.bottom);
}).map((node) => node.outerHTML.slice(0, 90))"""
NAMED = """[...document.querySelectorAll("#seats .who")].every((node) => node.clientWidth >= 30)"""


@pytest.mark.parametrize(
    ("game", "plies"),
    [
        ("texas_holdem(seats=6)", 8),
        ("texas_holdem", 4),
        ("liars_dice(seats=4,dice=3)", 5),
        ("kuhn_poker", 1),
        ("rock_paper_scissors", 1),
    ],
)
async def test_table_in_a_small_frame_is_whole_and_has_nothing_over_something(
    house: House, page: Page, game: str, plies: int
) -> None:
    bots = await house.pair(game)
    await page.go(f"{house.url}/embed/{bots[0].match}")
    await play_passively(bots, plies)
    await page.until(f"document.querySelector('#where').textContent.startsWith('{plies} / ')")
    for size in ((400, 300), (600, 400)):
        await page.show_as(*size)
        await look(page)
        assert await page.evaluate(OVERLAPS) == [], size
        assert await page.evaluate(OUT) == [], size
        assert not await page.evaluate(CUT), size
        assert await page.evaluate(NAMED), size
    assert page.errors == []
