"""A person who plays any game in the browser, by what the page offers, and the bot against it.

The person uses the mouse, a touch screen, or only the keyboard.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
from collections.abc import AsyncIterator
from typing import Any, Literal

from tests.harness.chances import own_chances

from .browser import Page
from .conftest import Bot, House
from .test_play import MINE, challenged_by_all, enter

__all__ = ["OVER", "Input", "lay", "opponent", "play_on"]

Input = Literal["mouse", "touch", "keys"]

OVER = "document.querySelector('#outcome')?.textContent"
LOOK = """
((pick) => {
  document.getAnimations().forEach((each) => each.finish());
  const seen = (found) => [...document.querySelectorAll(found)].filter(
    (node) => node.getClientRects().length && !node.disabled);
  const board = document.querySelector("#scene .grid svg")?.getBoundingClientRect();
  const place = board && [board.x + scrollX, board.y + scrollY, board.width, board.height];
  const turn = document.querySelectorAll("#events .action").length;
  const found = ['#match .choices[aria-label="Which one?"] button', "#scene .spot.next",
    "#scene .spot.end", "#match .prompt > .grid.table button", "#match .laying .lay",
    "#scene .spot.start", "#match [data-action]"]
    .map(seen).find((nodes) => nodes.length) ?? [];
  const node = found[pick % found.length];
  if (!node) return { place, turn };
  globalThis.wanted = node;
  node.scrollIntoView({ block: "nearest" });
  const { x, y, width, height } = node.getBoundingClientRect();
  const at = [x + width / 2, y + height / 2];
  const hit = document.elementFromPoint(...at);
  return { place, turn, at, hit: node.contains(hit), what: node.outerHTML.slice(0, 200),
    above: hit?.outerHTML.slice(0, 200) };
})
"""
"""Where to press next, and where the board is on the page."""


WAY = """
(() => {
  const [here, there] = [document.activeElement, globalThis.wanted];
  if (here === there || !there.isConnected) return [];
  globalThis.left = here;
  const middle = (node) => {
    const { x, y, width, height } = (node.querySelector(".cell") ?? node).getBoundingClientRect();
    return [x + width / 2, y + height / 2];
  };
  const [[x, y], [toX, toY]] = [middle(here), middle(there)];
  const group = "[role=grid], .cards, .choices, table, .hand svg";
  const arrows = [[Math.abs(toX - x), toX > x ? "ArrowRight" : "ArrowLeft"],
    [Math.abs(toY - y), toY > y ? "ArrowDown" : "ArrowUp"]].filter(([far]) => far > 4)
    .sort(([one], [other]) => other - one).map(([, key]) => key);
  const together = here.closest(group) && here.closest(group) === there.closest(group);
  const tab = here.compareDocumentPosition(there) & 2 ? "Shift+Tab" : "Tab";
  return [...(together ? arrows : []), tab];
})()
"""
"""Keys that may lead from the focus to what is wanted, the best one first."""
STAYED = "document.activeElement === globalThis.left"
MOST = 99
"""Keys after which something cannot be reached by the keyboard."""


async def _reach(page: Page, what: str) -> None:
    """Move the focus to what is wanted, by keys."""
    for _ in range(MOST):
        keys = await page.evaluate(WAY)
        if not keys:
            return
        for key in keys:
            await page.press(key)
            if not await page.evaluate(STAYED):
                break
    raise AssertionError(f"no keys lead to {what}")


async def lay(page: Page, placed: str, by: Input) -> None:
    """Put tiles on squares and play them; ``placed`` is as in `plyhouse.games.scene.Placing`."""
    for each in placed.split():
        spot, letter = each.split("=")
        if by != "keys":
            await _choose(page, f".rack [data-piece='{letter}']", by)
        await _choose(page, f"[data-spot='{spot}']", by, letter)
    await _choose(page, ".placing .main", by)


async def _choose(page: Page, selector: str, by: Input, key: str = "Enter") -> None:
    if by != "keys":
        await (page.tab.tap if by == "touch" else page.tab.click)(selector)
        return
    await page.evaluate(f"globalThis.wanted = document.querySelector({json.dumps(selector)})")
    await _reach(page, selector)
    await page.press(key)


@contextlib.asynccontextmanager
async def opponent(house: House, page: Page, game: str, rng: random.Random) -> AsyncIterator[None]:
    """Begin a match of the person `ann`, in which bots play legal actions by chance."""
    if game == "pacman":  # which one plays alone
        await enter(house, page, game="pacman(ghosts=random,steps=10)", time="total:300+5")
        await page.until(MINE)
        yield
        return
    bots = await challenged_by_all(house, page, game, seat=1)
    chances = own_chances(rng, len(bots))
    replies = [
        asyncio.create_task(_reply(bot, own)) for bot, own in zip(bots, chances, strict=True)
    ]
    try:
        yield
    finally:
        for each in replies:
            each.cancel()
        for each in replies:
            with contextlib.suppress(asyncio.CancelledError):
                await each


async def _reply(bot: Bot, rng: random.Random) -> None:
    while (turn := await bot.turn()) is not None:
        bot.play(turn, rng.choice(turn.observation["legal"]))


async def play_on(page: Page, rng: random.Random, presses: int, by: Input = "mouse") -> bool:
    """Press what can be chosen, that many times or until the match is over; returns which.

    Raises AssertionError if something covers it, no keys lead to it, or if the board moves during a
    turn.
    """
    before: dict[str, Any] = {}
    pick = rng.randrange(1000)
    while presses:
        await page.until(f"{MINE} || {OVER}")
        await page.evaluate("new Promise((next) => requestAnimationFrame(() => next()))")
        if await page.evaluate(OVER):
            return True
        seen: dict[str, Any] = await page.evaluate(f"{LOOK}({pick})")
        if before and seen["turn"] == before["turn"]:
            assert seen["place"] == before["place"], "the board moves while an action is chosen"
        before = seen
        if "at" in seen:
            await _press(page, seen, by)
            presses, pick = presses - 1, rng.randrange(1000)
    # On one's own turn nobody else can end the match.
    await page.until(f"{MINE} || {OVER}")
    return bool(await page.evaluate(OVER))


async def _press(page: Page, seen: dict[str, Any], by: Input) -> None:
    if by == "keys":
        assert not await page.evaluate("document.activeElement === document.body"), seen["what"]
        await _reach(page, seen["what"])
        await page.press("Enter")
        return
    assert seen["hit"], f"{seen['what']} is below {seen['above']}"
    await (page.tab.touchscreen.tap if by == "touch" else page.tab.mouse.click)(*seen["at"])
