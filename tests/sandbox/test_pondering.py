"""A hosted bot uses no processor time while its opponent is to move."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
from collections.abc import AsyncIterator

import pytest
from tests.bots.conftest import ManualClock, played
from tests.harness.patience import PATIENCE
from tests.harness.processor_time import pass_time, processor_time_of, stands_still
from tests.harness.supervised_bot import Rig, supervised
from tests.sandbox.conftest import Submission, have

from plyhouse.bots.process.launcher import Running
from plyhouse.bots.sandbox.box import Box, Tier
from plyhouse.bots.sandbox.client import ForkServerClient
from plyhouse.bots.sandbox.launcher import SandboxLauncher

STUBBORN = """
    from plyhouse.bots import Bot

    class Mine(Bot):
        def choose(self, turn):
            turn.report("5")
            while turn.ply == 0:
                pass
            return str(1 + len(turn.history))
"""
WILLING = """
    import time
    from plyhouse.bots import Bot

    class Mine(Bot):
        def choose(self, turn):
            while turn.ply == 0:
                turn.report("5")
                end = time.process_time() + 0.5
                while time.process_time() < end:
                    pass
            return str(1 + len(turn.history))
"""
"""It comes back with its next report, after half a second of processor time."""
QUICK = """
    from plyhouse.bots import Bot

    class Mine(Bot):
        def choose(self, turn):
            return str(1 + len(turn.history))
"""
FORESTALLING = """
    import gc, threading, time
    from plyhouse.bots import Bot
    from plyhouse.bots.process.child import Wire
    from plyhouse.bots.process.messages import Best

    def forestall(match):
        wire, = (each for each in gc.get_objects() if isinstance(each, Wire))
        while True:
            wire.send(Best(match, 2, "3"))
            time.sleep(0.01)

    class Mine(Bot):
        def choose(self, turn):
            turn.report("5")
            threading.Thread(target=forestall, args=[turn.match.id], daemon=True).start()
            while True:
                pass
"""
"""It hangs in its first turn, and reports for its second one meanwhile."""


class CountingLauncher(SandboxLauncher):
    """Counts the processes that it starts."""

    count = 0

    async def launch(self, spec: str, pipe: socket.socket, stand: int) -> Running:
        self.count += 1
        return await super().launch(spec, pipe, stand)


@contextlib.asynccontextmanager
async def boxed(
    fork_server: ForkServerClient, tier: Tier, spec: str, launcher: SandboxLauncher | None = None
) -> AsyncIterator[Rig]:
    """A supervisor of a bot in a box; only the test moves its clock."""
    launcher = launcher or SandboxLauncher(fork_server, Box(tier=tier))
    async with supervised(spec, ManualClock(), launcher=launcher) as rig:
        rig.begin()
        yield rig


async def played_at_the_deadline(rig: Rig) -> int:
    """Play what the bot reported; return its process."""
    request = rig.think()
    await rig.until(lambda: request.best == "5")
    rig.supervisor.stop(request, answered=True)
    assert rig.supervisor.pid is not None
    return rig.supervisor.pid


async def idle(rig: Rig, pid: int) -> None:
    """Check that a process gets no time, however much we take."""
    await rig.until(lambda: stands_still(pid))
    before = processor_time_of(pid)
    await pass_time()
    assert processor_time_of(pid) == before


@pytest.mark.parametrize("tier", [Tier.LANDLOCK, Tier.BUBBLEWRAP])
async def test_bot_stands_still_once_its_best_action_was_played(
    fork_server: ForkServerClient, tier: Tier, submission: Submission
) -> None:
    await have(fork_server, tier)
    async with boxed(fork_server, tier, str(submission(bot=WILLING) / "bot.py")) as rig:
        pid = await played_at_the_deadline(rig)
        await idle(rig, pid)
        assert not rig.supervisor._is_settled("m1"), "it was stopped before it could come back"
        rig.events["m1"] += played("5", "1")
        assert (await rig.ask()).action == "3"
        await idle(rig, pid)
        assert (rig.supervisor.pid, rig.supervisor.restarts) == (pid, 0)


async def test_bot_that_hangs_has_its_grace_in_its_next_turn(
    fork_server: ForkServerClient, submission: Submission
) -> None:
    tier = await have(fork_server, Tier.LANDLOCK)
    async with boxed(fork_server, tier, str(submission(bot=STUBBORN) / "bot.py")) as rig:
        pid = await played_at_the_deadline(rig)
        await rig.clock.advance(10)
        await idle(rig, pid)
        rig.events["m1"] += played("5", "1")
        asked = asyncio.create_task(rig.ask())
        await asyncio.sleep(0)
        assert rig.supervisor.pid == pid
        await rig.clock.advance(0.3)
        assert (await asked).action == "3"
        assert rig.supervisor.restarts == 1
        assert "did not come back" in rig.text


async def test_match_begins_when_a_frozen_bot_has_come_to_an_end(
    fork_server: ForkServerClient, submission: Submission
) -> None:
    tier = await have(fork_server, Tier.LANDLOCK)
    async with boxed(fork_server, tier, str(submission(bot=WILLING) / "bot.py")) as rig:
        pid = await played_at_the_deadline(rig)
        await idle(rig, pid)
        rig.supervisor.end("m1", None)
        await asyncio.wait_for(rig.supervisor.settled(), PATIENCE)
        await idle(rig, pid)
        assert (rig.supervisor.pid, rig.supervisor.restarts) == (pid, 0)


async def test_bot_that_ends_in_its_opponents_turn_is_imported_again_in_its_own(
    fork_server: ForkServerClient, submission: Submission
) -> None:
    launcher = CountingLauncher(fork_server, Box(tier=await have(fork_server, Tier.LANDLOCK)))
    spec = str(submission(bot=QUICK) / "bot.py")
    async with boxed(fork_server, Tier.LANDLOCK, spec, launcher) as rig:
        for turn in range(3):
            assert (await rig.ask()).action == str(1 + 2 * turn)
            assert rig.supervisor.pid is not None
            os.kill(rig.supervisor.pid, signal.SIGKILL)
            await rig.until(lambda: rig.supervisor.pid is None)
            await pass_time()
            assert launcher.count == 1 + turn, "it was imported while its opponent was to move"
            rig.events["m1"] += played("5", "1")
        rig.supervisor.end("m1", None)
        await asyncio.wait_for(rig.supervisor.settled(), PATIENCE)
        assert launcher.count == 4


async def test_report_of_an_ended_process_is_not_played_while_the_next_one_is_imported(
    fork_server: ForkServerClient, submission: Submission
) -> None:
    launcher = CountingLauncher(fork_server, Box(tier=await have(fork_server, Tier.LANDLOCK)))
    spec = str(submission(bot=FORESTALLING) / "bot.py")
    async with boxed(fork_server, Tier.LANDLOCK, spec, launcher) as rig:
        await played_at_the_deadline(rig)
        rig.events["m1"] += played("5", "1")
        request = rig.think()
        await rig.until(lambda: request.best == "3")
        await rig.clock.advance(0.3)
        await rig.until(lambda: launcher.count == 2)
        assert request.best is None
