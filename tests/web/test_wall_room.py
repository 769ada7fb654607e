"""The wall on phones and projectors: boards and cards are large, and names are whole."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from plyhouse.protocol.messages import Seek

from .browser import Page
from .conftest import House
from .test_card_tables import play_passively

pytestmark = pytest.mark.browser

GAMES = ["liars_dice(seats=4,dice=3)", "rock_paper_scissors", "kalah", "bridge", "chess"]
FRAMES = """new Promise((next) => {
  let left = 30;
  const frame = () => (left-- ? requestAnimationFrame(frame) : next());
  frame();
})"""
"""Some frames of the browser, in which the wall fits its boards into a new size."""
SEEN = """(() => {
  const box = (node) => node.getBoundingClientRect();
  return [...document.querySelectorAll(".tile")].map((tile) => {
    const edge = box(tile);
    const parts = [...tile.querySelectorAll(
      ".boards svg, .table-top, .hand svg, .dice svg, .both td, .who, .clock, .foot")]
      .filter((node) => node.checkVisibility() && box(node).width > 1);
    return {
      game: tile.querySelector(".unseen").textContent,
      wide: Math.max(0, ...[...tile.querySelectorAll(".boards svg")].map((node) => {
        const { width: w, height: h } = node.viewBox.baseVal;
        return w * Math.min(box(node).width / w, box(node).height / h); })),
      table: tile.querySelector(".table-top") ? box(tile.querySelector(".table-top")).height : 0,
      cards: [...tile.querySelectorAll(".hand .whole-card")].map((node) => box(node).width),
      cut: [...tile.querySelectorAll(".who")]
        .filter((node) => node.scrollWidth > node.clientWidth + 1).map((node) => node.textContent),
      outside: parts.filter((node) => { const { left, top, right, bottom } = box(node);
        const inside = node.closest(".field") ? box(node.closest(".field")) : edge;
        return left < inside.left - 2 || top < inside.top - 2
          || right > inside.right + 2 || bottom > inside.bottom + 2;
      }).map((node) => node.outerHTML.slice(0, 80)) };
  });
})()"""


async def start(house: House, game: str) -> None:
    """Begin a match between as many bots as the game has seats."""
    count = 4 if game in {"bridge", "liars_dice(seats=4,dice=3)"} else 2
    bots = [
        await house.bot(name, f"{game[:4]}-bot")
        for name in ("ada", "benjamin", "carol", "dave")[:count]
    ]
    for bot in bots:
        bot.send(Seek, game, "total:300", rated=True)
    await asyncio.gather(*(bot.begin() for bot in bots))


async def seen_at(page: Page, size: tuple[int, int]) -> dict[str, Any]:
    """Return what each tile shows in a window of this size, by game."""
    await page.show_as(*size)
    await page.evaluate(FRAMES)
    pages = await page.evaluate("Math.ceil(document.documentElement.scrollHeight / innerHeight)")
    for down in range(1, pages):  # tiles out of sight wait
        await page.evaluate(f"scrollTo(0, {down} * innerHeight)")
        await page.evaluate(FRAMES)
    tiles: list[dict[str, Any]] = await page.evaluate(SEEN)
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), size
    return {tile["game"]: tile for tile in tiles}


async def test_single_board_fills_the_width_of_a_phone(house: House, page: Page) -> None:
    await start(house, "chess")
    await page.go(f"{house.url}/wall")
    await page.until("document.querySelector('.tile svg')")
    for size in ((390, 844), (390, 664)):
        seen = await seen_at(page, size)
        assert seen["chess"]["wide"] >= 0.88 * size[0], size
    assert page.errors == []


async def test_tiles_are_large_and_whole_on_phones_and_projectors(house: House, page: Page) -> None:
    for game in GAMES:
        await start(house, game)
    await page.go(f"{house.url}/wall")
    await page.until(f"document.querySelectorAll('.tile .field > *').length === {len(GAMES)}")
    for size, wide, table, card in (
        ((390, 844), 340, 240, 30),
        ((390, 664), 270, 240, 30),
        ((844, 390), 230, 220, 26),
        ((1366, 768), 220, 180, 24),
        ((1920, 1080), 300, 250, 36),
    ):
        for game, tile in (await seen_at(page, size)).items():
            assert tile["outside"] == [], (game, size)
            assert tile["cut"] == [], (game, size)
            assert max(tile["wide"], tile["table"]) >= (wide if tile["wide"] else table), (
                game,
                size,
                tile,
            )
            assert min(tile["cards"], default=card) >= card, (game, size, tile["cards"])
    assert page.errors == []


POTS = """(() => {
  const box = (node) => node.getBoundingClientRect();
  const over = (one, two) => Math.min(one.right, two.right) - Math.max(one.left, two.left) > 1
    && Math.min(one.bottom, two.bottom) - Math.max(one.top, two.top) > 1;
  return [...document.querySelectorAll(".tile")].map((tile) => {
    const pot = tile.querySelector(".middle .heap .amount");
    const field = box(tile.querySelector(".field"));
    const { left, top, right, bottom } = box(pot);
    const others = [...tile.querySelectorAll(".whole-card, .did")].map(box);
    return [pot.textContent, pot.getClientRects().length, left >= field.left && top >= field.top
      && right <= field.right && bottom <= field.bottom,
      others.filter((one) => over(one, box(pot))).length,
      [...tile.querySelectorAll(".did")].filter((one) =>
        others.some((other) => other.top !== box(one).top && over(box(one), other))).length];
  });
})()"""


async def test_pot_is_whole_and_over_nothing_in_tiles_of_all_shapes(
    house: House, page: Page
) -> None:
    for seats in (2, 4, 6):
        bots = await house.pair(f"texas_holdem(seats={seats})")
        await play_passively(bots, 2 * seats)  # the flop lies on the table
    await page.go(f"{house.url}/wall")
    await page.until("document.querySelectorAll('.tile .heap:not(.empty) .amount').length >= 3")
    for size in ((1920, 1080), (1366, 768), (844, 390), (390, 664), (1000, 900)):
        await seen_at(page, size)
        found = await page.evaluate(POTS)
        assert sorted(found) == sorted(
            [[f"Pot: {2 * seats}", 1, True, 0, 0] for seats in (2, 4, 6)]
        ), size
    assert page.errors == []
