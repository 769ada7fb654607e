"""A server without a network, for matches on this machine: the same hub, in memory.

Bots connect to it through `plyhouse.server.memory`, with the client that crosses networks
elsewhere; nothing but the transport differs from ``plyhouse serve``.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

from plyhouse.bots.channel import Channel, Connector
from plyhouse.server.chance import SHARED_STREAM, commitment
from plyhouse.server.config import ServerConfig
from plyhouse.server.hub import Hub
from plyhouse.server.live import LivePairing
from plyhouse.server.participants import Participant
from plyhouse.server.runner import Terms, wall_ms
from plyhouse.storage.rows import NewPairing, Op, PairingRow, new_id

__all__ = [
    "PLAYER",
    "begin_pairing",
    "connector_of",
    "local_hub",
    "loop_factory",
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
        ready_timeout=120.0,  # a bot may take long to import
        max_matches_per_bot=1000,
        messages_per_second=1_000_000,  # nobody else is here to be protected
        log_level="error",
    )
    hub = await Hub.open(config)
    try:
        yield hub
    finally:
        await hub.close()


def connector_of(hub: Hub) -> Connector:
    """How a client in this process connects to the hub."""

    async def connect() -> Channel:
        return hub.connect()

    return connect


async def online(hub: Hub, name: str, check: Callable[[], None] = lambda: None) -> Participant:
    """Wait until ``name`` (see `Hub.find`) is connected.

    ``check`` is called while waiting, and raises what would keep it from ever being so.
    """
    while (found := hub.find(name)) is None:  # a hub tells nobody of logins
        check()
        await asyncio.sleep(0.002)
    return found


def begin_pairing(
    hub: Hub, terms: Terms, orders: Sequence[Sequence[Participant]], seed: bytes
) -> LivePairing:
    """Begin the matches of a pairing whose chance follows from ``seed``, the same in all of them.

    What `MatchRunner.begin` does for an organiser's mirrored pairing, with a seed that is known:
    locally nobody has to be kept from knowing it, and the same seed gives the same dice again.
    """
    # MatchRunner.begin takes no seed, so its steps are taken one by one.
    runner = hub.runner
    pairing = LivePairing(new_id(), seed)
    row = PairingRow(
        id=pairing.id,
        game=terms.game.spec,
        time_control=str(terms.time_control),
        rated=terms.rated,
        seed=seed,
        commitment=commitment(seed),
        matches=len(orders),
        created_ms=wall_ms(),
    )
    made = [runner._make(row, terms, new_id(), SHARED_STREAM, seated, pairing) for seated in orders]
    runner._mark_last(pairing)
    ops: list[Op] = [NewPairing(row)]
    for live, new in made:
        live.begin([*ops, new])
        ops = []
    return pairing


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop]:
    """The fastest event loop there is on this machine."""
    try:
        import uvloop
    except ImportError:  # not made for this system
        return asyncio.new_event_loop
    return uvloop.new_event_loop
