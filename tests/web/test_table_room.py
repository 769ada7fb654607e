"""Nothing on a table of cards lies over something else, in windows of all sizes."""

from __future__ import annotations

import random

import pytest

from .browser import Page
from .conftest import House
from .match_layout import look
from .person import OVER, opponent, play_on
from .test_actions_in_sight import SIZES
from .test_play import MINE, challenged_by_all

pytestmark = pytest.mark.browser

OVERLAPS = """
(() => {
  document.getAnimations().forEach((each) => each.finish());
  const things = `.table-top :is(.held > *, .front > *, .info > *, .middle > :not(.trick-box)),
    .seats > li, #match .prompt > .choices`;
  const boxes = [...document.querySelectorAll(things)]
    .map((node) => [node, node.getBoundingClientRect()])
    .filter(([node, { width, height }]) => width > 3 && height > 3
      && getComputedStyle(node).visibility !== "hidden");
  const found = [];
  boxes.forEach(([node, one], index) => {
    for (const [other, two] of boxes.slice(index + 1)) {
      const across = Math.min(one.right, two.right) - Math.max(one.left, two.left);
      const down = Math.min(one.bottom, two.bottom) - Math.max(one.top, two.top);
      if (across > 4 && down > 4) found.push(`${node.textContent} | ${other.textContent}`);
    }
  });
  return found;
})()
"""
CUT = """[...document.querySelectorAll(".table-top .grid:is(.both, .long)")].some((node) =>
  node.scrollHeight > node.clientHeight + 1 || node.scrollWidth > node.clientWidth + 1)"""


async def assert_room(page: Page) -> None:
    for size in [*SIZES, (360, 640), (768, 1024)]:
        await page.show_as(*size)
        await look(page)
        assert await page.evaluate(OVERLAPS) == [], size
        assert not await page.evaluate(CUT), size
    await page.show_as(1366, 768)


@pytest.mark.parametrize("game", ["liars_dice(seats=4,dice=3)", "rock_paper_scissors"])
async def test_table_of_choices_is_whole_and_over_nothing(
    house: House, page: Page, game: str
) -> None:
    rng = random.Random(game)
    async with opponent(house, page, game, rng):
        await page.until(MINE)
        await assert_room(page)
        while not await page.evaluate(OVER):
            await play_on(page, rng, 1)
        await assert_room(page)


async def test_table_of_nearly_all_bids_is_whole_on_a_phone(house: House, page: Page) -> None:
    bots = await challenged_by_all(house, page, "liars_dice(seats=4,dice=3)", seat=1)
    turn = await bots[0].turn()
    assert turn is not None
    bots[0].play(turn, turn.observation["legal"][0])
    await page.until(MINE)
    await assert_room(page)
    assert page.errors == []


@pytest.mark.parametrize("game", ["texas_holdem(hands=1,stack=2)", "pig(target=5)"])
async def test_table_at_the_end_has_nothing_over_something(
    house: House, page: Page, game: str
) -> None:
    rng = random.Random(game)
    async with opponent(house, page, game, rng):
        while not await page.evaluate(OVER):
            await play_on(page, rng, 1)
        await page.until("document.querySelector('#again button')")
        await assert_room(page)


COVERED = """(() => {
  document.getAnimations().forEach((each) => each.finish());
  const box = (node) => node.getBoundingClientRect();
  const cards = [...document.querySelectorAll(".table-top .whole-card")].map(box);
  return [...document.querySelectorAll(".table-top .heap:not(.empty) .chips")].map(box)
    .filter((one) => one.width && cards.some((two) =>
      Math.min(one.right, two.right) - Math.max(one.left, two.left) > 1
      && Math.min(one.bottom, two.bottom) - Math.max(one.top, two.top) > 1)).length;
})()"""


async def test_chips_of_six_seats_lie_over_no_card(house: House, page: Page) -> None:
    rng = random.Random(5)
    async with opponent(house, page, "texas_holdem(seats=6)", rng):
        for _ in range(4):
            await page.until(f"{MINE} || {OVER}")
            for size in ((1366, 650), (1366, 768), (390, 664)):
                await page.show_as(*size)
                await look(page)
                assert await page.evaluate(COVERED) == 0, size
            await page.show_as(1366, 768)
            await look(page)
            if await play_on(page, rng, 1):
                break


async def test_dummy_at_a_side_of_the_table_is_over_nothing(house: House, page: Page) -> None:
    rng = random.Random(2)
    dummy = "document.querySelector('.table-top .place:is([data-side=w], [data-side=e]) .suits')"
    async with opponent(house, page, "bridge", rng):
        while not await page.evaluate(f"{MINE} && {dummy}"):
            assert not await play_on(page, rng, 1)
        await assert_room(page)
