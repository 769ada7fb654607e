"""Matches that were played to their end."""

from __future__ import annotations

import asyncio

from tests.harness.patience import PATIENCE
from tests.harness.server import Server

from plyhouse.storage import match_reads


async def played(house: Server, game: str = "tic_tac_toe") -> str:
    clients, matches = await house.pair(game)
    finals = await asyncio.gather(
        *(
            client.play(match, seed=seat)
            for seat, (client, match) in enumerate(zip(clients, matches, strict=True))
        )
    )
    assert finals[0].outcome.termination == "normal"
    for client in clients:
        await client.close()
    await asyncio.wait_for(over(house, matches[0].match), PATIENCE)
    return matches[0].match


async def over(house: Server, match: str) -> None:
    """Wait until the database has the end of the pairing."""
    while (await house.hub.store.read(match_reads.stored_match, match)).pairing.finished_ms is None:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
