from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from plyhouse.storage import leaderboards, match_lists, match_reads
from plyhouse.storage.causes import Cause
from plyhouse.storage.errors import AlreadyExists, Unknown
from plyhouse.storage.rows import (
    EventRow,
    FinishMatch,
    FinishPairing,
    NewMatch,
    NewPairing,
    StartMatch,
    new_id,
)
from plyhouse.storage.statements import ROWS_AT_ONCE
from plyhouse.storage.store import Store


def event(match_id: str, index: int) -> EventRow:
    """An event in which every field differs."""
    return EventRow(match_id, index, "act", 3, -1, "dé ♞", 10**15, 2, 3, 4, -5, '{"a": 1}')


def test_ids_sort_by_time_and_are_url_safe() -> None:
    ids = [new_id(ms) for ms in (0, 1, 1_700_000_000_000, 4_000_000_000_000)]
    assert ids == sorted(ids)
    assert all(len(text) == 14 and text.isalnum() for text in ids)
    same = [new_id(5) for _ in range(1000)]
    assert same == sorted(set(same)), "also within a millisecond, in the order of making"


async def test_an_unfinished_match_comes_back_whole(store: Store, world: Any) -> None:
    match_id, ops = await world.new("ada", "bob", "cy", game="pig(seats=3)")
    match = replace(ops[1].match, data='{"x": 1}')
    events = tuple(event(match_id, index) for index in range(5))
    await store.apply([ops[0], NewMatch(match)])
    (found,) = await store.read(match_reads.running_matches)
    assert found.header == match
    await store.apply([StartMatch(match_id, ("a0", "", "ff"), 12)])
    await store.apply(events)
    (found,) = await store.read(match_reads.running_matches)
    assert found.header == replace(match, nonces=("a0", "", "ff"), status="running", started_ms=12)
    assert found.pairing == world.pairings[match_id]
    assert found.events == events
    assert await store.read(match_reads.stored_match, match_id) == found


async def test_any_number_of_events_is_stored_at_once_or_none_of_them(
    store: Store, world: Any
) -> None:
    match_id, ops = await world.new("ada", "bob")
    await store.apply(ops)
    kept: list[EventRow] = []
    for count in (1, 64, 65, ROWS_AT_ONCE, ROWS_AT_ONCE + 1, 2 * ROWS_AT_ONCE + 1):
        more = [event(match_id, len(kept) + n) for n in range(count)]
        with pytest.raises(AlreadyExists):
            await store.apply([*more, more[0]])
        await store.apply(more)
        kept += more
    assert (await store.read(match_reads.stored_match, match_id)).events == tuple(kept)


async def test_recovery_is_given_only_unfinished_matches_oldest_first(
    store: Store, world: Any
) -> None:
    late, ops = await world.new("ada", "bob", created_ms=20)
    await store.apply(ops)
    early, ops = await world.new("ada", "bob", created_ms=5)
    await store.apply(ops)
    await world.play("ada", "bob", returns=(1, -1))
    assert [found.header.id for found in await store.read(match_reads.running_matches)] == [
        early,
        late,
    ]


async def test_a_finished_match_has_its_outcome(store: Store, world: Any) -> None:
    match_id, ops = await world.new("ada", "bob")
    await store.apply(ops)
    cause = Cause("resigned", (0,), (9,))
    end = FinishMatch(match_id, "resignation", (-1.0, 1.0), 9, 50, culprit=0, cause=cause)
    await store.apply([end])
    header = (await store.read(match_reads.stored_match, match_id)).header
    assert header.status == "finished"
    assert (header.termination, header.culprit, header.reason) == (
        "resignation",
        0,
        "seat 1 (ada) resigned at ply 9.",
    )
    assert (header.returns, header.ply, header.finished_ms) == ((-1.0, 1.0), 9, 50)
    assert await store.read(match_reads.running_matches) == []


async def test_order_within_a_batch_does_not_matter(store: Store, world: Any) -> None:
    match_id, (pairing, match) = await world.new("ada", "bob")
    end = FinishMatch(match_id, "normal", (1, -1), 1, 50)
    over = FinishPairing(pairing.pairing.id, 51)
    await store.apply(
        [over, end, event(match_id, 0), StartMatch(match_id, ("", ""), 3), match, pairing]
    )
    found = await store.read(match_reads.stored_match, match_id)
    assert found.header.status == "finished"
    assert found.pairing.finished_ms == 51
    assert len(found.events) == 1


