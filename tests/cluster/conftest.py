"""A NATS server for each test that asks for one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
from tests.harness.cluster import Processes
from tests.harness.nats import nats_server
from tests.harness.patience import PATIENCE
from tests.harness.postgres import POSTGRES, demand, reason, schema
from tests.harness.small_cluster import SmallCluster

from plyhouse.server.administration import health
from plyhouse.server.cluster.nats_server import LocalNats
from plyhouse.storage import claim
from plyhouse.storage.store import Store


@pytest.fixture
def nats() -> Iterator[LocalNats]:
    with nats_server() as server:
        yield server


@pytest.fixture
def database() -> Iterator[str]:
    """A PostgreSQL URL with its own empty schema."""
    demand(reason())
    with schema() as name:
        yield f"{POSTGRES}?schema={name}"


@pytest.fixture(autouse=True)
def patient_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the servers of this process keep their leases until they stop.

    A busy machine may be late to renew them, and the other servers end what expired.  Its database
    may also need more than the 1.5 seconds in which it has to answer.
    """
    monkeypatch.setattr(claim, "VALID_S", PATIENCE)
    monkeypatch.setattr(claim, "SILENT_LEFT_S", 0.0)
    monkeypatch.setattr(health, "ANSWER_SECONDS", PATIENCE)


@pytest.fixture
async def cluster(database: str, nats: LocalNats) -> AsyncIterator[SmallCluster]:
    """Three servers; the first one leads."""
    made = SmallCluster(database, nats.url)
    for _ in range(3):
        await made.add()
    yield made
    await made.close()


@pytest.fixture
async def processes(database: str, nats: LocalNats) -> AsyncIterator[Processes]:
    """Three servers, the first one leads."""
    made = Processes(database, nats.url, forked=True)
    async with await Store.open(database):
        pass  # makes the tables
    for _ in range(3):
        await made.start()
    yield made
    await made.close()
