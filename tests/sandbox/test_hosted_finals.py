"""Whole finals of submitted bots, with a real server and a real runner.

`benchmarks/hosted_final.py` says what is played. Its bots are deterministic, and it fails if the
table is not the one that follows from the rules alone.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.harness.zygote import shared_zygote
from tests.sandbox.conftest import have

from plyhouse.bots.sandbox.box import Tier
from plyhouse.bots.sandbox.client import ForkServerClient
from plyhouse.bots.sandbox.tiers import why_not

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "hosted_final.py"


async def best_tier(fork_server: ForkServerClient) -> Tier:
    """Landlock, or what bounds resources at least."""
    if await why_not(fork_server, Tier.LANDLOCK):
        return await have(fork_server, Tier.RLIMITS)
    return Tier.LANDLOCK


def play(*options: str, python: str = "") -> str:
    python = python or f"{shared_zygote().folder}/python"
    done = subprocess.run(
        [python, SCRIPT, *options], capture_output=True, text=True, timeout=500, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


async def test_a_final_of_bots_that_were_handed_in_is_played_to_its_table(
    fork_server: ForkServerClient,
) -> None:
    tier = await best_tier(fork_server)
    # A check's findings depend on the time that a busy machine leaves it, except for a bot that
    # cannot be imported. That bot is the one that the runner checks before the final.
    options = ["--bots=4", "--checked=4", "--game=tic_tac_toe", "--kills=0", "--think=0.001"]
    bad = ["--bad"] if tier is Tier.LANDLOCK else []
    said = play(*options, *bad, f"--tier={tier.value}")
    if bad:
        assert "refused: FAILED  loads: " in said
        assert "PermissionError" in said
    assert "12 of 12 matches in" in said
    assert "what bots printed in 12 matches has come" in said
    assert "the table is as it has to be" in said


async def test_a_final_behind_namespaces_is_played_to_its_table(
    fork_server: ForkServerClient,
) -> None:
    tier = await have(fork_server, Tier.BUBBLEWRAP)
    options = ["--bots=3", "--checked=3", "--game=tic_tac_toe", "--kills=0", "--think=0.001"]
    said = play(*options, f"--tier={tier.value}")
    assert "6 of 6 matches in" in said
    assert "the table is as it has to be" in said


async def test_kills_of_server_runner_and_fork_server_keep_the_table(
    fork_server: ForkServerClient,
) -> None:
    tier = await best_tier(fork_server)
    said = play(
        "--bots=4", "--checked=4", "--kills=3", f"--tier={tier.value}", python=sys.executable
    )
    assert "killed: runner, server, fork_server" in said
    assert "what bots printed in 12 matches has come" in said
    assert "the table is as it has to be" in said
