"""Asking a server for search trees."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Awaitable, Callable

import httpx
from tests.harness.patience import PATIENCE
from tests.harness.played_matches import over
from tests.harness.server import Server
from tests.harness.zygote import forked_command

from plyhouse.protocol.messages import Act, Resign

OpenHouse = Callable[..., Awaitable[Server]]


def explain_command() -> str:
    """The command with which a server of these tests has positions explained."""
    return shlex.join([*forked_command(), "explain", "--record=-", "--json"])


async def ask(house: Server, match: str, query: str = "", **headers: str) -> httpx.Response:
    async with httpx.AsyncClient(base_url=house.server.url, timeout=PATIENCE) as http:
        return await http.get(f"/api/v1/matches/{match}/tree{query}", headers=headers)


async def begun(house: Server, actions: str, game: str = "tic_tac_toe", **seek: bool) -> str:
    """A match in which these were played by turns, and that goes on."""
    clients, found = await house.pair(game, "total:60", **seek)
    for ply, action in enumerate(actions.split()):
        await clients[ply % 2].ask(Act, found[0].match, ply, action)
    house.clients = clients  # type: ignore[attr-defined]
    return found[0].match


async def ended(house: Server, actions: str, game: str = "tic_tac_toe", **seek: bool) -> str:
    """The same match when its first seat has given up."""
    match = await begun(house, actions, game, **seek)
    clients = house.clients  # type: ignore[attr-defined]
    await clients[0].ask(Resign, match)
    for client in clients:
        await client.close()
    await asyncio.wait_for(over(house, match), PATIENCE)
    return match
