"""The author of a hosted bot reads on the page of a match what the bot printed; others do not."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from plyhouse.protocol.hosting.runner_messages import MatchOutput, OutputLine, PlyCost

from .browser import Page, sign_in
from .conftest import House

PRINTED = [
    OutputLine(None, "print", "loaded"),
    OutputLine(0, "print", "<b>I see</b> X"),
    OutputLine(2, "crash", "KeyError: 'secret'\nthe position was:\n. X ."),
]


async def told(house: House, match: str, **more: Any) -> None:
    bots = {each.player: each.bot_id for each in house.hub.directory.presences.values()}
    costs = [PlyCost(0, 3_000_000, 2_000_000, 500_000), PlyCost(4, 1_000_000, 1_000_000, 0)]
    await house.hub.outputs.keep(
        MatchOutput(match=match, bot=bots["alice"], part="a-1", lines=PRINTED, costs=costs, **more)
    )


@pytest.mark.browser
async def test_it_comes_after_the_match_under_its_plies(house: House, page: Page) -> None:
    bots = await house.pair("tic_tac_toe")
    match = bots[0].match
    await page.go(f"{house.url}/account")
    await sign_in(page, await house.token("alice"))
    await page.go(f"{house.url}/matches/{match}")
    await page.evaluate("location.hash = '#output'")  # as the link on the page of the bot has it
    hidden = "document.querySelector('#output').hidden"
    await page.until(f"document.querySelector('#output') && {hidden}")
    await told(house, match, cut=1234, cut_at=2)
    for ply, action in enumerate(["a3", "b3", "a2", "b2", "a1"]):
        await bots[ply % 2].act(action)
    await bots[0].finish()
    await page.until(f"!{hidden}")
    assert await page.evaluate("document.querySelector('#output').open")
    shown = await page.evaluate(
        "[...document.querySelectorAll('#output section')].map((each) =>"
        " [...each.querySelectorAll('p, pre')].map((one) => one.textContent.trim()))"
    )
    assert shown == [
        ["Outside of its plies", "loaded"],
        ["Ply 1 3.0 ms, 2.0 ms of a processor, 0.5 ms waiting for one", "<b>I see</b> X"],
        ["1,234 bytes are left out here.", "Ply 3", PRINTED[2].text],
        ["Ply 5 1.0 ms, 1.0 ms of a processor"],
    ]
    await page.until("document.querySelector('#where').textContent === '5 / 5'")
    await page.click("#output button[data-ply='3']")
    await page.until("document.querySelector('#output .here')?.dataset.at === '3'")
    await page.until("document.querySelector('#where').textContent === '3 / 5'")
    assert page.errors == []


async def test_the_page_of_the_bot_leads_its_author_there_and_nobody_else(house: House) -> None:
    bots = await house.pair("tic_tac_toe")
    match = bots[0].match
    await told(house, match)
    async with httpx.AsyncClient(base_url=house.url) as web:
        web.headers["origin"] = house.url
        link = f'href="/matches/{match}#output"'

        async def shown() -> list[bool]:
            pages = [f"/bots/alice/bot?show={each}" for each in ("", "all")]
            texts = [(await web.get(page)).text for page in [*pages, f"/matches/{match}"]]
            return [link in texts[0], link in texts[1], " data-output" in texts[2]]

        async def sign_in_as(player: str) -> None:
            token = {"token": await house.token(player)}
            assert (await web.post("/api/v1/session", json=token)).status_code == 200

        assert await shown() == [False] * 3
        await sign_in_as("alice")
        assert await shown() == [False, False, True], "only when it is over"
        for ply, action in enumerate(["a3", "b3", "a2", "b2", "a1"]):
            await bots[ply % 2].act(action)
        await bots[0].finish()
        assert await shown() == [True] * 3
        await sign_in_as("bob")
        assert await shown() == [False, False, True], "of his own bot, were there anything"
        await sign_in_as("eve")
        assert await shown() == [False] * 3
