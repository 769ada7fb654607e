"""Finals in the database: what was played of them, who left, and what runs again."""

from __future__ import annotations

from sqlalchemy import Connection
from tests.harness.competition_rows import OLGA, cup, game, refused
from tests.harness.statements import statements
from tests.storage.conftest import World

from plyhouse.storage import (
    competition_entries,
    competition_reruns,
    competition_results,
    competition_sql,
    competition_students,
    people,
    tournaments,
)
from plyhouse.storage.competition_rows import NewMember
from plyhouse.storage.store import Store
from plyhouse.storage.tournament_settings import settings

PART = "part"


async def final(store: Store, names: list[str]) -> World:
    """A final of these bots that is over, in which everybody has beaten who comes later."""
    world = World(store)
    row = cup(games=cup().games[:1], status="frozen")
    await store.write(competition_sql.create, row, [], OLGA)
    members = [NewMember(name, name) for name in names]
    await store.write(
        competition_students.take_in, "Cup", members, OLGA, store.now(), late_ms=2**50
    )
    for name in names:
        player = await store.read(people.player, name)
        bot = await store.ensure_bot(player.id, "bot")
        world.bots[name] = bot, await store.log_in(bot, "1")
    entered = [
        (each.bot_id, each.version_id)
        for each in await store.read(competition_sql.entries_of, row.id)
    ]
    await store.write(
        competition_sql.begin, row.id, [game(PART, "pig")], entered, OLGA, store.now()
    )
    for number, one in enumerate(names):
        for other in names[number + 1 :]:
            await world.play(one, other, returns=(1.0, -1.0), tournament_id=PART)
    assert await store.write(competition_sql.finish_game, PART, store.now())
    return world


async def test_a_rerun_counts_only_what_present_versions_played(store: Store) -> None:
    names = ["ada", "bob", "cyd", "dan"]
    world = await final(store, names)
    seats = await store.read(tournaments.played_seats, PART)
    assert len(seats) == 12
    assert {(seat.bot_id, seat.score) for seat in seats if seat.score == 1.0} == {
        (world.bots[name][0].id, 1.0) for name in names[:3]
    }
    assert len(await store.read(competition_results.played, "id-cup")) == 12
    # Bob submits again; that version counts in the rerun.
    bob = world.bots["bob"][0]
    state = await store.read(competition_results.state, "id-cup")
    again = await store.log_in(bob, "2")
    assert len(await store.read(competition_results.played, "id-cup")) == 12
    assert await store.read(competition_results.extent, PART) == (6, 6, 0)
    assert await store.read(competition_entries.last_digests, [bob.id]) == {bob.id: ""}
    shown = {
        each.player: each for each in await store.read(competition_reruns.played_entries, "id-cup")
    }
    assert (shown["bob"].version, shown["bob"].next_version) == ("1", "2")
    assert (shown["bob"].version_id, shown["bob"].next_id) == (world.bots["bob"][1], again)
    assert (shown["ada"].version, shown["ada"].next_id) == ("1", None)
    await store.write(tournaments.note_left, PART, {world.bots["dan"][0].id: 2})
    await store.write(competition_students.disqualify, "Cup", "dan", OLGA, store.now())
    with statements(store) as counted:
        row, parts = await store.write(competition_reruns.rerun, "Cup", OLGA, store.now())
    assert len(counted) < 25
    assert (row.status, [part.id for part in parts]) == ("running", [PART])
    kept = settings(parts[0])
    assert (kept.run, kept.left) == (2, {world.bots["dan"][0].id: 0})
    entries = {each.bot_id: each for each in await store.read(tournaments.list_entries, PART)}
    assert entries[bob.id].version_id == again
    assert entries[world.bots["dan"][0].id].status == "withdrawn"
    assert await store.read(competition_results.state, "id-cup") != state, (
        "what was fitted to it is outdated"
    )
    results = await store.read(competition_results.played, "id-cup")
    assert len(results) == 6, "three pairings without Bob"
    assert bob.id not in {each.bot_id for each in results}
    await refused("not_now", store.write(competition_reruns.rerun, "Cup", OLGA, store.now()))


async def test_a_bot_that_lost_its_place_counts_no_more(store: Store) -> None:
    await final(store, ["ada", "bob", "cyd"])
    ada = await store.read(people.player, "ada")
    other = await store.ensure_bot(ada.id, "new")
    await store.log_in(other, "1")
    await store.write(
        competition_entries.enter,
        "Cup",
        ada.id,
        "new",
        replaces="bot",
        version="",
        now_ms=store.now(),
    )
    names = {
        each.name: each.status
        for each in await store.read(competition_reruns.played_entries, "id-cup", replaced=True)
    }
    assert names["ada/bot"] == "withdrawn", "its results stand until the rerun"
    assert names["ada/new"] == "active"
    assert "ada/bot" not in {
        each.name for each in await store.read(competition_reruns.played_entries, "id-cup")
    }
    await store.write(competition_reruns.rerun, "Cup", OLGA, store.now())
    assert {each.bot_id for each in await store.read(tournaments.list_entries, PART)} >= {other.id}
    assert len(await store.read(competition_results.played, "id-cup")) == 2, "Bob against Cyd"


async def test_a_final_is_ended_as_it_stands(store: Store) -> None:
    await final(store, ["ada", "bob"])
    await refused("not_now", store.write(competition_sql.move, "Cup", "finish", OLGA, store.now()))
    await store.write(competition_reruns.rerun, "Cup", OLGA, store.now())
    await store.write(competition_sql.move, "Cup", "pause", OLGA, store.now())
    row = await store.write(competition_sql.move, "Cup", "finish", OLGA, store.now())
    assert (row.status, row.games[0].status) == ("finished", "finished")


async def test_rerun_of_teams_replaces_a_bot_within_its_side(store: Store) -> None:
    world = await final(store, ["ada", "bob"])
    ada, bob = (world.bots[name][0].id for name in ("ada", "bob"))

    def pair(connection: Connection) -> None:
        row = tournaments.find_tournament(connection, PART, lock=True)
        tournaments.change_settings(connection, row, teams=True, sides=((bob, ada),))

    await store.write(pair)
    played = await store.read(competition_reruns.played_entries, "id-cup")
    assert {each.side for each in played} == {(bob, ada)}
    player = await store.read(people.player, "ada")
    other = await store.ensure_bot(player.id, "new")
    await store.log_in(other, "1")
    await store.write(
        competition_entries.enter,
        "Cup", player.id, "new", replaces="bot", version="", now_ms=store.now(),
    )  # fmt: skip
    played = await store.read(competition_reruns.played_entries, "id-cup", replaced=True)
    assert {each.name: each.side for each in played} == {
        "ada/bot": (bob, ada), "bob/bot": (bob, ada), "ada/new": ()
    }  # fmt: skip


async def test_side_without_one_of_its_bots_does_not_start_in_a_rerun(store: Store) -> None:
    world = await final(store, ["ada", "bob", "cyd", "dan"])
    ada, bob, cyd, dan = (world.bots[name][0].id for name in ("ada", "bob", "cyd", "dan"))

    def pair(connection: Connection) -> None:
        row = tournaments.find_tournament(connection, PART, lock=True)
        tournaments.change_settings(connection, row, teams=True, sides=((ada, bob), (cyd, dan)))

    await store.write(pair)
    await store.write(competition_students.disqualify, "Cup", "bob", OLGA, store.now())
    _, (part,) = await store.write(competition_reruns.rerun, "Cup", OLGA, store.now())
    kept = settings(part)
    assert (kept.sides, kept.left) == (((ada, bob), (cyd, dan)), {ada: 0})
