"""Bots in boxes play as they play outside, and their plies are accounted for."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from tests.bots.conftest import snapshot
from tests.harness.cancelled_start import cancelled_start_leaves_nothing
from tests.harness.patience import PATIENCE
from tests.sandbox.conftest import REQUIRED, Submission, all_ended, have

from plyhouse.bots.hosting.build import Built, build
from plyhouse.bots.hosting.hosted_session import hosted_session
from plyhouse.bots.loading import BotLoadError
from plyhouse.bots.local_packages import read_package
from plyhouse.bots.process.author_log import AuthorLog
from plyhouse.bots.process.bot_process import BotProcess
from plyhouse.bots.process.messages import Begin, Failed
from plyhouse.bots.process.ply_cost import CostOfPly
from plyhouse.bots.process.supervisor import Supervisor
from plyhouse.bots.running.run_options import RunOptions, SeatResult
from plyhouse.bots.sandbox.box import Box, Cores, Limits, SandboxError, Tier
from plyhouse.bots.sandbox.client import ForkServerClient
from plyhouse.bots.sandbox.launcher import Boxed, SandboxLauncher
from plyhouse.bots.sandbox.tiers import choose_tier
from plyhouse.clients.arena.memory_server import PLAYER, connector_of, local_hub, online
from plyhouse.games.registry import get_game
from plyhouse.server.match.terms import Terms
from plyhouse.server.match.time_control import TimeControl

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "hosted"

PYTHON = """
    import os
    from plyhouse.bots import Bot
    from helper import pick

    class Mine(Bot):
        games = ("tic_tac_toe",)

        def choose(self, turn):
            end = __import__("time").process_time() + 0.02
            while __import__("time").process_time() < end:
                pass
            print("uid", os.getuid())
            return pick(turn.legal)
"""


def program_in_c(folder: Path) -> Path:
    compiler = shutil.which("cc")
    if compiler is None:
        if REQUIRED:
            pytest.fail("a C compiler is required here")
        pytest.skip("no C compiler")
    folder.mkdir()
    shutil.copy(EXAMPLES / "c" / "plyhouse.toml", folder)
    source = EXAMPLES / "c" / "bot.c"
    subprocess.run(
        [compiler, "-Wall", "-Wextra", "-Werror", "-o", folder / "bot", source], check=True
    )
    return folder


async def played(
    fork_server: ForkServerClient,
    tier: Tier,
    first: Built,
    second: Built,
    say: Callable[[str], None],
) -> tuple[dict[str, SeatResult], list[CostOfPly]]:
    """One match of two hosted bots on a server in memory."""
    results: dict[str, SeatResult] = {}
    costs: list[CostOfPly] = []
    cores = Cores.of_this_machine()
    async with local_hub() as hub:
        token = hub.add_player(PLAYER)
        runs = []
        for name, built in (("first", first), ("second", second)):
            options = RunOptions(
                bot=name,
                matches=1,
                say=say,
                on_cost=costs.append,
                on_result=lambda result, name=name: results.__setitem__(name, result),  # type: ignore[misc]
            )
            bot_session = hosted_session(
                built,
                connector_of(hub),
                token,
                options,
                fork_server=fork_server,
                tier=tier,
                cores=cores,
            )
            runs.append(asyncio.create_task(bot_session.run()))

        def check() -> None:
            for run in runs:
                if run.done():
                    run.result()

        order = [await online(hub, f"{PLAYER}/{name}", check) for name in ("first", "second")]
        terms = Terms(get_game("tic_tac_toe"), TimeControl.parse("total:20+0.1"), rated=False)
        hub.live_matches.begin(terms, [order])
        await asyncio.wait_for(asyncio.gather(*runs), PATIENCE)
    return results, costs


@pytest.mark.parametrize("tier", [Tier.LANDLOCK, Tier.BUBBLEWRAP])
async def test_python_and_c_meet_in_their_boxes(
    fork_server: ForkServerClient, tier: Tier, submission: Submission, tmp_path: Path
) -> None:
    await have(fork_server, tier)
    helper = "def pick(legal):\n    return legal[0]\n"
    said: list[str] = []
    store = tmp_path / "store"
    python = build(read_package(submission(bot=PYTHON, helper=helper)), store)
    program = build(read_package(program_in_c(tmp_path / "c")), store)
    results, costs = await played(fork_server, tier, python, program, said.append)
    assert {name: result.outcome.termination for name, result in results.items()} == {
        "first": "normal",
        "second": "normal",
    }
    assert results["first"].plies == results["second"].plies >= 5
    # Every ply was accounted for, and what the busy bot says it used, the kernel says, too.
    assert len(costs) == results["first"].plies
    assert all(cost.wall > 0 and cost.cpu >= 0 for cost in costs)
    busy = [cost for cost in costs if cost.ply % 2 == 0]
    assert all(cost.cpu >= 20_000_000 for cost in busy), busy
    users = {line for line in said if line.startswith("[first] uid ")}
    assert len(users) == 1
    assert (users == {f"[first] uid {os.getuid()}"}) is (os.getuid() != 0)
    assert fork_server.boxes == 0


async def test_javascript_plays_in_its_box(
    fork_server: ForkServerClient, submission: Submission, tmp_path: Path
) -> None:
    if shutil.which("node") is None:
        if REQUIRED:
            pytest.fail("node is required here")
        pytest.skip("no node")
    await have(fork_server, Tier.LANDLOCK)
    helper = "def pick(legal):\n    return legal[-1]\n"
    python = build(read_package(submission(bot=PYTHON, helper=helper)), tmp_path / "store")
    script = build(read_package(EXAMPLES / "javascript"), tmp_path / "store")
    said: list[str] = []
    results, _ = await played(fork_server, Tier.LANDLOCK, script, python, said.append)
    assert results["first"].outcome.termination == "normal", said


HOSTILE = """
    import gc
    from plyhouse.bots import Bot
    from plyhouse.bots.process.child import Wire

    class Hostile(Bot):
        games = ("tic_tac_toe",)

        def choose(self, turn):
            wire = next(each for each in gc.get_objects() if isinstance(each, Wire))
            # A Chosen frame whose info is an array of 60 million empty maps.
            wire._end.sendall((60_000_060).to_bytes(4, "big"))
            wire._end.sendall(b"\\x80" * 60_000_060)
