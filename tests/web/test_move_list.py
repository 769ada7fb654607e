"""The list of plies beside the board."""

from __future__ import annotations

import json
from typing import Any

import pytest

from .browser import Page
from .conftest import House

pytestmark = pytest.mark.browser

ROWS = """
import('/web/move_list.js').then(({ MoveList }) => %s.map(([seats, texts]) => {
  const list = new MoveList(() => {});
  let ply = 0;
  for (const [seat, display] of texts) {
    list.add([{ ply, seat, action: 'x', display }], ['White', 'Black', 'Red'], seats);
    if (seat >= 0) ply += 1;
  }
  return [...list.turns.children].map((row) => [...row.children].map((cell) =>
    (cell.classList.contains('second') ? '2: ' : '') + [...cell.querySelectorAll('.action')]
      .map((each) => each.querySelectorAll('svg').length || each.textContent).join(' ')
    || cell.querySelector('.action')?.textContent || cell.textContent));
}))
"""
THREE, ONE = "\u2682", "\u2680"


async def test_turns_stand_in_the_column_of_their_seat(house: House, page: Page) -> None:
    match = await house.play("tic_tac_toe", "a1 a2 b1 b2 c1")
    await page.go(f"{house.url}/matches/{match}")
    await page.until("document.querySelectorAll('#events .ply').length === 5")
    cases: list[tuple[int, Any]] = [
        (2, [(0, "e4"), (1, "e5"), (0, "Nf3")]),
        # The opening roll may be the second player's: then the first column stays empty.
        (2, [(-1, THREE + ONE), (1, "8/5 6/5"), (-1, ONE), (0, "13/12")]),
        # In pig, the die answers the roll, and a turn has several plies.
        (2, [(0, "roll"), (-1, THREE), (0, "hold"), (1, "roll"), (-1, ONE), (0, "roll")]),
        (2, [(0, "3"), (0, "5"), (1, "2")]),
        (3, [(0, "1x2"), (1, "2x2"), (2, "liar")]),
    ]
    rows = await page.evaluate(ROWS % json.dumps(cases))
    assert rows == [
        [["1", "e4", "2: e5"], ["2", "Nf3"]],
        [["1", "2: 2 8/5 6/5"], ["2", "1 13/12"]],
        [["1", "roll 1 hold", "2: roll 1"], ["2", "roll"]],
        [["1", "3 5", "2: 2"]],
        [["1", "", "1x2"], ["2", "", "2x2"], ["3", "", "liar"]],
    ]
    # Each ply says its number, and the list follows the position without moving the page.
    names = "[...document.querySelectorAll('#events .ply')].map((each) => each.ariaLabel)"
    assert (await page.evaluate(names))[2].split(", ")[1] == "ply 3"
    await page.show_as(360, 640)
    before = await page.evaluate("scrollTo(0, 99999), scrollY")
    await page.evaluate(
        "{ const small = new CSSStyleSheet(); small.replaceSync('#events { max-height: 7rem; }');"
        " document.adoptedStyleSheets = [small]; }"
    )
    for key, at in (("Home", 0), ("End", 5)):
        await page.press(key)
        await page.until(f"document.querySelector('#where').textContent.startsWith('{at} /')")
        scrolled = await page.evaluate("document.querySelector('#events').scrollTop > 0")
        assert scrolled == (at == 5)
    assert await page.evaluate("scrollY") <= before
    marked = "document.querySelector('#events [aria-current]').getBoundingClientRect()"
    frame = "document.querySelector('#events').getBoundingClientRect()"
    await page.until(f"{marked}.bottom <= {frame}.bottom + 1")
