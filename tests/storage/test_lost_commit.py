"""The answer to COMMIT is lost: doubtful rows are read back before any answer is sent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest
from tests.harness.clocks import FakeClock
from tests.harness.patience import PATIENCE
from tests.harness.server import MemoryServer
from tests.storage.conftest import World
from tests.storage.wire import wire_to

from plyhouse.server.config import ServerConfig
from plyhouse.server.gateway.hub import Hub
from plyhouse.server.results.scoring import match_scores
from plyhouse.storage import claim, leaderboards, match_reads, people
from plyhouse.storage.errors import AlreadyExists, InDoubt, Unreachable
from plyhouse.storage.rows import EventRow, FinishMatch, FinishPairing, StartMatch
from plyhouse.storage.store import Store
from plyhouse.storage.writer import Writer

pytestmark = pytest.mark.postgresql


@pytest.fixture(params=["tool", "server"])
def world_at(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], AbstractAsyncContextManager[World]]:
    """Open a world at a URL; a server has a lease, which it does not renew."""
    monkeypatch.setattr(claim, "RENEW_S", 10 * PATIENCE)
    monkeypatch.setattr(claim, "VALID_S", 20 * PATIENCE)

    @asynccontextmanager
    async def opened(url: str) -> AsyncIterator[World]:
        async with await Store.open(url) as store:
            if request.param == "server":
                await store.claim()
            yield World(store)

    return opened


def event(match_id: str, index: int, text: str = "x") -> EventRow:
    return EventRow(match_id, index, "act", index, 0, text)


@pytest.mark.parametrize("lost", ["lose_commits", "drop_commits"])
async def test_what_is_acknowledged_is_stored_once(
    postgres_url: str, world_at: Any, submit: Any, lost: str
) -> None:
    async with wire_to(postgres_url) as (wire, url), world_at(url) as world:
        match_id, new = await world.new("ada", "bob")
        writer = Writer(world.store)
        for ops in (
            new,
            [StartMatch(match_id, ("", ""), 11)],
            [event(match_id, 0), event(match_id, 1)],
            [event(match_id, 2)],
            [
                FinishMatch(
                    *(match_id, "normal", (1.0, -1.0), 3, 99), scores=match_scores((1.0, -1.0), 0.0)
                ),
                FinishPairing(world.pairings[match_id].id, 99),
            ],
        ):
            setattr(wire, lost, 1)
            await submit(writer, ops)
            assert getattr(wire, lost) == 0, "the test cut nothing"
        await writer.close()
        stored = await world.store.read(match_reads.stored_match, match_id)
        assert [row.index for row in stored.events] == [0, 1, 2]
        assert stored.header.termination == "normal"
        standings = await world.store.read(leaderboards.leaderboard, "pig")
        assert [line.games for line in standings] == [1, 1], "counted once"


async def test_a_doubt_is_settled_when_the_database_is_back(
    postgres_url: str, world_at: Any, submit: Any
) -> None:
    async with wire_to(postgres_url) as (wire, url), world_at(url) as world:
        ids = []
        for _ in range(3):
            match_id, new = await world.new("ada", "bob")
            await world.store.apply(new)
            ids.append(match_id)
        writer = Writer(world.store)
        rows = [[event(match_id, 0)] for match_id in ids]
        wire.lose_commits, wire.dead = 1, True
        told = await asyncio.gather(
            *(submit(writer, each) for each in rows), return_exceptions=True
        )
        assert all(isinstance(error, Unreachable) for error in told), told
        wire.dead = False
        # A match tries again what it was not told of, and goes on with what is new.
        other, new = await world.new("cyd", "dan")
        await asyncio.gather(
            *(submit(writer, each) for each in rows),
            submit(writer, new),
            submit(writer, [event(ids[0], 1)]),
        )
        for match_id, count in zip([*ids, other], [2, 1, 1, 0], strict=True):
            assert len((await world.store.read(match_reads.stored_match, match_id)).events) == count
        await writer.close()


async def test_what_another_has_stored_is_no_doubt(
    postgres_url: str, world_at: Any, submit: Any
) -> None:
    async with wire_to(postgres_url) as (wire, url), world_at(url) as world:
        match_id, new = await world.new("ada", "bob")
        await world.store.apply(new)
        writer = Writer(world.store)
        wire.drop_commits, wire.dead = 1, True
        with pytest.raises(Unreachable):
            await submit(writer, [event(match_id, 0)])
        wire.dead = False
        await world.store.apply([event(match_id, 0, "y")])
        with pytest.raises(AlreadyExists):
            await submit(writer, [event(match_id, 0)])
        with pytest.raises(AlreadyExists):
            await submit(writer, [event(match_id, 0, "y")])
        await writer.close()


async def test_anything_else_in_doubt_says_so(postgres_url: str, world_at: Any) -> None:
    async with wire_to(postgres_url) as (wire, url), world_at(url) as world:
        store: Store = world.store
        wire.lose_commits = 1
        with pytest.raises(InDoubt, match="look whether the change was stored"):
            await store.add_player("ada")
        assert [player.name for player in await store.read(people.list_players)] == ["ada"]


@pytest.mark.parametrize("lost", ["lose_commits", "drop_commits"])
async def test_a_match_goes_on_to_its_end(postgres_url: str, lost: str) -> None:
    async with wire_to(postgres_url) as (wire, url):
        hub = await Hub.open(ServerConfig(database=url))
        try:
            house = MemoryServer(hub, FakeClock())
            clients, matches = await house.pair("tic_tac_toe", "total:60")
            wire.spared = 1  # what was in doubt gets through when it is tried again
            setattr(wire, lost, 1000)
            ends = await asyncio.gather(*(c.play(m) for c, m in zip(clients, matches, strict=True)))
            assert getattr(wire, lost) < 998, "the test cut nothing"
            setattr(wire, lost, 0)
            assert ends[0].outcome.termination == "normal"
            stored = await hub.store.read(match_reads.stored_match, matches[0].match)
            assert [row.index for row in stored.events] == list(range(len(stored.events)))
            assert stored.header.termination == "normal"
        finally:
            setattr(wire, lost, 0)
            await hub.close()
