"""A bot's report that the server refuses ends nothing else on the machine."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from tests.harness.hosted_server import OLGA, PIG, hosted_server, until
from tests.harness.patience import PATIENCE

from plyhouse.clients.runner import submission_checks
from plyhouse.clients.runner.packages import Packages
from plyhouse.clients.runner.submission_checks import check_package, check_submission
from plyhouse.protocol.hosting.package import Rules, from_upload, pack
from plyhouse.protocol.hosting.runner_messages import (
    MAX_GAMES,
    CheckDone,
    CheckWanted,
    RunnerPlan,
    Trouble,
)
from plyhouse.storage import competition_sql, competition_students, submission_sql
from plyhouse.storage.competition_rows import CompetitionGame, CompetitionRow, NewMember
from plyhouse.storage.submission_rows import no_submission

CUP = CompetitionRow(
    *("id-Cup", "Cup", "", "round_robin", "open", 1, 9, 1),
    parsed="{}",
    games=(CompetitionGame(0, "pig", None),),
)


async def test_news_that_the_server_refuses_do_not_end_the_runner(tmp_path: Path) -> None:
    async with hosted_server(tmp_path) as house, house.runner() as machine:
        too_many = ["pig"] * (MAX_GAMES + 1)
        machine._news.add(CheckDone(1, False, "", too_many))
        machine._soon.set()

        async def told() -> bool:
            return any("does not take" in line for line in house.said)

        await until(told)
        machine._news.add(Trouble("a disk is full", bot=7, version=9))
        machine._soon.set()

        async def heard() -> bool:
            return bool(house.hub.hosting._bots.count.get(9))

        await until(heard, lambda: house.said)


async def test_answer_that_something_is_gone_does_not_end_the_runner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with hosted_server(tmp_path) as house, house.runner() as machine:
        hosting, sync = house.hub.hosting, house.hub.hosting.sync
        refused = []

        async def gone(*_: object) -> RunnerPlan:
            monkeypatch.setattr(hosting, "sync", sync)
            refused.append("once")
            raise no_submission(7)

        async def answered() -> bool:
            return machine._answered

        async def told() -> bool:
            return any("there is no submission 7" in line.lower() for line in house.said)

        async def reached() -> bool:
            return machine._reached is True

        await until(answered)  # a runner ends if the first answer is that there is nothing
        monkeypatch.setattr(hosting, "sync", gone)
        await until(told, lambda: house.said)  # the runner hears of it after the server refused
        await until(reached, lambda: house.said)
        assert refused == ["once"]


async def test_package_that_cannot_be_checked_is_refused_and_its_author_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plyhouse.server.hosting.placement.REST_NS", 0)
    async with hosted_server(tmp_path) as house:
        store = house.hub.store
        good = await house.submit("mallory", PIG)
        await store.write(competition_sql.create, CUP, [], OLGA)
        await store.write(
            competition_students.take_in,
            "Cup",
            [NewMember("mallory", "mallory")],
            OLGA,
            store.now(),
            adopt="*",
        )
        await store.submissions.add(
            *(good.bot_id, "", good.digest, b"", store.now()), competition="Cup"
        )
        assert [
            each.version_id for each in await store.read(competition_sql.entries_of, CUP.id)
        ] == [good.version_id]
        package = pack(from_upload("mybot.py", PIG.encode(), Rules()))
        bad = await store.submissions.add(  # its content has another digest
            *(good.bot_id, "v2", "7" * 64, package, store.now()), competition="Cup"
        )

        async def refused() -> bool:
            return (await store.read(submission_sql.find, bad.id)).status == "refused"

        async with house.runner():
            await until(refused, lambda: house.said)
        row = await store.read(submission_sql.find, bad.id)
        assert "could check another bot" in row.report
        assert "fetched as 777777777777... has the digest" in row.report
        assert [each.outcome for each in row.competitions] == ["refused"]
        assert await store.read(submission_sql.waiting_for, CUP.id) == [], (
            "nothing keeps a final waiting"
        )
        assert [
            each.version_id for each in await store.read(competition_sql.entries_of, CUP.id)
        ] == [good.version_id]
        assert not list((tmp_path / "lab").glob(".own-*"))


async def test_machine_that_cannot_check_its_own_bot_blames_no_package(tmp_path: Path) -> None:
    bot = tmp_path / "bot.py"
    bot.write_text(PIG, "utf-8")
    folder = tmp_path / "lab"
    folder.write_text("a file where the machine needs a folder", "utf-8")
    packages = Packages(folder, lambda _: pack(from_upload("bot.py", PIG.encode(), Rules())))
    done = await check_package(CheckWanted(3, "7" * 64), packages, folder, None, Rules())
    assert isinstance(done, Trouble), done
    assert not done.machine_works


async def test_check_that_takes_too_long_is_ended_with_a_reason(tmp_path: Path) -> None:
    bot = tmp_path / "bot.py"
    bot.write_text(PIG, "utf-8")
    done = await check_submission(CheckWanted(3, ""), bot, None, Rules(), seconds=0.0)
    assert done == CheckDone(
        3,
        False,
        "FAILED  ends in time: the check took more than 0 s, which imports and all matches of a "
        "check have together; make imports and the first action of a match faster",
    )


async def test_a_bot_that_claims_too_many_games_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(submission_checks, "MAX_GAMES", 1)  # a hundred games are long to check
    bot = tmp_path / "bot.py"
    bot.write_text(
        "from plyhouse.bots import Bot\n"
        "class Mine(Bot):\n"
        "    games = ('tic_tac_toe', 'pig(target=20)')\n"
        "    def choose(self, turn):\n"
        "        raise RuntimeError\n",
        "utf-8",
    )
    done = await asyncio.wait_for(
        check_submission(CheckWanted(3, ""), bot, None, Rules()), PATIENCE
    )
    assert isinstance(done, CheckDone), done
    assert (done.ok, done.games) == (False, [])
    assert "claims 2 games" in done.report


async def test_runner_has_the_limits_of_its_server(tmp_path: Path) -> None:
    house_of = hosted_server(tmp_path, max_submission_bytes=33 << 20)
    async with house_of as house, house.runner() as machine:
        found = await asyncio.to_thread(machine._rules)
        assert found.max_packed == 33 << 20
        assert replace(found, installed=False) == house.hub.uploads.rules
