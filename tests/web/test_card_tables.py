"""Card tables fit their windows: each action in sight, and in each turn at the same place."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from typing import Any, Final

import pytest
from playwright.async_api import Browser

from plyhouse.games import get_game

from .browser import Page, open_page
from .conftest import Bot, House, unavailable
from .match_layout import look
from .test_accessibility import AXE
from .test_play import MINE, challenged_by_all

pytestmark = pytest.mark.browser

SIZES: Final = [(1366, 768), (1366, 650), (844, 390), (390, 664)]
TURNS: Final = 3
ACTIONS: Final = """
JSON.stringify([...document.querySelectorAll(
    "#match :is([data-spot], [data-action]), .amounts *")]
  .filter((node) => node.offsetWidth && !node.closest("details"))
  .map((node) => {
    const { left, top, right, bottom } = node.getBoundingClientRect();
    const kind = [...node.classList].find((each) => each.startsWith("third-")) ?? "";
    return [kind || (node.dataset.spot ? "" : node.dataset.action ?? ""), left, top, right, bottom];
  }))
"""
PASSIVE: Final = ("check", "call", "Pass", "heads", "penny", "Lincoln")


def passive(legal: list[str]) -> str:
    """Return an action that keeps the match going."""
    return next((each for each in PASSIVE if each in legal), legal[0])


@contextlib.asynccontextmanager
async def answering(
    bots: list[Bot], choose: Callable[[list[str]], str] = passive
) -> AsyncIterator[None]:
    """Let bots answer meanwhile, with passive actions if nothing else is said."""

    async def answer(bot: Bot) -> None:
        while (turn := await bot.turn()) is not None:
            bot.play(turn, choose(list(turn.observation["legal"])))

    tasks = [asyncio.create_task(answer(bot)) for bot in bots]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def play_passively(bots: list[Bot], plies: int) -> None:
    """Let bots play so many plies with passive actions; then they wait in their turns."""
    turns = {asyncio.create_task(bot.turn()): bot for bot in bots}
    try:
        for _ in range(plies):
            done, _ = await asyncio.wait(turns, return_when=asyncio.FIRST_COMPLETED)
            task = done.pop()
            bot, turn = turns.pop(task), task.result()
            assert turn is not None
            turns[asyncio.create_task(bot.turn())] = bot
            bot.play(turn, passive(list(turn.observation["legal"])))
        await asyncio.wait(turns, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in turns:
            task.cancel()
        await asyncio.gather(*turns, return_exceptions=True)


async def play(page: Page, choose: Callable[[list[str]], str] = passive) -> bool:
    """Play an action of the person's turn; return whether another turn came."""
    all_of_them = "[...document.querySelectorAll('#match :is([data-spot], [data-action])')]"
    name = "(each.dataset.spot ?? each.dataset.action)"
    legal = await page.evaluate(f"JSON.stringify({all_of_them}.map((each) => {name}))")
    action = json.dumps(choose(json.loads(legal)))
    ply = await page.text("#where")
    await page.evaluate(f"{all_of_them}.find((each) => {name} === {action}).click()")
    await page.until(
        f"(document.querySelector('#where').textContent !== {json.dumps(ply)} && {MINE})"
        " || document.querySelector('#outcome').textContent"
    )
    return bool(await page.evaluate(MINE))


async def boxes(page: Page) -> list[list[Any]]:
    assert (await look(page))["wide"] <= 0
    found: list[list[Any]] = json.loads(await page.evaluate(ACTIONS))
    return found


GAMES: Final = [
    "kuhn_poker", "leduc_poker", "texas_holdem", "texas_holdem(betting=\"fixed\")",
    "texas_holdem(seats=6)", "hearts",
    "bridge", "liars_dice", "liars_dice(dice=5)", "coin_guess",
]  # fmt: skip


