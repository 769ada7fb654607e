"""The processes of a supervised bot, played by the test: deaths, renewals and the end."""

from __future__ import annotations

import asyncio

import pytest
from tests.bots.conftest import ManualClock, played, settle
from tests.harness.patience import PATIENCE
from tests.harness.scripted_bot import staged

from plyhouse.bots.loading import BotLoadError
from plyhouse.bots.process.launcher import LauncherLost
from plyhouse.bots.process.messages import (
    Begin,
    Best,
    Chosen,
    Doing,
    End,
    Failed,
    Quit,
    Stop,
    Stopped,
    Think,
)

pytestmark = pytest.mark.timeout(10)  # everything happens in this process

# -------------------------------------------------------------------------------- deaths


async def test_death_in_a_turn_fails_it(clock: ManualClock) -> None:
    async with staged(clock) as stage:
        bot = await stage.launcher.number(0)
        stage.begin("m1", *played("4", "5"))
        request = stage.think()
        await bot.say(Best("m1", request.number, "4"))
        bot.end(7, "exit code 7")
        failed = await asyncio.wait_for(request.answer, PATIENCE)
        assert isinstance(failed, Failed)
        assert failed.error == "the bot's process ended (exit code 7) during this turn"
        assert (failed.match, failed.turn, failed.traceback) == ("m1", request.number, "")
        assert "actions so far: 4 5" in failed.position
        second = await stage.launcher.number(1)
        await second.hear(Begin)
        assert await second.hears_nothing()
        assert stage.supervisor.restarts == 1


async def test_death_names_the_stage_in_which_it_came(clock: ManualClock) -> None:
    async with staged(clock) as stage:
        bot = await stage.launcher.number(0)
        stage.begin()
        request = stage.think()
        await bot.say(Doing("m1", request.number, "start"))
        bot.end(7, "exit code 7")
        failed = await asyncio.wait_for(request.answer, PATIENCE)
        assert isinstance(failed, Failed)
        assert failed.error == "the bot's process ended (exit code 7) during start"


async def test_death_of_a_bot_with_one_turn_at_a_time_is_blamed_on_the_first(
    clock: ManualClock,
) -> None:
    async with staged(clock) as stage:
        bot = await stage.launcher.number(0)
        for match in ("m1", "m2"):
            stage.begin(match)
        first, second = stage.think("m1"), stage.think("m2")
        bot.end()
        assert isinstance(await asyncio.wait_for(first.answer, PATIENCE), Failed)
        other = await stage.launcher.number(1)
        for _ in range(2):
            await other.hear(Begin)
        assert (await other.hear(Think)).turn == second.number
        assert (first.deaths, second.deaths) == (2, 0)


async def test_death_at_many_turns_asks_each_again_and_the_next_fails_them(
    clock: ManualClock,
) -> None:
    async with staged(clock, concurrent=True) as stage:
        bot = await stage.launcher.number(0)
        requests = []
        for match in ("m1", "m2"):
            stage.begin(match)
            requests.append(stage.think(match))
        bot.end()
        other = await stage.launcher.number(1)
        assert [request.deaths for request in requests] == [1, 1]
        assert not any(request.answer.done() for request in requests)
        other.end()
        for request in requests:
            assert isinstance(await asyncio.wait_for(request.answer, PATIENCE), Failed)


async def test_turn_that_is_stopped_between_two_processes_is_not_asked_again(
    clock: ManualClock,
) -> None:
    async with staged(clock, concurrent=True) as stage:
        bot = await stage.launcher.number(0)
        for match in ("m1", "m2"):
            stage.begin(match)
        first, second = stage.think("m1"), stage.think("m2")
        stage.launcher.open.clear()
        bot.end()
        await stage.until(lambda: first.deaths == 1)
        stage.supervisor.stop(first)
        stage.launcher.open.set()
        other = await stage.launcher.number(1)
        for _ in range(2):
            await other.hear(Begin)
        assert (await other.hear(Think)).turn == second.number
        assert await other.hears_nothing()


