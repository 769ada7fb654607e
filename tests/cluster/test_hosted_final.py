"""A final of hosted bots on several servers, whose leader is killed."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.harness.cluster import Processes
from tests.harness.hosted_server import OLGA, until
from tests.sandbox.conftest import have

from plyhouse.bots.sandbox.box import Tier
from plyhouse.bots.sandbox.client import ForkServerClient
from plyhouse.clients.api import AsyncApi
from plyhouse.clients.runner.machine import Machine, Setup
from plyhouse.server.cluster.nats_server import LocalNats
from plyhouse.storage import competition_sql, competition_students, match_lists, submission_sql
from plyhouse.storage.competition_rows import NewMember
from plyhouse.storage.store import Store

pytestmark = [pytest.mark.postgresql]

OPTIONS = "--hosted", "--no-local-runner"
STUDENTS = "ada", "ben"
CUP = """
name = "Cup"
games = ["tic_tac_toe"]
time_control = "total:60"
[format]
name = "double_round_robin"
[hosting]
required = true
[[baselines]]
bot = "house/weak"
reference = "random"
grade = "pass"
"""
BOT = """
from plyhouse.bots import Bot

class Middle(Bot):
    games = ("tic_tac_toe",)

    def choose(self, turn):
        return turn.legal[len(turn.legal) // 2]
"""


async def test_hosted_final_outlives_its_leader(
    database: str, nats: LocalNats, tmp_path: Path
) -> None:
    fork_server = await ForkServerClient.start()
    try:
        tier = await have(fork_server, Tier.LANDLOCK)
    finally:
        await fork_server.close()
    async with await Store.open(database) as store:
        await store.add_player("olga")
        organiser = await store.add_token("olga", ("organise",))
        await store.add_player("lab")
        runner = await store.add_token("lab", ("runner",))
        processes = Processes(database, nats.url, *OPTIONS, forked=True)
        said: list[str] = []
        stop, running = asyncio.Event(), None
        try:
            for _ in range(3):
                await processes.start()
            follower = processes.alive[1].url
            machine = Machine(
                Setup(
                    server=follower,
                    token=runner,
                    name="lab",
                    folder=tmp_path / "lab",
                    tier=tier,
                    every=0.1,
                    say=said.append,
                    cores=2,
                    bots=16,
                )
            )
            running = asyncio.create_task(machine.run(stop))
            async with AsyncApi(follower, organiser) as api:
                await api.open_competition(CUP)
                cup = await store.read(competition_sql.find, "Cup")
                members = [NewMember(each, each) for each in STUDENTS]
                await store.write(competition_students.take_in, cup.id, members, OLGA, store.now())
                for each in STUDENTS:
                    (tmp_path / "mybot.py").write_text(BOT)
                    token = await store.add_token(each)
                    async with AsyncApi(follower, token) as student:
                        await student.submit(tmp_path / "mybot.py", competition="Cup")

                async def checked() -> bool:
                    return not await store.read(submission_sql.waiting_for, cup.id)

                async def begun() -> bool:
                    chosen = match_lists.MatchFilter(status="finished")
                    return len(await store.read(match_lists.list_matches, chosen, limit=99)) > 2

                async def over() -> bool:
                    return (await store.read(competition_sql.find, cup.id)).status == "finished"

                await until(checked, lambda: said)
                await api.step_competition("Cup", "freeze")
                await until(checked, lambda: said)
                await api.step_competition("Cup", "run", anyway=True)
                await until(begun, lambda: said)
                await processes.kill(processes.alive[0])
                await processes.start()
                await until(over, lambda: said)
            played = await store.read(match_lists.list_matches, match_lists.MatchFilter(), limit=99)
        finally:
            stop.set()
            if running is not None:
                await running
            await processes.close()
    entries = len(STUDENTS) + 1
    assert len(played) == 2 * entries * (entries - 1)
    assert {each.termination for each in played} == {"normal"}
    assert len({each.pairing_id for each in played}) == len(played) // 2
