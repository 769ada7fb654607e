"""The cost of a ply, and a runner's report of a flag fall, with chosen figures."""

from __future__ import annotations

import asyncio
import os
import subprocess
from pathlib import Path

import pytest

from plyhouse.bots.process import ply_cost
from plyhouse.bots.process.ply_cost import CostOfPly, Stopwatch, busy_of
from plyhouse.bots.running.run_options import SeatResult
from plyhouse.clients.runner.machine import disturbed, flag_fell
from plyhouse.protocol.messages import Outcome

MS = 1_000_000


class Kernel:
    """A stand-in for the kernel's answers."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.cpu = self.waited = self.busy = self.wall = 0
        monkeypatch.setattr(ply_cost, "_used", lambda _: self.cpu * MS)
        monkeypatch.setattr(ply_cost, "_waited", lambda _: self.waited * MS)
        self.runnable = False
        monkeypatch.setattr(ply_cost, "_runnable", lambda _: self.runnable)
        monkeypatch.setattr(ply_cost, "busy_of", lambda _: self.busy * MS)
        monkeypatch.setattr(ply_cost, "LOOK_AFTER", 0.0)
        monkeypatch.setattr("time.monotonic_ns", lambda: self.wall * MS)
        monkeypatch.setattr("os.sched_getaffinity", lambda _: {3})

    async def ply(
        self, *, wall: int, cpu: int, waited: int, busy: int, answered: bool = True
    ) -> CostOfPly:
        """A ply of a bot that had 1000 ms, in milliseconds."""
        stopwatch = Stopwatch(1, 1000 * MS)
        looked = asyncio.Event()
        asyncio.get_running_loop().call_later(0, looked.set)
        await looked.wait()
        self.wall, self.cpu = self.wall + wall, self.cpu + cpu
        self.waited, self.busy = self.waited + waited, self.busy + busy
        cost = stopwatch.cost("m", 4, answered=answered)
        assert cost is not None
        return cost


async def test_only_what_others_took_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = Kernel(monkeypatch)
    # Alone; beside somebody else; fighting with itself; asleep on a busy machine.
    alone = await kernel.ply(wall=1000, cpu=990, waited=3, busy=1000)
    beside = await kernel.ply(wall=1000, cpu=550, waited=440, busy=1000)
    itself = await kernel.ply(wall=1000, cpu=400, waited=9000, busy=410)
    asleep = await kernel.ply(wall=1000, cpu=1, waited=2, busy=990)
    assert [each.lost // MS for each in (alone, beside, itself, asleep)] == [3, 440, 10, 2]
    assert disturbed([alone, beside, itself, asleep]) == [beside]


async def test_wait_that_has_not_ended_counts_if_the_bot_ran_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kernel = Kernel(monkeypatch)
    hung = await kernel.ply(wall=1000, cpu=0, waited=0, busy=990, answered=False)
    kernel.runnable = True
    starved = await kernel.ply(wall=1000, cpu=0, waited=0, busy=990, answered=False)
    awake = await kernel.ply(wall=1000, cpu=1, waited=2, busy=990, answered=False)
    assert [each.lost // MS for each in (hung, starved, awake)] == [0, 990, 2]
    assert [each.slept // MS for each in (hung, starved, awake)] == [1000, 0, 997]


def test_runnable_tells_a_busy_process_from_a_sleeping_one() -> None:
    assert ply_cost._runnable(os.getpid())
    with subprocess.Popen(["sleep", "60"]) as asleep:
        try:
            state = Path(f"/proc/{asleep.pid}/stat")
            while " S " not in state.read_text():  # it has not begun to sleep
                pass
            assert not ply_cost._runnable(asleep.pid)
        finally:
            asleep.kill()
    assert not ply_cost._runnable(asleep.pid)


async def test_who_was_asked_late_had_less_time_unless_it_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kernel = Kernel(monkeypatch)
    late = await kernel.ply(wall=600, cpu=600, waited=0, busy=600, answered=False)
    quick = await kernel.ply(wall=600, cpu=600, waited=0, busy=600)
    assert (late.lost // MS, quick.lost) == (400, 0)


async def test_a_bot_that_may_run_anywhere_has_no_figures_to_be_excused_by(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kernel = Kernel(monkeypatch)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1})
    assert (await kernel.ply(wall=1000, cpu=500, waited=500, busy=1000)).lost == 0


def test_the_kernel_says_what_a_processor_has_done() -> None:
    core = min(os.sched_getaffinity(0))
    busy = busy_of(core)
    assert busy is not None
    assert busy > 0
    assert (busy_of(core) or 0) >= busy
    assert busy_of(4095) is None


def result(termination: str, seat: int | None, plies: int = 5) -> SeatResult:
    outcome = Outcome(termination, [-1.0, 1.0], seat)  # type: ignore[arg-type]
    return SeatResult("m", "pig", 0, ("bob/bot",), outcome, plies, 0)


def test_a_lost_flag_is_told_with_what_is_known_of_it() -> None:
    before = CostOfPly("m", 3, 100, 90, 10, 10, 1000)
    last = CostOfPly("m", 5, 1000, 500, 450, 460, 1000, answered=False)
    said = flag_fell(7, result("flag_fall", 0), [before, last])
    assert said is not None
    assert (said.match, said.bot, said.ply) == ("m", 7, 5)
    assert (said.allowed, said.wall, said.cpu, said.lost) == (1000, 1000, 500, 450)
    assert (said.match_wall, said.match_lost) == (1100, 460)
    # Nobody else's flag, and no other ending.
    for ending in (result("flag_fall", 1), result("normal", None)):
        assert flag_fell(7, ending, [before, last]) is None

    assert said.slept == 50
    assert flag_fell(7, result("normal", None), []) is None


def test_lost_flag_without_figures_is_reported_at_once() -> None:
    """The server would wait 8 seconds for a report that never comes."""
    other_ply = CostOfPly("m", 3, 1000, 500, 450, 460, 1000)
    for known in ([], [other_ply]):
        said = flag_fell(7, result("flag_fall", 0), known)
        assert said is not None
        assert (said.ply, said.allowed, said.lost) == (5, 0, 0)
