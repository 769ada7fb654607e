"""Late submissions: taken for some days after the freeze, marked, and their penalty shown."""

from __future__ import annotations

import csv
import io
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from msgspec import convert
from tests.harness.clocks import WallClock

from plyhouse.clients.shared.student_report import report_text
from plyhouse.protocol.api.reports import Report
from plyhouse.server.app import create_app
from plyhouse.server.competition_rules.dates import milliseconds, read_time
from plyhouse.server.competition_rules.file_reader import InvalidCompetition, read_competition
from plyhouse.server.competitions.exports import grade_points
from plyhouse.server.competitions.file_changes import change, propose
from plyhouse.server.config import ServerConfig
from plyhouse.server.gateway.hub import Hub
from plyhouse.server.grades.student_grades import Grade, points_of
from plyhouse.storage import (
    competition_entries,
    competition_sql,
    competition_students,
    submission_sql,
)
from plyhouse.storage import people as stored_people
from plyhouse.storage.competition_rows import NewMember
from plyhouse.storage.errors import CompetitionRefusal
from plyhouse.storage.rows import By
from plyhouse.storage.store import Store

OLGA = By("olga")
DAY = 86_400_000
FILE = """
name = "Cup"
games = ["pig"]
time_control = "total:60"
[dates]
freeze = 2026-10-05T00:00:00Z
[late]
days = 3
penalty_per_day = 10
[[baselines]]
bot = "staff/easy"
grade = "pass"
"""
STUDENTS = ("ada", "bob", "cy", "dan")


class Cup:
    """A competition on a server whose wall clock the test moves."""

    def __init__(self, hub: Hub, clock: WallClock) -> None:
        self.hub, self.clock = hub, clock
        self.app = create_app()
        self.app.serve(hub)
        self.store = hub.store
        self.tokens: dict[str, str] = {}

    async def connect(self, player: str, version: str) -> None:
        """Let a bot log in with a version, as its runner does."""
        row = await self.hub.store.read(stored_people.player, player)
        bot = await self.hub.store.ensure_bot(row.id, "easy" if player == "staff" else "bot")
        await self.hub.store.log_in(bot, version)

    async def enter(self, player: str, version: str) -> None:
        """Choose a version, as `plyhouse bot enter` does."""
        row = await self.hub.store.read(stored_people.player, player)
        await self.store.write(
            competition_entries.enter,
            "Cup",
            row.id,
            "bot",
            version,
            replaces="",
            now_ms=self.store.now(),
        )

    async def late(self) -> dict[str, tuple[int, float]]:
        """Days late and penalty of the entries of students, by student."""
        view = await self.hub.competitions.view("Cup")
        return {each.player: view.late_of(each) for each in view.entries if not each.baseline}

    async def get(self, who: str, path: str) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.tokens[who]}"}
        transport = httpx.ASGITransport(self.app)
        async with httpx.AsyncClient(
            base_url="http://server", headers=headers, transport=transport
        ) as web:
            return await web.get(path)


@pytest.fixture
async def cup(tmp_path: Path) -> AsyncIterator[Cup]:
    clock = WallClock("2026-09-01")
    url = f"sqlite:///{tmp_path / 'a.db'}"
    store = await Store.open(url, clock=clock)
    hub = await Hub.open(ServerConfig(database=url), store=store)
    try:
        made = Cup(hub, clock)
        owner = await store.add_player("olga")
        made.tokens["olga"] = await store.add_token(owner, ("organise", "admin"))
        await store.add_player("staff")
        await made.connect("staff", "1")
        await hub.competitions.open(FILE, OLGA)
        people = [NewMember(name, name) for name in STUDENTS]
        for joined in await store.write(
            competition_students.take_in, "Cup", people, OLGA, store.now()
        ):
            made.tokens[joined.name] = joined.token
        for name in STUDENTS:
            await made.connect(name, "1")
        clock.set("2026-10-05")
        await hub.competitions.look()
        assert (await store.read(competition_sql.find, "Cup")).status == "frozen"
        yield made
    finally:
        await hub.close()