"""


async def test_bot_whose_frame_is_too_long_forfeits_and_others_play_on(
    fork_server: ForkServerClient, submission: Submission, tmp_path: Path
) -> None:
    tier = await have(fork_server, Tier.LANDLOCK)
    helper = "def pick(legal):\n    return legal[0]\n"
    python = build(read_package(submission(bot=PYTHON, helper=helper)), tmp_path / "store")
    hostile = build(read_package(submission("hostile", bot=HOSTILE)), tmp_path / "store")
    said: list[str] = []
    results, _ = await played(fork_server, tier, python, hostile, said.append)
    outcome = results["first"].outcome
    assert (outcome.termination, outcome.seat) == ("bot_crash", 1)
    assert results["second"].outcome == outcome
    why = "it sent its runner a message of 60,000,060 bytes; 131,072 are allowed"
    assert any(line.startswith("[second]") and why in line for line in said), said
    assert not any(line.startswith("[first]") and "fail" in line for line in said), said
    await all_ended(fork_server)


async def loaded(
    fork_server: ForkServerClient, tier: Tier, file: Path, output: int = 1 << 20
) -> Supervisor:
    launcher = SandboxLauncher(fork_server, Box(tier=tier, limits=Limits(output=output)))
    supervisor = Supervisor(str(file), AuthorLog("mine"), launcher=launcher, import_timeout=20)
    await supervisor.start()
    return supervisor


async def test_why_the_sandbox_ended_a_bot_is_told_to_its_author(
    fork_server: ForkServerClient, submission: Submission
) -> None:
    tier = await have(fork_server, Tier.LANDLOCK)
    flood = "while True:\n    print('x' * 10000)\n"
    with pytest.raises(BotLoadError, match="ended its process while it was imported"):
        await loaded(fork_server, tier, submission(bot=flood) / "bot.py", output=4096)
    nosy = "open('/etc/passwd')\n"
    with pytest.raises(BotLoadError, match=r"PermissionError.*bot\.py:1: open\('/etc/passwd'\)"):
        await loaded(fork_server, tier, submission("nosy", bot=nosy) / "bot.py")
    assert fork_server.boxes == 0


@pytest.mark.parametrize("steps", range(4))
async def test_a_start_that_is_cancelled_ends_its_box(
    fork_server: ForkServerClient, submission: Submission, steps: int
) -> None:
    tier = await have(fork_server, Tier.LANDLOCK)
    file = submission(bot="import time\ntime.sleep(60)\n") / "bot.py"
    await cancelled_start_leaves_nothing(
        fork_server,
        lambda cores: BotProcess.start(
            str(file),
            on_output=lambda _: None,
            launcher=SandboxLauncher(fork_server, Box(tier=tier), cores),
        ),
        steps=steps,
    )


def weight_of_the_session(pid: int) -> str:
    """Its niceness; empty if this kernel does not weigh sessions."""
    with contextlib.suppress(OSError):
        said = Path(f"/proc/{pid}/autogroup").read_text().split()
        return said[-1] if said else ""
    return ""


@pytest.mark.parametrize("tier", [Tier.LANDLOCK, Tier.BUBBLEWRAP])
async def test_bots_stand_back_behind_the_server(
    fork_server: ForkServerClient, submission: Submission, tier: Tier
) -> None:
    idle = """
        from plyhouse.bots import Bot

        class Idle(Bot):
            games = ("tic_tac_toe",)

            def choose(self, turn):
                return turn.legal[0]
    """
    file = submission(bot=idle) / "bot.py"
    process = await BotProcess.start(
        str(file),
        on_output=lambda _: None,
        launcher=SandboxLauncher(fork_server, Box(tier=await have(fork_server, tier))),
    )
    own = os.getpriority(os.PRIO_PROCESS, 0)
    assert os.getpriority(os.PRIO_PROCESS, process.pid) == max(own, 10)
    assert weight_of_the_session(process.pid) in ("", "10")
    await process.quit()
    await process.closed()


async def test_a_bot_that_floods_its_runner_is_ended(
    fork_server: ForkServerClient, submission: Submission, monkeypatch: pytest.MonkeyPatch
) -> None:
    tier = await have(fork_server, Tier.LANDLOCK)
    # A bot of low priority on a busy machine may never write two thousand messages in a second.
    # This is less than the pipe between them holds, so that one read is too much.
    monkeypatch.setattr(Boxed, "most_frames", 50)
    # It finds the pipe and writes well-formed frames as fast as it can.
    flood = """
        import os, stat
        from plyhouse.bots.process.messages import Chosen, frame
        data = frame(Chosen("m", 999, "a"))  # an answer to nothing
        for number in range(3, 4096):
            try:
                if stat.S_ISSOCK(os.fstat(number).st_mode):
                    break
            except OSError:
                pass
        from plyhouse.bots.process.messages import Loaded
        os.write(number, frame(Loaded("flood", [], False, True)))
        while True:
            os.write(number, data)
    """
    supervisor = await loaded(fork_server, tier, submission(bot=flood) / "bot.py")
    # Without a request it is stopped, flood or not; during a request ...
    supervisor.begin("m", lambda: Begin(snapshot(match="m"), "seed"), list)
    now = time.monotonic_ns()
    asked = supervisor.think(
        "m", ply=0, soft_at=now, hard_at=now, flag_at=now, observation={}, clocks=[]
    )
    # ... its reader ends it.  (Its process id is nothing to wait for: the next one may be over
    # before anybody sees it.)
    answer = await asyncio.wait_for(asked.answer, PATIENCE)
    assert isinstance(answer, Failed)
    assert "it sent its runner more than 50 messages a second" in answer.error
    await supervisor.close()
    assert fork_server.boxes == 0


@pytest.fixture
async def own_fork_server(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[ForkServerClient]:
    """A fork server that nothing else has started, nor would kill."""
    monkeypatch.setattr(ForkServerClient, "interpreter", "")
    fork_server = await ForkServerClient.start()
    yield fork_server
    await fork_server.close()


async def test_nothing_survives_the_fork_server(
    own_fork_server: ForkServerClient, submission: Submission
) -> None:
    fork_server = own_fork_server
    tier = await have(fork_server, Tier.LANDLOCK)
    bot = "from plyhouse.bots import Bot\nclass Mine(Bot):\n    def choose(self, turn): ...\n"
    supervisor = await loaded(fork_server, tier, submission(bot=bot) / "bot.py")
    await supervisor.settled()
    pid = supervisor.pid
    assert pid is not None
    gone = os.pidfd_open(pid)
    os.kill(fork_server.pid, 9)
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(gone, ended.set)
    await asyncio.wait_for(ended.wait(), PATIENCE)
    loop.remove_reader(gone)
    os.close(gone)
    await supervisor.close()
    with pytest.raises(SandboxError, match="fork server of the boxes has ended"):
        await choose_tier(fork_server)


async def test_a_tier_that_does_not_work_is_not_taken(
    fork_server: ForkServerClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    await have(fork_server, Tier.RLIMITS)
    monkeypatch.setattr("plyhouse.bots.sandbox.tiers.ARCHITECTURES", {})
    with pytest.raises(SandboxError, match=r"landlock: there is no table .*; bubblewrap: "):
        await choose_tier(fork_server)
    # Less than the two real ones is taken only where it is allowed by name.
    assert await choose_tier(fork_server, least=Tier.RLIMITS) is Tier.RLIMITS
    assert await choose_tier(fork_server, only=Tier.RLIMITS) is Tier.RLIMITS
    with pytest.raises(SandboxError, match="landlock: there is no table"):
        await choose_tier(fork_server, only=Tier.LANDLOCK)
