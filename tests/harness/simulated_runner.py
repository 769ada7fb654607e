"""A runner whose reports a test writes by hand."""

from __future__ import annotations

from typing import Any

from tests.harness.server import BotClient, MemoryServer

from plyhouse.games.registry import get_game
from plyhouse.protocol.codec import MSGPACK
from plyhouse.protocol.hosting.runner_messages import (
    RunnerPlan,
    RunnerReport,
)
from plyhouse.storage import (
    submission_sql,
)
from plyhouse.storage.rows import By, Identity

STAFF = Identity(1, "staff", frozenset(("runner",)), 1)


GAME = get_game("tic_tac_toe")


def digest(number: int) -> str:
    return f"{number:064x}"


class SimulatedRunner:
    """A runner without bots: it polls the server, and logs in the bots assigned to it."""

    def __init__(self, house: MemoryServer, name: str = "lab1", **said: Any) -> None:
        self.house = house
        self.said = RunnerReport(name=name, instance=f"instance-{id(self)}", **{"cores": 2, **said})

    async def call(self, **news: Any) -> RunnerPlan:
        fields = {field: getattr(self.said, field) for field in self.said.__struct_fields__}
        return await self.house.hub.hosting.sync(STAFF, RunnerReport(**{**fields, **news}))

    async def host(self, told: RunnerPlan, bot: int) -> tuple[BotClient, Any]:
        wanted = next(each for each in told.bots if each.bot == bot)
        client = BotClient(self.house.hub.connect(), MSGPACK)
        answer = await client.hello(
            wanted.ticket, "whatever", games=wanted.games, max_matches=wanted.matches
        )
        return client, answer


async def submissions(house: MemoryServer, count: int, *, ready: bool = True) -> list[int]:
    """Submit a bot for each player; return the ids of the bots."""
    bots, store = [], house.hub.store
    for number in range(count):
        player = await store.add_player(f"player{number}")
        bot = await store.ensure_bot(player.id, "mine", "bot")
        row = await store.submissions.add(bot.id, "v1", digest(number), b"zip", 1000 + number)
        if ready:
            await store.write(submission_sql.check, row.id, True, "", ["tic_tac_toe"], 2000)
        bots.append(bot.id)
    return bots


OLGA = By("olga")
