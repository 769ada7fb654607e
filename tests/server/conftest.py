"""A server of one's own for every test, and a client that speaks the protocol frame by frame."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.harness.hub_finals import Course
from tests.harness.server import PATIENCE, FakeClock, MemoryServer, Server

from plyhouse.server.config import ServerConfig
from plyhouse.server.gateway.hub import Hub
from plyhouse.server.serve import running_server


@pytest.fixture
async def open_house() -> AsyncIterator[Callable[..., Awaitable[Server]]]:
    """Start a server with these settings; it ends with the test."""
    async with contextlib.AsyncExitStack() as stack:

        async def start(**settings: Any) -> Server:
            # Clients of tests answer pings only while they wait for a message, so the server
            # must be as patient as they are.
            patient = {"peer_timeout": PATIENCE}
            chosen = {"port": 0, "database": "sqlite:///:memory:", **patient, **settings}
            server = await stack.enter_async_context(running_server(ServerConfig(**chosen)))
            clients = await stack.enter_async_context(contextlib.AsyncExitStack())
            return Server(server, clients)

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
