"""`plyhouse bot check --sandbox` and `plyhouse doctor sandbox`, as their users meet them."""

from __future__ import annotations

import asyncio
import json
import zipfile
from pathlib import Path

import pytest
from tests.sandbox.conftest import Submission, have

from plyhouse.bots.sandbox.box import Tier
from plyhouse.bots.sandbox.client import ForkServerClient
from plyhouse.bots.sandbox.probes import PROBES
from plyhouse.clients.cli.main import main

BOT = """
    from plyhouse.bots import Bot

    class Mine(Bot):
        games = ("coin_guess",)

        def choose(self, turn):
            return turn.legal[0]
"""


@pytest.fixture(autouse=True)
def warm_fork_servers() -> None:
    """Nothing: the probes of `plyhouse doctor sandbox` are for a fork server as users have it."""


async def test_a_submission_is_checked_in_the_sandbox(
    fork_server: ForkServerClient, submission: Submission, capfd: pytest.CaptureFixture[str]
) -> None:
    await have(fork_server, Tier.LANDLOCK)
    folder = submission(bot=BOT)
    assert await asyncio.to_thread(main, ["bot", "check", str(folder), "--sandbox"]) == 0
    shown = capfd.readouterr()
    assert "[sandbox] landlock" in shown.err
    assert "is fit to play" in shown.out
    nosy = submission("nosy", bot="open('/etc/passwd')\n")
    assert await asyncio.to_thread(main, ["bot", "check", str(nosy), "--sandbox"]) == 1
    assert "Permission denied" in capfd.readouterr().out


def test_a_package_that_is_refused_is_not_run(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "slip.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("bot.py", BOT)
        archive.writestr("../../outside.py", "x = 1")
    assert main(["bot", "check", str(path), "--sandbox", "--tier", "rlimits"]) == 2
    assert "'../../outside.py' points outside the package" in capfd.readouterr().err
    assert main(["bot", "check", str(path), "--tier", "rlimits"]) == 2
    assert "--tier goes with --sandbox" in capfd.readouterr().err


def probes_of(tier: Tier, database: Path, capfd: pytest.CaptureFixture[str]) -> dict[str, bool]:
    """Return the doctor's answer for each probe; its exit code must agree."""
    words = ["doctor", "--database", f"sqlite:///{database}", "sandbox", "--tier", tier.value]
    code = main([*words, "--json"])
    (found,) = json.loads(capfd.readouterr().out)["tiers"]
    assert found["tier"] == tier.value
    holds = {probe["name"]: probe["holds"] for probe in found["probes"]}
    assert list(holds) == list(PROBES)
    assert all(probe["answer"] for probe in found["probes"]), found
    assert code == (0 if all(holds.values()) else 1)
    return holds


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """Readable by everybody, so that only the sandbox can deny it."""
    path = tmp_path / "plyhouse.db"
    path.write_bytes(b"SQLite format 3\0")
    path.chmod(0o644)
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(0o755)
    return path


@pytest.mark.parametrize("tier", [Tier.LANDLOCK, Tier.BUBBLEWRAP])
async def test_doctor_sandbox_on_a_sound_tier_says_that_all_probes_hold(
    tier: Tier, fork_server: ForkServerClient, database: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    await have(fork_server, tier)
    holds = await asyncio.to_thread(probes_of, tier, database, capfd)
    assert holds == dict.fromkeys(PROBES, True)


def test_doctor_sandbox_on_the_weakest_tier_says_which_probes_fail(
    database: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    holds = probes_of(Tier.RLIMITS, database, capfd)
    broken = {"files", "writing", "network", "others"}
    assert {name for name, held in holds.items() if not held} == broken
