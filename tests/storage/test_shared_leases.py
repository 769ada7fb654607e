"""Leases that the servers of a cluster hold side by side."""

from __future__ import annotations

import asyncio
import contextlib

import pytest
from sqlalchemy import Connection, select, text
from sqlalchemy.ext.asyncio import AsyncEngine
from tests.harness.patience import PATIENCE
from tests.storage.cluster import VALID_MS, Cluster

from plyhouse.storage import claim, leases, models
from plyhouse.storage.errors import BadUrl, ServedAlready
from plyhouse.storage.store import Store

pytestmark = pytest.mark.postgresql


@pytest.fixture
def engine(cluster: Cluster) -> AsyncEngine:
    return cluster.engine


async def acquire(engine: AsyncEngine, *, shared: bool) -> int | leases.Held:
    async with engine.begin() as connection:
        return await connection.run_sync(leases.acquire, "there:1", VALID_MS, shared=shared)


async def acquired(engine: AsyncEngine, *, shared: bool) -> int:
    epoch = await acquire(engine, shared=shared)
    assert isinstance(epoch, int)
    return epoch


async def expire(engine: AsyncEngine) -> None:
    async with engine.begin() as connection:
        await connection.execute(models.leases.update().values(expires_ms=0))


async def not_ended(engine: AsyncEngine) -> set[int]:
    async with engine.begin() as connection:
        query = select(models.leases.c.epoch).where(models.leases.c.ended_ms.is_(None))
        return set((await connection.execute(query)).scalars())


async def test_members_of_a_cluster_hold_leases_side_by_side(postgres_tables: str) -> None:
    async with (
        await Store.open(postgres_tables) as first,
        await Store.open(postgres_tables) as second,
    ):
        assert first.epoch == 0
        await first.claim(shared=True, address="http://a:1", version="1")
        await second.claim(shared=True, address="http://b:1", version="2")
        assert 0 < first.epoch < second.epoch
        await first.add_player("ada")
        await second.add_player("bob")

        def rows(connection: Connection) -> list[tuple[int, str, str, bool]]:
            columns = (models.leases.c[name] for name in ("epoch", "address", "version", "shared"))
            return [tuple(row) for row in connection.execute(select(*columns))]

        assert sorted(await first.read(rows)) == [
            (first.epoch, "http://a:1", "1", True),
            (second.epoch, "http://b:1", "2", True),
        ]


@pytest.mark.parametrize("shared", [False, True])
async def test_single_server_and_cluster_refuse_each_other(
    postgres_tables: str, shared: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claim, "RENEW_S", 0.1)
    monkeypatch.setattr(claim, "_PAUSE_S", 0.02)
    async with (
        await Store.open(postgres_tables) as first,
        await Store.open(postgres_tables) as second,
        asyncio.timeout(PATIENCE),
    ):
        await first.claim(shared=shared)
        with pytest.raises(ServedAlready, match="or start all its servers with --cluster"):
            await second.claim(shared=not shared)
        assert second.epoch == 0


async def test_sqlite_refuses_a_cluster() -> None:
    async with await Store.open("sqlite:///:memory:") as store:
        with pytest.raises(BadUrl, match="a cluster needs PostgreSQL"):
            await store.claim(shared=True)
        await store.claim()
        assert store.epoch == 0


async def test_new_member_ends_expired_leases_of_single_servers_only(engine: AsyncEngine) -> None:
    single = await acquired(engine, shared=False)
    await expire(engine)
    first = await acquired(engine, shared=True)
    assert await not_ended(engine) == {first}, f"{single} is over"
    await expire(engine)
    second = await acquired(engine, shared=True)
    assert await not_ended(engine) == {first, second}
    assert isinstance(await acquire(engine, shared=False), leases.Held)
    await expire(engine)
    assert await not_ended(engine) == {first, second}
    last = await acquired(engine, shared=False)
    assert await not_ended(engine) == {last}


async def test_renewal_after_a_gap_begins_a_new_time_of_validity(engine: AsyncEngine) -> None:
    epoch = await acquired(engine, shared=True)

    async def renewed() -> int:
        async with engine.begin() as connection:
            assert await connection.run_sync(leases.renew, epoch, VALID_MS)
            return int((await connection.execute(select(models.leases.c.steady_ms))).scalar_one())

    began = await renewed()
    assert began > 0
    assert await renewed() == began
    async with engine.begin() as connection:
        await connection.execute(models.leases.update().values(expires_ms=0, steady_ms=1))
    assert await renewed() >= began


async def test_server_that_stops_while_it_renews_is_not_waited_for(engine: AsyncEngine) -> None:
    epoch = await acquired(engine, shared=False)
    async with engine.connect() as renewing:
        await renewing.begin()
        assert await renewing.run_sync(leases.renew, epoch, VALID_MS)
        limit = "idle_in_transaction_session_timeout"
        assert (await renewing.execute(text(f"SHOW {limit}"))).scalar_one() == "10min"
        # Only now, as the renewal has several statements with any time between them.
        await renewing.execute(text(f"SET LOCAL {limit} = 200"))
        async with asyncio.timeout(PATIENCE):
            await expire(engine)
            assert await acquired(engine, shared=False) > epoch
        with contextlib.suppress(Exception):  # PostgreSQL has ended the session
            await renewing.invalidate()