async def test_death_in_a_stopped_turn_blames_no_other(clock: ManualClock) -> None:
    async with staged(clock, concurrent=True) as stage:
        bot = await stage.launcher.number(0)
        for match in ("m1", "m2"):
            stage.begin(match)
        first, second = stage.think("m1"), stage.think("m2")
        stage.supervisor.stop(first)
        bot.end()
        other = await stage.launcher.number(1)
        for _ in range(2):
            await other.hear(Begin)
        assert (await other.hear(Think)).turn == second.number
        assert await other.hears_nothing()
        assert second.deaths == 1


async def test_bot_is_given_up_after_five_deaths_in_a_row(clock: ManualClock) -> None:
    async with staged(clock) as stage:
        stage.begin("m1", *played("4"))
        for number in range(5):
            (await stage.launcher.number(number)).end(3, "exit code 3")
        await stage.until(lambda: bool(stage.lines))
        why = "the bot's process ended 5 times in a row (exit code 3)"
        assert stage.lines[-1].endswith(why)
        assert len(stage.launcher.processes) == 5
        failed = stage.think().answer.result()
        assert isinstance(failed, Failed)
        assert failed.error == why
        await asyncio.wait_for(stage.supervisor.settled(), PATIENCE)


async def test_giving_up_fails_the_requests_that_are_open(clock: ManualClock) -> None:
    async with staged(clock, concurrent=True) as stage:
        for number in range(4):
            (await stage.launcher.number(number)).end()
        bot = await stage.launcher.number(4)
        for match in ("m1", "m2"):
            stage.begin(match)
        requests = [stage.think("m1"), stage.think("m2")]
        settling = asyncio.create_task(stage.supervisor.settled())
        stage.supervisor.stop(stage.think("m1"))
        await settle()
        bot.end()
        for request in requests:
            failed = await asyncio.wait_for(request.answer, PATIENCE)
            assert isinstance(failed, Failed)
            assert "5 times in a row" in failed.error
        await asyncio.wait_for(settling, PATIENCE)


async def test_answer_in_between_ends_the_row_of_deaths(clock: ManualClock) -> None:
    async with staged(clock) as stage:
        stage.begin()
        for number in range(4):
            (await stage.launcher.number(number)).end()
        bot = await stage.launcher.number(4)
        request = stage.think()
        await bot.say(Chosen("m1", request.number, "4"))
        bot.end()
        await stage.launcher.number(5)


async def test_answer_that_nobody_asked_for_ends_no_row_of_deaths(clock: ManualClock) -> None:
    async with staged(clock) as stage:
        stage.begin()
        for number in range(5):
            bot = await stage.launcher.number(number)
            await bot.say(Chosen("m1", 99, "4"))
            bot.end()
        await stage.until(lambda: "5 times in a row" in stage.text)


async def test_process_that_cannot_be_started_again_is_given_up(clock: ManualClock) -> None:
    async with staged(clock) as stage:
        bot = await stage.launcher.number(0)
        stage.launcher.failures.append(BotLoadError("no such file"))
        stage.begin()
        bot.end()
        await stage.until(lambda: bool(stage.lines))
        failed = stage.think().answer.result()
        assert isinstance(failed, Failed)
        assert failed.error == "the bot could not be started again: no such file"
        assert stage.supervisor.restarts == 0


async def test_launcher_that_is_lost_is_reported_and_no_failure_of_the_bot(
    clock: ManualClock,
) -> None:
    lost: list[LauncherLost] = []
    async with staged(clock, on_lost=lost.append) as stage:
        bot = await stage.launcher.number(0)
        stage.begin("m1", *played("4"))
        request = stage.think()
        bot.lost = "the launcher has ended"
        bot.end()
        await stage.until(lambda: bool(lost))
        assert [str(error) for error in lost] == ["the launcher has ended"]
        assert [(line.match, line.ply) for line in stage.said] == [("m1", request.ply)]
        assert not request.answer.done()
        assert len(stage.launcher.processes) == 1