@pytest.mark.parametrize("game", GAMES)
async def test_actions_of_each_turn_are_in_sight_and_keep_their_places(
    house: House, page: Page, game: str
) -> None:
    places: dict[tuple[int, int], dict[str, set[tuple[int, int]]]] = {size: {} for size in SIZES}
    await page.show_as(*SIZES[0])
    several = get_game(game).seats > 2  # then the bots may be the first to act
    bots = await challenged_by_all(house, page, game, seat=int(several))
    async with answering(bots):
        await page.until(MINE)
        for _ in range(TURNS):
            for size in SIZES:
                await page.show_as(*size)
                for kind, left, top, right, bottom in await boxes(page):
                    assert top >= 0, (size, kind, top)
                    assert left >= 0, (size, kind, left)
                    assert bottom <= size[1], (size, kind, bottom)
                    assert right <= size[0], (size, kind, right)
                    if kind:
                        at = (round(left), round(bottom))
                        places[size].setdefault(kind, set()).add(at)
            if not await play(page):
                break
    moved = {size: {k: v for k, v in each.items() if len(v) > 1} for size, each in places.items()}
    assert not any(moved.values()), moved
    assert page.errors == []


DICE: Final = 'backgammon(position="24x2 13x5 8x3 6x5; 24x2 13x5 8x3 6x5; 0 65")'
RULES: Final = [
    "aria-required-children", "label-content-name-mismatch", "target-size", "listitem", "list",
    "nested-interactive", "color-contrast",
]  # fmt: skip


@pytest.mark.parametrize("game", ["hearts", "bridge", "texas_holdem", "liars_dice(dice=5)", DICE])
async def test_turn_at_a_table_keeps_nobody_out(house: House, page: Page, game: str) -> None:
    if not AXE.exists():
        unavailable("axe-core is not installed: npm ci")
    source = await asyncio.to_thread(AXE.read_text)
    bots = await challenged_by_all(house, page, game, seat=int(get_game(game).seats > 2))
    async with answering([] if game == DICE else bots):
        await page.until(MINE)
        await page.evaluate(f"{source}\n;0")
        for size in ((1366, 768), (390, 664)):
            await page.show_as(*size)
            await look(page)
            values = {"runOnly": {"type": "rule", "values": RULES}}
            found = await page.evaluate(
                f"axe.run({json.dumps(values)}).then((said) => JSON.stringify("
                "said.violations.map(({ id, nodes }) => [id, nodes[0].html])))"
            )
            assert json.loads(found) == [], (game, size)


async def test_arrow_keys_lead_over_the_bids_of_bridge(house: House, page: Page) -> None:
    bots = await challenged_by_all(house, page, "bridge", seat=1)
    async with answering(bots):
        await page.until(MINE)
        await page.evaluate("document.querySelector('[data-action=\"1C\"]').focus()")
        for key, bid in (("ArrowRight", "2C"), ("ArrowUp", "2D"), ("ArrowLeft", "1D")):
            await page.press(key)
            assert await page.evaluate("document.activeElement.dataset.action") == bid
    assert page.errors == []


TOLD: Final = """JSON.stringify([...document.querySelectorAll("#outcome, #again > *")]
  .map((node) => node.getBoundingClientRect().bottom))"""


CROWDED: Final = """[...document.querySelectorAll("#seats .clock")].filter((node) => {
  const row = node.closest("li").getBoundingClientRect();
  const { left, right } = node.getBoundingClientRect();
  return left < row.left - 1 || right > row.right + 1 || node.scrollWidth > node.clientWidth + 1;
}).map((node) => node.textContent)"""


@pytest.mark.parametrize("game", ["kuhn_poker", "texas_holdem(seats=6)"])
async def test_result_and_what_comes_next_are_in_sight(house: House, page: Page, game: str) -> None:
    await page.show_as(390, 664)
    bots = await challenged_by_all(house, page, game, seat=int(get_game(game).seats > 2))
    async with answering(bots):
        await page.click('[data-request="resign"]')
        await page.press_again('[data-request="resign"]')
        await page.until("document.querySelector('#again > *')")
        for size in SIZES:
            await page.show_as(*size)
            await look(page)
            assert max(json.loads(await page.evaluate(TOLD))) <= size[1], size
            assert await page.evaluate(CROWDED) == [], size
    assert page.errors == []


