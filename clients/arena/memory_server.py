"""A server without a network, for matches on this machine: the same hub, in memory.

Bots connect to it through `plyhouse.server.wire.memory`, with the client that crosses networks
elsewhere; nothing but the transport differs from ``plyhouse serve``.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from plyhouse.bots.client.channel import Channel, Connector
from plyhouse.server.config import ServerConfig
from plyhouse.server.gateway.hub import Hub

__all__ = [
    "PLAYER",
    "connector_of",
    "local_hub",
    "online",
]

PLAYER = "local"
"""The account that the bots of a local match belong to."""


@asynccontextmanager
async def local_hub(illegal_rule: str = "forfeit") -> AsyncIterator[Hub]:
    """Open a hub over a database in memory, and close it in the end."""
    config = ServerConfig(
        database="sqlite:///:memory:",
        illegal_rule=illegal_rule,
        suspend_after=0,  # A user who plays a broken bot here wants to see how it fails.
        ready_timeout=120.0,  # a bot may take long to import
        max_matches_per_bot=1000,
        messages_per_second=1_000_000,  # nobody else is here to be protected
        log_level="error",
    )
    # Nobody hosts anything here: what a server tells its operator would only be in the way.
    logger = logging.getLogger("plyhouse")
    level = logger.level
    logger.setLevel(config.log_level.upper())
    try:
        hub = await Hub.open(config)
        try:
            yield hub
        finally:
            await hub.close()
    finally:
        logger.setLevel(level)  # Other code in this process logs as before.


def connector_of(hub: Hub) -> Connector:
    """How a client in this process connects to the hub."""

    async def connect() -> Channel:
        return hub.connect()

    return connect


async def online(hub: Hub, name: str, check: Callable[[], None] = lambda: None) -> int:
    """Wait until ``name`` (see `Directory.find`) is connected, and return the id of its bot.

    ``check`` is called while waiting, and raises what would keep it from ever being so.
    """
    while (found := hub.directory.find(name)) is None:  # a hub tells nobody of logins
        check()
        await asyncio.sleep(0.002)
    return found.bot_id
