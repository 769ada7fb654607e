"""Engines in a bot's process, on a real server over real sockets, and their end with the bot."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from tests.bots.conftest import ManualClock
from tests.engines.conftest import ScriptedEngine
from tests.engines.test_bad_engines import UCI
from tests.harness.chances import repeat_dice
from tests.harness.supervised_bot import supervised

from plyhouse.bots.loading import BotLoadError
from plyhouse.bots.process.author_log import AuthorLog
from plyhouse.bots.process.messages import Failed
from plyhouse.bots.process.supervisor import Supervisor
from plyhouse.bots.running.python_session import RunOptions, RunSummary, SeekRequest, run_bot
from plyhouse.server.config import ServerConfig
from plyhouse.server.serve import RunningServer, running_server

Have = Callable[[str], str]


@pytest.fixture
async def server() -> AsyncIterator[RunningServer]:
    config = ServerConfig(port=0, database="sqlite:///:memory:", log_level="error")
    async with running_server(config) as server:
        yield server


# A busy machine may stop an engine for seconds; Stockfish uses all time that it is given.
TIME_CONTROL = "total:20+0.05"
FIRST = """
from plyhouse.bots import Bot

class First(Bot):
    def choose(self, turn):
        return turn.legal[0]
"""


async def play(
    server: RunningServer, player: str, spec: str, game: str, control: str = TIME_CONTROL
) -> RunSummary:
    row = await server.hub.store.add_player(player)
    token = await server.hub.store.add_token(row.id, ["play"])
    seeks = [SeekRequest(game, control, count=1)]
    options = RunOptions(seeks=seeks, matches=1, games=[game], say=lambda _: None)
    return await asyncio.wait_for(run_bot(spec, server.url, token, options), 100)


@pytest.mark.parametrize(
    ("program", "spec", "game"),
    [
        ("stockfish", 'uci(options="Skill Level=20; Hash=1")', "chess"),
        ("gnugo", 'gtp(engine="gnugo --level 1 --never-resign")', "go(size=5, komi=0.5)"),
        ("gnubg", 'gnubg(options="plies=0")', "backgammon"),
    ],
)
async def test_engine_beats_first_action_in_a_whole_match(
    server: RunningServer,
    engine: Have,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    program: str,
    spec: str,
    game: str,
) -> None:
    """Neither dice nor opponent are left to chance, against which gnubg may lose."""
    engine(program)
    repeat_dice(monkeypatch)
    opponent = tmp_path / "first.py"
    opponent.write_text(FIRST, "utf-8")
    first, second = await asyncio.gather(
        play(server, "anna", spec, game), play(server, "bert", str(opponent), game)
    )
    assert first.results[0].outcome.termination in ("normal", "resignation")
    assert first.results[0].outcome == second.results[0].outcome
    assert first.results[0].points > 0


async def test_engine_that_is_missing_is_reported_when_the_bot_is_loaded() -> None:
    supervisor = Supervisor('uci(engine="no-such-engine")', AuthorLog("bot"))
    with pytest.raises(BotLoadError, match=r"^There is no program 'no-such-engine' on the PATH"):
        await supervisor.start()


@pytest.mark.parametrize(
    ("answer", "ending"),
    [
        ("print('bestmove e2e5')", "illegal_action"),
        ("print('bestmove nonsense')", "illegal_action"),
        ("os._exit(3)", "bot_crash"),
        ("time.sleep(600)", "flag_fall"),
        ("print('bestmove (none)')", "bot_crash"),
    ],
)
async def test_match_of_a_bad_engine_ends_as_the_docs_say(
    server: RunningServer, scripted_engine: ScriptedEngine, answer: str, ending: str
) -> None:
    path = scripted_engine(f"{UCI}if line[:2] == 'go': {answer}")
    spec = f'uci(engine="{path}")'
    control = "move:3" if ending == "flag_fall" else "move:60"
    first, second = await asyncio.gather(
        play(server, "anna", spec, "chess", control),
        play(server, "bert", "random", "chess", control),
    )
    assert first.results[0].outcome.termination == ending
    assert second.results[0].points > 0


async def test_mistake_of_an_engine_is_reported_without_our_traceback(
    scripted_engine: ScriptedEngine,
) -> None:
    code = f"{UCI}if line.startswith('go'): print('bestmove (none)')"
    async with supervised(f'uci(engine="{scripted_engine(code)}")', ManualClock()) as rig:
        rig.begin(game="chess")
        failed = await rig.ask()
    assert isinstance(failed, Failed)
    assert failed.error.startswith("Scripted says that it has no move, but b1c3 is legal")
    assert failed.traceback == ""
    assert "actions so far: none" in failed.position


async def test_engine_ends_with_the_process_of_its_bot(
    scripted_engine: ScriptedEngine, tmp_path: Path
) -> None:
    """The engine is asked to quit, so that its bot can wait for it and leaves no zombie."""
    note = tmp_path / "note"
    code = f"{UCI}\nopen({str(note)!r}, 'a').write(line + '\\n')".replace("break", "pass")
    supervisor = Supervisor(f'uci(engine="{scripted_engine(code)}")', AuthorLog("bot"))
    await supervisor.start()
    await supervisor.close()
    assert note.read_text("utf-8").split() == ["uci", "isready", "quit"]


def test_hung_engine_ends_when_the_runner_is_killed(
    scripted_engine: ScriptedEngine, tmp_path: Path
) -> None:
    """Neither the runner nor the bot can end the engine, and it does not read its input."""
    hung = tmp_path / "pid"
    code = f"if line == 'isready': hang()\n{UCI}"
    path = Path(scripted_engine(code))
    hang = (
        "def hang():\n"
        f"    with open({str(hung)!r}, 'w') as file: print(os.getpid(), file=file)\n"
        "    print('readyok', flush=True)\n"
        "    time.sleep(600)\n"
    )
    path.write_text(path.read_text("utf-8").replace("for line", f"{hang}for line", 1), "utf-8")
    script = (
        "import asyncio\n"
        "from plyhouse.bots.process.author_log import AuthorLog\n"
        "from plyhouse.bots.process.supervisor import Supervisor\n"
        "async def main():\n"
        f"    await Supervisor('uci(engine=\"{path}\")', AuthorLog('bot')).start()\n"
        "    print('up', flush=True)\n"
        "    await asyncio.sleep(600)\n"
        "asyncio.run(main())\n"
    )
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as runner:
        assert runner.stdout is not None
        assert runner.stdout.readline() == "up\n"
        pid = int(hung.read_text("utf-8"))
        runner.send_signal(signal.SIGKILL)
    until(lambda: not runs(pid), "the engine still runs")


def until(true: Callable[[], bool], otherwise: str) -> None:
    """Wait until something is true, for a minute at most."""
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline, otherwise
        os.sched_yield()


def runs(pid: int) -> bool:
    """Whether a process runs; one that nobody has waited for does not."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False
