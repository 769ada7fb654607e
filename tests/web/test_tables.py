"""Games without a board lie on a table: cards at the rims, bets before them, the pot between."""

from __future__ import annotations

from typing import Any

import pytest

from .browser import Page
from .conftest import House
from .test_play import MINE, challenged

pytestmark = pytest.mark.browser

BOXES = """
Object.fromEntries([...document.querySelectorAll("[data-element], #seats .clock")].map((node) => {
  const { top, bottom } = node.getBoundingClientRect();
  const side = node.closest(".below") ? "below" : "above";
  return [node.dataset.element ?? `clock ${side}`, [top, bottom]];
}))
"""


async def boxes(page: Page) -> dict[str, list[float]]:
    await page.evaluate("new Promise((next) => requestAnimationFrame(() => setTimeout(next, 0)))")
    found: dict[str, list[float]] = await page.evaluate(BOXES)
    return found


async def chips(page: Page, name: str) -> Any:
    return await page.evaluate(
        f"document.querySelector('[data-element=\"counter {name}\"] strong').textContent"
    )


@pytest.mark.parametrize("size", [(360, 640), (1366, 768)])
async def test_poker_table_has_the_pot_between_the_players_and_keeps_its_places(
    house: House, page: Page, size: tuple[int, int]
) -> None:
    await page.show_as(*size)
    bot = await challenged(house, page, "leduc_poker")
    before = await boxes(page)
    order = ["clock above", "hand Card of seat 2", "counter Bet of seat 2", "counter Pot"]
    order += ["counter Bet of seat 1", "hand Card of seat 1", "clock below"]
    tops = [before[name][0] for name in order]
    assert tops == sorted(tops), before
    assert max(bottom for _, bottom in before.values()) <= size[1]
    await page.click('[data-action="raise"]')
    await page.until("document.querySelector('.near .did')?.textContent === 'raise'")
    assert await chips(page, "Bet of seat 1") == "2"
    assert await chips(page, "Pot") == "2"
    after = await boxes(page)
    assert {name: after[name] for name in order} == {name: before[name] for name in order}
    await bot.act("call")
    await page.until(MINE)
    assert await chips(page, "Bet of seat 1") == "0"
    assert await chips(page, "Pot") == "6"
    assert page.errors == []
