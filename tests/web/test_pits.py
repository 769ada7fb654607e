"""The board of kalah uses the window, and its numbers can be read from where one holds a phone."""

from __future__ import annotations

import random
from typing import Any

import pytest

from .browser import Page
from .conftest import House
from .match_layout import look
from .person import opponent
from .test_play import MINE

pytestmark = pytest.mark.browser

SIZES = [(360, 640), (390, 844), (390, 664), (844, 390), (1366, 768), (1920, 1080)]
DIGITS = 16
"""Fewest pixels of the height of the letters of a count."""
THUMB = 40
"""Fewest pixels of the shorter side of a pit."""
SEEN = """(() => {
  const board = document.querySelector("#scene .boards .grid > svg");
  const { left, top, right, bottom, width, height } = board.getBoundingClientRect();
  const { width: across, height: down } = board.viewBox.baseVal;
  const scale = Math.min(width / across, height / down);
  const box = (node) => node.getBoundingClientRect();
  const over = (one, two) => one.left < two.right - 1 && two.left < one.right - 1
    && one.top < two.bottom - 1 && two.top < one.bottom - 1;
  const covered = [...board.querySelectorAll(".spot, .store")].map((node) => node.closest("g"))
    .filter((node) => [...node.querySelectorAll(".seed")]
      .some((seed) => over(box(seed), box(node.querySelector(".count")))));
  const words = document.querySelector("#prompt .status").getBoundingClientRect();
  return { covered: covered.length,
    inside: top >= 0 && left >= 0 && right <= innerWidth
      && Math.max(bottom, words.bottom) <= innerHeight,
    share: Math.max(across * scale / innerWidth, down * scale / innerHeight),
    digits: [...board.querySelectorAll(".count")]
      .map((node) => parseFloat(getComputedStyle(node).fontSize) * scale),
    pits: [...board.querySelectorAll(".pit:not(.store)")].map(box)
      .map((pit) => Math.min(pit.width, pit.height)) };
})()"""


async def test_pits_are_large_and_their_counts_readable_at_every_size(
    house: House, page: Page
) -> None:
    async with opponent(house, page, "kalah", random.Random(1)):
        await page.until(MINE)
        for size in SIZES:
            await page.show_as(*size)
            await page.evaluate("scrollTo(0, 0)")
            await look(page)
            seen: dict[str, Any] = await page.evaluate(SEEN)
            assert seen["inside"], size
            assert seen["covered"] == 0, size
            assert min(seen["digits"]) >= DIGITS, (size, seen["digits"])
            assert min(seen["pits"]) >= THUMB, (size, seen["pits"])
            assert seen["share"] >= 0.6, (size, seen["share"])
    assert page.errors == []
