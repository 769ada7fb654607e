"""Bots of the house: started when wanted, again when they die, and gone with the server."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.harness.patience import PATIENCE
from tests.harness.processes import alive, children
from tests.harness.server import Server

from plyhouse.bots.loading import default_name, load_bot
from plyhouse.clients.builtin_bots import launcher as module
from plyhouse.clients.builtin_bots.launcher import LEVELS, StartedBots
from plyhouse.protocol.messages import Challenge, Ok
from plyhouse.server.accounts.builtin_bots import NoBuiltinBot
from plyhouse.server.config import ServerConfig
from plyhouse.server.serve import running_server


async def until(true: Callable[[], bool]) -> None:
    """Wait for something that other processes do, and that tells nobody."""
    async with asyncio.timeout(PATIENCE):
        while not true():  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def until_gone(pids: list[int]) -> None:
    await until(lambda: not any(alive(pid) for pid in pids))


pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks into /proc")


def test_every_level_has_its_player() -> None:
    assert all(default_name(load_bot(level)) == level for level in LEVELS)


async def test_they_come_when_wanted_come_back_when_killed_and_go_with_the_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "PAUSES", (0.0,))
    config = ServerConfig(port=0, database="sqlite:///:memory:")
    async with running_server(config, builtin_bots=StartedBots) as server:
        bots = server.hub.builtin_bots
        assert isinstance(bots, StartedBots)
        assert bots.pid == 0, "nothing is started before it is wanted"
        assert await bots.ready("easy") == "house/easy"
        participant = server.hub.directory.find("house/easy")
        assert participant is not None
        assert participant.casual
        first = bots.pid
        seats = children(first)
        assert len(seats) == 1, "the bot thinks in a process of its own"
        os.kill(first, signal.SIGKILL)
        await until_gone([first, *seats])
        # It reconnects without a request.
        find = server.hub.directory.find
        await until(lambda: find("house/easy") not in (None, participant))
        again = [bots.pid, *children(bots.pid)]
        assert first not in again
    await until_gone(again)


async def test_match_against_a_built_in_bot_goes_on_after_a_restart(tmp_path: Path) -> None:
    config = ServerConfig(port=0, database=f"sqlite:///{tmp_path / 'a.db'}", disconnect_grace=30)
    async with contextlib.AsyncExitStack() as stack:
        running = await stack.enter_async_context(running_server(config, builtin_bots=StartedBots))
        server = Server(running, stack)
        assert server.hub.builtin_bots is not None
        opponent = await server.hub.builtin_bots.ready("easy", 2)
        person = await server.bot("ada", "")
        told = await person.ask(Challenge, opponent, "tic_tac_toe", "total:60")
        assert isinstance(told, Ok), told
        match = (await person.start()).match
    async with contextlib.AsyncExitStack() as stack:
        running = await stack.enter_async_context(running_server(config, builtin_bots=StartedBots))
        person = await Server(running, stack).client()
        welcome = await person.hello(await running.hub.store.add_token("ada"), "")
        (snapshot,) = welcome.matches
        assert snapshot.match == match
        outcome = (await person.play(snapshot)).outcome
        assert outcome.termination == "normal"


async def test_bot_that_nobody_waits_for_stays_away_after_a_restart(tmp_path: Path) -> None:
    config = ServerConfig(port=0, database=f"sqlite:///{tmp_path / 'a.db'}")
    async with running_server(config, builtin_bots=StartedBots) as server:
        assert server.hub.builtin_bots is not None
        await server.hub.builtin_bots.ready("easy")
    async with running_server(config, builtin_bots=StartedBots) as server:
        bots = server.hub.builtin_bots
        assert isinstance(bots, StartedBots)
        await bots.look()
        assert bots.pid == 0


async def test_what_cannot_be_started_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "START_SECONDS", 0.0)
    config = ServerConfig(port=0, database="sqlite:///:memory:")
    async with running_server(config, builtin_bots=StartedBots) as server:
        assert server.hub.builtin_bots is not None
        with pytest.raises(NoBuiltinBot, match="house/hard could not be started"):
            await server.hub.builtin_bots.ready("hard")


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], str, str]]:
    """`plyhouse serve` as a process, its address, and what it says to a person."""
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "plyhouse.clients.cli.main", "serve", "--port", "0"),
            *("--database", f"sqlite:///{tmp_path / 'a.db'}"),
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    lines = [process.stdout.readline(), process.stdout.readline()]
    address = lines[0].rpartition(" ")[2].strip()
    yield process, address, lines[1]
    process.kill()
    process.wait()
    process.stdout.close()


async def test_no_bot_outlives_a_server_that_is_killed(
    served: tuple[subprocess.Popen[str], str, str],
) -> None:
    import httpx

    process, address, line = served
    assert re.fullmatch(rf"People play at {address}/play \(as a guest or with an account\)\n", line)
    began = time.monotonic()
    async with httpx.AsyncClient(base_url=address, headers={"origin": address}) as web:
        assert (await web.post("/api/v1/session/guest")).status_code == 200
        answer = await web.post("/api/v1/house-bots", json={"level": "easy"}, timeout=PATIENCE)
        assert answer.json() == {"opponent": "house/easy", "others": []}
        unknown = await web.post("/api/v1/house-bots", json={"level": "worst"})
        assert (unknown.status_code, unknown.json()["code"]) == (404, "house/no_bot")
    sys.stdout.write(f"a bot of the house was there after {time.monotonic() - began:.1f} s\n")
    (runner,) = children(process.pid)
    bots = [runner, *children(runner)]
    process.kill()
    process.wait()
    await until_gone(bots)
