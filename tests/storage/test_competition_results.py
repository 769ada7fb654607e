"""Queries about finals: visibility, matches, events and slowest plies."""

from __future__ import annotations

from typing import Any

import pytest

from plyhouse.server.results.scoring import match_scores
from plyhouse.storage import (
    competition_privacy,
    competition_results,
    competition_sql,
    competition_students,
    match_lists,
    voiding,
)
from plyhouse.storage.competition_rows import CompetitionGame, CompetitionRow, NewMember
from plyhouse.storage.rows import By, EventRow, TournamentRow
from plyhouse.storage.store import Store

OLGA = By("olga", "because")


async def final(world: Any, name: str) -> str:
    """A competition of ann and bob in its final; returns the id of its only game."""
    store = world.store
    row = CompetitionRow(
        *(f"id-{name}", name, f'name = "{name}"', "round_robin", "frozen", 1, 9, 1),
        parsed="{}",
        games=(CompetitionGame(0, "pig", None),),
    )
    await store.write(competition_sql.create, row, (), OLGA)
    part = TournamentRow(
        *(f"part-{name}", name, "pig", "move:1", "round_robin", 1, True, False, 1, "running")
    )
    entered = [((await world.bot(each)).id, await world.version(each)) for each in ("ann", "bob")]
    await store.write(competition_sql.begin, row.id, [part], entered, OLGA, store.now())
    return part.id


@pytest.fixture
async def played(world: Any) -> dict[str, str]:
    """One match in each of two finals, and one of nobody's."""
    matches = {"free": await world.play("ann", "bob", returns=(1.0, -1.0))}
    for name in ("cup", "bowl"):
        part = await final(world, name)
        matches[name] = await world.play("bob", "ann", returns=(1.0, -1.0), tournament_id=part)
    await world.bot("eve")
    return matches


async def listed(store: Store, closed: tuple[str, ...], viewer: int | None = None) -> set[str]:
    return {
        row.id
        for row in await store.read(
            match_lists.list_matches,
            match_lists.MatchFilter(closed=frozenset(closed), viewer=viewer),
        )
    }


async def test_closed_finals_show_only_ones_own_matches(world: Any, played: dict[str, str]) -> None:
    store = world.store
    ann, eve = (await world.bot("ann")).player_id, (await world.bot("eve")).player_id
    every = set(played.values())
    assert await listed(store, ()) == every
    assert await listed(store, ("id-cup",)) == every - {played["cup"]}
    assert await listed(store, ("id-cup", "id-bowl"), eve) == {played["free"]}
    assert await listed(store, ("id-cup", "id-bowl"), ann) == every


async def test_finals_tell_their_files_once_and_who_is_in_them(
    world: Any, played: dict[str, str]
) -> None:
    store = world.store
    open_ = CompetitionRow(
        *("id-new", "new", 'name = "new"', "round_robin", "open", 1, 9, 1),
        parsed="{}",
        games=(CompetitionGame(0, "pig", None),),
    )
    await store.write(competition_sql.create, open_, (), OLGA)
    await store.write(
        competition_students.take_in,
        "new",
        [NewMember("eve", "eve")],
        OLGA,
        store.now(),
        adopt=["eve"],
    )
    eve = (await world.bot("eve")).player_id
    found = await store.read(competition_privacy.finals, eve, known=())
    assert found.begun == {"id-cup", "id-bowl"}, "one that has not begun has no matches to hide"
    assert set(found.parsed) >= {"id-cup", "id-bowl"}
    assert found.member_of == {"id-new"}
    await store.write(competition_students.withdraw, "new", "eve", OLGA, store.now())
    again = await store.read(competition_privacy.finals, eve, found.parsed)
    assert (again.begun, again.parsed, again.member_of) == (found.begun, {}, frozenset())


async def test_seats_come_in_the_order_matches_ended_and_void_ones_change_the_state(
    world: Any, played: dict[str, str]
) -> None:
    store = world.store
    assert (await store.read(competition_results.state, "id-cup"))[:2] == (1, 0)
    rows = await store.read(competition_results.played, "id-cup")
    assert [(row.match, row.seat, row.result, row.score) for row in rows] == [
        (played["cup"], 0, "W", 1.0),
        (played["cup"], 1, "L", 0.0),
    ]
    part = (await store.read(competition_sql.find, "id-cup")).games[0].tournament_id
    later = await world.play("ann", "bob", returns=(), tournament_id=part, void=True)
    assert (await store.read(competition_results.state, "id-cup"))[:2] == (2, 0)
    rows = await store.read(competition_results.played, "id-cup")
    assert [row.score for row in rows if row.match == later] == [None, None]
    await store.write(
        voiding.void_match, played["cup"], OLGA, match_scores((1.0, -1.0)), store.now()
    )
    assert (await store.read(competition_results.state, "id-cup"))[:2] == (2, 1)


async def test_match_events_and_slowest_plies_are_those_asked_for(
    world: Any, played: dict[str, str]
) -> None:
    store = world.store
    rows = [
        EventRow(played["cup"], 0, "ready", 0, 0, "ab"),
        EventRow(played["cup"], 1, "chance", 0, -1, "3"),
        EventRow(played["cup"], 2, "action", 0, 0, "roll", 500, 0, 0, 500, 9),
        EventRow(played["cup"], 3, "action", 1, 1, "hold", 900, 0, 0, 800, 8),
        EventRow(played["cup"], 4, "action", 2, 0, "hold", 700, 0, 0, 700, 7),
        EventRow(played["bowl"], 0, "action", 0, 0, "roll", 999, 0, 0, 999, 1),
    ]
    await store.apply(rows)
    found = await store.read(competition_results.match_events, [played["cup"], played["free"]])
    assert found == {
        played["cup"]: [
            *(("chance", -1, "3"), ("action", 0, "roll")),
            *(("action", 1, "hold"), ("action", 0, "hold")),
        ],
        played["free"]: [],
    }
    bob = (await world.bot("bob")).id
    slow = await store.read(competition_results.slowest, "id-cup", [bob], 5)
    assert [(ply.ply, ply.thought_ns) for ply in slow] == [(2, 700), (0, 500)]
    assert len(await store.read(competition_results.slowest, "id-cup", [bob], 1)) == 1


async def test_what_runners_made_void_is_counted_by_machine(
    world: Any, played: dict[str, str]
) -> None:
    store = world.store
    scores = match_scores((1.0, -1.0), 2.0)
    await store.write(
        voiding.void_match, played["cup"], By("runner lab1", "busy"), scores, store.now()
    )
    await store.write(voiding.void_match, played["bowl"], OLGA, scores, store.now())
    assert await store.read(competition_results.voided_by, "part-cup") == {"lab1": 1}
    assert (
        await store.read(competition_results.voided_by, "part-bowl") == {}
    )  # an organiser's is another matter
