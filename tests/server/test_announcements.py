"""Announcements of competitions: who writes them, who reads them, and how they are shown."""

from __future__ import annotations

from typing import Any

import pytest
from tests.harness.finals import Course

from plyhouse.storage import audit

TEXT = "Room 3, not 4.\n<script>alert(1)</script> & bring your own machine"


@pytest.mark.parametrize(
    ("board", "readers"),
    [
        ("public", {"", "eve", "ada", "olga"}),
        ("class", {"ada", "olga"}),
        ("anonymous", {"ada", "olga"}),
    ],
)
async def test_announcement_is_read_by_those_who_may_see_the_board(
    house: Any, board: str, readers: set[str]
) -> None:
    cup = Course(
        house, f'name = "cup"\ngames = ["pig"]\ntime_control = "move:1"\nboard = "{board}"'
    )
    await cup.freeze("pig", "ada", "ben")
    async with cup.web("olga") as web:
        made = await web.post(f"{cup.here}/announcements", json={"text": TEXT})
        assert made.status_code == 201, made.text
        assert (made.json()["who"], made.json()["kind"]) == ("olga", "note")
    for who in ("", "eve", "ada", "olga"):
        async with cup.web(who) as web:
            listed = await web.get(f"{cup.here}/announcements")
            page = (await web.get("/competitions/cup")).text
        if who in readers:
            assert [each["text"] for each in listed.json()] == [TEXT]
        else:
            assert listed.status_code in (401, 403)
        assert ("Room 3, not 4." in page) == (who in readers)
        assert "<script>alert" not in page
        assert ("data-remove" in page) == (who == "olga")


async def test_announcements_are_listed_newest_first_and_removed_by_staff_only(house: Any) -> None:
    cup = Course(house, 'name = "cup"\ngames = ["pig"]\ntime_control = "move:1"')
    await cup.freeze("pig", "ada", "ben")
    async with cup.web("olga") as olga, cup.web("ada") as ada:
        for text in ("one", "two", "three"):
            await olga.post(f"{cup.here}/announcements", json={"text": text})
        refused = await ada.post(f"{cup.here}/announcements", json={"text": "mine"})
        assert refused.status_code == 403
        rows = (await ada.get(f"{cup.here}/announcements")).json()
        assert [each["text"] for each in rows] == ["three", "two", "one"]
        where = f"{cup.here}/announcements/{rows[1]['id']}"
        assert (await ada.delete(where)).status_code == 403
        assert (await olga.delete(where)).status_code == 204
        gone = await olga.delete(where)
        assert (gone.status_code, gone.json()["code"]) == (404, "storage/unknown")
        rows = (await ada.get(f"{cup.here}/announcements")).json()
        assert [each["text"] for each in rows] == ["three", "one"]
        for text in ("", "x" * 4001):
            answer = await olga.post(f"{cup.here}/announcements", json={"text": text})
            assert answer.status_code == 400
    log = await house.hub.store.read(audit.latest)
    assert [each.what for each in log[:4]] == ["announcement.remove", *["announcement.add"] * 3]


async def test_an_announcement_of_one_competition_is_not_removed_through_another(
    house: Any,
) -> None:
    cup = Course(house, 'name = "cup"\ngames = ["pig"]\ntime_control = "move:1"')
    await cup.freeze("pig", "ada", "ben")
    async with cup.web("olga") as web:
        text = 'name = "other"\ngames = ["pig"]\ntime_control = "move:1"'
        await web.post("/api/v1/competitions", json={"file": text})
        made = (await web.post(f"{cup.here}/announcements", json={"text": "x"})).json()
        other = f"/api/v1/competitions/other/announcements/{made['id']}"
        assert (await web.delete(other)).status_code == 404


async def test_competition_holds_a_limited_number_of_announcements(house: Any) -> None:
    cup = Course(house, 'name = "cup"\ngames = ["pig"]\ntime_control = "move:1"')
    await cup.freeze("pig", "ada", "ben")
    async with cup.web("olga") as web:
        for number in range(200):
            await web.post(f"{cup.here}/announcements", json={"text": str(number)})
        full = await web.post(f"{cup.here}/announcements", json={"text": "one more"})
    assert (full.status_code, full.json()["code"]) == (409, "competition/too_many")
