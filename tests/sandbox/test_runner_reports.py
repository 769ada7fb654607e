"""A runner's reports reach a real server: all of them, and once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.harness.hosted_server import HostedServer, hosted_server, until
from tests.harness.reports import flag

from plyhouse.clients.runner.machine import Machine
from plyhouse.protocol.api.answers import Unreachable
from plyhouse.protocol.hosting.runner_messages import MAX_GAMES, CheckDone, FlagFell, Trouble


def flags_of(house: HostedServer) -> list[int]:
    """The plies of flags that the server hears of from here on."""
    heard: list[int] = []

    async def on_flags(_: str, flags: Sequence[FlagFell]) -> None:
        heard.extend(each.ply for each in flags)

    house.hub.hosting.on_flags = on_flags
    return heard


async def all_sent(machine: Machine) -> None:
    machine._soon.set()

    async def none_left() -> bool:
        return not len(machine._news)

    await until(none_left, lambda: len(machine._news))


async def test_reports_beyond_one_request_go_with_the_next_ones(tmp_path: Path) -> None:
    async with hosted_server(tmp_path) as house, house.runner() as machine:
        heard = flags_of(house)
        for number in range(250):
            machine._news.add(flag(number))
            machine._news.add(Trouble("a disk is full", bot=7, version=number + 1))
        await all_sent(machine)
        assert heard == [*range(250)]
        assert house.hub.hosting._bots.count == dict.fromkeys(range(1, 251), 1)


async def test_report_that_the_server_refuses_takes_no_other_with_it(tmp_path: Path) -> None:
    async with hosted_server(tmp_path) as house, house.runner() as machine:
        heard = flags_of(house)
        for number in range(120):
            machine._news.add(flag(number))
        machine._news.add(CheckDone(1, False, "", ["pig"] * (MAX_GAMES + 1)))
        machine._news.add(Trouble("x" * 3000, bot=7, version=1))
        machine._news.add(Trouble("a disk is full", bot=7, version=2))
        await all_sent(machine)
        assert heard == [*range(120)]
        assert house.hub.hosting._bots.count == {2: 1}
        said = [line for line in house.said if "does not take a report" in line]
        assert ["CheckDone" in line for line in said] == [True, False], said
        assert all(len(line) < 1000 for line in said)


async def test_reports_whose_answer_was_lost_count_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with hosted_server(tmp_path) as house, house.runner() as machine:
        call, lost = machine._call, Counter[str]()

        def losing(*arguments: Any) -> Any:
            answer = call(*arguments)
            if arguments[0].troubles and lost["answers"] < 3:
                lost["answers"] += 1
                raise Unreachable("the connection was cut after the request")
            return answer

        monkeypatch.setattr(machine, "_call", losing)
        machine._news.add(Trouble("a disk is full", bot=7, version=9))
        await all_sent(machine)
        assert lost["answers"] == 3
        assert house.hub.hosting._bots.count == {9: 1}


async def test_reports_that_wait_are_sent_before_a_runner_leaves(tmp_path: Path) -> None:
    async with hosted_server(tmp_path) as house:
        heard = flags_of(house)
        async with house.runner() as machine:
            for number in range(250):
                machine._news.add(flag(number))
        assert heard == [*range(250)]
        assert house.hub.hosting.machines == 0