async def test_late_entry_is_marked_by_days_and_an_extension_costs_nothing(cup: Cup) -> None:
    await cup.store.write(
        competition_students.extend, "Cup", "bob", cup.clock.now + 2 * DAY, OLGA, cup.store.now()
    )
    await cup.store.write(
        competition_students.extend, "Cup", "cy", cup.clock.now + DAY, OLGA, cup.store.now()
    )
    cup.clock.now += DAY + DAY // 2
    for name in ("ada", "bob", "cy"):
        await cup.connect(name, "2")
        await cup.enter(name, "2")
    assert await cup.late() == {
        "ada": (2, 20.0), "bob": (0, 0.0), "cy": (1, 10.0), "dan": (0, 0.0),
    }  # fmt: skip


async def test_bot_that_only_connects_after_the_freeze_replaces_nothing(cup: Cup) -> None:
    cup.clock.now += DAY
    await cup.connect("ada", "2")
    entries = await cup.store.read(
        competition_sql.entries_of, (await cup.store.read(competition_sql.find, "Cup")).id
    )
    assert {each.version for each in entries} == {"1"}
    assert await cup.late() == dict.fromkeys(STUDENTS, (0, 0.0))


async def test_late_submissions_end_and_the_final_waits_for_that(cup: Cup) -> None:
    with pytest.raises(CompetitionRefusal, match="late submissions are still taken"):
        await cup.hub.competitions.run("Cup", OLGA)
    cup.clock.now += 3 * DAY
    await cup.connect("ada", "2")
    with pytest.raises(CompetitionRefusal, match="frozen"):
        await cup.enter("ada", "2")


async def test_penalty_stands_in_status_page_grades_and_report(cup: Cup) -> None:
    cup.clock.now += 1
    await cup.connect("ada", "2")
    await cup.enter("ada", "2")
    here = "/api/v1/competitions/cup"
    status = (await cup.get("olga", here)).json()
    late = {each["entry"]: (each["days_late"], each["penalty"]) for each in status["entries"]}
    assert late == {
        "staff/easy": (0, 0.0), "ada/bot": (1, 10.0), "bob/bot": (0, 0.0), "cy/bot": (0, 0.0),
        "dan/bot": (0, 0.0),
    }  # fmt: skip
    text = (await cup.get("olga", f"{here}/export/grades")).content.decode("utf-8-sig")
    rows = {row["student"]: row for row in csv.DictReader(io.StringIO(text))}
    assert (rows["ada"]["days late"], rows["ada"]["penalty"]) == ("1", "10")
    assert (rows["bob"]["days late"], rows["bob"]["penalty"]) == ("0", "0")
    grades = (await cup.get("olga", f"{here}/export")).json()["grades"]
    assert [(each["student"], each["penalty"]) for each in grades if each["days_late"]] == [
        ("ada", 10.0)
    ]
    report = (await cup.get("ada", f"{here}/report")).json()
    assert (report["days_late"], report["penalty"]) == (1, 10.0)
    assert "Submitted 1 day late: a penalty of 10 % of the points." in report_text(
        convert(report, Report), ""
    )
    for who in ("olga", "ada"):
        assert "1 day late, penalty 10 %" in (await cup.get(who, "/competitions/cup")).text
    bob = (await cup.get("bob", "/competitions/cup")).text
    assert "You may submit late until" in bob
    assert "1 day late" not in bob


async def test_answer_to_a_late_entry_says_what_it_costs(cup: Cup) -> None:
    cup.clock.now += DAY + 1
    await cup.connect("ada", "2")
    async with httpx.AsyncClient(
        base_url="http://server",
        headers={"Authorization": f"Bearer {cup.tokens['ada']}"},
        transport=httpx.ASGITransport(cup.app),
    ) as web:
        here = "/api/v1/competitions/cup/enter"
        made = (await web.post(here, json={"bot": "bot", "version": "2"})).json()
        assert (made["version"], made["days_late"], made["penalty"]) == ("2", 2, 20.0)
        made = (await web.post(here, json={"bot": "bot", "version": "1"})).json()
        assert (made["version"], made["days_late"], made["penalty"]) == ("1", 0, 0.0)
    row = await cup.store.read(stored_people.player, "bob")
    bot = await cup.store.ensure_bot(row.id, "bot")
    sent = await cup.store.submissions.add(
        bot.id, "3", "b" * 64, b"x", cup.store.now(), competition="Cup"
    )
    await cup.store.write(submission_sql.check, sent.id, True, "", ("pig",), cup.store.now())
    told = (await cup.get("bob", f"/api/v1/submissions/{sent.id}")).json()["competitions"]
    assert [(each["outcome"], each["days_late"], each["penalty"]) for each in told] == [
        ("entered", 2, 20.0)
    ]


