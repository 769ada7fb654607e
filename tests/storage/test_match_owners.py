"""Owners of pairings: who runs a match, and who runs it next."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.storage.cluster import Cluster
from tests.storage.conftest import World
from tests.storage.races import race

from plyhouse.storage import maintenance, match_reads, members
from plyhouse.storage.rows import FinishPairing
from plyhouse.storage.store import Store


@pytest.mark.postgresql
async def test_new_pairing_belongs_to_the_server_that_stores_it(postgres_tables: str) -> None:
    async with await Store.open(postgres_tables) as store:
        world = World(store)
        await store.claim(shared=True)
        match, ops = await world.new("ada", "bob")
        await store.apply(ops)
        pairing = world.pairings[match].id
        assert await store.read(members.owned, store.epoch) == [pairing]
        (stored,) = await store.read(match_reads.running_matches)
        assert stored.pairing.owner == store.epoch
        await store.apply([FinishPairing(pairing, 9)])
        assert await store.read(members.owned, store.epoch) == []


async def test_pairing_of_a_server_without_a_lease_has_no_owner(world: World) -> None:
    _, ops = await world.new("ada", "bob")
    await world.store.apply(ops)
    (stored,) = await world.store.read(match_reads.running_matches)
    assert stored.pairing.owner is None


@pytest.mark.postgresql
async def test_copied_pairing_has_no_owner(postgres_tables: str, tmp_path: Path) -> None:
    async with await Store.open(postgres_tables) as store:
        world = World(store)
        await store.claim()
        await store.apply((await world.new("ada", "bob"))[1])
    there = f"sqlite:///{tmp_path / 'copy.db'}"
    await maintenance.copy(postgres_tables, there)
    async with await Store.open(there) as copied:
        (stored,) = await copied.read(match_reads.running_matches)
        assert stored.pairing.owner is None


async def test_running_matches_of_some_pairings_are_read(world: World) -> None:
    made = [await world.new("ada", "bob") for _ in range(3)]
    for _, ops in made:
        await world.store.apply(ops)
    ids = [match for match, _ in made]
    names = [world.pairings[match].id for match in ids]

    async def read(*wanted: str) -> list[str]:
        found = await world.store.read(match_reads.running_matches, wanted)
        return [each.header.id for each in found]

    assert await read(names[2], names[0]) == [ids[0], ids[2]]
    assert await read() == []
    assert await read(*names, *(f"none{number}" for number in range(700))) == ids


@pytest.mark.postgresql
async def test_orphans_are_counted_by_their_last_owner(cluster: Cluster) -> None:
    alive, ended, deleted = [await cluster.join() for _ in range(3)]
    deleted += 100
    for owner in (alive, ended, ended, deleted, None):
        await cluster.pairing(owner)
    await cluster.pairing(ended, finished=True)
    assert await cluster.run(members.orphans) == {0: 1, deleted: 1}
    await cluster.expire(ended)
    assert await cluster.run(members.orphans) == {0: 1, deleted: 1}, "it is not ended"
    await cluster.end(ended)
    assert await cluster.run(members.orphans) == {0: 1, ended: 2, deleted: 1}


@pytest.mark.postgresql
async def test_member_adopts_the_oldest_orphans_first(cluster: Cluster) -> None:
    alive, ended, new = [await cluster.join() for _ in range(3)]
    kept = await cluster.pairing(alive)
    await cluster.pairing(ended, finished=True)
    orphans = [await cluster.pairing(owner) for owner in (ended, None, ended, 999, ended, ended)]
    await cluster.end(ended)

    async def adopt(limit: int) -> list[str]:
        return await cluster.run_as(new, members.adopt, new, limit) or []

    assert await adopt(0) == []
    assert await adopt(2) == orphans[:2]
    assert await adopt(100) == orphans[2:]
    assert await adopt(100) == []
    assert await cluster.owned(new) == orphans
    assert await cluster.owned(alive) == [kept]


@pytest.mark.postgresql
async def test_orphans_are_given_to_nobody_whose_lease_has_ended(cluster: Cluster) -> None:
    """A new leader that had read an older list of members once gave them there without end."""
    leader, ended = [await cluster.join() for _ in range(2)]
    pairing = await cluster.pairing(ended)
    await cluster.end(ended)
    assert await cluster.run_as(leader, members.adopt, ended, 100) == []
    assert await cluster.run_as(leader, members.adopt, leader, 100) == [pairing]


@pytest.mark.postgresql
async def test_members_that_adopt_together_share_the_orphans(cluster: Cluster) -> None:
    everyone = [await cluster.join() for _ in range(8)]
    for _ in range(10):
        orphans = {await cluster.pairing(None) for _ in range(12)}
        found = await asyncio.gather(
            *(cluster.run_as(each, members.adopt, each, 4) for each in everyone)
        )
        taken = [pairing for each in found for pairing in each or []]
        assert sorted(taken) == sorted(orphans & set(taken)), "none is taken twice"
        rest = await cluster.run_as(everyone[0], members.adopt, everyone[0], 100)
        assert {*taken, *(rest or [])} == orphans


@pytest.mark.postgresql
async def test_pairing_adopted_between_two_reads_stays_with_its_new_owner(
    postgres_tables: str, cluster: Cluster
) -> None:
    pairing = await cluster.pairing(999)
    slow = await cluster.join()
    quick = 0

    async def adopt_slowly(store: Store) -> list[str]:
        return await store.write(members.adopt, slow, 1)

    async def join_and_adopt(store: Store) -> list[str]:
        nonlocal quick
        quick = await cluster.join()
        return await store.write(members.adopt, quick, 1)

    found = await race(
        postgres_tables, adopt_slowly, join_and_adopt, at="SELECT pairings.id \nFROM pairings"
    )
    assert found == [[], [pairing]]
    assert await cluster.owned(quick) == [pairing]
