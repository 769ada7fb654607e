"""The supervisor and every turn of events, with processes that the test plays itself."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import pytest
from tests.bots.conftest import ManualClock, played, settle
from tests.harness.patience import PATIENCE
from tests.harness.scripted_bot import staged
from tests.harness.supervised_bot import SECOND

from plyhouse.bots.process.messages import (
    Begin,
    Best,
    Chosen,
    Doing,
    End,
    Failed,
    Resigned,
    Stop,
    Stopped,
    Think,
)
from plyhouse.bots.process.ply_cost import CostOfPly
from plyhouse.protocol.messages import ClockState, Event, Outcome

pytestmark = pytest.mark.timeout(10)  # everything happens in this process

# ----------------------------------------------------------------------- questions, answers


async def test_request_carries_the_times_that_are_left(clock: ManualClock) -> None:
    async with staged(clock) as stage:
        bot = await stage.launcher.number(0)
        stage.begin()
        assert (await bot.hear(Begin)).snapshot.match == "m1"
        request = stage.supervisor.think(
            "m1",
            ply=4,
            soft_at=clock.now() + 5,
            hard_at=clock.now() + 7,
            flag_at=clock.now() + 9,
            observation={"a": 1},
            clocks=[ClockState(0, 11)],
            retry=True,
            depth=3,
            nodes=99,
        )
        think = await bot.hear(Think)
        assert (think.match, think.turn, think.ply) == ("m1", request.number, 4)
        assert (think.soft, think.hard, think.left) == (5, 7, 9)
        assert (think.observation, think.clocks) == ({"a": 1}, [ClockState(0, 11)])
        assert (think.retry, think.depth, think.nodes) == (True, 3, 99)
        assert request.dispatched
        await bot.say(Chosen("m1", think.turn, "4"))
        assert (await request.answer).turn == request.number


async def test_request_that_is_late_has_no_time_left(clock: ManualClock) -> None:
    async with staged(clock) as stage:
        bot = await stage.launcher.number(0)
        stage.begin()
        await bot.hear(Begin)
        past = clock.now() - 5
        stage.supervisor.think(
            "m1", ply=0, soft_at=past, hard_at=past, flag_at=past, observation={}, clocks=[]
        )
        think = await bot.hear(Think)
        assert (think.soft, think.hard, think.left) == (0, 0, 0)


async def test_bot_is_told_each_event_once(clock: ManualClock) -> None:
    async with staged(clock) as stage:
        bot = await stage.launcher.number(0)
        stage.begin("m1", *played("4"))
        assert len((await bot.hear(Begin)).snapshot.events) == 1
        told = []
        for number in range(2):
            stage.events["m1"] += [Event(1 + number, 1, "5")]
            request = stage.think()
            think = await bot.hear(Think)
            told.append([event.ply for event in think.events])
            await bot.say(Chosen("m1", think.turn, "4"))
            assert request.answer.done()
        stage.events["m1"] += [Event(9, 1, "6")]
        stage.supervisor.end("m1", Outcome("normal", [1.0, -1.0]))
        end = await bot.hear(End)
        assert told == [[1], [2]]
        assert ([event.ply for event in end.events], end.match) == ([9], "m1")
        assert end.outcome == Outcome("normal", [1.0, -1.0])
        assert stage.supervisor.matches == 0


async def test_best_action_so_far_is_kept_until_the_turn_is_stopped(clock: ManualClock) -> None:
    async with staged(clock) as stage:
        bot = await stage.launcher.number(0)
        stage.begin()
        await bot.hear(Begin)
        request = stage.think()
        turn = (await bot.hear(Think)).turn
        await bot.say(Best("m1", turn, "5"))
        await bot.say(Best("m1", 77, "1"))
        assert request.best == "5"
        stage.supervisor.stop(request)
        stage.supervisor.stop(request)
        assert (await bot.hear(Stop)).turn == turn
        await bot.say(Best("m1", turn, "6"))
        assert request.best == "5"
        await bot.say(Chosen("m1", turn, "6"))
        assert not request.answer.done()
        assert await bot.hears_nothing()


@pytest.mark.parametrize("kind", [Chosen, Resigned, Failed])
async def test_every_answer_ends_its_request(clock: ManualClock, kind: Any) -> None:
    more = {Chosen: ("4",), Resigned: (), Failed: ("E", "", "")}[kind]
    async with staged(clock) as stage:
        bot = await stage.launcher.number(0)
        stage.begin()
        request = stage.think()
        await bot.say(kind("m1", 77, *more))
        assert not request.answer.done(), "nobody asked for that one"
        await bot.say(kind("m1", request.number, *more))
        assert isinstance(request.answer.result(), kind)


async def test_failure_outside_of_a_turn_is_shown_with_its_match(clock: ManualClock) -> None:
    async with staged(clock) as stage:
        bot = await stage.launcher.number(0)
        for number in range(66):
            stage.begin(f"m{number}")
            stage.supervisor.end(f"m{number}", None)
        stage.begin("now")
        for match in ("now", "m65", "m2", "m1", "unheard of"):
            await bot.say(Failed(match, 0, "E", "", "there"))
        crashes = [(line.match, line.ply, line.kind) for line in stage.said]
        assert [match for match, _, _ in crashes] == ["now", "m65", "m2", "now", "now"]
        assert {each[1:] for each in crashes} == {(None, "crash")}
        assert "the position was:\nthere" in stage.text


async def test_failure_of_a_stopped_turn_is_shown_with_its_ply(clock: ManualClock) -> None:
    async with staged(clock) as stage:
        bot = await stage.launcher.number(0)
        stage.begin("m1", *played("4", "5"))
        request = stage.think()
        stage.supervisor.stop(request)
        await bot.say(Failed("m1", request.number, "KeyError: 'x'", "", ""))
        (line,) = stage.said
        assert (line.match, line.ply, line.kind) == ("m1", request.ply, "crash")
        assert not request.answer.done()


async def test_output_belongs_to_the_turn_at_work(clock: ManualClock) -> None:
    async with staged(clock) as stage:
        bot = await stage.launcher.number(0)
        bot.print("early\n")
        await settle()
        stage.begin("m1", *played("4"))
        request = stage.think()
        bot.print("thinking\n")
        await settle()
        await bot.say(Chosen("m1", request.number, "4"))
        stage.supervisor.end("m1", None)
        bot.print("after\n")
        await settle()
        printed = [(line.text, line.match, line.ply) for line in stage.said]
        assert printed == [
            ("early", "", None),
            ("early", "m1", None),
            ("thinking", "m1", request.ply),
            ("after", "m1", None),
        ]


async def test_output_after_the_end_of_another_match_keeps_its_ply(clock: ManualClock) -> None:
    async with staged(clock) as stage:
        bot = await stage.launcher.number(0)
        stage.begin("m1")
        stage.begin("m2", *played("4"))
        request = stage.think("m2")
        stage.supervisor.end("m1", None)
        bot.print("thinking\n")
        await settle()
        await bot.say(Chosen("m2", request.number, "4"))
        bot.print("pondering\n")
        await settle()
        assert [(line.match, line.ply) for line in stage.said] == [("m2", request.ply)] * 2


async def test_output_of_a_turn_that_goes_on_after_its_match_keeps_its_ply(
    clock: ManualClock,
) -> None:
    async with staged(clock) as stage:
        bot = await stage.launcher.number(0)
        stage.begin("m1", *played("4"))
        request = stage.think()
        stage.supervisor.end("m1", None)
        bot.print("thinking\n")
        await settle()
        assert [(line.match, line.ply) for line in stage.said] == [("m1", request.ply)]


# --------------------------------------------------------------------------- stopped turns


async def test_bot_that_does_not_end_a_stopped_turn_is_replaced(clock: ManualClock) -> None:
    async with staged(clock) as stage:
        bot = await stage.launcher.number(0)
        stage.begin("m1", *played("4", "5"))
        request = stage.think()
        stage.supervisor.stop(request)
        await clock.advance(0.24)
        assert not bot.was_killed()
        assert stage.supervisor.pid is not None
        await clock.advance(0.02)
        second = await stage.launcher.number(1)
        assert bot.was_killed()
        assert "the bot did not come back after its turn had ended" in stage.text
        assert "; a new one takes over" in stage.text
        assert "actions so far: 4 5" in stage.text
        assert (stage.said[0].match, stage.said[0].ply) == ("m1", request.ply)
        assert stage.supervisor.restarts == 1
        assert isinstance(await second.hear(Begin), Begin)
        assert await second.hears_nothing(), "the turn that hung is not asked again"


async def test_grace_is_the_one_given(clock: ManualClock) -> None:
    async with staged(clock, hang_grace=9.0) as stage:
        bot = await stage.launcher.number(0)
        stage.begin()
        stage.supervisor.stop(stage.think())
        await clock.advance(8.9)
        assert not bot.was_killed()
        await clock.advance(0.2)
        await stage.until(lambda: bot.was_killed())


@pytest.mark.parametrize("kind", [Stopped, Chosen])
async def test_bot_that_ends_a_stopped_turn_is_kept(clock: ManualClock, kind: Any) -> None:
    async with staged(clock) as stage:
        bot = await stage.launcher.number(0)
        stage.begin()
        request = stage.think()
        stage.supervisor.stop(request)
        await bot.say(kind("m1", request.number, *(["4"] if kind is Chosen else [])))
        await clock.advance(9)
        assert not bot.was_killed()
        assert stage.text == ""
        await asyncio.wait_for(stage.supervisor.settled(), PATIENCE)


async def test_hang_names_the_stage_in_which_the_bot_is(clock: ManualClock) -> None:
    async with staged(clock) as stage:
        bot = await stage.launcher.number(0)
        stage.begin()
        request = stage.think()
        await bot.say(Doing("m1", request.number, "start"))
        assert request.stage == "start"
        stage.supervisor.stop(request)
        await clock.advance(0.3)
        await stage.launcher.number(1)
        assert "did not come back" in stage.text
        assert "it stood here" not in stage.text, "there is no process to ask"


async def test_requests_of_others_are_asked_again_after_a_hang(clock: ManualClock) -> None:
    async with staged(clock, concurrent=True) as stage:
        bot = await stage.launcher.number(0)
        for match in ("bad", "good"):
            stage.begin(match, *played("4"))
        bad, good = stage.think("bad"), stage.think("good")
        await bot.say(Best("good", good.number, "7"))
        await stage.until(lambda: good.best == "7")
        stage.supervisor.stop(bad)
        await clock.advance(0.3)
        second = await stage.launcher.number(1)
        begun = {(await second.hear(Begin)).snapshot.match for _ in range(2)}
        assert begun == {"bad", "good"}
        again = await second.hear(Think)
        assert (again.turn, again.events) == (good.number, [])
        assert good.best is None
        assert good.deaths == 0, "the supervisor ended the process"


# ------------------------------------------------------------------------------ slow starts


async def test_slow_start_is_shown_once(clock: ManualClock) -> None:
    async with staged(clock) as stage:
        bot = await stage.launcher.number(0)
        for match in ("m1", "m2"):
            stage.begin(match, *played("4"))
            request = stage.think(match)
            await bot.say(Doing(match, request.number, "__init__"))
            clock.time += 300_000_000
            await bot.say(Doing(match, request.number, "start"))
            clock.time += 100_000_000
            await bot.say(Doing(match, request.number, "choose"))
            await bot.say(Chosen(match, request.number, "4"))
        (line,) = stage.said
        assert (line.match, line.ply, line.kind) == ("m1", request.ply, "note")
        assert line.text == (
            "__init__ took 0.3 s of the clock. It runs in every match: "
            "load what is large once, at the top of the file"
        )


@pytest.mark.parametrize(("spent", "notes"), [(199_999_999, 0), (200_000_000, 1)])
async def test_start_is_slow_from_a_fifth_of_a_second_on(
    clock: ManualClock, spent: int, notes: int
) -> None:
    async with staged(clock) as stage:
        bot = await stage.launcher.number(0)
        stage.begin()
        request = stage.think()
        clock.time += SECOND
        await bot.say(Doing("m1", request.number, "__init__"))
        assert stage.said == [], "what came before is not the bot's"
        await bot.say(Doing("m1", request.number, "start"))
        clock.time += spent
        await bot.say(Doing("m1", request.number, "choose"))
        clock.time += SECOND
        await bot.say(Doing("m1", request.number, "choose"))
        await bot.say(Doing("m1", 99, "start"))
        assert len(stage.said) == notes
        if notes:
            assert "start took 0.2 s" in stage.text


async def test_time_before_the_first_stage_counts_for_no_stage(clock: ManualClock) -> None:
    async with staged(clock) as stage:
        bot = await stage.launcher.number(0)
        stage.begin()
        request = stage.think()
        clock.time += SECOND // 10
        await bot.say(Doing("m1", request.number, "start"))
        assert stage.said == []


# ------------------------------------------------------------------------------------ costs


async def test_cost_of_a_ply_is_reported_once(clock: ManualClock) -> None:
    costs: list[CostOfPly] = []
    async with staged(clock, pid=os.getpid(), on_cost=costs.append) as stage:
        bot = await stage.launcher.number(0)
        stage.begin("m1", *played("4"))
        request = stage.think()
        await bot.say(Chosen("m1", request.number, "4"))
        (cost,) = costs
        assert (cost.match, cost.ply, cost.answered) == ("m1", request.ply, True)
        assert cost.allowed == 3 * SECOND
        stage.supervisor.stop(request)
        assert len(costs) == 1


@pytest.mark.parametrize("answered", [True, False])
async def test_cost_of_a_stopped_ply_says_whether_it_was_answered(
    clock: ManualClock, answered: bool
) -> None:
    costs: list[CostOfPly] = []
    async with staged(clock, pid=os.getpid(), on_cost=costs.append) as stage:
        bot = await stage.launcher.number(0)
        stage.begin()
        request = stage.think()
        if answered:
            stage.supervisor.stop(request, answered=True)
        else:
            stage.supervisor.stop(request)
        assert [cost.answered for cost in costs] == [answered]
        await bot.say(Chosen("m1", request.number, "4"))
        assert len(costs) == 1, "work after the turn is no part of it"
