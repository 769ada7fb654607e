"""Finals of a class on several servers, of which some are killed, beside one on a single server."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import httpx
import pytest
from tests.harness.cluster import Processes, RestlessBot

from plyhouse.storage import match_reads
from plyhouse.storage.store import Store

pytestmark = [pytest.mark.postgresql]

PATIENCE = 250
STUDENTS = int(os.environ.get("PLYHOUSE_FINAL_STUDENTS", "6"))
GAME = "tic_tac_toe"
BASELINES = {"weak": "pass", "strong": "good"}
"""The baselines with their grades."""
CUP = f"""
name = "Cup"
games = ["{GAME}"]
time_control = "total:60"
[format]
name = "gauntlet"
times = 2
""" + "".join(
    f'[[baselines]]\nbot = "staff/{bot}"\ngrade = "{grade}"\n' for bot, grade in BASELINES.items()
)
FINAL = "/api/v1/competitions"


class FixedBot(RestlessBot):
    """A bot that always answers a position in the same way, so tables can be compared."""

    def choose(self, actions: Any) -> Any:
        """Return the first, second or another legal action, by the number of the player."""
        return actions[self.number % len(actions)]

    number = 0


async def ask(processes: Processes, method: str, path: str, token: str, **options: Any) -> Any:
    """Ask any server that lives; servers may be killed meanwhile."""
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                async with httpx.AsyncClient(timeout=PATIENCE) as client:
                    answer = await client.request(
                        method,
                        f"{processes.alive[-1].url}{FINAL}{path}",
                        headers={"Authorization": f"Bearer {token}"},
                        **options,
                    )
            except httpx.TransportError:
                answer = None
            if answer is not None and answer.status_code < 500:
                assert answer.is_success, answer.text
                return answer.json()
            await asyncio.sleep(0.2)


async def played(processes: Processes, database: str, kills: list[int]) -> list[Any]:
    """Play a final while servers are killed, and return its standings with the grades."""
    async with await Store.open(database) as store:
        await store.add_player("olga")
        organiser = await store.add_token("olga", ("organise",))
        await store.add_player("staff")
        staff = await store.add_token("staff")
    bots: list[FixedBot] = []
    tasks: list[asyncio.Task[None]] = []

    async def connect(token: str, name: str) -> None:
        bot = FixedBot(processes, token, name, len(bots))
        bot.number, bot.games, bot.think = len(bots), [GAME], 0.1
        bots.append(bot)
        tasks.append(asyncio.create_task(bot.run()))
        while not bot.logins:  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.01)

    async def finished(matches: int) -> int:
        """Return how many matches have ended when so many have."""
        while True:
            for task in tasks:
                assert not task.done(), task.result()
            shown = await ask(processes, "GET", "/Cup", organiser)
            ended: int = sum(game["finished"] for game in shown["progress"])
            if ended >= matches and (ended < planned or shown["status"] == "finished"):
                return ended
            await asyncio.sleep(0.1)

    try:
        async with asyncio.timeout(PATIENCE):
            for name in BASELINES:
                await connect(staff, name)
            await ask(processes, "POST", "", organiser, json={"file": CUP})
            csv = "\n".join(["name", *(f"s{number:02}" for number in range(STUDENTS))])
            joined = await ask(processes, "POST", "/Cup/students", organiser, json={"csv": csv})
            for each in joined:
                await connect(each["token"], "bot")
        await ask(processes, "POST", "/Cup/freeze", organiser, json={})
        await ask(processes, "POST", "/Cup/run", organiser, json={})
        begun = await ask(processes, "GET", "/Cup", organiser)
        planned = sum(game["planned"] for game in begun["progress"])
        assert planned == 2 * 2 * STUDENTS * len(BASELINES)
        async with asyncio.timeout(PATIENCE):
            for kill in kills:
                enough = 1 + await finished(0)
                assert enough < planned, "the final ended before all servers were killed"
                await processes.kill(processes.alive[kill])
                await finished(enough)
            await finished(planned)
        shown: list[Any] = await ask(processes, "GET", "/Cup/export", organiser)
    finally:
        for task in tasks:
            task.cancel()
    assert [bot.problems for bot in bots] == [[]] * len(bots)
    async with await Store.open(database) as store:
        for match in {match for bot in bots for match in bot.played}:
            header = (await store.read(match_reads.stored_match, match)).header
            assert header.termination == "normal", header.reason
    return shown


async def test_final_with_killed_servers_has_the_table_and_grades_of_one_server(
    processes: Processes, database: str, tmp_path: Any
) -> None:
    results = await played(processes, database, kills=[0, 0])  # the leader, then the next one
    single = f"sqlite:///{tmp_path}/single.db"
    async with await Store.open(single):
        pass
    alone = Processes(single, "", forked=True)
    await alone.start()
    try:
        assert results == await played(alone, single, kills=[])
    finally:
        await alone.close()
