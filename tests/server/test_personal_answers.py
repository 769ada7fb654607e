"""No cache keeps what one person was shown for another: a sweep over all routes."""

from __future__ import annotations

import re

import httpx
import pytest
from tests.harness.finals import Course, weaker_resigns
from tests.harness.patience import PATIENCE
from tests.harness.server import Server
from tests.server.routes import get_paths

FILE = """
name = "Cup"
games = ["tic_tac_toe"]
time_control = "total:60"
board = "class"
"""


@pytest.fixture
async def cup(house: Server) -> Course:
    made = Course(house, FILE)
    await made.freeze("tic_tac_toe", "s0", "s1")
    await made.play(weaker_resigns(["s0", "s1"]))
    return made


def browser(cup: Course) -> httpx.AsyncClient:
    """A client that keeps cookies, as browsers do."""
    return httpx.AsyncClient(base_url=cup.house.server.url, timeout=PATIENCE)


async def sign_in(web: httpx.AsyncClient, token: str) -> None:
    """Begin a session."""
    page = {"Origin": str(web.base_url).rstrip("/")}
    answer = await web.post("/api/v1/session", json={"token": token}, headers=page)
    assert answer.status_code == 200, answer.text


def timeless(text: str) -> str:
    """An answer without the numbers that differ each time: seconds since the start, counters."""
    return re.sub(r"\d+(\.\d+)?", "", text)


async def test_answers_that_differ_by_person_are_kept_by_no_cache(cup: Course) -> None:
    async with cup.web("s0") as web:
        (match, *_) = [
            each["match"] for each in (await web.get("/api/v1/matches?player=s0")).json()
        ]
    paths = get_paths(
        {
            "competition": ["cup"],
            "tournament": ["cup"],
            "reference": ["cup"],
            "player": ["s0"],
            "name": ["s0"],
            "bot": ["bot"],
            "match": [match],
            "game": ["tic_tac_toe"],
            "form": ["jsonl", "csv"],
            "digest": ["0" * 64],
            "submission": ["1"],
            "path": ["nothing"],
        }
    )
    differ = []
    async with cup.web() as stranger, cup.web("s0") as by_token, browser(cup) as by_session:
        await sign_in(by_session, cup.tokens["s0"])
        for path in paths:
            shown = await stranger.get(path)
            for web in (by_token, by_session):
                own = await web.get(path)
                same = own.status_code == shown.status_code
                if same and timeless(own.text) == timeless(shown.text):
                    continue
                differ.append(path)
                for answer in (own, shown):
                    assert answer.headers.get("cache-control") == "no-store", path
                    assert "cookie" in answer.headers.get("vary", "").lower(), path
                    assert "authorization" in answer.headers["vary"].lower(), path
    assert {"/", "/matches", f"/matches/{match}", "/competitions/cup"} <= set(differ)
    assert "/api/v1/session" in differ
