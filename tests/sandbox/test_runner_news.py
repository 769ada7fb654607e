"""What one bot had a hand in, and the server does not take, ends nothing else on the machine."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.sandbox.hosted_house import hosted_house, until

from plyhouse.clients.cli.hosting import checking
from plyhouse.clients.cli.hosting.checking import check_submission
from plyhouse.protocol.package import Rules
from plyhouse.server.house.runner_messages import MAX_GAMES, CheckDone, CheckWanted, Trouble


async def test_news_that_the_server_refuses_do_not_end_the_runner(tmp_path: Path) -> None:
    async with hosted_house(tmp_path) as house, house.runner() as machine:
        too_many = ["pig"] * (MAX_GAMES + 1)
        machine._news.checked.append(CheckDone(1, False, "", too_many))
        machine._soon.set()

        async def told() -> bool:
            return any("does not take" in line for line in house.said)

        await until(told)
        machine._news.troubles.append(Trouble("a disk is full", bot=7, version=9))
        machine._soon.set()

        async def heard() -> bool:
            return bool(house.hub.hosting._bots.count.get(9))

        await until(heard, lambda: house.said)


async def test_a_bot_that_claims_too_many_games_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checking, "MAX_GAMES", 1)  # a hundred games are long to check
    bot = tmp_path / "bot.py"
    bot.write_text(
        "from plyhouse.bots import Bot\n"
        "class Mine(Bot):\n"
        "    games = ('tic_tac_toe', 'pig(target=20)')\n"
        "    def choose(self, turn):\n"
        "        raise RuntimeError\n",
        "utf-8",
    )
    done = await asyncio.wait_for(check_submission(CheckWanted(3, ""), bot, None, Rules()), 120)
    assert isinstance(done, CheckDone), done
    assert (done.ok, done.games) == (False, [])
    assert "claims 2 games" in done.report
