"""The author's view of a bot that hangs, dies, starts slowly or prints without end."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.bots.conftest import BotFile, ManualClock, played
from tests.harness.patience import PATIENCE
from tests.harness.supervised_bot import supervised

from plyhouse.bots.loading import BotLoadError
from plyhouse.bots.process import traceback_reader
from plyhouse.bots.process.author_log import AuthorLog
from plyhouse.bots.process.messages import Failed
from plyhouse.bots.process.supervisor import Supervisor
from plyhouse.bots.process.traceback_reader import readable
from plyhouse.bots.process.traceback_writer import ASK


@pytest.mark.parametrize("define", ["def", "async def"])
async def test_a_hang_shows_the_line_and_the_position(
    bot_file: BotFile, clock: ManualClock, define: str
) -> None:
    spec = bot_file(
        f"""
        class MyBot(Bot):
            {define} choose(self, turn):
                return forever(turn)
        def forever(turn):
            turn.report("5")  # it may be asked before it is through with that
            while turn.ply == 2:
                pass  # round and round
            return "4"
        """
    )
    async with supervised(spec, clock) as rig:
        rig.begin("m1", *played("4", "5"))
        request = rig.think()
        await rig.until(lambda: request.best == "5")
        rig.supervisor.stop(request)
        first = rig.supervisor.pid
        await clock.advance(0.3)
        await rig.until(lambda: rig.supervisor.pid not in (None, first))
        assert "ply 2: the bot did not come back" in rig.text
        assert "in forever\n" in rig.text
        assert rig.text.index("in choose") < rig.text.index("in forever")
        assert "bots/process" not in rig.text
        assert "actions so far: 4 5" in rig.text


async def test_a_hang_is_shown_even_if_the_run_ends_with_it(
    bot_file: BotFile, clock: ManualClock
) -> None:
    spec = bot_file(
        """
        class MyBot(Bot):
            def choose(self, turn):
                turn.report("5")
                while True: pass
        """
    )
    async with supervised(spec, clock) as rig:
        rig.begin("m1")
        request = rig.think()
        await rig.until(lambda: request.best == "5")
        await clock.advance(2)
        rig.supervisor.stop(request)
    assert "in choose" in rig.text
    assert "did not come back" in rig.text
    assert "a new one takes over" not in rig.text


async def test_turn_that_the_end_of_the_run_cuts_short_is_no_hang(
    bot_file: BotFile, clock: ManualClock
) -> None:
    spec = bot_file(
        """
        class MyBot(Bot):
            def choose(self, turn):
                turn.report("5")
                while True: pass
        """
    )
    async with supervised(spec, clock) as rig:
        rig.begin("m1")
        request = rig.think()
        await rig.until(lambda: request.best == "5")
        rig.supervisor.stop(request)
    assert rig.text == ""


def test_a_bot_that_stands_in_a_call_of_ours_is_shown_by_its_own_lines(tmp_path: Path) -> None:
    """As when it is asked while its report is being written."""
    ours, lib = Path(traceback_reader.__file__).with_name("child.py"), Path(asyncio.__file__)
    frames = [
        (lib.parent.parent / "threading.py", "wait"), (ours, "_send"), (ours, "report"),
        (tmp_path / "mybot.py", "forever"), (tmp_path / "mybot.py", "choose"),
        (ours, "_choose"), (lib.with_name("runners.py"), "run"), (ours, "serve"),
    ]  # fmt: skip
    lines = [f'  File "{file}", line 3 in {name}' for file, name in frames]
    shown = readable("\n".join(["Current thread 0x00007f (most recent call first):", *lines]))
    names = [line.rpartition(" ")[2] for line in shown.splitlines() if line.startswith("  File")]
    assert names == ["choose", "forever"]


async def test_a_killed_process_shows_the_position(bot_file: BotFile, clock: ManualClock) -> None:
    spec = bot_file(
        """
        import signal
        class MyBot(Bot):
            def choose(self, turn):
                os.kill(os.getpid(), signal.SIGKILL)
        """
    )
    async with supervised(spec, clock) as rig:
        rig.begin("m1", *played("4", "5"))
        failed = await rig.ask()
        assert isinstance(failed, Failed)
        assert "signal SIGKILL" in failed.error
        assert "memory" in failed.error
        assert "...xo.." in failed.position
        assert "actions so far: 4 5" in failed.position


async def test_a_crash_of_the_machine_code_shows_the_line(
    bot_file: BotFile, clock: ManualClock
) -> None:
    spec = bot_file(
        """
        import signal
        class MyBot(Bot):
            def choose(self, turn):
                os.kill(os.getpid(), signal.SIGSEGV)
        """
    )
    async with supervised(spec, clock) as rig:
        rig.begin("m1")
        failed = await rig.ask()
        assert isinstance(failed, Failed)
        assert "signal SIGSEGV" in failed.error
        assert "in choose" in failed.traceback
        assert "os.kill(os.getpid(), signal.SIGSEGV)" in failed.traceback


async def test_what_choose_returned_is_told_with_its_place(
    bot_file: BotFile, clock: ManualClock
) -> None:
    spec = bot_file("class MyBot(Bot):\n    def choose(self, turn): return None\n")
    async with supervised(spec, clock) as rig:
        rig.begin("m1")
        failed = await rig.ask()
        assert isinstance(failed, Failed)
        assert "choose of MyBot (mybot.py, line " in failed.error
        assert "returned no action: None is not an action of" in failed.error


async def test_an_import_without_end_shows_where_it_stood(
    bot_file: BotFile, clock: ManualClock
) -> None:
    # On one line: a busy machine may ask before the process has gone on to the next one.
    spec = bot_file("print('importing', flush=True); any(iter(int, 1))  # here\n")
    lines: list[str] = []
    log = AuthorLog("x", terminal=lines.append)
    starting = asyncio.create_task(Supervisor(spec, log, clock=clock, import_timeout=5).start())
    async with asyncio.timeout(PATIENCE):
        while not lines:  # noqa: ASYNC110 - it happens in another process
            await asyncio.sleep(0.005)
    await clock.advance(5.1)
    with pytest.raises(BotLoadError) as caught:
        await starting
    assert "# here" in caught.value.details


async def test_a_slow_constructor_is_named(bot_file: BotFile, clock: ManualClock) -> None:
    spec = bot_file(
        """
        class MyBot(Bot):
            def __init__(self):
                print("loading")
                while not os.path.exists(os.environ["PLYHOUSE_TEST_GO"]): time.sleep(0.001)
            def choose(self, turn): return "4"
        """
    )
    go = Path(spec.partition(".py")[0] + ".go")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PLYHOUSE_TEST_GO", str(go))
        async with supervised(spec, clock) as rig:
            rig.begin("m1")
            request = rig.think()
            await rig.until(lambda: "[mybot] loading" in rig.lines)
            assert request.stage == "__init__"
            await clock.advance(1.5)
            go.touch()  # noqa: ASYNC240 - a file in memory, as good as
            await asyncio.wait_for(request.answer, PATIENCE)
    assert "match m1: __init__ took 1.5 s of the clock" in rig.text
    assert "top of the file" in rig.text


def test_a_bot_that_is_not_async_does_without_asyncio() -> None:
    """To import it takes as long as all the rest of a bot's process, and a match has several."""
    code = "import sys, plyhouse.bots.process.__main__; sys.exit('asyncio' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_a_flood_is_cut_but_what_matters_is_kept(tmp_path: Path) -> None:
    lines: list[str] = []
    log = AuthorLog("mybot", folder=tmp_path, terminal=lines.append)
    for _ in range(300):
        log.printed(["x" * 8000] * 10)
    log.crash("m1", "KeyError: 1", "", "the board")
    shown = "\n".join(lines)
    assert len(shown) < 200_000
    assert "prints a lot" in shown
    assert "KeyError: 1" in shown
    assert log.path is not None
    text = log.path.read_text(encoding="utf-8")
    assert len(text) < 17 * 1024 * 1024
    assert "the log is full" in text
    assert text.rstrip().endswith("the board")


