"""The staff of a competition: every role is allowed what it is for, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.harness.finals import Course

from plyhouse.protocol.messages import MatchMessage
from plyhouse.storage import (
    audit,
    competition_reruns,
    competition_sql,
    competition_staff,
    join_codes,
    suspensions,
)
from plyhouse.storage.rows import By

CUP = """
name = "Cup"
games = ["connect_four"]
time_control = "total:60"
board = "class"
[[baselines]]
bot = "secret/bot"
hidden = true
"""
ROLES = ("reader", "assistant", "owner")
C = "/api/v1/competitions/{competition}"
EVERYBODY = ""
"""For an action that needs no role: it is public, a student's, or any organiser's."""

LEAST: dict[tuple[str, str], str] = {
    ("get", C): "reader",
    ("get", C + "/export"): "reader",
    ("get", C + "/suspicious"): "reader",
    ("get", C + "/students"): "reader",
    ("get", C + "/staff"): "reader",
    ("get", C + "/export/{form}"): "reader",  # here with form=grades
    ("get", C + "/report"): "reader",  # here with student=ada
    ("get", C + "/board"): "reader",  # for the class only; an organiser is not in it
    ("get", C + "/table"): "reader",
    ("get", C + "/rounds"): "reader",
    ("get", C + "/certainty"): "reader",  # as the board
    ("get", C + "/next"): "reader",
    ("get", C + "/announcements"): "reader",
    ("get", C + "/codes"): "assistant",
    ("post", C + "/announcements"): "assistant",
    ("delete", C + "/announcements/{number}"): "assistant",
    ("post", C + "/open"): "assistant",
    ("post", C + "/freeze"): "assistant",
    ("post", C + "/run"): "assistant",
    ("post", C + "/rehearse"): "assistant",
    ("post", C + "/rerun"): "assistant",
    ("post", C + "/pause"): "assistant",
    ("post", C + "/resume"): "assistant",
    ("post", C + "/students"): "assistant",
    ("post", C + "/limit"): "assistant",
    ("post", C + "/extend"): "assistant",
    ("post", C + "/disqualify"): "assistant",
    ("post", C + "/withdraw"): "assistant",  # or a player its own entry
    ("post", C + "/restore"): "assistant",
    ("post", C + "/reissue-token"): "assistant",
    ("post", C + "/codes"): "assistant",
    ("delete", "/api/v1/join-codes/{code}"): "assistant",
    ("post", C + "/finish"): "assistant",
    ("get", C + "/file"): "reader",
    ("get", C + "/losses"): "reader",
    ("post", C + "/copy"): "assistant",
    ("post", C + "/unfreeze"): "assistant",
    ("post", C + "/change"): "owner",
    ("post", C + "/baselines"): "assistant",  # a replacement needs an owner
    ("post", C + "/staff"): "owner",
    ("delete", C + "/staff/{player}"): "owner",
    ("delete", C): "owner",
    ("get", C + "/regrades"): EVERYBODY,  # those of others are for readers
    ("post", C + "/regrades"): EVERYBODY,
    ("post", C + "/regrades/{number}/answer"): "assistant",
    ("post", C + "/enter"): EVERYBODY,
    ("post", "/api/v1/matches/{match}/void"): "assistant",
    ("post", "/api/v1/players/{name}/bots/{bot}/reinstate"): "assistant",
}
"""The least role that each action of a competition needs."""

BODIES: dict[str, Any] = {
    "/baselines": {"bot": "secret/bot"},
    "/copy": {"file": CUP.replace("Cup", "Next")},
    "/change": {"file": CUP},
    "/students": {"csv": "name\nzed"},
    "/limit": {"students": 150},
    "/extend": {"student": "nobody", "until": "2999-01-01T00:00:00Z"},
    "/disqualify": {"who": "nobody", "why": "x"},
    "/restore": {"student": "nobody"},
    "/reissue-token": {"student": "nobody"},
    "/codes": {"uses": 1},
    "/announcements": {"text": "hello"},
    "/regrades": {"text": "please"},
    "/answer": {"text": "no"},
    "/staff": {"player": "nobody", "role": "reader"},
    "/enter": {"bot": "bot"},
    "/withdraw": {"who": "nobody/bot"},
    "/void": {"why": "x"},
    "/reinstate": {"why": "x"},
}
OF_COMPETITION = (f"{C}", "/api/v1/join-codes")


async def organisers(course: Course) -> None:
    """Make an account for each role, one organiser without any, and an administrator."""
    async with course.web("olga") as api:
        for role in ROLES:
            course.tokens[role] = await course.house.token(role, "play", "organise")
            added = await api.post(f"{course.here}/staff", json={"player": role, "role": role})
            assert added.status_code == 200, added.text
    course.tokens["other"] = await course.house.token("other", "play", "organise")
    course.tokens["root"] = await course.house.token("root", "admin")


async def test_every_action_of_a_competition_needs_its_role(house: Any) -> None:
    course = Course(house, CUP)
    await course.freeze("connect_four", "ada", "bob", staff=("secret",))
    await organisers(course)
    store = house.hub.store
    code = await store.write(
        join_codes.add_code, "cup", By("olga"), store.now(), uses=1, late_ms=10**14
    )
    await course.begin()
    snapshot = (await course.bots["ada"].next(MatchMessage)).snapshot
    part = (await store.read(competition_sql.find, "cup")).games[0].tournament_id
    async with course.web() as web:
        paths = (await web.get("/api/openapi.json")).json()["paths"]
    found = {
        (method, path)
        for path, methods in paths.items()
        for method in methods
        if path.startswith(OF_COMPETITION)
    }
    assert found <= LEAST.keys(), "every new action has its role in this table"
    assert LEAST.keys() <= {(m, path) for path, methods in paths.items() for m in methods}
    # Steps that end the competition come last.
    order = sorted(LEAST, key=lambda each: (each[0] == "delete", each[1] == C))
    for method, path in order:
        least = LEAST[method, path]
        for who in ("eve", "other", *ROLES, "root"):
            here = path.replace(C, course.here).format(
                tournament=part, form="grades", number=999, code=code.code, player="nobody",
                match=snapshot.match, name="ada", bot="bot",
            )  # fmt: skip
            if path.endswith("/report"):
                here += "?student=ada"
            if method == "delete" and path in OF_COMPETITION:
                here += "?why=over"
            body = BODIES.get("/" + path.rpartition("/")[2], {"why": "x"})
            async with course.web(who) as web:
                answer = await web.request(method, here, json=body if method == "post" else None)
            rank = {"root": 3, "other": -1, "eve": -1}.get(who)
            rank = ROLES.index(who) if rank is None else rank
            allowed = not least or rank >= ROLES.index(least)
            told = answer.status_code, answer.text[:300]
            if allowed:
                assert answer.status_code not in (401, 403), (who, method, path, told)
            elif path.endswith("/void"):  # the match is not there for somebody who may not see it
                assert answer.status_code in (403, 404), (who, method, path, told)
            else:
                assert answer.status_code == 403, (who, method, path, told)


async def test_organiser_without_a_role_sees_what_everybody_sees(house: Any) -> None:
    course = Course(house, CUP)
    await course.freeze("connect_four", "ada", "bob", staff=("secret",))
    await organisers(course)
    await course.begin()
    part = (await house.hub.store.read(competition_sql.find, "cup")).games[0].tournament_id
    seen: dict[str, set[str]] = {}
    for who in ("other", "reader", "olga", "root"):
        async with course.web(who) as web:
            listed = (await web.get(f"/api/v1/matches?competition={part}")).json()
            seen[who] = {each["match"] for each in listed}
            page = (await web.get("/competitions/cup")).text
            bot = (await web.get("/api/v1/bots/ada/bot")).json()
        staff = who != "other"
        assert ('id="staff"' in page) == staff, who
        assert ("secret/bot" in page) == staff, who
        assert ('id="steps-form"' in page) == (who in ("olga", "root")), who
        assert bool(bot["versions"]) == staff, who
    assert seen["other"] == set()
    assert seen["reader"] == seen["olga"] == seen["root"] != set()


async def test_last_owner_stays_and_a_role_replaces_the_one_before(house: Any) -> None:
    course = Course(house, CUP.partition("[[")[0])
    await course.freeze("connect_four", "ada")
    await organisers(course)
    async with course.web("olga") as api:
        await house.token("plain")
        added = await api.post(f"{course.here}/staff", json={"player": "plain", "role": "reader"})
        assert added.json()["able"] is False, "it has no token with the scope organise"
        raised = await api.post(
            f"{course.here}/staff", json={"player": "reader", "role": "assistant"}
        )
        assert raised.json()["able"] is True
        assert (await api.delete(f"{course.here}/staff/owner")).status_code == 204
        listed = (await api.get(f"{course.here}/staff")).json()
        roles = {each["player"]: each["role"] for each in listed}
        assert roles == {
            "olga": "owner", "assistant": "assistant", "reader": "assistant", "plain": "reader",
        }  # fmt: skip
        for attempt in (
            api.delete(f"{course.here}/staff/olga"),
            api.post(f"{course.here}/staff", json={"player": "olga", "role": "reader"}),
        ):
            answer = await attempt
            assert answer.json()["code"] == "competition/last_owner"
        assert (await api.delete(f"{course.here}/staff/other")).status_code == 404
    log = [each.what for each in await house.hub.store.read(audit.latest)]
    assert log.count("staff.add") == 5
    assert log.count("staff.remove") == 1


async def test_competition_without_an_owner_belongs_to_every_organiser(house: Any) -> None:
    store = house.hub.store
    await house.hub.competitions.open(CUP.partition("[[")[0], By("somebody"))
    course = Course(house, "")
    for who in ("olga", "other"):
        course.tokens[who] = await house.token(who, "organise")
    for who in course.tokens:
        await course.get("", who, 200 if who else 401)
    async with course.web("olga") as api:
        body = {"player": "olga", "role": "owner"}
        assert (await api.post(f"{course.here}/staff", json=body)).status_code == 200
    await course.get("", "olga")
    assert (await course.get("", "other", 403))["code"] == "auth/role"
    assert [each.role for each in await store.read(competition_staff.staff_of, "cup")] == ["owner"]


async def test_rehearsal_has_the_staff_of_its_competition(house: Any) -> None:
    course = Course(house, CUP.partition("[[")[0])
    await course.freeze("connect_four", "ada", "bob")
    await organisers(course)
    store = house.hub.store
    row = await store.read(competition_sql.find, "cup")
    copy = replace(row, id="copy", name="Cup (rehearsal)", rehearses=row.id, games=row.games)
    await store.write(competition_reruns.rehearse, copy, [], By("assistant", "", 1))
    assert await store.read(competition_staff.staff_of, "copy") == await store.read(
        competition_staff.staff_of, "cup"
    )


async def test_suspension_in_a_competition_of_others_is_not_listed(house: Any) -> None:
    course = Course(house, CUP.partition("[[")[0])
    await course.freeze("connect_four", "ada", "bob")
    await organisers(course)
    store = house.hub.store
    entry = (
        await store.read(
            competition_sql.entries_of, (await store.read(competition_sql.find, "cup")).id
        )
    )[0]
    await house.hub.store.write(
        suspensions.suspend, entry.version_id, "ten forfeits", house.hub.store.now()
    )
    for who, count in (("other", 0), ("reader", 1), ("root", 1), ("eve", 0), (entry.player, 1)):
        async with course.web(who) as web:
            assert len((await web.get("/api/v1/suspensions")).json()) == count, who