CARRIED: Final = """
window.carried = 0;
new MutationObserver((records) => {
  for (const { addedNodes } of records) {
    for (const node of addedNodes) carried += node.classList?.contains("on-its-way") ? 1 : 0;
  }
}).observe(document.querySelector("#match"), { childList: true, subtree: true });
"""


@pytest.mark.parametrize(("reduce", "carried"), [("no-preference", 4), ("reduce", 0)])
async def test_trick_goes_to_its_winner_unless_motion_is_reduced(
    house: House, page: Page, reduce: Any, carried: int
) -> None:
    await page.tab.emulate_media(reduced_motion=reduce)
    bots = await challenged_by_all(house, page, "hearts(deals=1)", seat=1)
    async with answering(bots):
        await page.until(MINE)
        while await page.evaluate("document.querySelectorAll('#events .action').length") < 17:
            assert await play(page)
        await page.evaluate("location.hash = '#16'")  # the first trick is whole
        await page.until("document.querySelector('#where').textContent.startsWith('16 ')")
        await page.evaluate(CARRIED)
        await page.click("#forward")
        await page.until("document.querySelector('#where').textContent.startsWith('17 ')")
        assert await page.evaluate("carried") == carried
    assert page.errors == []


STACKS: Final = """JSON.stringify([...document.querySelectorAll(".trick-box > .hand")]
.map((node) => [
  node.querySelector(".cards")?.getAttribute("aria-label") ?? "",
  node.querySelectorAll(".back").length,
  [...node.querySelectorAll(".whole-card")].every((card) => {
    const { left, top, right, bottom } = card.getBoundingClientRect();
    return left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight;
  })]))"""


async def test_cards_to_pass_lie_before_the_seats_that_have_chosen_them(
    house: House, browser: Browser, page: Page
) -> None:
    bots = await challenged_by_all(house, page, "hearts(deals=1)", seat=1)
    async with open_page(browser) as watching:
        await watching.go(f"{house.url}/matches/{bots[0].match}")
        for _ in range(3):
            turn = await bots[0].turn()
            assert turn is not None
            bots[0].play(turn, turn.observation["legal"][0])
        await page.until(MINE)
        await page.click("#match .near .slot.spot")
        await page.until("document.querySelectorAll('.trick-box .rank').length === 1")
        await watching.until("document.querySelectorAll('.trick-box .back').length === 4")
        others = ["bob/bot passes: 3 cards", 3, True]
        for size in SIZES:
            for each in (page, watching):
                await each.show_as(*size)
                await look(each)
            assert others in json.loads(await page.evaluate(STACKS)), size
            assert json.loads(await watching.evaluate(STACKS)) == [
                others,
                ["ann passes: 1 card", 1, True],
            ], size
        assert await watching.evaluate("document.querySelectorAll('.trick-box .rank').length") == 0
        assert watching.errors == []
    assert page.errors == []


HIDDEN: Final = """[...document.querySelectorAll("#match .middle button")].filter((node) => {
  const { x, y, width, height } = node.getBoundingClientRect();
  return !node.contains(document.elementFromPoint(x + width / 2, y + height / 2));
}).map((node) => node.dataset.action)"""


def lowest(legal: list[str]) -> str:
    """Return the lowest bid."""
    return next((each for each in legal if each not in ("Pass", "X", "XX")), "Pass")


async def test_bids_are_in_sight_after_a_long_auction(house: House, page: Page) -> None:
    bots = await challenged_by_all(house, page, "bridge", seat=1)
    async with answering(bots, lowest):
        for _ in range(7):
            await page.until(MINE)
            for size in SIZES:
                await page.show_as(*size)
                await look(page)
                assert await page.evaluate(HIDDEN) == [], size
            bids = "[...document.querySelectorAll('#match .middle button')]"
            bid = lowest(sorted(await page.evaluate(f"{bids}.map((each) => each.dataset.action)")))
            await page.click(f"#match .middle [data-action='{bid}']")
            await page.until(f"!document.querySelector('#match .middle [data-action=\"{bid}\"]')")
    assert page.errors == []
