"""Ladders of hosted bots: they are played, and keep neither finals nor people waiting."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest
from tests.harness.hosted_finals import HostedFinal, cup_file
from tests.harness.server import MemoryServer
from tests.harness.simulated_runner import GAME, SimulatedRunner

from plyhouse.server.hosting.needed_bots import PAIRINGS_A_TURN
from plyhouse.server.hosting.placement import Priority
from plyhouse.storage import submission_sql
from plyhouse.storage.rows import Identity

LADDER = cup_file("Ladder", rest='[format]\nname = "ladder"\n')


def competition_of(final: HostedFinal) -> Counter[str]:
    """Count the running matches of each competition by the name of the class competition."""
    hub = final.house.hub
    names = {}
    for live in final.lives:
        running = hub.tournaments.running(live.pairing.tournament or "")
        assert running is not None
        names[live.id] = running.row.name.partition(":")[0]
    return Counter(names.values())


async def test_hosted_ladder_is_played_and_says_what_it_waits_for(
    still_house: MemoryServer,
) -> None:
    machine = SimulatedRunner(still_house)
    players = "ann", "ben", "cleo"
    ladder = await HostedFinal.begin(still_house, machine, players, LADDER, connect=False)
    (game,) = (await still_house.hub.competitions.view(ladder.cup)).games
    assert game.waiting_for == [
        "0 of 3 entries are here, and a ladder pairs two: start the bots; `plyhouse runner` "
        "starts a machine for those that were submitted.",
    ]
    await ladder.connect()
    met = set()
    for _ in range(4):
        assert len(ladder.lives) == 2
        met |= {frozenset(each.bot_id for each in live.seats) for live in ladder.lives}
        await ladder.ready()
        assert {end.outcome.termination for end in await ladder.play()} == {"normal"}
        await asyncio.sleep(0)
        still_house.hub.tournaments.advance_soon()
        await asyncio.sleep(0)
    assert len(met) > 1
    (game,) = (await still_house.hub.competitions.view(ladder.cup)).games
    assert game.waiting_for == []


async def test_final_goes_before_a_ladder_on_the_same_processors(still_house: MemoryServer) -> None:
    machine = SimulatedRunner(still_house)
    ladder = await HostedFinal.begin(still_house, machine, ("ann", "ben", "cleo"), LADDER)
    assert competition_of(ladder) == {"Ladder": 2}
    await ladder.ready()
    final = await HostedFinal.begin(still_house, machine, ("ada", "bob"), cup_file("Final"))
    assert competition_of(final) == {"Ladder": 2}, "a final shares no processor with a rated match"
    await ladder.play()
    await asyncio.sleep(0)
    assert competition_of(final) == {"Final": 2}
    await final.ready()
    await final.play()
    for _ in range(3):
        await final.connect()
        await asyncio.sleep(0)
    assert (await still_house.hub.competitions.view(final.cup)).row.status == "finished"
    assert competition_of(ladder) == {"Ladder": 2}


async def test_bot_of_a_ladder_ends_its_match_and_then_plays_its_final(
    still_house: MemoryServer,
) -> None:
    machine = SimulatedRunner(still_house, cores=4)
    ladder = await HostedFinal.begin(still_house, machine, ("ann", "ben"), LADDER)
    await ladder.ready()
    before = await ladder.hosted()
    text = cup_file("Final", time_control="total:30")
    hub = still_house.hub
    final = await HostedFinal.begin(still_house, machine, ("ann", "ben"), text, connect=False)
    final.clients = ladder.clients
    assert await final.hosted() == before
    await ladder.play()
    await asyncio.sleep(0)
    assert competition_of(final) == {}, "the bots have not been started for the final yet"
    await final.connect()
    assert competition_of(final) == {"Final": 2}
    await final.ready()
    await final.play()
    await final.connect()
    hub.tournaments.advance_soon()
    await asyncio.sleep(0)
    assert competition_of(ladder) == {"Ladder": 2}


async def test_no_match_begins_between_a_decision_and_its_tickets(
    still_house: MemoryServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The final began with bots that were about to be restarted for it."""
    machine = SimulatedRunner(still_house, cores=4)
    ladder = await HostedFinal.begin(still_house, machine, ("ann", "ben"), LADDER)
    await ladder.ready()
    text = cup_file("Final", time_control="total:30")
    hub = still_house.hub
    final = await HostedFinal.begin(still_house, machine, ("ann", "ben"), text, connect=False)
    final.clients = ladder.clients
    await final.hosted()
    await ladder.play()
    checks = hub.hosting._checks
    waiting = checks.waiting

    async def slowly(now: int) -> Any:
        hub.tournaments.advance_soon()
        for _ in range(3):
            await asyncio.sleep(0)
        return await waiting(now)

    monkeypatch.setattr(checks, "waiting", slowly)
    await final.connect()
    assert competition_of(final) == {"Final": 2}


async def test_bots_of_a_ladder_take_turns_where_there_is_not_room_for_all(
    still_house: MemoryServer,
) -> None:
    machine = SimulatedRunner(still_house, bots=2)
    players = "ann", "ben", "cleo", "dan"
    ladder = await HostedFinal.begin(still_house, machine, players, LADDER)
    played: Counter[int] = Counter()
    for _ in range(40):
        for live in ladder.lives[:1]:
            played.update(each.bot_id for each in live.seats)
        await ladder.ready()
        await ladder.play()
        hosted = {each.bot for each in await ladder.hosted()}
        for bot in ladder.clients.keys() - hosted:
            await ladder.clients.pop(bot).close()
        await asyncio.sleep(0)
        await ladder.connect()
    assert len(played) == 4
    assert max(played.values()) - min(played.values()) <= PAIRINGS_A_TURN + 1, played


async def test_people_go_before_a_ladder(still_house: MemoryServer) -> None:
    hub, machine = still_house.hub, SimulatedRunner(still_house, cores=2)
    ladder = await HostedFinal.begin(still_house, machine, ("ann", "ben", "cleo"), LADDER)
    await ladder.ready()
    bot = next(
        each.bot_id
        for each in hub.directory.presences.values()
        if not each.matches
    )  # fmt: skip
    await hub.store.write(submission_sql.set_open, bot, 1)
    row = hub.directory.presences[bot].player, "mine"
    player = await hub.store.add_player("zoe")
    zoe = Identity(player.id, "zoe", frozenset(("play",)), 1)
    asking = asyncio.create_task(hub.hosted_play.ready(zoe, row[0], row[1], GAME.spec))
    while hub.hosting.needed.priority(bot) is not Priority.INTERACTIVE:
        await machine.call()
    await ladder.connect()
    assert not asking.done()
    await ladder.play()
    await asyncio.sleep(0)
    assert ladder.lives == [], "a pairing needs the processor for which zoe waits"
    assert await asking == "/".join(row)
