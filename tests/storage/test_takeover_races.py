"""Many claimants of one match, and an owner that was suspended past its lease.

``PLYHOUSE_RACE_ROUNDS`` sets the number of rounds; from 1,000 on, 40 processes take part.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
from sqlalchemy import Connection
from sqlalchemy.ext.asyncio import AsyncConnection
from tests.harness.patience import PATIENCE
from tests.storage.cluster import VALID_MS, Cluster

from plyhouse.storage import engines, leases, match_reads, members
from plyhouse.storage.database import Database

pytestmark = pytest.mark.postgresql

ROUNDS = int(os.environ.get("PLYHOUSE_RACE_ROUNDS", "8"))
CLAIMANTS = 50
# Each process needs two of the 100 connections that PostgreSQL allows.
PROCESSES, PROCESS_ROUNDS = (40, ROUNDS // 10) if ROUNDS >= 1_000 else (6, 5)

CLAIM = """
import asyncio, sys
from plyhouse.storage import claim, members
from plyhouse.storage import members
from plyhouse.storage.store import Store

claim.VALID_S = 600.0  # many processes on few cores may be late to renew

async def main():
    async with await Store.open(sys.argv[1], migrate=False) as store:
        await store.claim(shared=True)
        own = store.epoch
        print(own, flush=True)
        loop = asyncio.get_running_loop()
        while role := (await loop.run_in_executor(None, sys.stdin.readline)).strip():
            await store.write(members.end_expired, own, grace_ms=0)
            taken = await store.write(members.adopt, own, 1)
            leader = await store.write(members.claim_role, role, own)
            print(leader, *taken, flush=True)

asyncio.run(main())
"""

PLAY = """
import asyncio, itertools, sys
from plyhouse.storage import claim
from plyhouse.storage.errors import ClaimLost
from plyhouse.storage.rows import EventRow
from plyhouse.storage.store import Store

claim.RENEW_S, claim.VALID_S = 0.2, 1.0

async def main():
    async with await Store.open(sys.argv[1], migrate=False) as store:
        await store.claim(shared=True)
        print(store.epoch, flush=True)
        match = sys.stdin.readline().strip()
        for number in itertools.count():
            try:
                await store.apply([EventRow(match, number, "act", number, 0, "x")])
            except ClaimLost:
                print("refused", number, flush=True)
                return
            print("stored", number, flush=True)

asyncio.run(main())
"""


def end(connection: Connection, own: int) -> list[int]:
    assert leases.fence(connection, own, VALID_MS)
    return members.end_expired(connection, own)


def take(connection: Connection, own: int, role: str) -> tuple[list[str], int]:
    assert leases.fence(connection, own, VALID_MS)
    taken = members.adopt(connection, own, 1)
    return taken, members.claim_role(connection, role, own)


async def compete(connection: AsyncConnection, own: int, role: str) -> tuple[list[str], int]:
    """End what has expired; then adopt an orphan and claim a role."""
    async with connection.begin():
        await connection.run_sync(end, own)
    async with connection.begin():
        return await connection.run_sync(take, own, role)


async def dead_owner(cluster: Cluster, role: str) -> tuple[int, str]:
    """Add a member that has died, with a pairing and a role; return its epoch and the pairing."""
    dead = await cluster.join()
    pairing = await cluster.pairing(dead)
    assert await cluster.run_as(dead, members.claim_role, role, dead) == dead
    await cluster.expire(dead)
    return dead, pairing


def one_winner(
    pairing: str, dead: int, everyone: Sequence[int], found: Sequence[tuple[list[str], int]]
) -> None:
    """Check that one claimant has the pairing, and one is the leader for all who saw a new one."""
    assert [taken for taken, _ in found if taken] == [[pairing]]
    (leader,) = {leader for _, leader in found} - {dead}
    assert leader in everyone


@pytest.fixture
async def connections(postgres_tables: str) -> AsyncIterator[list[AsyncConnection]]:
    """A connection for each claimant."""
    database = await Database.open(postgres_tables)
    async with contextlib.AsyncExitStack() as stack:
        opened = []
        for _ in range(CLAIMANTS // 10):  # an engine has 15 connections at most
            engine = engines.tool_engine(database.target, write=True)
            stack.push_async_callback(engine.dispose)
            opened += [await stack.enter_async_context(engine.connect()) for _ in range(10)]
        yield opened
    await database.close()


async def test_match_of_a_dead_member_gets_one_owner(
    cluster: Cluster, connections: list[AsyncConnection]
) -> None:
    everyone = [await cluster.join() for _ in connections]
    await cluster.change(*everyone, expires_ms=1 << 60)
    for number in range(ROUNDS):
        role = f"role{number}"
        dead, pairing = await dead_owner(cluster, role)
        found = await asyncio.gather(
            *(
                compete(connection, own, role)
                for connection, own in zip(connections, everyone, strict=True)
            )
        )
        one_winner(pairing, dead, everyone, found)


@contextlib.asynccontextmanager
async def program(code: str, url: str) -> AsyncIterator[Process]:
    command = (sys.executable, "-c", code, url)
    started = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE)
    try:
        yield started
    finally:
        if started.returncode is None:
            started.kill()
        await started.communicate()


async def line_from(process: Process) -> list[str]:
    assert process.stdout is not None
    return (await process.stdout.readline()).decode().split()


def tell(process: Process, line: str) -> None:
    assert process.stdin is not None
    process.stdin.write(line.encode() + b"\n")


async def test_match_of_a_dead_member_gets_one_of_many_processes(
    postgres_tables: str, cluster: Cluster
) -> None:
    async with contextlib.AsyncExitStack() as stack:
        processes = [
            await stack.enter_async_context(program(CLAIM, postgres_tables))
            for _ in range(PROCESSES)
        ]
        everyone = [int((await line_from(each))[0]) for each in processes]
        for number in range(PROCESS_ROUNDS):
            role = f"role{number}"
            dead, pairing = await dead_owner(cluster, role)
            for each in processes:
                tell(each, role)
            lines = await asyncio.gather(*map(line_from, processes))
            one_winner(pairing, dead, everyone, [(taken, int(epoch)) for epoch, *taken in lines])


async def test_member_that_was_suspended_past_its_lease_stores_nothing_more(
    postgres_tables: str, cluster: Cluster, world_at: Any
) -> None:
    new = await cluster.join()
    async with world_at(postgres_tables) as world, program(PLAY, postgres_tables) as player:
        match, ops = await world.new("ada", "bob")
        await world.store.apply(ops)
        own = int((await line_from(player))[0])
        pairing = world.pairings[match].id
        assert await cluster.run_as(own, members.adopt, own, 1) == [pairing]
        tell(player, match)
        for _ in range(10):
            assert (await line_from(player))[0] == "stored"
        player.send_signal(signal.SIGSTOP)
        async with asyncio.timeout(PATIENCE):
            ended: list[int] = []
            while ended != [own]:  # the lease expires by the clock of the database
                await asyncio.sleep(0.02)
                ended = await cluster.run_as(new, members.end_expired, new) or []
        assert await cluster.run_as(new, members.adopt, new, 1) == [pairing]
        (known,) = await world.store.read(match_reads.running_matches, [pairing])
        player.send_signal(signal.SIGCONT)
        heard: list[list[str]] = []
        async with asyncio.timeout(PATIENCE):
            while not heard or heard[-1][0] == "stored":
                heard.append(await line_from(player))
        assert heard[-1] == ["refused", str(len(known.events))]
        (after,) = await world.store.read(match_reads.running_matches, [pairing])
        assert after.events == known.events
