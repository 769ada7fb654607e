"""A student hands a bot in on the page of its competition."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator

import httpx
import pytest
import pytest_asyncio
from tests.harness.server import Server
from tests.web.browser import Page, sign_in

from plyhouse.server.config import ServerConfig
from plyhouse.server.serve import running_server
from plyhouse.storage import (
    competition_sql,
    competition_students,
    submission_checks,
    submission_sql,
)
from plyhouse.storage.competition_rows import NewMember
from plyhouse.storage.rows import By

FILE = 'name = "Cup"\ngames = ["tic_tac_toe"]\ntime_control = "move:1"\nboard = "class"\n'
URL = "/competitions/cup"
BOT = "from plyhouse.bots import Bot\n"
GAMES = ("tic_tac_toe",)


@pytest_asyncio.fixture(loop_scope="session")
async def hall() -> AsyncIterator[Server]:
    config = ServerConfig(
        port=0, database="sqlite:///:memory:", hosted=True, max_submission_bytes=2000
    )
    async with running_server(config) as server, contextlib.AsyncExitStack() as stack:
        yield Server(server, stack)


async def opened(hall: Server) -> str:
    """An open competition with ada in it; returns her token."""
    token = await hall.token("ada")
    await hall.hub.competitions.open(FILE, By("olga"))
    people = [NewMember("ada", "ada")]
    await hall.hub.store.write(
        competition_students.take_in, "cup", people, By("olga"), hall.hub.store.now(), adopt="*"
    )
    return token


async def test_a_session_hands_in_from_pages_of_the_server_only(hall: Server) -> None:
    token, store = await opened(hall), hall.hub.store
    async with httpx.AsyncClient(base_url=hall.server.url) as web:
        assert 'id="submit-form"' not in (await web.get(URL)).text, "not for everybody"
        web.headers["origin"] = hall.server.url
        assert (await web.post("/api/v1/session", json={"token": token})).status_code == 200
        assert 'id="submit-form"' in (await web.get(URL)).text
        query = {"file": "mybot.py", "competition": "cup"}
        for headers, status in (
            ({"origin": "https://elsewhere.example"}, 403),
            ({"sec-fetch-site": "cross-site"}, 403),
            ({}, 201),
        ):
            answer = await web.post(
                "/api/v1/submissions", params=query, content=BOT, headers=headers
            )
            assert answer.status_code == status, answer.text
        (number,) = await store.read(submission_checks.waiting)
        assert "waits for its check" in (await web.get(URL)).text
        await store.write(submission_sql.check, number, False, "<b>no</b> & no more", (), 1)
        shown = (await web.get(URL)).text
        assert "&lt;b&gt;no&lt;/b&gt; &amp; no more" in shown
        assert "<strong>refused</strong>" in shown
        await hall.hub.store.write(
            competition_sql.move, "cup", "freeze", By("olga"), hall.hub.store.now()
        )
        frozen = (await web.get(URL)).text
        assert ('id="submit-form"' in frozen, "What the check said" in frozen) == (False, True)


async def test_player_who_only_connects_reads_that_only_submitted_bots_play(hall: Server) -> None:
    token = await hall.token("ada")
    await hall.hub.competitions.open(FILE + "[hosting]\nrequired = true\n", By("olga"))
    people = [NewMember("ada", "ada")]
    await hall.hub.store.write(
        competition_students.take_in, "cup", people, By("olga"), hall.hub.store.now(), adopt="*"
    )
    async with httpx.AsyncClient(base_url=hall.server.url) as web:
        web.headers["origin"] = hall.server.url
        assert (await web.post("/api/v1/session", json={"token": token})).status_code == 200
        assert "only submitted bots play here" in (await web.get(URL)).text
        await hall.bot("ada", "deep")
        assert "the final starts without it" in (await web.get(URL)).text

        async def left_out() -> list[bool]:
            rows = (await web.get("/api/v1/versions")).json()
            return [entry["left_out"] for each in rows for entry in each["entered"]]

        assert await left_out() == [True]
        await web.post(
            "/api/v1/submissions",
            params={"file": "deep.py", "competition": "cup"},
            content=BOT,
        )
        (number,) = await hall.hub.store.read(submission_checks.waiting)
        await hall.hub.store.write(submission_sql.check, number, True, "", GAMES, 1)
        assert "the final starts without it" not in (await web.get(URL)).text
        assert await left_out() == [False]


@pytest.mark.browser
async def test_a_file_is_chosen_sent_and_entered(hall: Server, page: Page) -> None:
    token, store = await opened(hall), hall.hub.store
    await page.go(f"{hall.server.url}/account")
    await sign_in(page, token)
    await page.go(hall.server.url + URL)

    async def choose(name: str, text: str) -> None:
        await page.evaluate(
            "(() => { const chosen = new DataTransfer();"
            f"chosen.items.add(new File([{json.dumps(text)}], {json.dumps(name)}));"
            "document.querySelector('#submit-file').files = chosen.files; })()"
        )
        await page.click("#submit-form button")

    async def said(text: str) -> None:
        await page.until(f"document.querySelector('#state').textContent.includes({text!r})")

    await choose("large.py", "#" * 2001)
    await said("at most 2,000")
    await choose("deep.pkl", "x")
    await said("submit a .py file")
    await choose("deep.py", BOT)
    await said("ada/deep has come")
    assert "waits for its check" in await page.text("#own-submissions")
    (number,) = await store.read(submission_checks.waiting)
    await store.write(submission_sql.check, number, True, "All checks passed.", GAMES, 5)
    await page.go(hall.server.url + URL)
    assert "ready, entered" in await page.text("#own-submissions")
    assert "ada/deep" in await page.text("#own-entries")
    refused = [each for each in page.errors if "file=deep.pkl" in each]
    assert page.errors == refused, "the browser notes that refusal only"