async def test_launcher_that_is_lost_at_a_start_is_reported(clock: ManualClock) -> None:
    lost: list[LauncherLost] = []
    async with staged(clock, on_lost=lost.append) as stage:
        bot = await stage.launcher.number(0)
        stage.launcher.failures.append(LauncherLost("it is gone"))
        bot.end()
        await stage.until(lambda: bool(lost))
        assert [str(error) for error in lost] == ["it is gone"]
        assert "could not be started" not in stage.text


async def test_launcher_that_is_lost_is_noted_where_nobody_listens(clock: ManualClock) -> None:
    async with staged(clock) as stage:
        bot = await stage.launcher.number(0)
        bot.lost = "the launcher has ended"
        bot.end()
        await stage.until(lambda: "the launcher has ended" in stage.text)


# ------------------------------------------------------------------------- fresh processes


async def test_restart_asks_the_open_requests_again_and_counts_no_death(
    clock: ManualClock,
) -> None:
    async with staged(clock) as stage:
        stage.begin()
        request = stage.think()
        for number in range(7):
            bot = await stage.launcher.number(number)
            stage.supervisor.restart()
            assert bot.was_killed()
        last = await stage.launcher.number(7)
        await last.hear(Begin)
        assert (await last.hear(Think)).turn == request.number
        assert (request.deaths, stage.supervisor.restarts) == (0, 7)
        last.end()
        assert isinstance(await asyncio.wait_for(request.answer, PATIENCE), Failed), (
            "this one counts"
        )


async def test_best_action_of_a_process_that_ended_is_forgotten(clock: ManualClock) -> None:
    async with staged(clock) as stage:
        bot = await stage.launcher.number(0)
        stage.begin()
        request = stage.think()
        await bot.say(Best("m1", request.number, "5"))
        assert (request.best, request.reported.is_set()) == ("5", True)
        stage.supervisor.restart()
        other = await stage.launcher.number(1)
        await other.hear(Begin)
        await other.hear(Think)
        assert (request.best, request.reported.is_set()) == (None, False)


async def test_renewed_process_may_end_by_itself(clock: ManualClock) -> None:
    async with staged(clock) as stage:
        bot = await stage.launcher.number(0)
        stage.supervisor.renew()
        stage.supervisor.renew()
        await bot.hear(Quit)
        assert await bot.hears_nothing()
        stage.begin()
        request = stage.think()
        assert await bot.hears_nothing(), "what begins now is for the next process"
        settling = asyncio.create_task(stage.supervisor.settled())
        await settle()
        assert not settling.done()
        bot.end(0, "exit code 0")
        second = await stage.launcher.number(1)
        await asyncio.wait_for(settling, PATIENCE)
        await second.hear(Begin)
        assert (await second.hear(Think)).turn == request.number
        assert not bot.was_killed() or stage.supervisor.restarts == 1
        assert stage.text == ""


async def test_renewed_process_that_does_not_end_is_killed(clock: ManualClock) -> None:
    async with staged(clock) as stage:
        bot = await stage.launcher.number(0)
        stage.supervisor.renew()
        await clock.advance(0.49)
        assert not bot.was_killed()
        await clock.advance(0.02)
        assert bot.was_killed()
        await stage.launcher.number(1)
        assert stage.text == ""


async def test_renewed_boxed_process_is_not_frozen_before_its_end(clock: ManualClock) -> None:
    async with staged(clock, boxed=True) as stage:
        bot = await stage.launcher.number(0)
        stage.begin()
        request = stage.think()
        stage.supervisor.stop(request)
        stage.supervisor.end("m1", None)
        stage.supervisor.renew()
        await settle()
        assert not bot.is_frozen()
        await bot.say(Stopped("m1", request.number))
        assert not bot.is_frozen()


