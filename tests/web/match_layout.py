"""What the page of a match shows in windows of six sizes."""

from __future__ import annotations

from typing import Any

from .browser import Page

__all__ = ["SIZES", "assert_in_sight", "look"]

SIZES = [(360, 640), (390, 844), (844, 390), (768, 1024), (1366, 768), (1920, 1080)]
CARD = 30
"""Fewest pixels of the width of a card of one's own, which a finger has to hit."""
# Widths and heights are those of what is drawn, which may leave room in its element.
LOOK = """
(() => {
  const box = (node) => {
    const { left, top, right, bottom } = node.getBoundingClientRect();
    return [left, top, right, bottom];
  };
  const all = (found) => [...document.querySelectorAll(found)];
  const boards = all("#scene .boards .grid > svg").map((node) => {
    const { width, height } = node.getBoundingClientRect();
    const { width: w, height: h } = node.viewBox.baseVal;
    const scale = Math.min(width / w, height / h);
    return [w * scale, h * scale];
  });
  const cards = all("#scene .near .hand .card").map((node) => node.getBoundingClientRect().width);
  return { boards, cards, clocks: all("#seats .clock").map(box), own: all("#own button").map(box),
    wide: document.documentElement.scrollWidth - innerWidth };
})()
"""


async def look(page: Page) -> dict[str, Any]:
    """Return the boxes of what the page has drawn."""
    await page.evaluate("new Promise((next) => requestAnimationFrame(() => setTimeout(next, 0)))")
    found: dict[str, Any] = await page.evaluate(LOOK)
    return found


def least(game: str, size: tuple[int, int]) -> float:
    """Return the fewest pixels of the longer side of each board, which the page scrolls for."""
    width, height = size
    if game == "battleship":  # it has two
        return 240
    if game in ("monopoly", "scrabble"):  # they leave room for deeds or a rack, and all buttons
        return 290
    return min(320, width - 24) if width < height else 320


async def assert_in_sight(page: Page, game: str) -> None:
    """At every size, boards and own cards are large, clocks in sight, and nothing too wide."""
    for size in SIZES:
        await page.show_as(*size)
        seen = await look(page)
        assert seen["wide"] <= 0, (game, size)
        for width, height in seen["boards"]:
            assert max(width, height) >= least(game, size), (game, size, width, height)
        assert min(seen["cards"], default=CARD) >= CARD, (game, size, seen["cards"])
        for _, top, right, bottom in seen["clocks"]:
            assert top >= 0, (game, size)
            assert right <= size[0], (game, size)
            assert bottom <= size[1], (game, size, bottom)
