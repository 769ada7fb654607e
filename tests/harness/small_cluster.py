"""A cluster of servers in this process, which tests may stop one by one."""

from __future__ import annotations

import contextlib
from typing import Any

from tests.harness.patience import PATIENCE
from tests.harness.server import Server

from plyhouse.server.cluster.lease_follower import LeaseFollower
from plyhouse.server.cluster.member import Member
from plyhouse.server.config import ServerConfig
from plyhouse.server.gateway.hub import Hub
from plyhouse.server.serve import MakeBuiltinBots, running_server


class SmallCluster:
    """Servers on one database, the leader first."""

    def __init__(
        self,
        database: str,
        nats: str,
        *,
        builtin_bots: MakeBuiltinBots | None = None,
        **settings: Any,
    ) -> None:
        self._builtin_bots = builtin_bots
        self.servers: list[Server] = []
        self._settings = {"peer_timeout": PATIENCE, **settings}
        self._settings |= {"port": 0, "database": database, "cluster": nats}
        self._stacks: dict[Server, contextlib.AsyncExitStack] = {}
        self._clients = contextlib.AsyncExitStack()

    async def add(self) -> Server:
        """Start one more server."""
        stack = contextlib.AsyncExitStack()
        config = ServerConfig(**self._settings)
        running = await stack.enter_async_context(
            running_server(config, builtin_bots=self._builtin_bots)
        )
        server = Server(running, self._clients)
        self._stacks[server] = stack
        self.servers.append(server)
        return server

    async def stop(self, server: Server) -> None:
        """Stop a server as SIGTERM does."""
        self.servers.remove(server)
        await self._stacks.pop(server).aclose()

    async def close(self) -> None:
        await self._clients.aclose()
        for server in tuple(self.servers):
            await self.stop(server)


def member_of(hub: Hub) -> Member:
    """The place of a server in its cluster."""
    assert isinstance(hub.member, Member)
    return hub.member


def cluster_of(hub: Hub) -> LeaseFollower:
    """What a server knows of its cluster."""
    found = member_of(hub).cluster
    assert found is not None
    return found