def test_tracebacks_of_a_busy_process_are_complete() -> None:
    """A handler that interrupts the interpreter anywhere crashes once in about 4,000 times."""
    reading, writing = os.pipe()
    code = (
        "import sys\n"
        "from plyhouse.bots.process.traceback_writer import tell_when_asked\n"
        "tell_when_asked(int(sys.argv[1]))\n"
        "class Turn:\n"
        "    @property\n"
        "    def ply(self): return 2\n"
        "def spin():\n"
        "    print(flush=True)\n"
        "    turn = Turn()\n"
        "    while turn.ply == 2: pass\n"
        "spin()\n"
    )
    command = [sys.executable, "-c", code, str(writing)]
    with (
        subprocess.Popen(command, pass_fds=[writing], stdout=subprocess.PIPE) as process,
        os.fdopen(reading, "rb") as dumps,
    ):
        os.close(writing)
        assert process.stdout is not None
        process.stdout.readline()
        try:
            for _ in range(4000):
                process.send_signal(ASK)
                lines = [b""]
                while not lines[-1].endswith(b" in <module>\n"):
                    lines.append(dumps.readline())
                    assert lines[-1], f"the process ended: {lines}"
                assert any(b" in spin\n" in line for line in lines)
        finally:
            process.kill()


def test_a_dump_is_read_as_a_traceback_of_the_author(tmp_path: Path) -> None:
    bot = tmp_path / "mybot.py"
    bot.write_text("def choose():\n    spin()\n", encoding="utf-8")
    ours = Path(__file__).parents[2] / "bots" / "process"
    dump = (
        "Thread 0x00007f01 (most recent call first):\n"
        f'  File "/usr/lib/python3.11/socket.py", line 706 in readinto\n'
        f'  File "{ours}/child.py", line 83 in receive\n\n'
        "Current thread 0x00007f02 (most recent call first):\n"
        f'  File "{bot}", line 2 in choose\n'
        f'  File "{ours}/child.py", line 304 in run\n'
        '  File "<frozen runpy>", line 198 in _run_module_as_main\n'
    )
    assert readable(dump) == f'  File "{bot}", line 2, in choose\n    spin()'
    assert readable("") == ""


async def test_a_breakpoint_says_that_there_is_no_keyboard(
    bot_file: BotFile, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONBREAKPOINT", raising=False)
    spec = bot_file(
        """
        class MyBot(Bot):
            def choose(self, turn):
                breakpoint()  # here
                return "4"
        """
    )
    async with supervised(spec, clock) as rig:
        rig.begin("m1")
        failed = await asyncio.wait_for(rig.think().answer, PATIENCE)
        assert isinstance(failed, Failed)
        assert "breakpoint() needs a keyboard, and a bot's process has none" in failed.error
        assert "breakpoint()  # here" in failed.traceback
