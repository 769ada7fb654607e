"""A supervised bot in a box: it is frozen without a turn, and gets its processes in turns only."""

from __future__ import annotations

import asyncio

import pytest
from tests.bots.conftest import ManualClock, settle
from tests.harness.patience import PATIENCE
from tests.harness.scripted_bot import staged

from plyhouse.bots.process.messages import Begin, Best, Chosen, Stopped, Think

pytestmark = pytest.mark.timeout(10)  # everything happens in this process


async def test_boxed_bot_is_frozen_without_a_turn(clock: ManualClock) -> None:
    async with staged(clock, boxed=True) as stage:
        bot = await stage.launcher.number(0)
        assert bot.is_frozen()
        stage.begin()
        assert bot.is_frozen()
        request = stage.think()
        assert not bot.is_frozen()
        await bot.say(Best("m1", request.number, "4"))
        assert not bot.is_frozen()
        await bot.say(Chosen("m1", request.number, "4"))
        assert bot.is_frozen()


async def test_frozen_bot_has_no_grace_until_it_works_again(clock: ManualClock) -> None:
    async with staged(clock, boxed=True) as stage:
        bot = await stage.launcher.number(0)
        stage.begin()
        hung = stage.think()
        stage.supervisor.stop(hung)
        assert bot.is_frozen()
        await clock.advance(9)
        assert not bot.was_killed()
        stage.think()
        assert not bot.is_frozen()
        await clock.advance(0.24)
        assert not bot.was_killed()
        await clock.advance(0.02)
        await stage.until(lambda: bot.was_killed())
        assert "did not come back" in stage.text


async def test_grace_ends_when_the_bot_is_frozen(clock: ManualClock) -> None:
    async with staged(clock, boxed=True, concurrent=True) as stage:
        bot = await stage.launcher.number(0)
        for match in ("m1", "m2"):
            stage.begin(match)
        first, second = stage.think("m1"), stage.think("m2")
        stage.supervisor.stop(first)
        assert not bot.is_frozen()
        await clock.advance(0.1)
        stage.supervisor.stop(second)
        assert bot.is_frozen()
        await clock.advance(9)
        assert not bot.was_killed()
        third = stage.think("m1")
        await bot.say(Stopped("m1", first.number))
        await bot.say(Stopped("m2", second.number))
        await clock.advance(9)
        assert not bot.was_killed(), "both have ended"
        await bot.say(Chosen("m1", third.number, "4"))
        assert bot.is_frozen()


async def test_grace_begins_again_in_the_turn_of_the_loop_that_froze_the_bot(
    clock: ManualClock,
) -> None:
    async with staged(clock, boxed=True, concurrent=True) as stage:
        bot = await stage.launcher.number(0)
        for match in ("m1", "m2"):
            stage.begin(match)
        hung, other = stage.think("m1"), stage.think("m2")
        stage.supervisor.stop(hung)
        await clock.advance(0.1)
        other.answer.add_done_callback(lambda _: stage.think("m2"))
        await bot.say(Chosen("m2", other.number, "4"))
        assert not bot.is_frozen()
        await clock.advance(0.3)
        await stage.until(lambda: bot.was_killed())


async def test_every_grace_ends_when_the_bot_is_frozen(clock: ManualClock) -> None:
    async with staged(clock, boxed=True, concurrent=True) as stage:
        bot = await stage.launcher.number(0)
        for match in ("m1", "m2", "m3"):
            stage.begin(match)
        requests = [stage.think("m1"), stage.think("m2")]
        stage.supervisor.stop(requests[0])
        await clock.advance(0.1)
        requests.append(stage.think("m3"))
        for request in requests[1:]:
            stage.supervisor.stop(request)
        assert bot.is_frozen()
        await clock.advance(9)
        assert not bot.was_killed()


async def test_settling_lets_a_frozen_bot_end_its_turn(clock: ManualClock) -> None:
    async with staged(clock, boxed=True) as stage:
        bot = await stage.launcher.number(0)
        stage.begin()
        request = stage.think()
        stage.supervisor.stop(request)
        assert bot.is_frozen()
        settling = asyncio.create_task(stage.supervisor.settled())
        await settle()
        assert not bot.is_frozen()
        assert not settling.done()
        await bot.say(Stopped("m1", request.number))
        await asyncio.wait_for(settling, PATIENCE)


async def test_boxed_bot_that_ends_gets_a_process_in_its_next_turn(clock: ManualClock) -> None:
    async with staged(clock, boxed=True) as stage:
        bot = await stage.launcher.number(0)
        stage.begin()
        bot.end()
        await stage.until(lambda: stage.supervisor.pid is None)
        assert len(stage.launcher.processes) == 1
        request = stage.think()
        second = await stage.launcher.number(1)
        await second.hear(Begin)
        assert (await second.hear(Think)).turn == request.number


async def test_boxed_bot_that_ends_in_a_turn_is_asked_again_at_once(clock: ManualClock) -> None:
    async with staged(clock, boxed=True, concurrent=True) as stage:
        bot = await stage.launcher.number(0)
        for match in ("m1", "m2"):
            stage.begin(match)
        stage.think("m1")
        stage.think("m2")
        bot.end()
        await stage.launcher.number(1)


async def test_boxed_bot_without_matches_gets_a_new_process(clock: ManualClock) -> None:
    async with staged(clock, boxed=True) as stage:
        bot = await stage.launcher.number(0)
        bot.end()
        await stage.launcher.number(1)


@pytest.mark.parametrize("how", ["end", "settle"])
async def test_boxed_bot_gets_a_process_between_matches(clock: ManualClock, how: str) -> None:
    async with staged(clock, boxed=True) as stage:
        bot = await stage.launcher.number(0)
        stage.begin()
        bot.end()
        await settle()
        assert len(stage.launcher.processes) == 1
        if how == "end":
            stage.supervisor.end("m1", None)
            await stage.launcher.number(1)
        else:
            settling = asyncio.create_task(stage.supervisor.settled())
            await stage.launcher.number(1)
            await asyncio.wait_for(settling, PATIENCE)


async def test_boxed_bot_whose_turn_was_stopped_waits_for_the_next(clock: ManualClock) -> None:
    async with staged(clock, boxed=True) as stage:
        bot = await stage.launcher.number(0)
        stage.begin()
        bot.end()
        await settle()
        request = stage.think()
        stage.supervisor.stop(request)
        await settle()
        assert len(stage.launcher.processes) == 1
        stage.think()
        second = await stage.launcher.number(1)
        await second.hear(Begin)
        assert (await second.hear(Think)).turn == request.number + 1
