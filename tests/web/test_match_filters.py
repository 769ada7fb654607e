"""Looking for matches: on the page, with all of it in the address, and over the API."""

from __future__ import annotations

import html
import re

import httpx
import pytest

from plyhouse.server.web.pages import matches as pages

from .browser import Page
from .conftest import House


async def played(house: House) -> dict[str, str]:
    """Two finished matches and one that runs, by what they are."""
    found = {}
    found["tic"] = await house.play("tic_tac_toe", "a1 b1 a2 b2 a3")
    bots = await house.pair("connect_four")
    found["resigned"] = bots[0].match
    bots[0].resign()
    await bots[1].finish()
    running = await house.pair("tic_tac_toe")
    found["running"] = running[0].match
    return found


def listed(text: str) -> set[str]:
    """The matches that a page shows."""
    return set(re.findall(r'<a href="/matches/([^"?]+)" aria-label', text))


async def test_the_page_shows_what_is_looked_for_and_says_so(house: House) -> None:
    made = await played(house)
    cases = {
        "": ({"tic", "resigned", "running"}, "Matches"),
        "game=tic_tac_toe": ({"tic", "running"}, "Matches: tic_tac_toe"),
        "game=tic_tac_toe&status=finished": ({"tic"}, "Matches: tic_tac_toe, finished"),
        "status=running": ({"running"}, "Matches: running"),
        "termination=resignation": ({"resigned"}, "Matches: ended by resignation"),
        "player=ALICE": ({"tic", "resigned", "running"}, "Matches: of alice"),
        "bot=bob/bot&game=connect_four": ({"resigned"}, "Matches: connect_four, of bob/bot"),
        "bot=bob/bot&player=&game=&termination=normal": (
            {"tic"},
            "Matches: of bob/bot, ended by normal",
        ),
    }
    async with httpx.AsyncClient(base_url=house.url) as web:
        for query, (expected, title) in cases.items():
            answer = await web.get(f"/matches?{query}")
            assert answer.status_code == 200, answer.text
            assert listed(answer.text) == {made[each] for each in expected}, query
            assert f"<title>{title} - Plyhouse</title>" in answer.text
            assert f"<h1>{title}</h1>" in answer.text
            status = "" if "status" in query or "termination" not in query else "&status=finished"
            api = await web.get(f"/api/v1/matches?{query}{status}")
            assert {each["match"] for each in api.json()} == {made[each] for each in expected}


async def test_a_game_is_found_with_all_its_parameters_or_with_those_that_are_named(
    house: House,
) -> None:
    made = {}
    for game in ("pig", "pig(target=30)", "pig(target=50)"):
        bots = await house.pair(game)
        made[game] = bots[0].match
        if game != "pig(target=50)":  # which runs on
            bots[0].resign()
            await bots[1].finish()
    cases = {
        "pig": set(made),
        "pig(target=30)": {"pig(target=30)"},
        "pig(target=50)": {"pig(target=50)"},
        "pig(target=100)": {"pig"},  # its full name
        "tic_tac_toe": set(),
    }
    async with httpx.AsyncClient(base_url=house.url) as web:
        for game, expected in cases.items():
            text = (await web.get("/matches", params={"game": game})).text
            assert listed(text) == {made[each] for each in expected}, game
            api = (await web.get("/api/v1/matches", params={"game": game})).json()
            assert {each["match"] for each in api} == {made[each] for each in expected}, game


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("game=ches", "chess"),
        ("player=nobody", "no player 'nobody' on this server."),
        ("bot=alice", "PLAYER/BOT"),
        ("bot=alice/nothing", "nothing"),
        ("competition=Cupp", "Cupp"),
        ("termination=flagfall", "did you mean flag_fall?"),
        ("status=lost", "finished, running, waiting"),
        ("before=none", "start anew"),
    ],
)
async def test_what_is_not_known_is_said_and_the_form_keeps_it(
    house: House, query: str, says: str
) -> None:
    await house.token("alice")
    async with httpx.AsyncClient(base_url=house.url) as web:
        page = await web.get(f"/matches?{query}")
        assert page.status_code == 404
        alert = page.text.partition('role="alert"')[2].partition("</p>")[0]
        assert says in html.unescape(alert)
        name, _, value = query.partition("=")
        if name in ("game", "player", "bot", "competition"):
            assert f'name="{name}" value="{value}"' in page.text
        answer = await web.get(f"/api/v1/matches?{query}")
        assert answer.status_code in (400, 404), answer.text
        assert says in answer.json()["detail"]


async def test_parts_of_a_list_keep_what_is_looked_for(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "FINISHED", 1)
    first = await house.play("tic_tac_toe", "a1 b1 a2 b2 a3")
    await house.play("connect_four", "1 2 1 2 1 2 1")
    last = await house.play("tic_tac_toe", "a1 b1 a2 b2 a3")
    seen = []
    path = "/matches?game=tic_tac_toe&player=alice&termination="
    async with httpx.AsyncClient(base_url=house.url) as web:
        while path:
            text = (await web.get(path)).text
            seen += sorted(listed(text))
            older = re.search(r'<a href="([^"]+)">Older matches', text)
            path = html.unescape(older[1]) if older else ""
            assert not path or "game=tic_tac_toe&player=alice&before=" in path
    assert seen == [last, first]


@pytest.mark.browser
async def test_the_form_puts_what_is_looked_for_into_the_address(house: House, page: Page) -> None:
    match = await house.play("tic_tac_toe", "a1 b1 a2 b2 a3")
    await house.play("connect_four", "1 2 1 2 1 2 1")
    await page.go(f"{house.url}/matches")
    await page.evaluate("document.querySelector('#look').open = true")
    await page.evaluate("document.querySelector('#game').value = 'tic_tac_toe'")
    await page.click("#look button")
    there = "location.search.includes('game=tic_tac_toe')"
    await page.until(f"{there} && document.readyState === 'complete'")
    assert await page.text("h1") == "Matches: tic_tac_toe"
    assert listed(await page.evaluate("document.querySelector('#finished').innerHTML")) == {match}
    assert await page.evaluate("document.querySelector('#game').value") == "tic_tac_toe"
    assert page.errors == []
