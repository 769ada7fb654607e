"""Requests for a regrade: who may ask about what, who reads and answers, and the limits."""

from __future__ import annotations

from typing import Any

import pytest
from tests.harness.finals import Course, weaker_resigns

from plyhouse.storage import audit

FILE = 'name = "cup"\ngames = ["pig"]\ntime_control = "total:60"\nboard = "anonymous"\n'
TEXT = "My bot won ply 3.\n<script>alert(1)</script> & more"


@pytest.fixture
async def cup(house: Any) -> Course:
    """A finished final of ada, ben and cy."""
    made = Course(house, FILE)
    await made.freeze("pig", "ada", "ben", "cy")
    await made.play(weaker_resigns(["ada", "ben", "cy"]))
    return made


async def send(cup: Course, who: str, path: str = "", **body: Any) -> tuple[int, Any]:
    async with cup.web(who) as web:
        answer = await web.post(f"{cup.here}/regrades{path}", json=body)
    return answer.status_code, answer.json()


async def matches(cup: Course, *players: str) -> list[str]:
    """Ids of the matches between exactly these players, as the staff sees them."""
    async with cup.web("olga") as web:
        rows = (await web.get("/api/v1/matches")).json()
    return [
        each["match"] for each in rows if {seat["player"] for seat in each["seats"]} == set(players)
    ]


async def test_request_is_answered_and_read_by_its_student_and_staff_only(cup: Course) -> None:
    (match, *_) = await matches(cup, "ada", "ben")
    status, made = await send(cup, "ben", text=TEXT, match=match)
    assert (status, made["student"], made["match"]) == (201, "ben", match)
    assert made["closed_ms"] is None
    assert (await send(cup, "ada", text="And my grade?"))[0] == 201
    seen = {who: await cup.get("/regrades", who) for who in ("olga", "ada", "ben", "cy", "eve")}
    assert {who: [each["student"] for each in rows] for who, rows in seen.items()} == {
        "olga": ["ada", "ben"], "ada": ["ada"], "ben": ["ben"], "cy": [], "eve": [],
    }  # fmt: skip
    await cup.get("/regrades", "", 401)
    path = f"/{made['id']}/answer"
    for who, refused in (("", 401), ("ben", 403), ("eve", 403)):
        assert (await send(cup, who, path, text="Full marks"))[0] == refused
    status, answered = await send(cup, "olga", path, text="<b>You lost.</b>")
    assert (status, answered["answered_by"], answered["closed_ms"]) == (200, "olga", None)
    status, closed = await send(cup, "olga", path, text="You lost on time.", close=True)
    assert (closed["answer"], closed["closed_ms"] is None) == ("You lost on time.", False)
    assert (await send(cup, "olga", path, text="no"))[1]["code"] == "competition/not_now"
    (own,) = await cup.get("/regrades", "ben")
    assert own["answer"] == "You lost on time."
    for who, shown in (("olga", True), ("ben", True), ("ada", False), ("", False)):
        async with cup.web(who) as web:
            page = (await web.get("/competitions/cup")).text
        assert ("You lost on time." in page) == shown
        assert "<script>alert" not in page
    log = await cup.house.hub.store.read(audit.latest)
    done = [(each.who, each.what) for each in log if each.what.startswith("regrade")]
    assert done == [
        ("olga", "regrade.close"), ("olga", "regrade.answer"), ("olga", "regrade.answer"),
        ("ada", "regrade.ask"), ("ben", "regrade.ask"),
    ]  # fmt: skip


async def test_only_own_finished_matches_of_the_competition_are_asked_about(cup: Course) -> None:
    (others, *_) = await matches(cup, "ada", "cy")
    for match in (others, "nowhere"):
        status, refused = await send(cup, "ben", text="?", match=match)
        assert (status, refused["code"]) == (404, "storage/unknown"), "the same for both"
    assert (await send(cup, "eve", text="?"))[1]["code"] == "competition/no_student"
    assert (await send(cup, "", text="?"))[0] == 401
    async with cup.web("olga") as web:
        await web.post(f"{cup.here}/withdraw", json={"who": "cy"})
    assert (await send(cup, "cy", text="?"))[1]["code"] == "competition/no_student"


async def test_requests_are_limited_in_number_and_length(cup: Course) -> None:
    for text in ("", "x" * 2001):
        assert (await send(cup, "ada", text=text))[0] == 400
    for _ in range(5):
        assert (await send(cup, "ada", text="x" * 2000))[0] == 201
    status, refused = await send(cup, "ada", text="again")
    assert (status, refused["code"]) == (409, "competition/too_many")
    assert "5 open requests" in refused["detail"]
    assert (await send(cup, "ben", text="mine"))[0] == 201, "each has their own"
    for each in await cup.get("/regrades", "ada"):
        assert (await send(cup, "olga", f"/{each['id']}/answer", close=True))[0] == 200
    assert (await send(cup, "ada", text="again"))[0] == 201


async def test_request_of_one_competition_is_not_answered_through_another(cup: Course) -> None:
    _, made = await send(cup, "ada", text="?")
    async with cup.web("olga") as web:
        file = FILE.replace('"cup"', '"other"')
        await web.post("/api/v1/competitions", json={"file": file})
        where = f"/api/v1/competitions/other/regrades/{made['id']}/answer"
        assert (await web.post(where, json={"text": "!"})).status_code == 404
