"""`plyhouse check --sandbox` and `plyhouse doctor sandbox`, as their users meet them."""

from __future__ import annotations

import asyncio
import json
import zipfile
from pathlib import Path

import pytest
from tests.sandbox.conftest import Submission, have

from plyhouse.bots.sandbox.box import Tier
from plyhouse.bots.sandbox.client import KeeperClient
from plyhouse.bots.sandbox.promises import PROMISES
from plyhouse.clients.cli.main import main

BOT = """
    from plyhouse.bots import Bot

    class Mine(Bot):
        games = ("coin_guess",)

        def choose(self, turn):
            return turn.legal[0]
"""


async def test_a_submission_is_checked_in_the_sandbox(
    keeper: KeeperClient, submission: Submission, capfd: pytest.CaptureFixture[str]
) -> None:
    await have(keeper, Tier.LANDLOCK)
    folder = submission(bot=BOT)
    assert await asyncio.to_thread(main, ["check", str(folder), "--sandbox"]) == 0
    shown = capfd.readouterr()
    assert "[sandbox] landlock" in shown.err
    assert "is fit to play" in shown.out
    nosy = submission("nosy", bot="open('/etc/passwd')\n")
    assert await asyncio.to_thread(main, ["check", str(nosy), "--sandbox"]) == 1
    assert "Permission denied" in capfd.readouterr().out


def test_a_package_that_is_refused_is_not_run(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "slip.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("bot.py", BOT)
        archive.writestr("../../outside.py", "x = 1")
    assert main(["check", str(path), "--sandbox", "--tier", "rlimits"]) == 2
    assert "'../../outside.py' leads out of the package" in capfd.readouterr().err
    assert main(["check", str(path), "--tier", "rlimits"]) == 2
    assert "--tier goes with --sandbox" in capfd.readouterr().err


def test_the_doctor_says_what_the_weakest_tier_lacks(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "sandbox", "--tier", "rlimits", "--json"]) == 1
    (found,) = json.loads(capfd.readouterr().out)["tiers"]
    assert found["tier"] == "rlimits"
    assert set(found["promises"]) == set(PROMISES)
    assert found["promises"]["network"] is False
    assert found["promises"]["end"] is True
    assert any("connect to a TCP port" in attempt["name"] for attempt in found["attempts"])
