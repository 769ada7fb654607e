"""The match that the home page shows: which one, and to whom."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import httpx
import msgspec
import pytest
from tests.harness.patience import PATIENCE
from tests.harness.server import Server

from plyhouse.protocol.messages import MatchMessage, Ready
from plyhouse.server.web.pages.example_matches import EXAMPLES, example

from .browser import Page
from .conftest import House
from .test_competitions import NAMES, course

WIN = "a1 b1 a2 b2 a3"


async def hero(url: str, **headers: str) -> tuple[str, str] | None:
    """Return the match of the home page and its status; None if it shows no match."""
    async with httpx.AsyncClient(base_url=url, headers=headers) as web:
        answer = await web.get("/")
    assert answer.status_code == 200
    found = re.search(r'id="hero" data-match="([^"]+)" data-status="([^"]+)"', answer.text)
    return (found[1], found[2]) if found else None


async def test_home_page_prefers_running_to_recent_and_open_to_hidden_information(
    house: House,
) -> None:
    assert await hero(house.url) is None
    bots = await house.pair("tic_tac_toe")
    bots[0].resign()  # before anything is to be seen
    await bots[0].finish()
    assert await hero(house.url) is None
    cards = await house.pair("kuhn_poker")
    assert await hero(house.url) == (cards[0].match, "running"), "better than none"
    recent = await house.play("tic_tac_toe", WIN)
    assert await hero(house.url) == (recent, "finished"), "cards from behind show nothing"
    later = await house.play("tic_tac_toe", WIN)
    assert await hero(house.url) == (later, "finished")
    live = await house.pair("connect_four")
    assert await hero(house.url) == (live[0].match, "running")
    await house.pair("kuhn_poker")
    await house.play("tic_tac_toe", WIN)
    assert await hero(house.url) == (live[0].match, "running")


async def test_home_page_shows_an_example_where_no_match_can_be_shown(house: House) -> None:
    async with httpx.AsyncClient(base_url=house.url) as web:
        home = (await web.get("/")).text
        named = re.search(r'data-replay="([^"]+)"', home)
        assert named is not None
        found = (await web.get(named[1])).json()
        none = await web.get("/games/pig/example")
    assert (found["plies"], len(found["frames"])) == (33, 34)
    assert none.status_code == 404


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_is_a_match_of_its_game(name: str) -> None:
    shown = msgspec.json.decode(example(name))
    assert [frame["ply"] for frame in shown["frames"]] == list(range(shown["plies"] + 1))
    assert shown["frames"][-1]["scene"]["elements"]


@pytest.mark.browser
async def test_rules_play_an_example_beside_them(house: House, page: Page) -> None:
    await page.go(f"{house.url}/games/chess")
    await page.until("document.querySelector('#hero .field svg')")
    await page.click("#hero button")
    assert await page.text("#hero button") == "Continue"
    assert page.errors == []


async def ready(client: Any) -> None:
    """Begin the first match of a bot."""
    snapshot = (await client.next(MatchMessage)).snapshot
    await client.ask(Ready, snapshot.match)


@pytest.mark.parametrize("board", ["anonymous", "class"])
async def test_home_page_shows_no_match_of_a_closed_competition_to_visitors(
    hall: Server, board: str
) -> None:
    cup = await course(hall, board)
    await cup.begin()
    tasks = [asyncio.create_task(ready(client)) for client in cup.bots.values()]
    staff = {"Authorization": f"Bearer {cup.tokens['olga']}"}
    try:
        async with asyncio.timeout(PATIENCE):
            while await hero(hall.server.url, **staff) is None:  # noqa: ASYNC110 (the organiser)
                await asyncio.sleep(0.05)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    assert await hero(hall.server.url) is None
    names = [f"{name}/bot" for name in NAMES]
    async with httpx.AsyncClient(base_url=hall.server.url) as web:
        text = (await web.get("/")).text
    assert not any(name in text for name in names)


@pytest.mark.browser
async def test_home_page_without_a_match_plays_an_example(house: House, page: Page) -> None:
    await page.go(f"{house.url}/")
    await page.until("document.querySelector('.hero h1').checkVisibility()")
    await page.until("document.querySelectorAll('.hero .field svg *').length > 64")
    bots = await house.pair("connect_four")
    await bots[0].act("4")
    await page.go(f"{house.url}/")
    await page.until("document.querySelectorAll('#hero .stone circle').length === 1")
    await bots[1].act("4")
    await page.until("document.querySelectorAll('#hero .stone circle').length === 2")
    assert page.errors == []
