"""A server without a network, for matches on this machine.

Bots connect to it through `plyhouse.server.wire.memory`, with the client that crosses networks
elsewhere.  Sessions, matches and clocks are those of ``plyhouse serve``.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from plyhouse.bots.client.channel import Channel, Connector
from plyhouse.server.config import ServerConfig
from plyhouse.server.gateway.local_hub import LocalHub

PLAYER = "local"
"""The account that the bots of a local match belong to."""


@asynccontextmanager
async def local_hub(illegal_rule: str = "forfeit") -> AsyncIterator[LocalHub]:
    """Open a hub, and close it in the end."""
    config = ServerConfig(
        illegal_rule=illegal_rule,
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
        async with LocalHub(config) as hub:
            yield hub
    finally:
        logger.setLevel(level)  # Other code in this process logs as before.


def connector_of(hub: LocalHub) -> Connector:
    """How a client in this process connects to the hub."""

    async def connect() -> Channel:
        return hub.connect()

    return connect


async def online(hub: LocalHub, name: str, check: Callable[[], None] = lambda: None) -> int:
    """Wait until ``name`` (see `Directory.find`) is connected, and return the id of its bot.

    ``check`` is called while waiting, and raises what would keep it from ever being so.
    """
    while (found := hub.directory.find(name)) is None:  # a hub tells nobody of logins
        check()
        await asyncio.sleep(0.002)
    return found.bot_id