@pytest.mark.parametrize(
    ("late", "key"),
    [
        ("days = 0", "late.days"),
        ("days = 61", "late.days"),
        ("penalty_per_day = 10", "late.days"),
        ("days = 2\npenalty_per_day = 101", "late.penalty_per_day"),
        ("days = 2\npenalty = 10", "late.penalty"),
    ],
)
def test_mistakes_in_the_rule_are_named(late: str, key: str) -> None:
    with pytest.raises(InvalidCompetition) as error:
        read_competition(FILE.replace("days = 3\npenalty_per_day = 10", late))
    assert [each.key for each in error.value.mistakes] == [key]


def test_rule_needs_a_date_of_the_freeze() -> None:
    with pytest.raises(InvalidCompetition) as error:
        read_competition(FILE.replace("freeze = 2026-10-05T00:00:00Z", ""))
    assert [each.key for each in error.value.mistakes] == ["late.days"]


def test_points_of_a_grade_are_those_after_the_penalty() -> None:
    file = read_competition(FILE)
    grade = Grade("ada", "pass", 0.6, "ada/bot", (0.6,), level=0)
    (full,) = points_of(file.originals, file.points)
    assert grade_points(grade, file) == full > 0
    assert grade_points(replace(grade, penalty=25.0), file) == pytest.approx(0.75 * full)


def test_penalty_is_a_hundred_percent_at_most() -> None:
    file = read_competition(FILE.replace("= 10", "= 60"))
    assert [file.late.penalty(days) for days in (0, 1, 2)] == [0.0, 60.0, 100.0]


async def test_extension_and_change_of_dates_say_what_they_delay(cup: Cup) -> None:
    row = await cup.store.read(competition_sql.find, "Cup")
    headers = {"Authorization": f"Bearer {cup.tokens['olga']}"}
    transport = httpx.ASGITransport(cup.app)
    async with httpx.AsyncClient(
        base_url="http://server", headers=headers, transport=transport
    ) as web:
        here = "/api/v1/competitions/cup"
        until = {"student": "ada", "until": "2026-10-20T12:00:00Z"}
        made = (await web.post(f"{here}/extend", json=until)).json()
        said = "has no date and waits until 2026-10-20 12:00 UTC for the extension of ada and late"
        assert said in made["delays"]
        assert "plyhouse competition run 'Cup' --anyway" in made["delays"]
        assert any(said in each for each in (await web.get(here)).json()["warnings"])
        # After the final's date nothing waits; before it, the file says when it begins.
        text = row.file.replace("[late]", "final = 2026-10-06T00:00:00Z\n[late]")
        body = {"file": text, "apply": False}
        shown = (await web.post(f"{here}/change", json=body)).json()
        assert "is due 2026-10-06 00:00 UTC and waits until 2026-10-20 12:00 UTC" in shown["delays"]
        calm = {"file": text.replace("[late]", "[late]\nfinal_waits = false"), "apply": False}
        assert (await web.post(f"{here}/change", json=calm)).json()["delays"] == (
            "The final of 'Cup' begins 2026-10-06 00:00 UTC, without waiting for the extension of "
            "ada and late submissions (days under [late]). What comes later plays after plyhouse "
            "competition rerun 'Cup'."
        )
        early = {"student": "bob", "until": "2026-10-05T12:00:00Z"}
        assert (await web.post(f"{here}/extend", json=early)).json()["student"] == "bob"


async def test_late_student_code_and_rerun_say_what_they_delay(cup: Cup) -> None:
    headers = {"Authorization": f"Bearer {cup.tokens['olga']}"}
    transport = httpx.ASGITransport(cup.app)
    async with httpx.AsyncClient(
        base_url="http://server", headers=headers, transport=transport
    ) as web:
        here = "/api/v1/competitions/cup"
        late = {"late_until": "2026-10-20T12:00:00Z"}
        (made,) = (await web.post(f"{here}/students", json={"csv": "name\nfay\n", **late})).json()
        assert "waits until 2026-10-20 12:00 UTC for the extension of fay" in made["delays"]
        late = {"late_until": "2026-10-21T12:00:00Z"}
        code = (await web.post(f"{here}/codes", json={"uses": 2, **late})).json()
        assert (
            "waits until 2026-10-21 12:00 UTC for the extension of fay, students who join"
            in (code["delays"])
        )
        await cup.hub.competitions.run("Cup", OLGA, anyway=True)
        await cup.store.write(competition_sql.move, "Cup", "finish", OLGA, cup.store.now())
        until = {"student": "bob", "until": "2026-10-22T12:00:00Z"}
        assert (await web.post(f"{here}/extend", json=until)).json()["delays"] == (
            "A rerun of 'Cup' waits until 2026-10-22 12:00 UTC for the extension of bob, fay and "
            "late submissions (days under [late]). To begin it before that: plyhouse competition "
            "rerun 'Cup' --anyway."
        )


