"""The lease of a server on a PostgreSQL schema: who may write, and from when on no more."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator

import pytest
from sqlalchemy import Connection, select, text
from sqlalchemy.ext.asyncio import AsyncEngine
from tests.harness.log_lines import log_text
from tests.harness.patience import PATIENCE
from tests.storage.wire import wire_to

from plyhouse.storage import claim, engines, leases, models, people
from plyhouse.storage.database import Database
from plyhouse.storage.errors import ClaimLost, ServedAlready, StorageError
from plyhouse.storage.store import Store

pytestmark = pytest.mark.postgresql
VALID_MS = 60_000
KEEPALIVE = socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL

SERVE = """
import sys
from plyhouse.clients.cli.main import main
sys.exit(main(["serve", "--port", "0", "--database", sys.argv[1]]))
"""


@pytest.fixture
def frequent_renewals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leases that servers of this process renew often, however long that takes."""
    monkeypatch.setattr(claim, "RENEW_S", 0.1)
    monkeypatch.setattr(claim, "ANSWER_S", PATIENCE)
    monkeypatch.setattr(claim, "_PAUSE_S", 0.02)


@contextlib.asynccontextmanager
async def engine_of(url: str) -> AsyncIterator[AsyncEngine]:
    database = await Database.open(url)
    engine = engines.tool_engine(database.target, write=True)
    try:
        yield engine
    finally:
        await engine.dispose()
        await database.close()


async def acquire(engine: AsyncEngine, holder: str = "there:1") -> int | leases.Held:
    async with engine.begin() as connection:
        return await connection.run_sync(leases.acquire, holder, VALID_MS)


async def expire(engine: AsyncEngine) -> None:
    """Let the time pass for which leases are valid."""
    async with engine.begin() as connection:
        await connection.execute(models.leases.update().values(expires_ms=0))


def add_player(connection: Connection, name: str) -> None:
    connection.execute(
        models.players.insert().values(name=name, name_key=name.lower(), created_ms=0)
    )


async def names(engine: AsyncEngine) -> list[str]:
    async with engine.begin() as connection:
        return list(await connection.scalars(select(models.players.c.name)))


async def until_one_waits_for_a_lock(engine: AsyncEngine) -> None:
    waiting = text(
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        " AND query LIKE '%leases%' AND datname = current_database()"
    )
    async with asyncio.timeout(PATIENCE):
        while True:
            async with engine.begin() as connection:
                if (await connection.execute(waiting)).scalar_one():
                    return
            await asyncio.sleep(0.01)


async def test_a_new_server_waits_for_the_transaction_of_the_last_one(postgres_url: str) -> None:
    async with engine_of(postgres_url) as engine, engine.connect() as writing:
        old = await acquire(engine)
        assert isinstance(old, int)
        transaction = await writing.begin()
        assert await writing.run_sync(leases.fence, old, VALID_MS)
        await writing.run_sync(add_player, "ada")
        await expire(engine)
        taking = asyncio.create_task(acquire(engine))
        await until_one_waits_for_a_lock(engine)
        await transaction.commit()
        new = await taking
        assert isinstance(new, int)
        assert new > old
        assert await names(engine) == ["ada"]


async def test_a_transaction_that_begins_after_the_takeover_is_refused(postgres_url: str) -> None:
    async with engine_of(postgres_url) as engine, engine.connect() as taking:
        old = await acquire(engine)
        assert isinstance(old, int)
        await expire(engine)
        transaction = await taking.begin()
        assert isinstance(await taking.run_sync(leases.acquire, "there:2", VALID_MS), int)

        async def write() -> bool:
            async with engine.begin() as connection:
                return await connection.run_sync(leases.fence, old, VALID_MS)

        writing = asyncio.create_task(write())
        await until_one_waits_for_a_lock(engine)
        await transaction.commit()
        assert not await writing
        async with engine.begin() as connection:
            assert not await connection.run_sync(leases.renew, old, VALID_MS)


async def test_a_server_that_stops_in_a_transaction_is_not_waited_for(postgres_url: str) -> None:
    async with engine_of(postgres_url) as engine, engine.connect() as writing:
        old = await acquire(engine)
        assert isinstance(old, int)
        await writing.begin()
        await writing.run_sync(add_player, "ada")
        # The last statement: PostgreSQL would refuse one that comes more than 200 ms after it.
        assert await writing.run_sync(leases.fence, old, 200)
        await expire(engine)
        async with asyncio.timeout(PATIENCE):
            assert isinstance(await acquire(engine), int)
        assert await names(engine) == []
        with contextlib.suppress(Exception):  # PostgreSQL has ended the session
            await writing.invalidate()


async def test_of_many_servers_that_start_together_one_gets_the_lease(postgres_url: str) -> None:
    async with engine_of(postgres_url) as engine:
        for _ in range(50):
            found = await asyncio.gather(*(acquire(engine, f"there:{i}") for i in range(12)))
            epochs = [each for each in found if isinstance(each, int)]
            assert len(epochs) == 1
            assert {each.epoch for each in found if isinstance(each, leases.Held)} == set(epochs)
            await expire(engine)
        async with engine.begin() as connection:
            kept = (await connection.execute(select(models.leases.c.epoch))).all()
        assert len(kept) < 25, "old leases are deleted"


