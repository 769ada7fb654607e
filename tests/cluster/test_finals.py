"""Competitions on several servers, of which some are killed, beside one on a single server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from tests.harness.cluster import Processes, RestlessBot, tokens

from plyhouse.server.cluster.nats_server import LocalNats
from plyhouse.storage.store import Store

pytestmark = [pytest.mark.postgresql, pytest.mark.slow]

PATIENCE = 150
BOTS = 8
GAME = "tic_tac_toe"


class FixedBot(RestlessBot):
    """A bot that always answers a position in the same way, so tables can be compared."""

    def choose(self, actions: Any) -> Any:
        """Return the first, second or another legal action, by the number of the player."""
        return actions[self.number % len(actions)]

    number = 0


async def competition(processes: Processes, method: str, path: str, **options: Any) -> Any:
    """Ask any server that lives about competitions; servers may be killed meanwhile."""
    async with asyncio.timeout(PATIENCE):
        while True:
            url = f"{processes.alive[-1].url}/api/v1/competitions{path}"
            try:
                async with httpx.AsyncClient(timeout=5) as client:
                    answer = await client.request(method, url, **options)
            except httpx.TransportError:
                answer = None
            if answer is not None and answer.status_code < 500:
                assert answer.is_success, answer.text
                return answer.json()
            await asyncio.sleep(0.2)


async def finished(processes: Processes, path: str, matches: int) -> dict[str, Any]:
    """Return a competition when so many of its matches are over."""
    async with asyncio.timeout(PATIENCE):
        while True:
            shown: dict[str, Any] = await competition(processes, "GET", path)
            if shown["finished"] >= matches:
                return shown
            await asyncio.sleep(0.1)


async def played(processes: Processes, database: str, kills: list[int]) -> list[Any]:
    """Play a round robin while servers are killed, and return its table."""
    bots = []
    for number, token in enumerate(await tokens(database, BOTS)):
        bot = FixedBot(processes, token, "bot", number)
        bot.number, bot.games, bot.think = number, [GAME], 0.1
        bots.append(bot)
    async with await Store.open(database) as store:
        await store.add_player("olga")
        organiser = await store.add_token("olga", ("organise",))
    tasks = []
    try:
        async with asyncio.timeout(PATIENCE):
            for bot in bots:  # in this order, which breaks ties in the table
                tasks.append(asyncio.create_task(bot.run()))
                while not bot.logins:  # noqa: ASYNC110 - other processes
                    await asyncio.sleep(0.05)
        made = await competition(
            processes,
            "POST",
            "",
            headers={"Authorization": f"Bearer {organiser}"},
            json={"name": "Cup", "game": GAME, "time_control": "total:60"},
        )
        assert len(made["entries"]) == BOTS
        path = f"/{made['competition']}"
        for kill in kills:
            enough = 1 + (await competition(processes, "GET", path))["finished"]
            assert enough < made["planned"], "the competition ended before all servers were killed"
            await processes.kill(processes.alive[kill])
            await finished(processes, path, enough)
        shown = await finished(processes, path, made["planned"])
    finally:
        for task in tasks:
            task.cancel()
    assert shown["planned"] == BOTS * (BOTS - 1)
    assert [bot.problems for bot in bots] == [[]] * BOTS
    return [{key: line[key] for key in line if key != "bot_id"} for line in shown["table"]]


@pytest.fixture
async def processes(database: str, nats: LocalNats) -> AsyncIterator[Processes]:
    """Three servers, the first one leads."""
    made = Processes(database, nats.url, forked=True)
    async with await Store.open(database):
        pass  # makes the tables
    for _ in range(3):
        await made.start()
    yield made
    await made.close()


async def test_competition_with_killed_servers_has_the_table_of_one_server(
    processes: Processes, database: str, tmp_path: Any
) -> None:
    table = await played(processes, database, kills=[0, 0])  # the leader, then the next one
    single = f"sqlite:///{tmp_path}/single.db"
    async with await Store.open(single):
        pass
    alone = Processes(single, "", forked=True)
    await alone.start()
    try:
        assert table == await played(alone, single, kills=[])
    finally:
        await alone.close()
