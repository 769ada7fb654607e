"""The connection that holds the claim on a PostgreSQL schema is lost: nobody plays twice."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncIterator
from typing import Any

import pytest
from sqlalchemy.engine import make_url
from tests.harness.claims import HOLD
from tests.storage.wire import wire_to

from plyhouse.storage import claim, people
from plyhouse.storage.errors import ClaimLost, ServedAlready, StorageError, Unreachable
from plyhouse.storage.store import Store

pytestmark = pytest.mark.postgresql
PATIENCE = 30.0

SERVE = """
import sys
from plyhouse.clients.cli.main import main
sys.exit(main(["serve", "--port", "0", "--database", sys.argv[1]]))
"""


async def cut_claim(url: str) -> None:
    """End the session that holds our claim, as an administrator would."""
    import asyncpg  # type: ignore[import-untyped]

    plain = make_url(url).set(query={}).render_as_string(hide_password=False)
    connection = await asyncpg.connect(plain)
    try:
        ended = await connection.fetch(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE $1",
            f"plyhouse serve {os.getpid()} %",
        )
        assert len(ended) == 1
    finally:
        await connection.close()


@contextlib.asynccontextmanager
async def other_server(url: str) -> AsyncIterator[None]:
    """Another process that claims the database."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HOLD, url, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(PATIENCE):
            assert await process.stdout.readline() == b"claimed\n"
        yield
    finally:
        process.kill()
        await process.communicate()


async def written(store: Store, name: str) -> None:
    """Add a player, as soon as the store takes anything."""
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                await store.add_player(name)
            except Unreachable:
                await asyncio.sleep(0.02)
            else:
                return


async def until(store: Store, *, held: bool) -> None:
    """Wait until the claim is held, or until that it is not was noticed."""
    found = store._database._claim
    assert found is not None
    async with asyncio.timeout(PATIENCE):
        while found.held is not held:  # noqa: ASYNC110  (nobody tells)
            await asyncio.sleep(0.01)


async def test_a_claim_whose_connection_is_ended_is_had_again(postgres_url: str) -> None:
    async with await Store.open(postgres_url) as store:
        await store.claim()
        for name in ("ada", "bob"):
            await cut_claim(postgres_url)
            await written(store, name)
            async with await Store.open(postgres_url) as second:
                await until(store, held=True)
                with pytest.raises(ServedAlready):
                    await second.claim()


async def test_nothing_is_written_while_it_is_lost(postgres_url: str) -> None:
    async with wire_to(postgres_url) as (wire, url), await Store.open(url) as store:
        await store.claim()
        wire.dead = True
        wire.cut()
        await until(store, held=False)
        wire.dead = False
        # The way is open again before the claim is.
        with pytest.raises(StorageError, match="nothing is stored until it is there again"):
            await store.add_player("ada")
        await written(store, "ada")


@pytest.mark.parametrize("stays", [True, False])
async def test_it_is_lost_for_good_when_another_server_was_quicker(
    postgres_url: str, stays: bool
) -> None:
    async with wire_to(postgres_url) as (wire, url), await Store.open(url) as store:
        await store.claim()
        wire.dead = True
        wire.cut()
        async with contextlib.AsyncExitStack() as stack:
            async with asyncio.timeout(PATIENCE):
                while True:  # PostgreSQL notices the cut in its own time
                    with contextlib.suppress(AssertionError):
                        await stack.enter_async_context(other_server(postgres_url))
                        break
            if not stays:
                await stack.aclose()
            wire.dead = False
            async with asyncio.timeout(PATIENCE):
                why = await store.claim_lost()
        assert "another Plyhouse server" in str(why)
        with pytest.raises(ClaimLost):
            await store.add_player("ada")
        assert await store.read(people.list_players) == [], "reading goes on"


async def test_it_is_lost_for_good_when_the_database_stays_away(
    postgres_url: str, monkeypatch: Any
) -> None:
    monkeypatch.setattr(claim, "PATIENCE_S", 0.3)
    async with wire_to(postgres_url) as (wire, url), await Store.open(url) as store:
        await store.claim()
        wire.dead = True
        wire.cut()
        async with asyncio.timeout(PATIENCE):
            assert "was out of reach for 0.3 s" in str(await store.claim_lost())


@pytest.mark.slow
async def test_a_connection_that_is_silent_counts_as_lost(
    postgres_url: str, monkeypatch: Any
) -> None:
    monkeypatch.setattr(claim, "CHECK_S", 0.2)
    async with wire_to(postgres_url) as (wire, url), await Store.open(url) as store:
        await store.claim()
        wire.silent = True
        await until(store, held=False)
        wire.silent = False
        wire.cut()
        await written(store, "ada")


@pytest.mark.slow
async def test_the_server_that_lost_it_ends(postgres_url: str) -> None:
    async with wire_to(postgres_url) as (wire, url):
        server = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", SERVE, url),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            assert server.stdout is not None
            assert server.stderr is not None
            async with asyncio.timeout(PATIENCE):
                assert b"listening" in await server.stdout.readline()
            wire.dead = True
            wire.cut()
            async with other_server(postgres_url):
                wire.dead = False
                async with asyncio.timeout(PATIENCE):
                    errors = await server.stderr.read()
                    assert await server.wait() == 3
            assert b"another Plyhouse server" in errors
        finally:
            if server.returncode is None:
                server.kill()
            await server.communicate()
