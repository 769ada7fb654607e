"""A server with a real runner beside it, for tests of what the house plays for others."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

from tests.harness.server import Server
from tests.sandbox.conftest import have

from plyhouse.bots.sandbox.box import Tier
from plyhouse.bots.sandbox.client import ForkServerClient
from plyhouse.clients.runner.machine import Machine, Setup
from plyhouse.protocol.hosting.package import Rules, digest_of, from_upload, pack
from plyhouse.server.config import ServerConfig
from plyhouse.server.serve import RunningServer, running_server
from plyhouse.storage import people, submission_sql
from plyhouse.storage.rows import By
from plyhouse.storage.submission_rows import SubmissionRow

OLGA = By("olga")
PATIENCE = 300.0
EVERY = 0.1
"""Seconds between two calls of the runner."""

PIG = """
from plyhouse.bots import Bot

seen = []


class Roller(Bot):
    games = ("pig", "tic_tac_toe", "kuhn_poker")

    def choose(self, turn):
        seen.append(turn.match.id)
        if len(set(seen)) > 1:
            raise RuntimeError(f"this process has played before: {seen}")
        if turn.game.info.name == "pig":
            return turn.legal[-1 if turn.state.total >= 8 else 0]  # hold, or roll
        return turn.legal[0]
"""


class HostedServer(Server):
    """A server that accepts submissions, and whose runner can be started."""

    folder: Path
    tier: Tier
    said: list[str]

    async def submit(self, player: str, text: str, bot: str = "mine", *games: str) -> SubmissionRow:
        """Submit a player's bot as if its check were over: it plays ``games``."""
        store = self.hub.store
        await self.token(player)
        package = from_upload("mybot.py", text.encode(), Rules())
        owner = await store.read(people.player, player)
        row = await store.ensure_bot(owner.id, bot, "bot")
        digest = digest_of(package)
        made = await store.submissions.add(row.id, "", digest, pack(package), store.now())
        return await store.write(
            submission_sql.check, made.id, True, "", games or ("pig",), store.now()
        )

    @contextlib.asynccontextmanager
    async def runner(self, name: str = "lab", **setup: Any) -> AsyncIterator[Machine]:
        """A runner of this machine."""
        token = await self.token("lab", "runner")
        machine = Machine(
            Setup(
                server=self.server.url, token=token, name=name, folder=self.folder / name,
                tier=self.tier, every=EVERY, say=self.said.append,
                **{"cores": 2, "bots": 16, **setup},
            )
        )  # fmt: skip
        stop = asyncio.Event()
        running = asyncio.create_task(machine.run(stop))
        try:
            while not self.hub.hosting.machines:
                assert not running.done(), running.result()
                await asyncio.sleep(0.02)
            yield machine
        finally:
            stop.set()
            await running


@contextlib.asynccontextmanager
async def hosted_server(folder: Path, **settings: Any) -> AsyncIterator[HostedServer]:
    """A server that accepts submissions; it needs a real sandbox."""
    fork_server = await ForkServerClient.start()
    try:
        tier = await have(fork_server, Tier.LANDLOCK)
    finally:
        await fork_server.close()
    chosen = {"port": 0, "database": "sqlite:///:memory:", "hosted": True, **settings}
    async with contextlib.AsyncExitStack() as stack:
        server: RunningServer = await stack.enter_async_context(
            running_server(ServerConfig(**chosen))
        )
        house = HostedServer(server, await stack.enter_async_context(contextlib.AsyncExitStack()))
        house.folder, house.tier, house.said = folder, tier, []
        yield house


async def until(what: Callable[[], Awaitable[bool]], why: Callable[[], object] = str) -> None:
    """Wait for something; it is looked at again and again, as nothing tells of it."""
    try:
        async with asyncio.timeout(PATIENCE):
            while True:
                if await what():
                    return
                await asyncio.sleep(0.05)
    except TimeoutError:
        raise AssertionError(f"it did not come: {why()}") from None
