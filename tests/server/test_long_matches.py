"""Plies of running matches have a bound in memory, and who has the most of them gives way."""

from __future__ import annotations

import pytest
from tests.harness.server import BotClient, MemoryServer

from plyhouse.protocol.codec import MSGPACK
from plyhouse.protocol.messages import Accepted, Act, Finished, MatchSnapshot
from plyhouse.server.table import live_matches

GAME = "go(size=5)"
POINTS = "a1", "e5", "b2", "d4", "c3"


async def pair(house: MemoryServer, *names: str) -> tuple[list[BotClient], MatchSnapshot]:
    """Begin a match between two bots, of two players or of one."""
    clients = []
    for name in names:
        player, _, bot = name.partition("/")
        token = await house.hub.store.add_token(player)
        client = BotClient(house.hub.connect(), MSGPACK)
        await client.hello(token, bot)
        clients.append(client)
    for client in clients:
        await client.seek(GAME, "total:600")
    snapshots = [await client.start() for client in clients]
    if snapshots[0].seat == 1:
        clients.reverse()
    return clients, snapshots[0]


async def play(clients: list[BotClient], match: str, until: int, since: int = 0) -> None:
    for ply in range(since, until):
        answer = await clients[ply % 2].ask(Act, match, ply, POINTS[ply])
        assert isinstance(answer, Accepted), answer


@pytest.fixture
async def players(still_house: MemoryServer) -> MemoryServer:
    for name in ("eve", "ann", "bob"):
        await still_house.hub.store.add_player(name)
    return still_house


async def test_longest_match_of_the_player_with_the_most_plies_becomes_void(
    players: MemoryServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    lives = players.hub.live_matches
    eve, first = await pair(players, "eve/one", "eve/two")
    more, second = await pair(players, "eve/three", "eve/four")
    others, third = await pair(players, "ann/bot", "bob/bot")
    await play(eve, first.match, 4)
    await play(more, second.match, 2)
    await play(others, third.match, 4)
    monkeypatch.setattr(live_matches, "LONGEST", 5)
    monkeypatch.setattr(live_matches, "MOST_PLIES", 10)
    lives.end_longest()
    assert all(not each.over for each in players.hub.directory.own.values()), "ten are allowed"
    await play(others, third.match, 5, 4)
    lives.end_longest()
    end = await eve[0].next(Finished)
    assert end.match == first.match
    assert end.outcome.termination == "aborted"
    assert "after 4 plies" in end.outcome.reason
    assert set(players.hub.directory.own) == {second.match, third.match}


async def test_match_of_too_many_plies_becomes_void_and_that_of_a_competition_does_not(
    players: MemoryServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    eve, first = await pair(players, "eve/one", "eve/two")
    others, second = await pair(players, "ann/bot", "bob/bot")
    await play(eve, first.match, 3)
    await play(others, second.match, 4)
    monkeypatch.setattr(live_matches, "LONGEST", 3)
    directory = players.hub.directory
    directory.own[second.match].pairing.tournament = "cup"
    players.hub.live_matches.end_longest()
    assert set(directory.own) == {first.match, second.match}
    directory.own[second.match].pairing.tournament = None
    players.hub.live_matches.end_longest()
    assert (await others[0].next(Finished)).match == second.match
    assert set(directory.own) == {first.match}
