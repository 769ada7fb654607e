"""Servers as processes of a cluster: killed, frozen, and started by one command."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import signal
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from tests.harness.cluster import Played, Processes, RestlessBot, tokens
from tests.harness.patience import PATIENCE

from plyhouse.games.registry import get_game
from plyhouse.protocol.messages import MatchSnapshot
from plyhouse.server.cluster.nats_server import LocalNats
from plyhouse.server.results.record import stored_record
from plyhouse.server.results.verify import verify
from plyhouse.storage import match_reads
from plyhouse.storage.store import Store

pytestmark = [pytest.mark.postgresql]

GAMES = ["connect_four", "pig", "leduc_poker", "tic_tac_toe"]
CHARGED_MS = 5_000
"""More than a bot of these tests takes for a ply, and less than any outage."""


@contextlib.asynccontextmanager
async def playing(processes: Processes, database: str, each: int) -> AsyncIterator[list[Any]]:
    """Bots that play so many matches of each game, two bots for a game."""
    bots = []
    for number, token in enumerate(await tokens(database, 2 * len(GAMES))):
        bot = RestlessBot(processes, token, "bot", number)
        bot.seek, bot.wanted, bot.think = (GAMES[number // 2], "total:60"), each, 0.1
        bots.append(bot)
    tasks = [asyncio.create_task(bot.run()) for bot in bots]
    try:
        async with asyncio.timeout(PATIENCE):
            while not all(bot.played for bot in bots):  # noqa: ASYNC110 - other processes
                await asyncio.sleep(0.05)
        yield bots
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(*(bot.done.wait() for bot in bots))
    finally:
        for task in tasks:
            task.cancel()


async def check(bots: list[RestlessBot], database: str) -> None:
    """Compare what bots were told with the records; nothing is lost, doubled or charged."""
    assert [bot.problems for bot in bots] == [[]] * len(bots)
    async with await Store.open(database) as store:
        for bot in bots:
            for played in bot.played.values():
                stored = await store.read(match_reads.stored_match, played.match)
                assert stored.header.termination == "normal"
                record = stored_record(stored, get_game(stored.header.game))
                assert verify(record).ok
                told = {
                    event.ply: event.text
                    for event in stored.events
                    if event.kind == "action" and event.seat == played.seat
                }
                assert played.actions.items() <= told.items()
                charged = [each.charged_ms for each in played.ledgers.values()]
                # On a busy machine a bot is late to read its turn, to think, and to answer.
                assert max(charged, default=0) < CHARGED_MS + 3_000 * bot.stood_still


async def kill(processes: Processes, number: int) -> None:
    await processes.kill(processes.alive[number])


async def stop(processes: Processes, number: int) -> None:
    assert await processes.stop(processes.alive[number]) == 0


async def freeze(processes: Processes, number: int) -> None:
    """Stop a server past its lease, and let it go on."""
    frozen = processes.alive.pop(number)
    frozen.send(signal.SIGSTOP)
    await asyncio.sleep(9)
    frozen.send(signal.SIGCONT)
    try:
        await asyncio.wait_for(frozen.process.wait(), PATIENCE)
    except TimeoutError:  # nobody had ended its lease, so it goes on
        processes.alive.append(frozen)


@pytest.mark.parametrize("end", [kill, stop, freeze])
@pytest.mark.parametrize("which", ["leader", "other"])
async def test_matches_go_on_without_a_server(
    processes: Processes, database: str, end: Callable[[Processes, int], Any], which: str
) -> None:
    async with playing(processes, database, 2) as bots:
        await end(processes, 0 if which == "leader" else 1)
        await processes.start()
    await check(bots, database)


class LateBot(RestlessBot):
    """A bot that is not ready before it has lost its first connection."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.awaited = asyncio.Event()

    async def _snapshot(self, wire: Any, snapshot: MatchSnapshot) -> None:
        assert snapshot.seat is not None
        self.played.setdefault(snapshot.match, Played(snapshot.match, snapshot.seat))
        self.awaited.set()
        if self.logins > 1:
            await super()._snapshot(wire, snapshot)


async def test_match_waits_for_a_seat_whose_server_was_killed_before_it_was_ready(
    database: str, nats: LocalNats
) -> None:
    """Nobody can log in before there is another leader, which takes longer than seats have."""
    async with await Store.open(database):
        pass  # makes the tables
    processes = Processes(database, nats.url, "--ready-timeout", "4", forked=True)
    tasks: list[asyncio.Task[None]] = []
    try:
        leader, other = await processes.start(), await processes.start()
        near, far = copy.copy(processes), copy.copy(processes)  # what each bot can reach
        near.alive, far.alive = [leader], [other]
        first, second = await tokens(database, 2)
        late, prompt = LateBot(near, first, "bot", 0), RestlessBot(far, second, "bot", 1)
        for bot in (late, prompt):
            bot.seek, bot.wanted = ("tic_tac_toe", "total:60"), 1
            tasks.append(asyncio.create_task(bot.run()))
        async with asyncio.timeout(PATIENCE):
            await late.awaited.wait()
            await processes.kill(leader)
            near.alive = [other]
            await late.done.wait()
            await prompt.done.wait()
    finally:
        for task in tasks:
            task.cancel()
        await processes.close()
    await check([late, prompt], database)


async def test_matches_go_on_while_nats_is_away(
    processes: Processes, database: str, nats: LocalNats
) -> None:
    async with playing(processes, database, 2) as bots:
        nats.stop()
        await asyncio.sleep(3)
        nats.start()
    await check(bots, database)


async def test_workers_share_a_port(database: str, nats: LocalNats) -> None:
    processes = Processes(database, nats.url, "--workers", "2", forked=True)
    try:
        await processes.start()
        async with playing(processes, database, 1) as bots:
            pass
        await check(bots, database)
        assert await processes.stop(processes.all[0]) == 0
    finally:
        await processes.close()