async def test_the_seed_stays_secret_until_the_pairing_is_over(store: Store, world: Any) -> None:
    match_id = await world.play("ada", "bob", returns=(1, -1))
    pairing = world.pairings[match_id]
    assert [
        row.seed for row in await store.read(match_lists.list_matches, match_lists.MatchFilter())
    ] == [b""]
    await store.apply([FinishPairing(pairing.id, 60)])
    assert [
        row.seed for row in await store.read(match_lists.list_matches, match_lists.MatchFilter())
    ] == [pairing.seed]


async def test_nothing_of_a_failed_transaction_stays(store: Store, world: Any) -> None:
    match_id, ops = await world.new("ada", "bob")
    await store.apply(ops)
    with pytest.raises(AlreadyExists, match="store every row only once"):
        await store.apply([event(match_id, 0), event(match_id, 1), event(match_id, 0)])
    assert (await store.read(match_reads.stored_match, match_id)).events == ()


@pytest.mark.parametrize(
    "make",
    [
        lambda: event("nowhere", 0),
        lambda: StartMatch("nowhere", (), 1),
        lambda: FinishMatch("nowhere", "normal", (), 1, 1),
        lambda: FinishPairing("nowhere", 1),
    ],
)
async def test_what_happens_needs_a_match(store: Store, make: Any) -> None:
    with pytest.raises(Unknown):
        await store.apply([make()])


async def test_a_match_needs_its_pairing(store: Store, world: Any) -> None:
    _, ops = await world.new("ada", "bob")
    with pytest.raises(Unknown):
        await store.apply([ops[1]])
    assert isinstance(ops[0], NewPairing)


async def test_a_match_finishes_once(store: Store, world: Any) -> None:
    match_id = await world.play("ada", "bob", returns=(1, -1))
    again = FinishMatch(match_id, "normal", (1, -1), 7, 99)
    with pytest.raises(AlreadyExists, match="finished already"):
        await store.apply([again])
    other, ops = await world.new("ada", "bob")
    await store.apply(ops)
    twice = FinishMatch(other, "normal", (1, -1), 7, 99)
    with pytest.raises(AlreadyExists, match="twice"):
        await store.apply([twice, twice])
    assert [row.games for row in await store.read(leaderboards.leaderboard, "pig")] == [1, 1]


async def test_returns_must_fit_the_seats(store: Store, world: Any) -> None:
    match_id, ops = await world.new("ada", "bob")
    await store.apply(ops)
    with pytest.raises(ValueError, match="2 seats, not 3 returns"):
        await store.apply([FinishMatch(match_id, "normal", (1, 0, 0), 7, 99)])
    assert (await store.read(match_reads.stored_match, match_id)).header.status == "waiting"


async def test_unknown_ids_are_named(store: Store) -> None:
    with pytest.raises(Unknown, match="no match 'x'"):
        await store.read(match_reads.stored_match, "x")


async def test_matches_are_listed_by_page_newest_first(store: Store, world: Any) -> None:
    made = []
    for number in range(7):
        match_id, ops = await world.new("ada", "bob", created_ms=10 + number // 2)
        await store.apply(ops)
        made.append((10 + number // 2, match_id))
    expected = [match_id for _, match_id in sorted(made, reverse=True)]
    seen = []
    before = None
    while page := await store.read(
        match_lists.list_matches, match_lists.MatchFilter(), limit=3, before=before
    ):
        seen += [row.id for row in page]
        before = seen[-1]
    assert seen == expected
    with pytest.raises(Unknown, match="no match 'x' to list"):
        await store.read(match_lists.list_matches, match_lists.MatchFilter(), before="x")


async def test_matches_are_listed_by_what_is_asked(store: Store, world: Any) -> None:
    one = await world.play("ada", "bob", returns=(1, -1))
    two = await world.play("ada", "cy", returns=(1, -1), game="chess", rated=False)
    three, ops = await world.new("bob", "cy")
    await store.apply([*ops, StartMatch(three, ("", ""), 1)])

    async def ids(**filters: Any) -> set[str]:
        return {
            row.id
            for row in await store.read(
                match_lists.list_matches, match_lists.MatchFilter(**filters)
            )
        }

    cy = await world.bot("cy")
    assert await ids() == {one, two, three}
    assert await ids(game="chess") == {two}
    assert await ids(bots=((cy.id,),)) == {two, three}
    assert await ids(player_id=cy.player_id, rated=True) == {three}
    assert await ids(status="running") == {three}
    assert await ids(status="finished") == {one, two}
    assert await ids(status="waiting") == set()
    with pytest.raises(Unknown, match="finished, running, waiting"):
        await ids(status="lost")
