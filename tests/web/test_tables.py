"""Games without a board lie on a table: cards at the rims, bets before them, the pot between."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from .browser import Page
from .conftest import House
from .pictures import boards_page, positions
from .test_play import MINE, challenged, spot

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


async def test_bet_of_any_size_is_chosen_with_slider_number_and_usual_sizes(
    house: House, page: Page
) -> None:
    await page.show_as(360, 640)
    await challenged(house, page, "texas_holdem")
    chosen = "document.querySelector('.third-3').dataset.action"
    set_to = (
        "(() => {{ const field = document.querySelector('.amounts [type={}]');"
        " field.value = {}; field.dispatchEvent(new Event('input')); }})()"
    )
    assert await page.evaluate(chosen) == "raise 4"
    await page.evaluate(set_to.format("number", 57))
    assert await page.evaluate(chosen) == "raise 57"
    await page.evaluate(set_to.format("number", 5000))
    assert await page.evaluate(chosen) == "raise 200"
    await page.evaluate(set_to.format("range", 1))
    assert await page.evaluate(chosen) == "raise 5"
    assert await page.evaluate("document.querySelector('.amounts [type=number]').value") == "5"
    await page.click(".amounts [data-amount='6']")
    assert await page.text(".third-3") == "Raise to 6"
    await page.click(".third-3")
    await page.until("document.querySelector('.near .did')?.textContent === 'raise 6'")
    assert page.errors == []


async def test_hand_of_cards_is_one_row_that_can_be_hit_on_a_phone(
    page: Page, tmp_path: Path
) -> None:
    file = tmp_path / "boards.html"
    file.write_text(boards_page(), encoding="utf-8")
    await page.go(file.as_uri())
    await page.until("window.ready")
    [drawn, *_] = positions("hearts", (12,))
    cards = """[...document.querySelectorAll(".mine .slot")]
        .map((card) => card.getBoundingClientRect())"""
    for width in (390, 1280):
        await page.show_as(width, 844)
        await page.evaluate(f"show([{json.dumps(drawn)}], 1)")
        lefts = await page.evaluate(f"{cards}.map(({{ left }}) => left)")
        assert lefts == sorted(set(lefts)), "each beside the other"
        assert await page.evaluate(f"Math.max(...{cards}.map(({{ right }}) => right))") <= width
        assert await page.evaluate(f"Math.min(...{cards}.map(({{ width }}) => width))") >= 24
    assert page.errors == []


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


async def test_moved_checker_dims_its_die_and_undo_takes_it_back(house: House, page: Page) -> None:
    # 24/18 leaves more than one way to play the 5.
    side = "24x2 13x5 8x3 6x5"
    start = f'backgammon(position="{side}; {side}; 0 65")'
    await challenged(house, page, start)
    used = "[...document.querySelectorAll('.board-dice .die')].map((die) => die.matches('.used'))"
    idle = "document.querySelector('.undo').matches('.idle')"
    board = (
        "[...document.querySelectorAll('#scene [data-at]')]"
        ".map((spot) => spot.querySelectorAll('.disc').length)"
    )
    assert await page.evaluate(idle)
    before = await page.evaluate(board)
    await page.click(spot("24"))
    await page.click(spot("18"))
    assert await page.evaluate(used) == [True, False]
    await page.click(".undo")
    assert await page.evaluate(used) == [False, False]
    assert await page.evaluate(idle)
    assert await page.evaluate(board) == before
    assert page.errors == []


async def test_swipe_is_the_arrow_key_of_its_direction(house: House, page: Page) -> None:
    await page.go(f"{house.url}/play")
    found = await page.evaluate(
        """(async () => {
        const { arrowOf } = await import("/web/swipe.js");
        return [[60, 10], [-60, 10], [5, -40], [0, 90], [10, 10]].map(([x, y]) => arrowOf(x, y));
        })()"""
    )
    assert found == ["ArrowRight", "ArrowLeft", "ArrowUp", "ArrowDown", ""]
    assert page.errors == []


async def test_next_hand_keeps_the_running_score(house: House, page: Page) -> None:
    bot = await challenged(house, page, "kuhn_poker")
    assert await page.text("#sitting") == "Hand 1 of 10"
    await page.click('[data-action="bet"]')
    await bot.act("fold")
    line = "document.querySelector('#sitting').textContent"
    await page.until(f"{line} === 'Hand 1 of 10: ann +1, bob/bot \u22121'")
    assert await page.text("[data-rematch]") == "Next hand"
    bot.client.close()
    await challenged(house, page, "kuhn_poker")
    await page.until(f"{line}.startsWith('Hand 2 of 10')")
    assert await page.text("#sitting") == "Hand 2 of 10: ann +1, bob/bot \u22121"
    await page.click('[data-request="resign"]')
    await page.press_again('[data-request="resign"]')
    await page.until(f"{line} === 'Hand 2 of 10: ann \u22121, bob/bot +1'")
    assert page.errors == []


async def test_every_seat_has_its_own_running_score(house: House, page: Page) -> None:
    """Names that end in a number are the names of different bots, and hidden ones are alike."""
    (bot, _) = await house.pair("kuhn_poker")
    await page.go(f"{house.url}/matches/{bot.match}")
    scores = await page.evaluate(
        """(async () => {
        const { continued, counted, named } = await import("/web/sitting.js");
        const ann = { player: "ann", bot: "ann" };
        const bots = (...bots) => bots.map((bot) => ({ player: "house", bot }));
        const secret = { player: "(hidden)", bot: "" };
        const after = (seats, returns) => {
          const names = named(seats);
          const got = Object.fromEntries(names.map((name, seat) => [name, returns[seat]]));
          const { players, sums } = counted(continued(null, "g", [...names].sort(), "m"), "m", got);
          return players.map((player, at) => [player, sums[at]]);
        };
        return [
          after([ann, ...bots("easy", "easy-2", "easy-3")], [4, -1, -2, 9]),
          after([...bots("bot-1", "bot-2"), secret, secret], [1, 2, 3, 4]),
        ];
        })()"""
    )
    assert scores == [
        [["ann", 4], ["house/easy", -1], ["house/easy-2", -2], ["house/easy-3", 9]],
        [["(hidden)", 3], ["(hidden) (2)", 4], ["house/bot-1", 1], ["house/bot-2", 2]],
    ]


async def test_turn_is_announced_without_the_name_of_who_reads_it(house: House, page: Page) -> None:
    await page.go(f"{house.url}/play")
    told = await page.evaluate(
        """(async () => {
        const { yourTurn } = await import("/web/speak.js");
        return ["Round 1 of 1: row chooses", "Round 2 of 3: row chooses", "The row names a face",
          "row to move", "Round 2 of 3: column chooses"]
          .map((status) => yourTurn(status, 0, ["ann", "bob"], ["row", "column"]));
        })()"""
    )
    assert told == [
        "Your turn: choose",
        "Your turn: choose (round 2 of 3)",
        "Your turn: name a face",
        "Your turn",
        "Your turn: Round 2 of 3: column chooses",
    ]


async def test_words_in_the_list_of_plies_are_whole(house: House, page: Page) -> None:
    bot = await challenged(house, page, "rock_paper_scissors")
    await page.click('[data-action="scissors"]')
    await bot.act("scissors")
    await page.until("document.querySelectorAll('#events .action').length === 2")
    await page.show_as(1366, 768)
    height = "document.querySelector('#events .action:not(.soft)').getClientRects().length"
    assert await page.evaluate(height) == 1, "the word stays on one line"
    assert page.errors == []
