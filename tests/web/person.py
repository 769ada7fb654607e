"""A person who plays any game in the browser, by what the page offers, and the bot against it."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator
from typing import Any

from .browser import Page
from .conftest import Bot, House
from .test_play import MINE, challenged_by_all, enter

__all__ = ["OVER", "opponent", "play_on"]

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
    "#scene .spot.end", "#scene .spot.start", "#match [data-action]"]
    .map(seen).find((nodes) => nodes.length) ?? [];
  const node = found[pick % found.length];
  if (!node) return { place, turn };
  node.scrollIntoView({ block: "nearest" });
  const { x, y, width, height } = node.getBoundingClientRect();
  const at = [x + width / 2, y + height / 2];
  const hit = document.elementFromPoint(...at);
  return { place, turn, at, hit: node.contains(hit), what: node.outerHTML.slice(0, 200),
    above: hit?.outerHTML.slice(0, 200) };
})
"""
"""Where to press next, and where the board is on the page."""


@contextlib.asynccontextmanager
async def opponent(house: House, page: Page, game: str, rng: random.Random) -> AsyncIterator[None]:
    """Begin a match of the person `ann`, in which bots play legal actions by chance."""
    if game == "pacman":  # which one plays alone
        await enter(house, page, game="pacman(ghosts=random,steps=10)", time="total:300+5")
        await page.until(MINE)
        yield
        return
    bots = await challenged_by_all(house, page, game, seat=1)
    replies = [asyncio.create_task(_reply(bot, rng)) for bot in bots]
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


async def play_on(page: Page, rng: random.Random, presses: int, *, touch: bool = False) -> bool:
    """Press what can be chosen, that many times or until the match is over; returns which.

    Raises AssertionError if something covers it, or if the board moves during a turn.
    """
    before: dict[str, Any] = {}
    while presses:
        await page.until(f"{MINE} || {OVER}")
        await page.evaluate("new Promise((next) => requestAnimationFrame(() => next()))")
        if await page.evaluate(OVER):
            return True
        seen: dict[str, Any] = await page.evaluate(f"{LOOK}({rng.randrange(1000)})")
        if before and seen["turn"] == before["turn"]:
            assert seen["place"] == before["place"], "the board moves while an action is chosen"
        before = seen
        if "at" in seen:
            assert seen["hit"], f"{seen['what']} is below {seen['above']}"
            await (page.tab.touchscreen.tap if touch else page.tab.mouse.click)(*seen["at"])
            presses -= 1
    # On one's own turn nobody else can end the match.
    await page.until(f"{MINE} || {OVER}")
    return bool(await page.evaluate(OVER))
