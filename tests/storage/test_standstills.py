"""PostgreSQL ends a transaction of a server that stood still: it is tried again."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import Connection, text
from tests.harness.postgres import execute
from tests.storage.wire import wire_to

from plyhouse.storage import people
from plyhouse.storage.database import Database
from plyhouse.storage.statements import Link, ServerLink
from plyhouse.storage.store import Store

pytestmark = pytest.mark.postgresql

LIMIT = "SELECT set_config('idle_in_transaction_session_timeout', {}, true)"
SOON = "1917us"
ENDED = """
DO $$ BEGIN
    WHILE EXISTS (SELECT FROM pg_stat_activity WHERE pid = {}) LOOP
        PERFORM pg_sleep(0.01);
    END LOOP;
END $$
"""


def limit(link: Link) -> None:
    """Let PostgreSQL end this transaction almost at once."""
    if isinstance(link, ServerLink):
        link.look_up(LIMIT.format("$1"), (SOON,))
    else:
        assert isinstance(link, Connection)
        link.execute(text(LIMIT.format(":value")), {"value": SOON})


def stand_still(number: int) -> None:
    """Keep the event loop until PostgreSQL has ended a session."""
    thread = threading.Thread(target=lambda: asyncio.run(execute(ENDED.format(number))))
    thread.start()
    thread.join()


def backend(link: Link) -> int:
    query = "SELECT pg_backend_pid()"
    if isinstance(link, ServerLink):
        return int(link.look_up(query, ())[0][0])
    assert isinstance(link, Connection)
    return int(link.execute(text(query)).scalar_one())


async def write_soon(database: Database, work: Callable[[Link], None]) -> None:
    told: asyncio.Future[BaseException | None] = asyncio.get_running_loop().create_future()
    database.write_soon(work, told.set_result)
    error = await told
    if error is not None:
        raise error


WAYS = pytest.mark.parametrize("way", [Database.write, write_soon], ids=["write", "write_soon"])


@WAYS
@pytest.mark.parametrize("claimed", [True, False], ids=["server", "tool"])
async def test_transaction_that_stands_still_before_its_commit_is_tried_again(
    postgres_tables: str, way: Any, claimed: bool
) -> None:
    """The driver sends COMMIT, and only then hears that the transaction has ended."""
    tries = 0

    def work(link: Link) -> None:
        nonlocal tries
        tries += 1
        if tries == 1:
            number = backend(link)
            limit(link)
            stand_still(number)

    async with await Store.open(postgres_tables) as store:
        if claimed:
            await store.claim()
        await way(store._database, work)
    assert tries == 2


@WAYS
@pytest.mark.parametrize("claimed", [True, False], ids=["server", "tool"])
async def test_transaction_that_stands_still_during_a_statement_is_tried_again(
    postgres_tables: str, way: Any, claimed: bool
) -> None:
    """The answer and the end of the transaction come at once, so the driver sends no COMMIT."""
    tries = 0

    async with wire_to(postgres_tables) as (wire, url), await Store.open(url) as store:
        if claimed:
            await store.claim()

        def work(link: Link) -> None:
            nonlocal tries
            tries += 1
            if tries == 1:
                wire.stalls_at = SOON.encode()
                limit(link)

        await way(store._database, work)
        assert tries == 2
        await store.add_player("ada")
        assert [player.name for player in await store.read(people.list_players)] == ["ada"]
