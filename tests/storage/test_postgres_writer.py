"""Events that a server on PostgreSQL stores by one statement: all or none, with its lease only."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from msgspec.structs import replace
from tests.harness.postgres import execute
from tests.storage.conftest import World

from plyhouse.storage import match_reads, models
from plyhouse.storage.errors import AlreadyExists, ClaimLost, InvalidValue, Unknown
from plyhouse.storage.rows import EventRow, StartMatch
from plyhouse.storage.statements import Link
from plyhouse.storage.store import Store
from plyhouse.storage.writer import Writer

pytestmark = pytest.mark.postgresql


def event(match: str, index: int, words: str = "e4", **others: Any) -> EventRow:
    return EventRow(match, index, "action", index, 0, words, **others)


async def served(store: Store) -> tuple[World, str]:
    """Return the world of a server, and a match in it."""
    await store.claim()
    world = World(store)
    match, new = await world.new("ada", "bob")
    await store.apply(new)
    return world, match


async def test_every_column_is_stored_as_by_a_tool(postgres_tables: str) -> None:
    rows = [
        EventRow("", 0, "action", 1, -1, "é\n'\"", 1 << 62, 2, 3, 4, 5, '{"a": null}'),
        EventRow("", 1, "illegal", 2, 3, "", -1, 0, 0, 0, 0, None),
    ]
    async with await Store.open(postgres_tables) as store:
        world = World(store)
        by_tool, new = await world.new("ada", "bob")
        await store.apply([*new, *(_of(by_tool, row) for row in rows)])
        await store.claim()
        by_server, new = await world.new("ada", "bob")
        await store.apply(new)
        await store.apply([_of(by_server, row) for row in rows])
        for match in (by_tool, by_server):
            stored = await store.read(match_reads.stored_match, match)
            assert list(stored.events) == [_of(match, row) for row in rows]


def _of(match: str, row: EventRow) -> EventRow:
    return replace(row, match_id=match)


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"match_id": "nothing"}, Unknown),
        ({"index": 0}, AlreadyExists),
        ({"text": "\0"}, InvalidValue),
        ({"thought_ns": 1 << 70}, InvalidValue),
        ({"kind": "k" * 17}, InvalidValue),
    ],
)
async def test_what_is_wrong_is_refused_with_all_that_came_along(
    postgres_tables: str, wrong: dict[str, Any], error: type[Exception]
) -> None:
    async with await Store.open(postgres_tables) as store:
        _, match = await served(store)
        await store.apply([event(match, 0)])
        values = {"match_id": match, "index": 2, "kind": "a", "ply": 2, "seat": 0, "text": "e5"}
        with pytest.raises(error):
            await store.apply([event(match, 1), EventRow(**{**values, **wrong})])
        await store.apply([event(match, 1, "d4")])
        stored = await store.read(match_reads.stored_match, match)
        assert [each.text for each in stored.events] == ["e4", "d4"]


async def test_nothing_is_stored_once_the_lease_has_ended(postgres_tables: str) -> None:
    async with await Store.open(postgres_tables) as store:
        _, match = await served(store)
        await store.apply([event(match, 0)])
        async with await Store.open(postgres_tables) as other:
            await other.write(
                lambda connection: connection.execute(models.leases.update().values(ended_ms=1))
            )
        with pytest.raises(ClaimLost, match="another Plyhouse server has taken over"):
            await store.apply([event(match, 1)])
        stored = await store.read(match_reads.stored_match, match)
        assert len(stored.events) == 1


async def test_a_connection_that_was_cut_is_replaced(postgres_tables: str, submit: Any) -> None:
    async with await Store.open(postgres_tables) as store:
        _, match = await served(store)
        writer = Writer(store)
        for index in range(4):
            await submit(writer, [event(match, index)])
            assert store._database._leased is not None
            number = store._database._leased._driver.get_server_pid()
            await execute(f"SELECT pg_terminate_backend({number})")
        await writer.close()
        stored = await store.read(match_reads.stored_match, match)
        assert [each.index for each in stored.events] == [0, 1, 2, 3]


@pytest.mark.parametrize("when", ["between transactions", "within one"])
async def test_an_end_goes_on_after_its_connection_was_cut(postgres_tables: str, when: str) -> None:
    """Nothing can have been stored before COMMIT, so nobody hears of the cut."""
    async with await Store.open(postgres_tables) as store:
        _, match = await served(store)
        leased = store._database._leased
        assert leased is not None
        driver = leased._driver
        number = driver.get_server_pid()
        tries = 0

        def cut() -> None:
            asyncio.run(execute(f"SELECT pg_terminate_backend({number})"))

        def work(link: Link) -> None:
            nonlocal tries
            tries += 1
            if tries == 1 and when == "within one":
                thread = threading.Thread(target=cut)
                thread.start()
                thread.join()
            store._operations.apply(link, [StartMatch(match, ("", ""), 11)])

        if when == "between transactions":
            thread = threading.Thread(target=cut)
            thread.start()
            thread.join()  # the loop has not seen it yet
        stored: asyncio.Future[BaseException | None] = asyncio.get_running_loop().create_future()
        store._database.write_soon(work, stored.set_result)
        assert await stored is None
        found = await store.read(match_reads.stored_match, match)
        assert found.header.started_ms == 11
