"""What a room sees of a hosted final whose mirrored matches share their dice."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

from tests.server.hosted_finals import HostedFinal, cup_file
from tests.server.test_hosting import Machine

from plyhouse.server.house.live import LiveMatch

from .browser import Page
from .conftest import House
from .test_watching import HURRY

DICE = cup_file(game="pig(target=20)", rest='board = "public"\n[hosting]\nshared_chance = true\n')


@contextlib.asynccontextmanager
async def final(house: Any) -> Any:
    """A final of three bots on a machine that keeps calling."""
    machine = Machine(house, tier="landlock")
    made = await HostedFinal.begin(house, machine, ("ann", "ben", "cleo"), DICE)

    async def calls() -> None:
        while True:
            await machine.call()
            await asyncio.sleep(1)

    calling = asyncio.create_task(calls())
    try:
        yield made
    finally:
        calling.cancel()


async def begin_next(cup: HostedFinal) -> LiveMatch:
    """Let the bots of the match that is not held get ready."""
    live = next(live for live in cup.lives if not live.held)
    for holder in live.holders:
        await cup.clients[holder.bot_id].start()
    return live


async def play(cup: HostedFinal, live: LiveMatch) -> None:
    """Play a match to its end."""
    now = cup.house.hub.now()
    sides = [cup.clients[holder.bot_id] for holder in live.holders]
    await asyncio.gather(
        *(side.play(live.match.snapshot(seat, now)) for seat, side in enumerate(sides))
    )


async def test_wall_shows_table_and_pairings_and_the_boards_when_their_pairing_is_over(
    house: House, page: Page
) -> None:
    await page.call("Page.addScriptToEvaluateOnNewDocument", source=HURRY)
    async with final(house) as cup:
        await page.go(f"{house.url}/wall?competition={cup.cup}")
        await page.until("document.querySelector('#news table')")
        news = await page.text("#news")
        assert all(name in news for name in ("ann/mine", "ben/mine", "cleo/mine", "Next"))
        first = await begin_next(cup)
        await page.until("document.querySelector('.tile .foot')?.textContent.includes('both')")
        await play(cup, first)
        assert await page.evaluate("document.querySelector('.tile svg') === null")
        await play(cup, await begin_next(cup))
        board = f"document.querySelector('[data-match=\"{first.id}\"] svg')"
        await page.until(board)
        await page.until(
            f"document.querySelector('[data-match=\"{first.id}\"]')?.classList.contains('over')"
        )
        assert page.errors == []


async def test_projector_shows_table_and_then_the_match_whose_pairing_is_over(
    house: House, page: Page
) -> None:
    await page.call("Page.addScriptToEvaluateOnNewDocument", source=HURRY)
    await page.show_as(1920, 1080)
    async with final(house) as cup:
        await page.go(f"{house.url}/projector?competition={cup.cup}")
        await page.until("document.querySelector('#news table')")
        assert "ann/mine" in await page.text("#news")
        first = await begin_next(cup)
        await page.until(
            f"location.search.includes('{first.id}') && document.querySelector('#news')"
        )
        await play(cup, first)
        await play(cup, await begin_next(cup))
        await page.until(
            f"location.search.includes('{first.id}') && document.querySelector('#scene svg')"
        )
        assert await page.evaluate("document.querySelector('#news') === null")
        assert page.errors == []
