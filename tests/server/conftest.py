"""A server of one's own for every test, and a client that speaks the protocol frame by frame."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.harness.clocks import FakeClock
from tests.harness.hub_finals import Course
from tests.harness.nats import nats_server
from tests.harness.patience import PATIENCE
from tests.harness.postgres import POSTGRES, demand, reason, schema
from tests.harness.server import MemoryServer, Server

from plyhouse.server.config import ServerConfig
from plyhouse.server.gateway.hub import Hub
from plyhouse.server.serve import running_server
from plyhouse.storage import claim

CLUSTERED = {
    "test_lobby",
    "test_a_match_is_played_by_requests_to_each_server_in_turn",
    "test_a_bot_may_ask_how_the_match_ended_that_it_lost_while_away",
}
"""Modules and tests of `open_house` that run on one server, and then on a cluster of three."""
ONE_SERVER = {
    # The leader of a cluster hears of the end of a match a little after its bots.
    "test_who_accepted_and_plays_something_else_meanwhile_is_waited_for",
}
"""Tests of these modules that a cluster does not pass."""
ALWAYS = os.environ.get("PLYHOUSE_TEST_SERVERS")
"""Set by hand, it runs all other tests of `open_house` on a cluster of so many."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run the tests of some modules twice."""
    names = {metafunc.module.__name__.rpartition(".")[2], metafunc.function.__name__}
    twice = bool(names & CLUSTERED) and not names & ONE_SERVER
    if "servers" in metafunc.fixturenames and twice:
        marks = pytest.mark.postgresql
        metafunc.parametrize("servers", [1, pytest.param(3, marks=marks)], ids=["one", "three"])


@pytest.fixture
def servers() -> int:
    """The number of servers that serve a test together."""
    return int(ALWAYS or 1)


@pytest.fixture(scope="session")
def broker() -> Iterator[str]:
    """The address of a NATS server for the clusters of this session."""
    demand(reason())
    with nats_server() as nats:
        yield nats.url


@pytest.fixture
def cluster_url(servers: int, request: pytest.FixtureRequest) -> str:
    """The address of the NATS server of a cluster; empty for a single server."""
    return request.getfixturevalue("broker") if servers > 1 else ""


@pytest.fixture
async def open_house(
    servers: int, cluster_url: str, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Callable[..., Awaitable[Server]]]:
    """Start a server with these settings; it ends with the test."""
    async with contextlib.AsyncExitStack() as stack:

        async def start(**settings: Any) -> Server:
            if servers > 1 and "database" not in settings:
                return await start_cluster(**settings)
            # Clients of tests answer pings only while they wait for a message, so the server
            # must be as patient as they are.
            patient = {"peer_timeout": PATIENCE}
            chosen = {"port": 0, "database": "sqlite:///:memory:", **patient, **settings}
            server = await stack.enter_async_context(running_server(ServerConfig(**chosen)))
            clients = await stack.enter_async_context(contextlib.AsyncExitStack())
            return Server(server, clients)

        async def start_cluster(**settings: Any) -> Server:
            loop = asyncio.get_running_loop()
            # A busy machine may be late to renew leases, and the other servers end what expired.
            monkeypatch.setattr(claim, "VALID_S", PATIENCE)
            monkeypatch.setattr(claim, "SILENT_LEFT_S", 0.0)
            made = schema()
            name = await loop.run_in_executor(None, made.__enter__)
            stack.push_async_callback(loop.run_in_executor, None, made.__exit__, None, None, None)
            patient = {"peer_timeout": PATIENCE}
            chosen = {
                "port": 0,
                "database": f"{POSTGRES}?schema={name}",
                "cluster": cluster_url,
                **patient,
                **settings,
            }
            running = [
                await stack.enter_async_context(running_server(ServerConfig(**chosen)))
                for _ in range(servers)
            ]
            clients = await stack.enter_async_context(contextlib.AsyncExitStack())
            return Server(running[0], clients, running)

        yield start


@pytest.fixture
async def house(open_house: Callable[..., Awaitable[Server]]) -> Server:
    """A server with the usual settings."""
    return await open_house()


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def still_house(clock: FakeClock, tmp_path: Path) -> AsyncIterator[MemoryServer]:
    """A hub in memory whose time only the test moves."""
    hub = await Hub.open(ServerConfig(database="sqlite:///:memory:"), now=clock)
    yield MemoryServer(hub, clock)
    await hub.close()


@pytest.fixture
async def course(tmp_path: Path) -> AsyncIterator[Course]:
    made = Course(f"sqlite:///{tmp_path / 'course.db'}")
    await made.start()
    yield made
    await made.stop()
