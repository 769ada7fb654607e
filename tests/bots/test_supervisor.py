"""The bot's own process: real subprocesses, time moved by hand."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
from tests.bots.conftest import BotFile, ManualClock, played
from tests.harness.patience import PATIENCE
from tests.harness.supervised_bot import Rig, supervised

from plyhouse.bots.loading import BotLoadError
from plyhouse.bots.process.author_log import AuthorLog
from plyhouse.bots.process.bot_process import BotProcess
from plyhouse.bots.process.messages import Chosen, Failed, Resigned
from plyhouse.bots.process.supervisor import Supervisor
from plyhouse.protocol.messages import Event, Outcome


async def test_a_bot_chooses_by_value_or_by_text(bot_file: BotFile, clock: ManualClock) -> None:
    spec = bot_file(
        """
        class MyBot(Bot):
            games = ("connect_four",)
            def choose(self, turn):
                return turn.legal[2] if turn.ply % 2 == 0 else turn.legal_text[5]
        """
    )
    async with supervised(spec, clock) as rig:
        assert rig.supervisor.loaded.games == ["connect_four"]
        assert rig.supervisor.loaded.concurrent is False
        rig.begin("m1")
        assert (await rig.ask()).action == "3"
        rig.events["m1"] += played("3")
        assert (await rig.ask()).action == "6"


async def test_the_first_turn_pays_for_no_import_of_its_game(
    bot_file: BotFile, clock: ManualClock, tmp_path: Path
) -> None:
    """The process reads everything about the game before it says that it is ready."""
    mark = tmp_path / "ready"
    spec = bot_file(
        f"""
        import os, sys
        late = []

        def watch(event, args):
            if event in ("open", "import") and os.path.exists({str(mark)!r}):
                late.append(str(args[0]))

        sys.addaudithook(watch)

        class MyBot(Bot):
            games = ("connect_four", "no_such_game")
            def choose(self, turn):
                found = [each for each in late if "entry_points" in each or "plyhouse" in each]
                print("late:", found)
                return turn.legal[0]
        """
    )
    async with supervised(spec, clock) as rig:
        mark.touch()
        rig.begin()
        await rig.ask()
        await rig.until(lambda: bool(rig.lines))
        assert rig.lines == ["[mybot] late: []"]


async def test_the_position_follows_what_happens(bot_file: BotFile, clock: ManualClock) -> None:
    spec = bot_file(
        """
        class MyBot(Bot):
            def choose(self, turn):
                print(turn.game.describe(turn.state).splitlines()[-1], len(turn.history))
                return turn.legal[0]
        """
    )
    async with supervised(spec, clock) as rig:
        rig.begin("m1", *played("4"))
        await rig.ask()
        rig.events["m1"] += [Event(1, 1, "1"), Event(2, 0, "7")]
        await rig.ask()
        await rig.until(lambda: len(rig.lines) == 2)
        assert rig.lines == ["[mybot] ...x... 1", "[mybot] o..x..x 3"]


async def test_a_chess_bot_sees_a_third_occurrence_coming(
    bot_file: BotFile, clock: ManualClock
) -> None:
    # The observation tells how often the position has occurred, not which others have: what
    # would be the third time is known from the events alone.
    spec = bot_file(
        """
        class MyBot(Bot):
            games = ("chess",)
            def choose(self, turn):
                for state in (turn.state, turn.sample()):
                    draws = [a for a in turn.legal if state.after(a).to_move == -2]
                    print([turn.game.format(state, action) for action in draws])
                return "f6g8"
        """
    )
    there_and_back = ("g1f3", "g8f6", "f3g1", "f6g8")
    async with supervised(spec, clock) as rig:
        rig.begin("m1", *played(*there_and_back, *there_and_back[:3]), game="chess")
        assert (await rig.ask()).action == "f6g8"
        await rig.until(lambda: len(rig.lines) == 2)
        assert rig.lines == ["[mybot] ['f6g8']"] * 2


async def test_every_match_has_an_object_of_its_own(bot_file: BotFile, clock: ManualClock) -> None:
    spec = bot_file(
        """
        class MyBot(Bot):
            def start(self, turn):
                self.asked = 0
                print("start", turn.match.id)
            def choose(self, turn):
                self.asked += 1
                return turn.legal_text[self.asked - 1]
            def finish(self, outcome):
                print("finish", self.asked, outcome.termination)
        """
    )
    async with supervised(spec, clock) as rig:
        rig.begin("m1")
        rig.begin("m2")
        answers = [(await rig.ask(match)).action for match in ("m1", "m2", "m1")]
        assert answers == ["1", "1", "2"]
        rig.supervisor.end("m1", Outcome("normal", [1.0, -1.0]))
        await rig.until(lambda: len(rig.lines) == 3)
        assert rig.lines[2] == "[mybot] finish 2 normal"


async def test_randomness_repeats_for_the_same_seed_and_ply(
    bot_file: BotFile, clock: ManualClock
) -> None:
    spec = bot_file(
        """
        class MyBot(Bot):
            def choose(self, turn):
                print(turn.rng.random())
                return turn.rng.choice(turn.legal)
        """
    )
    async with supervised(spec, clock) as rig:
        rig.begin("m1")
        await rig.ask()
        rig.begin("m2")
        await rig.ask("m2")
        await rig.until(lambda: len(rig.lines) == 2)
        assert rig.lines[0] == rig.lines[1]


async def test_prints_reach_the_author_and_disturb_nothing(
    bot_file: BotFile, clock: ManualClock, tmp_path: Path
) -> None:
    spec = bot_file(
        """
        import sys
        print("imported")
        class MyBot(Bot):
            def choose(self, turn):
                print("x" * 20_000)
                print("to stderr", file=sys.stderr)
                os.write(1, b"straight \\xff to the descriptor\\n")
                os.system("echo from a child")
                return "4"
        """
    )
    log = AuthorLog("mybot", folder=tmp_path / "logs")
    supervisor = Supervisor(spec, log, clock=clock)
    await supervisor.start()
    rig = Rig(supervisor, clock, [])
    rig.begin("m1")
    assert (await rig.ask()).action == "4"
    await supervisor.close()
    assert log.path is not None
    text = log.path.read_text(encoding="utf-8")
    assert text.count("x") == 20_000
    for line in ("imported", "to stderr", "straight \ufffd to the descriptor", "from a child"):
        assert line in text


async def test_a_bot_that_prints_without_end_is_not_shown_without_end(
    bot_file: BotFile, clock: ManualClock
) -> None:
    spec = bot_file(
        """
        class MyBot(Bot):
            def choose(self, turn):
                for number in range(5000): print(number)
                return "4"
        """
    )
    async with supervised(spec, clock) as rig:
        rig.begin("m1")
        await rig.ask()
        await rig.until(lambda: "prints a lot" in rig.text)
    assert len(rig.lines) < 2100
    assert "--log-folder" in rig.text


@pytest.mark.parametrize("define", ["def", "async def"])
async def test_a_bot_that_raises_shows_its_own_code_and_the_position(
    bot_file: BotFile, clock: ManualClock, define: str
) -> None:
    spec = bot_file(
        f"""
        class MyBot(Bot):
            {define} choose(self, turn):
                if turn.match.id == "m1":
                    return helper(turn)
                return "1"
        def helper(turn):
            return {{}}["gone"]
        """
    )
    async with supervised(spec, clock) as rig:
        rig.begin("m1", *played("4", "5"))
        rig.begin("m2")
        failed = await rig.ask("m1")
        assert isinstance(failed, Failed)
        assert failed.error == "KeyError: 'gone'"
        assert "in helper" in failed.traceback
        assert "mybot.py" in failed.traceback.splitlines()[1]
        assert "bots/process" not in failed.traceback
        assert "...xo.." in failed.position
        assert "actions so far: 4 5" in failed.position
        assert (await rig.ask("m2")).action == "1"
        assert rig.supervisor.restarts == 0


@pytest.mark.parametrize(
    "ending", ["raise SystemExit(2)", "raise KeyboardInterrupt", "return None"]
)
async def test_whatever_a_bot_raises_is_its_failure_and_not_ours(
    bot_file: BotFile, clock: ManualClock, ending: str
) -> None:
    spec = bot_file(f"class MyBot(Bot):\n    def choose(self, turn): {ending}\n")
    async with supervised(spec, clock) as rig:
        rig.begin("m1")
        assert isinstance(await rig.ask(), Failed)
        assert isinstance(await rig.ask(), Failed)
        assert rig.supervisor.restarts == 0


async def test_an_illegal_choice_is_passed_on_with_a_warning(
    bot_file: BotFile, clock: ManualClock
) -> None:
    spec = bot_file("class MyBot(Bot):\n    def choose(self, turn): return '8'\n")
    async with supervised(spec, clock) as rig:
        rig.begin("m1")
        chosen = await rig.ask()
        assert isinstance(chosen, Chosen)
        assert chosen.action == "8"
        assert "'8' is not legal here, expected one of 1, 2, 3" in chosen.warning


async def test_a_bot_may_resign(bot_file: BotFile, clock: ManualClock) -> None:
    spec = bot_file("class MyBot(Bot):\n    def choose(self, turn): turn.resign()\n")
    async with supervised(spec, clock) as rig:
        rig.begin("m1")
        assert isinstance(await rig.ask(), Resigned)


async def test_a_bot_that_ends_its_process_fails_that_turn_only(
    bot_file: BotFile, clock: ManualClock
) -> None:
    spec = bot_file(
        """
        class MyBot(Bot):
            def choose(self, turn):
                if turn.match.id == "m1": os._exit(7)
                return "2"
        """
    )
    async with supervised(spec, clock) as rig:
        rig.begin("m1")
        rig.begin("m2")
        first, second = rig.think("m1"), rig.think("m2")
        failed = await asyncio.wait_for(first.answer, PATIENCE)
        assert isinstance(failed, Failed)
        assert failed.error == "the bot's process ended (exit code 7) during this turn"
        assert (await asyncio.wait_for(second.answer, PATIENCE)).action == "2"  # type: ignore[union-attr]
        assert rig.supervisor.restarts == 1


async def test_a_bot_that_reports_then_hangs_is_replaced_and_knows_the_match(
    bot_file: BotFile, clock: ManualClock
) -> None:
    spec = bot_file(
        """
        class MyBot(Bot):
            def choose(self, turn):
                turn.report("5")
                while turn.ply == 0: pass
                return str(1 + len(turn.history))
        """
    )
    async with supervised(spec, clock) as rig:
        rig.begin("m1")
        request = rig.think()
        await rig.until(lambda: request.best == "5")
        rig.supervisor.stop(request)
        first = rig.supervisor.pid
        await clock.advance(0.3)
        await rig.until(lambda: rig.supervisor.pid not in (None, first))
        assert "did not come back" in rig.text
        rig.events["m1"] += played("5", "1")
        assert (await rig.ask()).action == "3"
        assert not request.answer.done()


async def test_a_search_that_is_stopped_ends_by_its_next_report(
    bot_file: BotFile, clock: ManualClock
) -> None:
    spec = bot_file(
        """
        class MyBot(Bot):
            def choose(self, turn):
                while turn.ply == 0:
                    for action in turn.legal:
                        try: turn.report(action)
                        except Exception: pass
                return "4"
        """
    )
    async with supervised(spec, clock) as rig:
        rig.begin("m1")
        request = rig.think()
        await rig.until(lambda: request.best is not None)
        rig.supervisor.stop(request)
        rig.events["m1"] += played("1", "1")
        assert (await rig.ask()).action == "4"
        await clock.advance(1)
        assert rig.supervisor.restarts == 0


async def test_search_without_reports_ends_with_its_turn(
    bot_file: BotFile, clock: ManualClock
) -> None:
    spec = bot_file(
        """
        from dataclasses import replace
        from plyhouse.search import alpha_beta

        class MyBot(Bot):
            def choose(self, turn):
                turn.report(turn.legal[0])
                limit = replace(turn.limit, report=None, time=turn.limit.time + 600)
                return alpha_beta(turn.game, turn.state, limit).action
        """
    )
    async with supervised(spec, clock) as rig:
        rig.begin("m1", game="chess")
        request = rig.think()
        await rig.until(lambda: request.best is not None)
        rig.supervisor.stop(request)
        await asyncio.wait_for(rig.supervisor.settled(), PATIENCE)
        assert rig.supervisor.restarts == 0


async def test_an_async_bot_thinks_about_many_matches_at_once(
    bot_file: BotFile, clock: ManualClock
) -> None:
    spec = bot_file(
        """
        waiting = []
        class MyBot(Bot):
            async def choose(self, turn):
                waiting.append(turn)
                while len(waiting) < 5:
                    await asyncio.sleep(0.001)
                return "4"
        """
    )
    async with supervised(spec, clock) as rig:
        assert rig.supervisor.loaded.concurrent
        matches = [f"m{number}" for number in range(5)]
        for match in matches:
            rig.begin(match)
        answers = await asyncio.gather(*(rig.ask(match) for match in matches))
        assert [answer.action for answer in answers] == ["4"] * 5


async def test_a_slow_async_bot_is_cancelled_without_harm_to_others(
    bot_file: BotFile, clock: ManualClock
) -> None:
    spec = bot_file(
        """
        class MyBot(Bot):
            async def choose(self, turn):
                turn.report("6")
                if turn.ply == 0:
                    try: await asyncio.sleep(1000)
                    finally: print("cancelled")
                return "1"
        """
    )
    async with supervised(spec, clock) as rig:
        rig.begin("m1")
        slow = rig.think()
        await rig.until(lambda: slow.best == "6")
        rig.supervisor.stop(slow)
        await rig.until(lambda: "[mybot] cancelled" in rig.lines)
        rig.events["m1"] += played("6", "1")
        assert (await rig.ask()).action == "1"
        await clock.advance(1)
        assert rig.supervisor.restarts == 0


async def test_an_async_bot_that_blocks_is_replaced_and_the_others_are_asked_again(
    bot_file: BotFile, clock: ManualClock
) -> None:
    spec = bot_file(
        """
        class MyBot(Bot):
            async def choose(self, turn):
                if turn.match.id == "bad":
                    turn.report("1")
                    while True: pass
                await asyncio.sleep(0 if turn.history else 0.5)
                return "7"
        """
    )
    async with supervised(spec, clock) as rig:
        rig.begin("good")
        rig.begin("bad")
        good, bad = rig.think("good"), rig.think("bad")
        await rig.until(lambda: bad.best == "1")
        rig.supervisor.stop(bad)
        await clock.advance(0.3)
        assert (await asyncio.wait_for(good.answer, PATIENCE)).action == "7"  # type: ignore[union-attr]
        assert rig.supervisor.restarts == 1


async def test_a_bot_that_cannot_live_is_given_up(bot_file: BotFile, clock: ManualClock) -> None:
    spec = bot_file(
        """
        class MyBot(Bot):
            def choose(self, turn): os._exit(1)
        """
    )
    async with supervised(spec, clock) as rig:
        rig.begin("m1")
        for _ in range(5):
            assert isinstance(await rig.ask(), Failed)
        await rig.until(lambda: "5 times in a row" in rig.text)
        failed = await rig.ask()
        assert "5 times in a row" in failed.error


async def test_a_bot_that_fails_in_finish_is_told_so(bot_file: BotFile, clock: ManualClock) -> None:
    spec = bot_file(
        """
        class MyBot(Bot):
            def choose(self, turn): return "4"
            def finish(self, outcome): raise ValueError("after the end")
        """
    )
    async with supervised(spec, clock) as rig:
        rig.begin("m1")
        await rig.ask()
        rig.supervisor.end("m1", Outcome("normal", [0.0, 0.0]))
        await rig.until(lambda: "ValueError: after the end" in rig.text)
        rig.begin("m2")
        assert (await rig.ask("m2")).action == "4"


async def test_load_errors_come_from_the_process(bot_file: BotFile, clock: ManualClock) -> None:
    supervisor = Supervisor(bot_file("import nothing_there\n"), AuthorLog("x"), clock=clock)
    with pytest.raises(BotLoadError, match="No module named 'nothing_there'"):
        await supervisor.start()


async def test_an_import_without_end_is_ended(bot_file: BotFile, clock: ManualClock) -> None:
    spec = bot_file("print('importing', flush=True)\nwhile True: pass\n")
    lines: list[str] = []
    supervisor = Supervisor(
        spec, AuthorLog("x", terminal=lines.append), clock=clock, import_timeout=5
    )
    starting = asyncio.create_task(supervisor.start())
    async with asyncio.timeout(PATIENCE):
        while not lines:  # noqa: ASYNC110 - it happens in another process
            await asyncio.sleep(0.005)
    await clock.advance(5.1)
    with pytest.raises(BotLoadError, match="did not finish importing within 5 s"):
        await starting


async def test_a_process_that_ends_while_importing_is_a_load_error(
    bot_file: BotFile, clock: ManualClock
) -> None:
    with pytest.raises(BotLoadError, match="ended its process while it was imported"):
        await BotProcess.start(bot_file("os._exit(0)\n"), on_output=lambda _: None, clock=clock)


@pytest.mark.parametrize("steps", range(8))
async def test_a_start_that_is_cancelled_leaves_no_file_open(
    bot_file: BotFile, clock: ManualClock, steps: int
) -> None:
    spec = bot_file("import time\ntime.sleep(60)\n")
    before = set(os.listdir("/proc/self/fd"))
    starting = asyncio.create_task(BotProcess.start(spec, on_output=lambda _: None, clock=clock))
    for _ in range(steps):
        await asyncio.sleep(0)
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    await asyncio.sleep(0)  # transports close their files in the loop's next round
    assert set(os.listdir("/proc/self/fd")) <= before


async def test_the_process_ends_with_the_runner(bot_file: BotFile, clock: ManualClock) -> None:
    spec = bot_file(
        """
        class MyBot(Bot):
            def choose(self, turn):
                while True: pass
        """
    )
    process = await BotProcess.start(spec, on_output=lambda _: None, clock=clock)
    process._writer.close()  # as if the runner had been killed
    await asyncio.wait_for(process.closed(), PATIENCE)
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)


async def test_games_from_files_are_run_only_when_the_user_asked(
    bot_file: BotFile, clock: ManualClock, tmp_path: Path
) -> None:
    spec = bot_file("class MyBot(Bot):\n    def choose(self, turn): return turn.legal[0]\n")
    game = tmp_path / "evil.py"
    game.write_text("import os\nos._exit(9)\n", encoding="utf-8")
    async with supervised(spec, clock) as rig:
        rig.begin("m1", game=f"{game}:Evil")
        failed = await rig.ask()
        assert isinstance(failed, Failed)
        assert rig.supervisor.restarts == 0


@pytest.mark.parametrize("what", ["TurnOver", "asyncio.CancelledError"])
@pytest.mark.parametrize("define", ["def", "async def"])
async def test_ending_a_turn_that_nobody_stopped_is_the_bots_failure(
    bot_file: BotFile, clock: ManualClock, define: str, what: str
) -> None:
    spec = bot_file(f"class MyBot(Bot):\n    {define} choose(self, turn): raise {what}\n")
    async with supervised(spec, clock) as rig:
        rig.begin("m1")
        failed = await rig.ask()
        assert isinstance(failed, Failed)
        assert what.removeprefix("asyncio.") in failed.error
