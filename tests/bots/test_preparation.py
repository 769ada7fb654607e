"""`Bot.prepare`: what a bot does before the clock of a match runs."""

from __future__ import annotations

import asyncio

import pytest
from tests.bots.conftest import BotFile, ManualClock, settle
from tests.harness.patience import PATIENCE
from tests.harness.scripted_bot import staged
from tests.harness.supervised_bot import supervised

from plyhouse.bots.process.messages import Begin, Chosen, Failed, Prepared

CODE = """
        class MyBot(Bot):
            def prepare(self, match):
                print("prepare", match.id)
                self.book = match.game.info.name
            {choose}(self, turn):
                return turn.legal_text[0] if self.book == "connect_four" else "nothing"
        """


@pytest.mark.parametrize("choose", ["def choose", "async def choose"])
async def test_bot_prepares_for_a_match_before_it_is_asked(
    bot_file: BotFile, clock: ManualClock, choose: str
) -> None:
    async with supervised(bot_file(CODE.format(choose=choose)), clock) as rig:
        for match in ("m1", "m2"):
            rig.begin(match)
            await asyncio.wait_for(rig.supervisor.settled(match), PATIENCE)
            answer = await rig.ask(match)
            assert isinstance(answer, Chosen)
            assert answer.action == "1"
        await rig.until(lambda: len(rig.lines) == 2)
        assert rig.lines == ["[mybot] prepare m1", "[mybot] prepare m2"]


async def test_failure_to_prepare_is_that_of_the_first_turn(
    bot_file: BotFile, clock: ManualClock
) -> None:
    spec = bot_file(
        """
        class MyBot(Bot):
            def prepare(self, match):
                raise ValueError("no book")
            def choose(self, turn):
                return turn.legal[0]
        """
    )
    async with supervised(spec, clock) as rig:
        rig.begin()
        await asyncio.wait_for(rig.supervisor.settled("m1"), PATIENCE)
        failed = await rig.ask()
    assert isinstance(failed, Failed)
    assert failed.error == "ValueError: no book"
    assert "in prepare" in failed.traceback


async def test_match_waits_for_its_own_preparation(clock: ManualClock) -> None:
    async with staged(clock, prepares=True) as stage:
        bot = await stage.launcher.number(0)
        for match in ("m1", "m2"):
            stage.begin(match)
            await bot.hear(Begin)
        waiting = asyncio.create_task(stage.supervisor.settled("m2"))
        await bot.say(Prepared("m1"))
        assert not waiting.done()
        await bot.say(Prepared("m2"))
        await asyncio.wait_for(waiting, PATIENCE)


async def test_preparation_that_outlasts_its_match_ends_with_the_process(
    clock: ManualClock,
) -> None:
    async with staged(clock, prepares=True) as stage:
        bot = await stage.launcher.number(0)
        stage.begin("m1")
        stage.supervisor.end("m1", None)
        assert bot.was_killed()
        other = await stage.launcher.number(1)
        stage.begin("m2")
        assert (await other.hear(Begin)).snapshot.match == "m2"


async def test_match_that_ends_during_a_renewal_leaves_the_process_its_time(
    clock: ManualClock,
) -> None:
    async with staged(clock, prepares=True) as stage:
        bot = await stage.launcher.number(0)
        stage.begin()
        stage.supervisor.renew()
        stage.supervisor.end("m1", None)
        assert not bot.was_killed()


async def test_new_process_prepares_again(clock: ManualClock) -> None:
    async with staged(clock, prepares=True) as stage:
        bot = await stage.launcher.number(0)
        stage.begin()
        await bot.say(Prepared("m1"))
        await asyncio.wait_for(stage.supervisor.settled("m1"), PATIENCE)
        stage.supervisor.restart()
        other = await stage.launcher.number(1)
        waiting = asyncio.create_task(stage.supervisor.settled("m1"))
        await settle()
        assert not waiting.done()
        await other.say(Prepared("m1"))
        await asyncio.wait_for(waiting, PATIENCE)


async def test_boxed_bot_gets_no_time_before_the_clock(clock: ManualClock) -> None:
    async with staged(clock, boxed=True, prepares=True) as stage:
        bot = await stage.launcher.number(0)
        stage.begin()
        await asyncio.wait_for(stage.supervisor.settled("m1"), PATIENCE)
        await settle()
        assert bot.is_frozen()