@pytest.mark.usefixtures("frequent_renewals")
async def test_a_server_survives_an_outage_during_which_nobody_takes_over(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def until_valid(engine: AsyncEngine, wanted: bool) -> None:
        valid = select(models.leases.c.expires_ms > leases.NOW_MS)
        async with asyncio.timeout(PATIENCE):
            while True:
                async with engine.begin() as connection:
                    if (await connection.execute(valid)).scalar_one() == wanted:
                        return
                await asyncio.sleep(0.02)

    async with (
        wire_to(postgres_url) as (wire, url),
        await Store.open(url) as store,
        engine_of(postgres_url) as engine,
    ):
        await store.claim()
        wire.dead = True
        wire.cut()
        await expire(engine)
        await until_valid(engine, wanted=False)
        with pytest.raises(StorageError):
            await store.add_player("ada")
        monkeypatch.setattr(claim, "VALID_S", PATIENCE)  # it must not expire again meanwhile
        wire.dead = False
        await store.add_player("bob")
        await until_valid(engine, wanted=True)
        async with await Store.open(postgres_url) as second:
            with pytest.raises(ServedAlready, match=rf"\(process {os.getpid()}\)"):
                await second.claim()


@pytest.mark.usefixtures("frequent_renewals")
@pytest.mark.parametrize("silent", [False, True])
async def test_a_server_whose_lease_was_ended_writes_nothing_more(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch, silent: bool
) -> None:
    async with (
        wire_to(postgres_url) as (wire, url),
        await Store.open(url) as store,
        engine_of(postgres_url) as engine,
    ):
        await store.claim()
        if silent:
            wire.silent = True
        else:
            wire.dead = True
            wire.cut()
        await expire(engine)
        monkeypatch.setattr(claim, "VALID_S", PATIENCE)  # the second one must keep its lease
        async with asyncio.timeout(PATIENCE):
            async with await Store.open(postgres_url) as second:
                await second.claim()
                await second.add_player("ada")
            if silent:
                wire.silent = False
                wire.cut()
            wire.dead = False
            with pytest.raises(ClaimLost, match="another Plyhouse server has taken over"):
                await store.add_player("bob")
            why = await store.claim_lost()
        assert "start this one again" in str(why)
        assert [each.name for each in await store.read(people.list_players)] == ["ada"]


async def test_a_server_that_was_stopped_past_its_lease_ends(postgres_url: str) -> None:
    server = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", SERVE, postgres_url),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        assert server.stdout is not None
        assert server.stderr is not None
        async with asyncio.timeout(PATIENCE):
            assert b"listening" in await server.stdout.readline()
        server.send_signal(signal.SIGSTOP)
        async with asyncio.timeout(PATIENCE), await Store.open(postgres_url) as second:
            await second.claim()
        server.send_signal(signal.SIGCONT)
        async with asyncio.timeout(PATIENCE):
            errors = await server.stderr.read()
            assert await server.wait() == 3
        assert b"another Plyhouse server has taken over" in errors
    finally:
        if server.returncode is None:
            server.kill()
        await server.communicate()


async def test_renewal_goes_on_after_an_error_that_nobody_expected(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Otherwise the server would go on with a lease that has ended, and never hear of it."""
    monkeypatch.setattr(claim, "RENEW_S", 0.2)
    async with engine_of(postgres_url) as engine:
        lease = await claim.Lease.take(engine, "the database", ())
        async with engine.begin() as connection:
            await connection.execute(text("ALTER TABLE leases RENAME TO away"))
        async with asyncio.timeout(PATIENCE):
            while "UndefinedTable" not in log_text(caplog):
                assert lease._renewing is not None
                assert not lease._renewing.done()
                await asyncio.sleep(0.01)
        async with engine.begin() as connection:
            await connection.execute(text("ALTER TABLE away RENAME TO leases"))
            await connection.execute(models.leases.update().values(ended_ms=1))
        async with asyncio.timeout(PATIENCE):
            assert "has taken over the database" in str(await lease.lost())
        await lease.release()


async def test_connection_to_a_server_that_vanishes_ends_within_seconds(postgres_url: str) -> None:
    """A network that drops packets cannot be made here, so the kernel is asked what it will do."""
    async with engine_of(postgres_url) as engine, engine.connect() as connection:
        driver = (await connection.get_raw_connection()).driver_connection
        assert driver is not None
        wire = driver._transport.get_extra_info("socket")
        if wire.family not in (socket.AF_INET, socket.AF_INET6):
            pytest.skip("PostgreSQL is reached through a file")
        assert wire.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        tcp = socket.IPPROTO_TCP
        assert wire.getsockopt(tcp, socket.TCP_USER_TIMEOUT) == 1000 * engines.SILENT_S
        wait, between = [wire.getsockopt(tcp, each) for each in KEEPALIVE]
        assert wait + 2 * between == engines.SILENT_S


async def test_ends_of_silent_connections_are_for_networks_only() -> None:
    one, other = socket.socketpair()
    with one, other:
        engines.end_when_silent(one)
        assert not one.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
    engines.end_when_silent(None)
