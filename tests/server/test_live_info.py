"""Bots' thoughts shown during a match: only if no seat can profit and the bots allow it."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest
from tests.harness.patience import PATIENCE
from tests.harness.server import BotClient, Server

from plyhouse.protocol.messages import (
    Accepted,
    Act,
    Hello,
    MatchMessage,
    Seek,
    Turn,
    Update,
    Watch,
    Welcome,
)
from plyhouse.server.accounts.builtin_bots import BUILTIN_ROLE
from plyhouse.storage import sessions
from plyhouse.storage.names import BUILTIN_NAMES

SAID = {"value": 0.5, "pv": ["b2"], "text": "fine", "live": True}
SHOWN = {"value": 0.5, "pv": ["b2"], "text": "fine", "live": True}


async def seated(
    house: Server, players: tuple[str, str], game: str, **seek: Any
) -> list[BotClient]:
    """Two bots in a match that has begun, in the order of their seats."""
    bots = [await house.bot(player, f"bot{index}") for index, player in enumerate(players)]
    for bot in bots:
        await bot.ask(Seek, game, "total:60", **seek)
    found = await asyncio.gather(*(bot.start() for bot in bots))
    house.match = found[0].match  # type: ignore[attr-defined]
    return [bot for _, bot in sorted(zip((each.seat for each in found), bots, strict=True))]


async def spectator(house: Server, player: str = "") -> BotClient:
    """Somebody who watches, without an account or with one."""
    client = await house.client()
    token = await house.token(player) if player else ""
    assert isinstance(await client.ask(Hello, token, scenes=True), Welcome)
    assert isinstance(await client.ask(Watch, house.match), MatchMessage)  # type: ignore[attr-defined]
    return client


async def frames(house: Server) -> list[Any]:
    async with httpx.AsyncClient(base_url=house.server.url, timeout=PATIENCE) as http:
        answer = await http.get(f"/api/v1/matches/{house.match}/replay")  # type: ignore[attr-defined]
    return [frame.get("info") for frame in answer.json()["frames"]]


async def act(house: Server, bot: BotClient, ply: int, action: str, info: Any) -> None:
    await bot.next(Turn, ply=ply)
    answer = await bot.ask(Act, house.match, ply, action, info=info)  # type: ignore[attr-defined]
    assert isinstance(answer, Accepted), answer
    assert answer.info_refused == ""


async def be_house(house: Server) -> None:
    """The player called house is the one whose bots are the house's own."""
    row = await house.hub.store.write(
        sessions.special, BUILTIN_ROLE, BUILTIN_NAMES, house.hub.store.now()
    )
    house._players.add(row.name)


@pytest.mark.parametrize("other", ["alice", "house"])
async def test_spectators_see_it_against_own_bots_and_those_of_the_house(
    house: Server, other: str
) -> None:
    await be_house(house)
    bots = await seated(house, ("alice", other), "tic_tac_toe")
    live = house.hub.directory.match(house.match)  # type: ignore[attr-defined]
    assert live is not None
    mine = [holder.player for holder in live.seats].index("alice")
    viewer = await spectator(house)
    for ply, action in enumerate(("b2", "a1")):
        await act(house, bots[ply % 2], ply, action, SAID if ply == mine else None)
        update = await viewer.next(Update)
        assert update.info == (SHOWN if ply == mine else None)
    assert (await frames(house))[mine + 1] == SHOWN


@pytest.mark.parametrize(
    ("players", "game", "seek", "said"),
    [
        (("alice", "bob"), "tic_tac_toe", {}, SAID),
        (("alice", "bob"), "tic_tac_toe", {"rated": True}, SAID),
        (("alice", "alice"), "coin_guess", {}, {**SAID, "pv": []}),
        (("alice", "alice"), "tic_tac_toe", {}, {**SAID, "live": False}),
    ],
    ids=["against another", "rated", "hidden information", "not allowed"],
)
async def test_nobody_is_shown_it_otherwise(
    house: Server, players: tuple[str, str], game: str, seek: dict[str, Any], said: dict[str, Any]
) -> None:
    bots = await seated(house, players, game, **seek)
    viewers = [await spectator(house), await spectator(house, "alice")]
    turn = await bots[0].next(Turn, ply=0)
    legal = {"tic_tac_toe": "b2", "coin_guess": "penny"}[game]
    answer = await bots[0].ask(Act, house.match, turn.ply, legal, info=said)  # type: ignore[attr-defined]
    assert isinstance(answer, Accepted), answer
    for viewer in viewers:
        assert (await viewer.next(Update)).info is None
    other = await bots[1].next(Turn, ply=1)
    assert "fine" not in repr(other)
    assert not any(await frames(house))


async def test_a_seat_that_wants_updates_is_not_told(house: Server) -> None:
    first = await house.bot("alice", "one", updates=True)
    second = await house.bot("alice", "two", updates=True)
    for bot in (first, second):
        await bot.ask(Seek, "tic_tac_toe", "total:60")
    found = await asyncio.gather(first.start(), second.start())
    house.match = found[0].match  # type: ignore[attr-defined]
    mover, other = (first, second) if found[0].seat == 0 else (second, first)
    viewer = await spectator(house)
    await act(house, mover, 0, "b2", SAID)
    assert (await viewer.next(Update)).info == SHOWN
    await other.next(Turn, ply=1)
    assert "fine" not in repr([*other.inbox, *mover.inbox])