async def test_times_without_an_offset_are_in_the_zone_of_the_file(cup: Cup) -> None:
    headers = {"Authorization": f"Bearer {cup.tokens['olga']}"}
    transport = httpx.ASGITransport(cup.app)
    async with httpx.AsyncClient(
        base_url="http://server", headers=headers, transport=transport
    ) as web:
        here = "/api/v1/competitions/cup"
        local = {"student": "ada", "until": "2026-10-20T12:00:00"}
        answer = (await web.post(f"{here}/extend", json=local)).json()
        assert answer["code"] == "competition/bad_time", "the file names no zone"
        row = await cup.store.read(competition_sql.find, "Cup")
        text = row.file.replace("[dates]", '[dates]\nzone = "Europe/Berlin"')
        assert (await web.post(f"{here}/change", json={"file": text, "apply": True})).is_success
        until = (await web.post(f"{here}/extend", json=local)).json()["until_ms"]
        assert until == milliseconds(read_time("2026-10-20T12:00:00+02:00"))
        late = {"csv": "name\nfay\n", "late_until": "2026-10-30 12:00"}
        assert (await web.post(f"{here}/students", json=late)).is_success
        students = {each["student"]: each for each in (await web.get(f"{here}/students")).json()}
        winter = read_time("2026-10-30T12:00:00+01:00")
        assert students["fay"]["extended_ms"] == milliseconds(winter)
        until = {"until": "2026-10-31T12:00:00"}
        made = (await web.post(f"{here}/unfreeze", json=until)).json()
        assert made["freezes_ms"] == milliseconds(read_time("2026-10-31T12:00:00+01:00"))
        row = await cup.store.read(competition_sql.find, "Cup")
        assert "freeze = 2026-10-31T12:00:00\n" in row.file


async def test_final_that_does_not_wait_begins_on_its_date_and_late_entries_play_in_a_rerun(
    cup: Cup,
) -> None:
    row = await cup.store.read(competition_sql.find, "Cup")
    text = row.file.replace("[late]", "final = 2026-10-06T00:00:00Z\n[late]\nfinal_waits = false")
    await change(cup.store, cup.hub.competitions, await propose(
        cup.store, cup.hub.competitions, row, text), OLGA)  # fmt: skip
    await cup.store.write(
        competition_students.extend, "Cup", "bob", cup.clock.now + 9 * DAY, OLGA, cup.store.now()
    )
    cup.clock.set("2026-10-06")
    await cup.hub.competitions.look()
    row = await cup.store.read(competition_sql.find, "Cup")
    assert (row.status, row.note) == ("running", None)
    await cup.connect("ada", "2")
    await cup.connect("bob", "2")
    with pytest.raises(CompetitionRefusal, match="submit again when it is over, for a rerun"):
        await cup.enter("ada", "2")
    await cup.store.write(competition_sql.move, "Cup", "finish", OLGA, cup.store.now())
    await cup.enter("bob", "2")
    async with httpx.AsyncClient(
        base_url="http://server",
        headers={"Authorization": f"Bearer {cup.tokens['ada']}"},
        transport=httpx.ASGITransport(cup.app),
    ) as web:
        here = "/api/v1/competitions/cup/enter"
        made = (await web.post(here, json={"bot": "bot", "version": "2"})).json()
    assert (made["version"], made["next_version"], made["days_late"]) == ("1", "2", 1)
    with pytest.raises(CompetitionRefusal, match="bob may still submit"):
        await cup.hub.competitions.rerun("Cup", OLGA)
    cup.clock.now += 9 * DAY
    with pytest.raises(CompetitionRefusal, match="is frozen"):
        await cup.enter("ada", "1")
    await cup.hub.competitions.rerun("Cup", OLGA)
    playing = await cup.store.read(competition_sql.entries_of, row.id)
    assert {each.player: each.version for each in playing if not each.baseline} == {
        "ada": "2", "bob": "2", "cy": "1", "dan": "1",
    }  # fmt: skip