async def test_death_after_a_renewal_counts(clock: ManualClock) -> None:
    async with staged(clock) as stage:
        bot = await stage.launcher.number(0)
        stage.supervisor.renew()
        await settle()
        bot.end(0, "exit code 0")
        second = await stage.launcher.number(1)
        stage.begin()
        request = stage.think()
        second.end()
        assert isinstance(await asyncio.wait_for(request.answer, PATIENCE), Failed)


# ------------------------------------------------------------------------------------ close


async def test_close_asks_an_idle_bot_to_end(clock: ManualClock) -> None:
    async with staged(clock) as stage:
        bot = await stage.launcher.number(0)
        closing = asyncio.create_task(stage.supervisor.close())
        await bot.hear(Quit)
        assert not bot.was_killed()
        bot.end(0, "exit code 0")
        await asyncio.wait_for(closing, PATIENCE)
        assert len(stage.launcher.processes) == 1
        assert stage.text == ""


async def test_close_kills_a_busy_bot_and_cancels_its_requests(clock: ManualClock) -> None:
    async with staged(clock) as stage:
        bot = await stage.launcher.number(0)
        stage.begin()
        request = stage.think()
        await asyncio.wait_for(stage.supervisor.close(), PATIENCE)
        assert bot.was_killed()
        assert request.answer.cancelled()
        assert stage.text == "", "its time was not over"


@pytest.mark.parametrize(("early", "shown"), [(1, False), (0, True)])
async def test_close_shows_a_turn_that_hangs(clock: ManualClock, early: int, shown: bool) -> None:
    async with staged(clock) as stage:
        bot = await stage.launcher.number(0)
        stage.begin()
        request = stage.think()
        stage.supervisor.stop(request)
        clock.time = request.hard_at - early
        await asyncio.wait_for(stage.supervisor.close(), PATIENCE)
        assert bot.was_killed()
        assert ("did not come back" in stage.text) == shown
        assert "a new one takes over" not in stage.text


async def test_close_lets_a_frozen_bot_say_where_it_hangs(clock: ManualClock) -> None:
    async with staged(clock, boxed=True) as stage:
        bot = await stage.launcher.number(0)
        stage.begin()
        request = stage.think()
        stage.supervisor.stop(request)
        assert bot.is_frozen()
        clock.time = request.hard_at
        await asyncio.wait_for(stage.supervisor.close(), PATIENCE)
        assert bot.was_killed()
        assert "did not come back" in stage.text
        assert [bot.is_frozen()] == [False]


async def test_close_ends_the_wait_for_a_turn(clock: ManualClock) -> None:
    async with staged(clock) as stage:
        await stage.launcher.number(0)
        stage.begin()
        stage.supervisor.stop(stage.think())
        settling = asyncio.create_task(stage.supervisor.settled())
        await settle()
        assert not settling.done()
        await asyncio.wait_for(stage.supervisor.close(), PATIENCE)
        await asyncio.wait_for(settling, PATIENCE)


async def test_close_without_a_process_returns(clock: ManualClock) -> None:
    async with staged(clock, boxed=True) as stage:
        bot = await stage.launcher.number(0)
        stage.begin()
        bot.end()
        await stage.until(lambda: stage.supervisor.pid is None)
        await asyncio.wait_for(stage.supervisor.close(), PATIENCE)
        assert len(stage.launcher.processes) == 1


async def test_end_of_a_match_stops_its_requests_only(clock: ManualClock) -> None:
    async with staged(clock, concurrent=True) as stage:
        bot = await stage.launcher.number(0)
        for match in ("m1", "m2"):
            stage.begin(match)
            await bot.hear(Begin)
        first, second = stage.think("m1"), stage.think("m2")
        for _ in range(2):
            await bot.hear(Think)
        assert stage.supervisor.matches == 2
        stage.supervisor.end("m1", None)
        stage.supervisor.end("unheard of", None)
        assert (await bot.hear(Stop)).turn == first.number
        assert (await bot.hear(End)).match == "m1"
        assert await bot.hears_nothing()
        assert (first.stopped, second.stopped) == (True, False)
        assert stage.supervisor.matches == 1
