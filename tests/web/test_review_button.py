"""Where a match was lost, asked for on its page."""

from __future__ import annotations

import shlex

import pytest
from tests.harness.zygote import forked_command

from plyhouse.server.serve import running_server

from .browser import Page, sign_in
from .conftest import House, patient

PERCENT = "\N{NO-BREAK SPACE}%"

pytestmark = pytest.mark.browser


async def test_the_ply_that_lost_is_one_press_away(page: Page) -> None:
    review = shlex.join([*forked_command(), "review", "-", "--json"])
    async with running_server(patient(review_command=review)) as server:
        house = House(server)
        match = await house.play("tic_tac_toe", "b2 b1 a1 c3 a3 c1 a2")
        await page.go(f"{house.url}/matches/{match}")
        await page.until("document.querySelector('#review button')")
        await page.click("#review button")
        await page.until("document.querySelector('#review')?.textContent.includes('was lost at')")
        told = await page.text("#review")
        assert f"The value was lost at ply 2: b1 is worth 0{PERCENT} (lost)" in told
        assert "Ask your bot again" not in told, "for its author alone"
        assert await page.text("#review button[data-ply='1']") == f"Ply 2: b1 cost 50{PERCENT}"
        await page.show_as(390, 664)
        await page.click("#review button[data-ply='1']")
        await page.until("document.querySelector('#where').textContent.startsWith('1 / ')")
        await page.until("document.querySelector('#scene').getBoundingClientRect().top >= 0")
        await page.show_as(1366, 768)
        # Authors of its bots are asked about their own side, also when they come later.
        for player, asked in (
            ("bob", "Where did my bot lose it?"),
            ("alice", "Where did it turn?"),
        ):
            await sign_in(page, await house.token(player))
            await page.go(f"{house.url}/matches/{match}")
            await page.until("document.querySelector('#review button')")
            assert await page.text("#review button") == asked
            await page.click("#review button")
            await page.until("document.querySelector('#review').textContent.includes('ply')")
            told = await page.text("#review")
            command = f"Ask your bot again: plyhouse bot ask mybot.py --match {match} --ply 2"
            assert (f"{command} --server {house.url}" in told) == (player == "bob"), told
        await page.go(f"{house.url}/bots/bob/bot")
        await page.click("#ask")
        await page.until("document.querySelector('#lost')?.textContent.includes('per ply')")
        assert f"tic_tac_toe: 16.7{PERCENT} per ply" in await page.text("#lost")
        assert page.errors == []


async def test_a_server_that_reviews_nothing_offers_nothing(house: House, page: Page) -> None:
    match = await house.play("tic_tac_toe", "b2 b1 a1 c3 a3 c1 a2")
    await page.go(f"{house.url}/matches/{match}")
    await page.until("document.querySelector('#outcome')?.textContent.includes('wins')")
    assert await page.evaluate("document.querySelector('#review').hidden")
    assert page.errors == []
