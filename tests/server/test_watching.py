"""Spectators get the whole match in every state: waiting, running, over, and only stored."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from tests.harness.patience import PATIENCE
from tests.harness.server import BotClient, MemoryServer, Server

from plyhouse.protocol.codec import MSGPACK
from plyhouse.protocol.messages import (
    Accepted,
    Act,
    Finished,
    MatchMessage,
    MatchSnapshot,
    Ok,
    Resign,
    Unwatch,
    Update,
    Watch,
)
from plyhouse.server.config import ServerConfig
from plyhouse.server.serve import running_server
from plyhouse.storage.causes import written

GAMES = ("tic_tac_toe", "kuhn_poker", "coin_guess", "pig")


async def seen(server: Server | MemoryServer, match: str, *, scenes: bool = True) -> MatchSnapshot:
    """Return what a new spectator gets."""
    viewer = await server.client() if isinstance(server, Server) else memory_client(server)
    await viewer.hello("", "", scenes=scenes)
    answer = await viewer.ask(Watch, match)
    assert isinstance(answer, MatchMessage), answer
    return answer.snapshot


def memory_client(server: MemoryServer) -> BotClient:
    return BotClient(server.hub.connect(), MSGPACK)


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("end", ["by the rules", "by resignation"])
async def test_spectator_gets_the_board_of_a_match_that_is_over(
    house: Server, game: str, end: str
) -> None:
    clients, starts = await house.pair(game, count=1)
    match = starts[0].match
    follower = await house.client()
    await follower.hello("", "", scenes=True)
    first = (await follower.ask(Watch, match)).snapshot
    assert first.scene is not None
    if end == "by the rules":
        await asyncio.gather(*(c.play(s, 5) for c, s in zip(clients, starts, strict=True)))
    else:
        assert isinstance(await clients[0].ask(Resign, match), Ok)
    finished = await follower.next(Finished)
    late = await seen(house, match)
    assert late.outcome == finished.outcome
    assert late.scene is not None
    assert (await seen(house, match, scenes=False)).scene is None
    house.hub.directory.recent.clear()  # as after 500 other matches
    stored = await seen(house, match)
    assert stored.scene == late.scene
    assert structs.replace(stored, players=late.players) == late
    assert [(each.player, each.bot) for each in stored.players] == [
        (each.player, each.bot) for each in late.players
    ]


async def test_spectator_gets_the_board_of_a_match_that_never_began(house: Server) -> None:
    alice, bob = await house.bot("alice"), await house.bot("bob")
    for bot in (alice, bob):
        assert isinstance(await bot.seek("connect_four", count=1), Ok)
    match = (await alice.next(MatchMessage)).snapshot.match
    assert (await seen(house, match)).scene is not None
    house.hub.directory.own[match].match.attendance.clear()
    live = house.hub.directory.own[match]
    live.input(live.match.abort, written("The organiser ended it."), house.hub.now())
    await alice.next(Finished)
    assert (await seen(house, match)).scene is not None
    house.hub.directory.recent.clear()
    over = await seen(house, match)
    assert over.scene is not None
    assert over.outcome is not None
    assert over.outcome.termination == "aborted"


async def test_spectator_gets_the_board_of_a_match_of_the_last_run(tmp_path: Path) -> None:
    config = ServerConfig(port=0, database=f"sqlite:///{tmp_path / 'a.db'}")
    async with contextlib.AsyncExitStack() as stack:
        house = Server(await stack.enter_async_context(running_server(config)), stack)
        clients, starts = await house.pair("kuhn_poker")
        await asyncio.gather(*(c.play(s) for c, s in zip(clients, starts, strict=True)))
    async with contextlib.AsyncExitStack() as stack:
        house = Server(await stack.enter_async_context(running_server(config)), stack)
        over = await seen(house, starts[0].match)
        assert over.status == "finished"
        assert over.scene is not None
        # Only the seats may see their cards, until the pairing is over.
        assert all(event.action is None for event in over.events if event.seat < 0)


async def test_match_that_is_over_is_read_when_its_turn_to_be_drawn_has_come(
    house: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One spectator can ask a hundred times at once, and a long match takes megabytes."""
    _, starts = await house.pair("tic_tac_toe", count=1)
    match = starts[0].match
    live = house.hub.directory.own[match]
    live.input(live.match.abort, written("The organiser ended it."), house.hub.now())
    viewer = await house.client()
    await viewer.hello("", "")
    read = []
    original = house.hub.privacy.match

    async def reading(*given: Any, **named: Any) -> Any:
        read.append(given)
        return await original(*given, **named)

    monkeypatch.setattr(house.hub.privacy, "match", reading)
    async with asyncio.timeout(PATIENCE):
        while match not in house.hub.directory.recent:  # noqa: ASYNC110 (it is stored first)
            await asyncio.sleep(0.01)
        house.hub.directory.recent.clear()
        queue = house.hub.helpers.queue
        async with queue.of("somebody"):
            for number in range(100, 120):
                await viewer.send(Watch(number, match))
            while sum(queue._waiting.values()) < 21:  # noqa: ASYNC110 (the tasks have no event)
                await asyncio.sleep(0.01)
            assert not read
        for number in range(100, 120):
            answer = await viewer.next(MatchMessage)
            assert (answer.re, answer.snapshot.status) == (number, "finished")


async def test_spectators_without_drawings_take_them_from_nobody(
    still_house: MemoryServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second spectator comes while the first one's snapshot waits for the database."""
    house = still_house
    clients, starts = await house.pair("tic_tac_toe", "total:60")
    match = starts[0].match
    live = house.hub.directory.own[match]
    held: list[Any] = []
    store = house.hub.live_matches.store
    monkeypatch.setattr(house.hub.live_matches, "store", lambda *call: held.append(call))
    accepted = asyncio.create_task(clients[0].ask(Act, match, 0, "a1"))
    while not held:  # noqa: ASYNC110 - no event tells of frames
        await asyncio.sleep(0)
    page, plain, gone = (memory_client(house) for _ in range(3))
    for client, scenes in ((page, True), (plain, False), (gone, False)):
        await client.hello("", "", scenes=scenes)
    asked = [asyncio.create_task(each.ask(Watch, match)) for each in (page, plain, gone)]
    while len(live.spectators) < 3:  # noqa: ASYNC110
        await asyncio.sleep(0)
    await gone.send(Unwatch(9, match))
    while len(live.spectators) > 2:  # noqa: ASYNC110
        await asyncio.sleep(0)
    monkeypatch.setattr(house.hub.live_matches, "store", store)
    for call in held:
        store(*call)
    assert isinstance(await accepted, Accepted)
    first = [(await each).snapshot for each in asked]
    assert [each.scene is not None for each in first] == [True, False, False]
    assert isinstance(await clients[1].ask(Act, match, 1, "b1"), Accepted)
    update = await page.next(Update)
    assert (update.ply, update.scene is not None) == (2, True)
    assert (await plain.next(Update)).ply == 2
    await gone.next(Ok)
    assert not any(isinstance(each, Update) for each in gone.inbox)
