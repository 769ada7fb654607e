"""Hosted bots stay hosted until their matches end, and no clock runs while no machine has them."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.harness.clocks import FakeClock
from tests.harness.hosted_finals import HostedFinal, cup_file
from tests.harness.patience import PATIENCE
from tests.harness.server import MemoryServer
from tests.harness.simulated_runner import OLGA, SimulatedRunner

from plyhouse.server.config import ServerConfig
from plyhouse.server.gateway.hub import Hub
from plyhouse.server.hosting.runners import SECOND

HOUR = 3600


@pytest.mark.parametrize("step", ["pause", "finish", "delete"])
async def test_ending_a_final_keeps_bots_hosted_until_their_matches_end(
    step: str, still_house: MemoryServer
) -> None:
    final = await HostedFinal.begin(still_house, SimulatedRunner(still_house))
    await final.ready()
    before = await final.hosted()
    await final.move(step)
    assert await final.hosted() == before, "a runner restarts a bot of which anything changes"
    ends = await final.play()
    assert {end.outcome.termination for end in ends} == {"normal"}
    assert await final.hosted() == []


async def test_withdrawing_a_bot_keeps_it_hosted_until_its_matches_end(
    still_house: MemoryServer,
) -> None:
    final = await HostedFinal.begin(still_house, SimulatedRunner(still_house))
    await final.ready()
    before = await final.hosted()
    live = final.lives[0]
    tournament = live.pairing.tournament
    assert tournament is not None
    await still_house.hub.tournaments.withdraw(tournament, live.seats[0].bot_id, OLGA)
    assert await final.hosted() == before


async def test_pausing_overnight_costs_nobody_anything(still_house: MemoryServer) -> None:
    final = await HostedFinal.begin(
        still_house, SimulatedRunner(still_house), ("ann", "ben", "cleo")
    )
    await final.ready()
    await final.move("pause")
    # The machines are switched off, in the middle of a match.
    await final.machine.call(leaving=True)
    await final.disconnect()
    lives = final.lives
    left = [live.match.clock.remaining(seat, still_house.clock.now)
            for live in lives for seat in (0, 1)]  # fmt: skip
    await final.pass_time(12 * HOUR)
    assert [live.match.outcome for live in lives] == [None, None]
    await final.connect()
    assert left == [live.match.clock.remaining(seat, still_house.clock.now)
                    for live in lives for seat in (0, 1)]  # fmt: skip
    assert {end.outcome.termination for end in await final.play()} == {"normal"}
    assert final.lives == []
    await final.move("resume")
    async with asyncio.timeout(PATIENCE):
        while (await still_house.hub.competitions.view(final.cup)).row.status != "finished":
            await final.connect()
            await final.ready()
            assert {end.outcome.termination for end in await final.play()} <= {"normal"}


async def test_hosted_bot_without_machine_is_not_waited_for_in_vain(
    still_house: MemoryServer,
) -> None:
    """Neither a grace nor the time to get ready runs out for a bot that no machine hosts."""
    final = await HostedFinal.begin(
        still_house, SimulatedRunner(still_house), text=cup_file(time_control="total:80000")
    )
    waiting = final.lives
    await final.machine.call(leaving=True)
    await final.disconnect()
    await final.pass_time(HOUR)
    assert {live.match.status for live in waiting} == {"waiting"}
    await final.connect()
    await final.ready()
    live = waiting[0]
    mover = live.match.seat_to_move
    assert mover is not None
    # Only the one that is not to move is away: the clock of the other runs all the same.
    await final.machine.call(leaving=True)
    await final.clients[live.seats[1 - mover].bot_id].close()
    await asyncio.sleep(0)
    before = live.match.clock.remaining(mover, still_house.clock.now)
    await final.pass_time(HOUR)
    assert live.match.outcome is None
    assert before - live.match.clock.remaining(mover, still_house.clock.now) == HOUR * SECOND


async def test_server_and_runner_killed_together_cost_nobody_a_match(
    tmp_path: Path, clock: FakeClock
) -> None:
    """After the restart one machine is back at once, the other an hour later."""
    config = ServerConfig(database=f"sqlite:///{tmp_path}/house.db", hosted=True)
    hub = await Hub.open(config, now=clock)
    house = MemoryServer(hub, clock)
    first, second = SimulatedRunner(house, "lab1", bots=1), SimulatedRunner(house, "lab2", bots=1)
    text = cup_file(time_control="total:80000")
    final = await HostedFinal.begin(house, first, text=text, connect=False)
    for _ in range(2):
        await final.connect(first)
        await final.connect(second)
    await final.ready()
    matches = [live.id for live in final.lives]
    await hub.close()

    hub = await Hub.open(config, now=clock)
    try:
        house.hub = hub
        final.clients.clear()
        first, second = (
            SimulatedRunner(house, "lab1", bots=1),
            SimulatedRunner(house, "lab2", bots=1),
        )
        await final.connect(first)
        assert len(final.clients) == 1
        await final.pass_time(HOUR, first)
        assert [live.id for live in final.lives] == matches
        await final.connect(first)  # nobody has answered the server's pings
        await final.connect(second)
        assert len(final.clients) == 2
        assert {end.outcome.termination for end in await final.play()} == {"normal"}
    finally:
        await hub.close()
