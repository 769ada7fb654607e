"""Suspensions in the database: who is, why, and from when on forfeits count."""

from __future__ import annotations

import asyncio

import pytest
from tests.harness.clocks import WallClock
from tests.storage.conftest import World

from plyhouse.storage import (
    audit,
    competition_sql,
    competition_students,
    suspensions,
    tournaments,
)
from plyhouse.storage import people as stored_people
from plyhouse.storage.competition_rows import CompetitionGame, CompetitionRow, NewMember
from plyhouse.storage.errors import Unknown
from plyhouse.storage.rows import By, TournamentRow

OLGA = By("olga", "sorry")


async def test_the_matches_of_a_version_since_it_was_let_in(world: World, clock: WallClock) -> None:
    store = world.store
    lost = {"returns": (-1.0, 1.0), "termination": "bot_crash", "culprit": 0}
    await world.play("ada", "bob", returns=(1.0, -1.0))
    await world.play("ada", "bob", **lost)  # type: ignore[arg-type]
    await world.play("ada", "bob", returns=(0.0, 0.0), termination="aborted", void=True)
    last = await world.play("bob", "ada", returns=(1.0, -1.0), termination="flag_fall", culprit=1)
    version, rows = await store.read(suspensions.ended, last, 1, 10)
    assert version == await world.version("ada")
    assert [(row.termination, row.guilty) for row in rows] == [
        ("flag_fall", True),
        ("bot_crash", True),
        ("normal", False),
    ]
    assert [row.match_id for row in (await store.read(suspensions.ended, last, 0, 1))[1]] == [last]
    assert await store.write(suspensions.suspend, version, "it fell", store.now())
    assert not await store.write(suspensions.suspend, version, "twice", store.now())
    assert await store.read(suspensions.reason_of, version) == "it fell"
    assert await store.read(suspensions.reason_of, await world.version("bob")) == ""
    (row,) = await store.read(suspensions.suspended)
    assert (row.player, row.bot, row.version, row.since_ms) == ("ada", "ada", "1", clock.now)
    assert await store.read(suspensions.suspended, (await world.bot("bob")).player_id) == []
    await world.upgrade("ada", "2")
    assert await store.read(suspensions.reason_of, await world.version("ada")) == "", (
        "a new version is not suspended"
    )
    clock.now += 5
    with pytest.raises(Unknown, match="suspended: ada/ada version 1"):
        await store.write(suspensions.reinstate, "ada", "ada", OLGA, store.now(), "2")
    assert [
        each.version
        for each in await store.write(suspensions.reinstate, "ADA", "Ada", OLGA, store.now())
    ] == ["1"]
    with pytest.raises(Unknown, match="no version of it is"):
        await store.write(suspensions.reinstate, "ada", "ada", OLGA, store.now())
    assert (
        await store.read(suspensions.suspended),
        await store.read(suspensions.reason_of, version),
    ) == ([], "")
    assert (await store.read(suspensions.ended, last, 1, 10))[1] == [], (
        "what was before counts no more"
    )
    log = [(each.what, each.who, each.why) for each in await world.store.read(audit.latest)]
    assert log == [
        ("version.reinstate", "olga", "sorry"),
        ("version.suspend", "the house", "it fell"),
    ]
    assert await store.write(suspensions.suspend, version, "again", store.now())
    assert await store.read(suspensions.reason_of, version) == "again"
    at_once = [
        store.write(suspensions.suspend, await world.version("bob"), "twice", store.now())
        for _ in range(4)
    ]
    assert sorted(await asyncio.gather(*at_once)) == [False, False, False, True]


async def test_who_is_suspended_is_withdrawn_from_finals_and_baselines_are_not(
    world: World,
) -> None:
    store = world.store
    staff = await store.ensure_bot((await world.bot("staff")).player_id, "easy")
    course = CompetitionRow(
        *("c1", "Cup", "", "round_robin", "open", 1, 9, 1),
        parsed="{}",
        games=(CompetitionGame(0, "pig", None),),
    )
    await store.write(competition_sql.create, course, [staff.id], OLGA)
    people = [NewMember(name, name) for name in ("ada", "bob")]
    joined = {
        each.account: each
        for each in await store.write(
            competition_students.take_in, "Cup", people, OLGA, store.now()
        )
    }
    assert set(joined) == {"ada", "bob"}
    versions = {"staff": await store.ensure_version(staff.id, "1")}
    for name in joined:
        player = await store.read(stored_people.player, name)
        versions[name] = await store.log_in(await store.ensure_bot(player.id, "bot"), "1")
    await store.write(competition_sql.move, "Cup", "freeze", OLGA, store.now())
    await store.write(suspensions.suspend, versions["ada"], "early", store.now())
    assert [each.player for each in await store.read(suspensions.suspended_in, "c1")] == ["ada"]
    entries = {each.player: each for each in await store.read(competition_sql.entries_of, "c1")}
    assert entries["ada"].status == "active", "it may still submit another"
    part = TournamentRow(
        *("p1", "Cup: pig", "pig", "move:1", "round_robin", 1, True, False, 1), status="running"
    )
    entered = [(each.bot_id, each.version_id) for each in entries.values()]
    await store.write(competition_sql.begin, "c1", [part], entered, OLGA, store.now())
    for name in ("bob", "staff"):
        await store.write(suspensions.suspend, versions[name], "late", store.now())
    found = {
        each.player: each.status for each in await store.read(competition_sql.entries_of, "c1")
    }
    assert found == {"staff": "active", "ada": "withdrawn", "bob": "withdrawn"}
    played = {each.player: each.status for each in await store.read(tournaments.list_entries, "p1")}
    assert played == found
    what = [each.what for each in await store.read(audit.latest)]
    assert what.count("competition.withdraw") == 2
    await store.write(suspensions.reinstate, "bob", "bot", OLGA, store.now())
    assert {
        each.player: each.status for each in await store.read(competition_sql.entries_of, "c1")
    } == found
