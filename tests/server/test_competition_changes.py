"""Competitions that change after they were opened, over HTTP and while no server runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
from tests.harness.clocks import WallClock
from tests.harness.finals import HERE, Course, weaker_resigns

from plyhouse.server.competitions.file_changes import change, propose, unfreeze
from plyhouse.server.config import ServerConfig
from plyhouse.server.gateway.hub import Hub
from plyhouse.storage import (
    audit,
    competition_sql,
    competition_staff,
    competition_students,
    join_codes,
)
from plyhouse.storage import people as stored_people
from plyhouse.storage.competition_rows import NewMember
from plyhouse.storage.rows import By
from plyhouse.storage.store import Store

OLGA = By("olga")
CUP = """
name = "Cup"
games = ["connect_four"]
time_control = "total:60"
board = "anonymous"
[[baselines]]
bot = "easy/bot"
grade = "pass"
at_least = 0.9
[[baselines]]
bot = "secret/bot"
hidden = true
grade = "good"
"""
STAFF = ("easy", "secret")


async def proposed(api: httpx.AsyncClient, text: str, *, apply: bool = False) -> Any:
    answer = await api.post(f"{HERE}/cup/change", json={"file": text, "apply": apply, "why": "w"})
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_preview_changes_nothing_and_a_change_is_logged_and_told(house: Any) -> None:
    course = Course(house, CUP)
    await course.freeze("connect_four", "ada", staff=STAFF)
    text = CUP.replace("0.9", "0.3").replace('"total:60"', '"move:5"')
    async with course.web("olga") as api:
        seen = await proposed(api, text)
        assert [(each["key"], each["old"], each["new"]) for each in seen["changes"]] == [
            ("time_control", "total:60+0", "move:5"),
            ("baselines[easy/bot].at_least", "0.9", "0.3"),
        ]
        assert (seen["applied"], seen["status"]) == (False, "frozen")
        assert (await api.get(f"{HERE}/cup")).json()["time_control"] == "total:60+0"
        assert (await api.get(f"{HERE}/cup/announcements")).json() == []
        made = await proposed(api, text, apply=True)
        assert made["applied"]
        assert (await api.get(f"{HERE}/cup")).json()["time_control"] == "move:5"
        again = await proposed(api, text, apply=True)
        assert (again["changes"], again["applied"]) == ([], False)
        old = {"file": CUP, "apply": True, "digest": seen["digest"]}
        answer = await api.post(f"{HERE}/cup/change", json=old)
        assert answer.json()["code"] == "competition/changed_meanwhile"
    (told,) = await course.get("/announcements", "ada")
    assert told["kind"] == "change"
    assert told["text"] == (
        "Time control: total:60+0 -> move:5\nLeast score against baseline easy/bot: 0.9 -> 0.3"
    )
    log = await house.hub.store.read(audit.latest, limit=2)
    assert [(each.who, each.what, each.subject, each.why) for each in reversed(log)] == [
        ("olga", "competition.change", "Cup: time_control", "total:60+0 -> move:5; w"),
        ("olga", "competition.change", "Cup: baselines[easy/bot].at_least", "0.9 -> 0.3; w"),
    ]


async def test_threshold_after_the_final_changes_grades_and_games_are_refused(house: Any) -> None:
    file = CUP.replace('grade = "good"', "")
    course = Course(house, file)
    await course.freeze("connect_four", "ada", "bob", staff=STAFF)
    await course.play(weaker_resigns(["ada", "easy", "bob", "secret"]))

    async def grades() -> dict[str, str]:
        found = (await course.get("/export", "olga"))["grades"]
        return {each["student"]: each["grade"] for each in found}

    assert await grades() == {"ada": "pass", "bob": ""}
    other = file.replace("connect_four", "tic_tac_toe")
    async with course.web("olga") as api:
        seen = await proposed(api, other)
        assert "the final is finished" in seen["changes"][0]["refused"]
        answer = await api.post(f"{HERE}/cup/change", json={"file": other, "apply": True})
        assert answer.json()["code"] == "competition/change_refused"
        await proposed(api, file.replace("0.9", "0.0"), apply=True)
    assert await grades() == {"ada": "pass", "bob": "pass"}


async def test_grading_after_the_final_changes_grades_places_and_points(house: Any) -> None:
    course = Course(house, CUP)
    await course.freeze("connect_four", "ada", "bob", staff=STAFF)
    await course.play(weaker_resigns(["ada", "easy", "bob", "secret"]))

    async def grades() -> dict[str, tuple[str, float]]:
        found = (await course.get("/export", "olga"))["grades"]
        return {each["student"]: (each["grade"], each["points"]) for each in found}

    assert await grades() == {"ada": ("good", 2.0), "bob": ("", 0.0)}
    loose = CUP.replace("[[baselines]]", "[grading]\nevery_lower = false\n[[baselines]]", 1)
    async with course.web("olga") as api:
        await proposed(api, loose, apply=True)
    assert await grades() == {"ada": ("good", 2.0), "bob": ("good", 2.0)}
    async with course.web("olga") as api:
        seen = await proposed(api, loose.replace("[grading]", "[grading]\npoints = 10"), apply=True)
        assert [each["key"] for each in seen["changes"]] == ["grading.points"]
    assert await grades() == {"ada": ("good", 10.0), "bob": ("good", 10.0)}


async def test_anonymous_board_is_published_to_the_class(house: Any) -> None:
    course = Course(house, CUP)
    await course.freeze("connect_four", "ada", "bob", "cy", staff=STAFF)
    await course.play(weaker_resigns(["ada", "easy", "bob", "cy", "secret"]))
    part = (await house.hub.store.read(competition_sql.find, "cup")).games[0].tournament_id

    async def matches(who: str) -> int:
        async with course.web(who) as web:
            return len((await web.get(f"/api/v1/matches?competition={part}")).json())

    own = await matches("cy")
    assert "ada/bot" not in str(await course.get("/table", "cy"))
    async with course.web("olga") as api:
        made = await proposed(api, CUP.replace("anonymous", "class"), apply=True)
        assert made["notice"].startswith("Board: anonymous -> class. Students of the class see")
    every = await matches("olga")
    assert own < await matches("cy") == every
    assert await matches("eve") == 0
    table = str(await course.get("/table", "cy"))
    assert "ada/bot" in table
    assert "secret/bot" not in table
    async with course.web("olga") as api:
        await proposed(api, CUP.replace("anonymous", "public"), apply=True)
    assert await matches("eve") == every
    async with course.web("eve") as web:
        page = (await web.get("/competitions/cup")).text
    assert "Board: class -&gt; public" in page
    assert "secret/bot" not in page


async def test_baselines_change_before_the_final_and_limits_hold(house: Any) -> None:
    course = Course(house, CUP)
    await course.freeze("connect_four", "ada", "bob", staff=(*STAFF, "other"))
    async with course.web("olga") as api:
        swapped = CUP.replace("easy/bot", "other/bot")
        await proposed(api, swapped, apply=True)
        view = (await api.get(f"{HERE}/cup")).json()
        assert {e["entry"] for e in view["entries"] if e["baseline"]} == {"other/bot", "secret/bot"}
        for text, code in (
            (CUP.replace("easy/bot", "ada/bot"), "competition/entered"),
            (swapped + "[limits]\nstudents = 1\n", "competition/full"),
            (swapped.replace("other/bot", "no/bot"), "competition/invalid"),
            (swapped + "[dates]\nfinal = 2001-01-01T00:00:00Z\n", "competition/invalid"),
        ):
            answer = await api.post(f"{HERE}/cup/change", json={"file": text, "apply": True})
            assert answer.json()["code"] == code, answer.text
        assert (await api.get(f"{HERE}/cup/file")).json()["file"] == swapped


async def test_limit_of_matches_changes_while_the_final_runs(house: Any) -> None:
    course = Course(house, CUP + "[limits]\nmatches_at_a_time = 2\n")
    await course.freeze("connect_four", "ada", "bob", staff=STAFF)
    await course.begin()
    running = {each.settings.at_a_time for each in house.hub.tournaments.played()}
    assert running == {2}
    async with course.web("olga") as api:
        await proposed(api, CUP + "[limits]\nmatches_at_a_time = 6\n", apply=True)
    assert {each.settings.at_a_time for each in house.hub.tournaments.played()} == {6}


async def test_unfreeze_lets_versions_change_until_the_final_begins(house: Any) -> None:
    course = Course(house, CUP)
    await course.freeze("connect_four", "ada", "bob", staff=STAFF)
    async with course.web("olga") as api:
        made = await api.post(f"{HERE}/cup/unfreeze", json={"why": "a bug in the starter"})
        assert made.json()["status"] == "open"
        twice = await api.post(f"{HERE}/cup/unfreeze", json={})
        assert twice.json()["code"] == "competition/not_now"
        assert (await course.get("/announcements", "ada"))[0]["text"] == (
            "The competition is open again."
        )
        await api.post(f"{HERE}/cup/freeze", json={})
        until = {"until": "2999-01-01T00:00:00Z"}
        assert (await api.post(f"{HERE}/cup/unfreeze", json=until)).json()["freezes_ms"] > 10**13
        await api.post(f"{HERE}/cup/freeze", json={})
        await course.begin()
        late = await api.post(f"{HERE}/cup/unfreeze", json={})
        assert late.json()["code"] == "competition/not_now"
    assert [
        each.subject for each in await house.hub.store.read(audit.latest)
        if each.what == "competition.unfreeze"
    ] == ["Cup: dates.freeze", "Cup"]  # fmt: skip


DATED = """
name = "Cup"
games = ["pig"]
time_control = "total:60"
[dates]
freeze = 2026-10-05T00:00:00Z
final = 2026-10-10T00:00:00Z
"""


async def test_changed_dates_move_freeze_and_final_also_after_a_restart(tmp_path: Path) -> None:
    clock = WallClock("2026-09-01")
    url = f"sqlite:///{tmp_path / 'a.db'}"

    async def hub() -> Hub:
        store = await Store.open(url, clock=clock)
        return await Hub.open(ServerConfig(database=url), store=store)

    async def status(of: Hub) -> str:
        await of.competitions.look()
        return (await of.store.read(competition_sql.find, "Cup")).status

    async def move(of: Hub, text: str) -> None:
        row = await of.store.read(competition_sql.find, "Cup")
        await change(
            of.store, of.competitions, await propose(of.store, of.competitions, row, text), OLGA
        )

    first = await hub()
    try:
        await first.competitions.open(DATED, OLGA)
        people = [NewMember(name, name) for name in ("ada", "bob")]
        await first.store.write(
            competition_students.take_in, "Cup", people, OLGA, first.store.now()
        )
        for name in ("ada", "bob"):
            bot = await first.store.ensure_bot(
                (await first.store.read(stored_people.player, name)).id, "bot"
            )
            await first.store.log_in(bot, "1")
        clock.set("2026-10-04")
        await move(first, DATED.replace("10-05", "10-07"))
        clock.set("2026-10-06")
        assert await status(first) == "open", "the date of before does nothing"
        await first.store.write(
            competition_students.extend,
            "Cup",
            "ada",
            clock.now + 5 * 86_400_000,
            OLGA,
            first.store.now(),
        )
    finally:
        await first.close()
    clock.set("2026-10-07")
    second = await hub()
    try:
        assert await status(second) == "frozen"
        later = DATED.replace("10-05", "10-09").replace("10-10", "10-12")
        await move(second, later)
        assert await status(second) == "open", "a later freeze opens it again"
        clock.set("2026-10-09")
        assert await status(second) == "frozen"
        row = await second.store.read(competition_sql.find, "Cup")
        await unfreeze(second.store, second.competitions, row, OLGA)
        assert await status(second) == "open", "the date that is over does not freeze it again"
        assert "freeze" not in (await second.store.read(competition_sql.find, "Cup")).file
        await second.store.write(competition_sql.move, "Cup", "freeze", OLGA, second.store.now())
        student = (await second.store.read(competition_students.students_of, "Cup"))[0]
        assert student.extended_ms == WallClock("2026-10-11").now, "an extension stays as it is"
        clock.set("2026-10-11")
        assert await status(second) == "frozen"
    finally:
        await second.close()
    clock.set("2026-10-12")
    third = await hub()
    try:
        assert await status(third) == "running"
    finally:
        await third.close()


async def test_new_competition_takes_students_codes_and_entries_over(house: Any) -> None:
    file = CUP.replace("anonymous", "class")
    course = Course(house, file)
    await course.freeze("connect_four", "ada", "bob", "cy", staff=STAFF)
    store = house.hub.store
    code = await store.write(
        join_codes.add_code, "cup", OLGA, store.now(), uses=2, late_ms=store.now() + 10**9
    )
    await store.write(competition_students.withdraw, "cup", "cy", OLGA, store.now())
    course.tokens["other"] = await house.token("other", "organise")
    copied = {"file": file.replace("Cup", "Next"), "codes": True, "submissions": True}
    async with course.web("other") as api:
        refused = await api.post(f"{HERE}/cup/copy", json=copied)
        assert refused.json()["code"] == "auth/role", "the students are not the other one's"
    async with course.web("olga") as api:
        small = {**copied, "file": f"{copied['file']}[limits]\nstudents = 1\n"}
        answer = await api.post(f"{HERE}/cup/copy", json=small)
        assert answer.json()["code"] == "competition/full"
        games = {**copied, "file": file.replace("Cup", "Next").replace("connect_four", "pig")}
        answer = await api.post(f"{HERE}/cup/copy", json=games)
        assert answer.json()["code"] == "competition/other_games"
        assert [each["name"] for each in (await api.get(HERE)).json()] == ["Cup"], "all or nothing"
        made = await api.post(f"{HERE}/cup/copy", json=copied)
        assert made.json() == {
            "name": "Next", "status": "open", "students": 2, "codes": 1, "entries": 2,
        }  # fmt: skip
        view = (await api.get(f"{HERE}/next")).json()
        assert {e["entry"] for e in view["entries"]} == {
            "easy/bot", "secret/bot", "ada/bot", "bob/bot",
        }  # fmt: skip
        assert [
            each.status for each in await store.read(competition_students.students_of, "cup")
        ].count("active") == 2
        again = await api.post(f"{HERE}/next/reissue-token", json={"student": "ada"})
        assert again.json()["token"].startswith("ply_"), "the class made the account"
    async with course.web() as anybody:
        joined = await anybody.post("/api/v1/join", json={"code": code.code, "player": "dan"})
        assert joined.json()["name"] == "Next"
    assert [each.player for each in await store.read(competition_staff.staff_of, "next")] == [
        "olga"
    ]


async def test_losses_of_a_deletion_are_counted(house: Any) -> None:
    course = Course(house, CUP)
    await course.freeze("connect_four", "ada", "bob", staff=STAFF)
    await course.play(weaker_resigns(["ada", "easy", "bob", "secret"]))
    lost = await course.get("/losses", "olga")
    assert lost == {
        "name": "Cup", "status": "finished", "rehearsal": False, "students": 2, "entries": 2,
        "submissions": 0, "codes": 0, "matches": 12, "running": 0,
    }  # fmt: skip
    async with course.web("olga") as api:
        assert (await api.delete(f"{HERE}/cup")).status_code == 204, "a reason is not needed"
        assert (await api.get(f"{HERE}/cup/losses")).status_code == 404
