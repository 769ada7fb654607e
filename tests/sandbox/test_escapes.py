"""More than a hundred attempts to break out, on every tier that this machine has."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.sandbox.conftest import have

from plyhouse.bots.sandbox import kernel
from plyhouse.bots.sandbox.box import Tier
from plyhouse.bots.sandbox.client import KeeperClient
from plyhouse.bots.sandbox.promises import PROMISES, Result, kept, try_promises

HELD_BY_LIMITS_ALONE = {"open files", "environment", "output", "time", "end"}
"""What the weakest tier promises all the same."""


def told(results: list[Result]) -> str:
    return "\n".join(
        f"{'refused' if each.refused else 'WORKED '} {each.promise}: {each.name}: {each.how}"
        for each in results
    )


@pytest.mark.parametrize("tier", [Tier.LANDLOCK, Tier.BUBBLEWRAP])
async def test_every_attempt_is_refused_and_named(keeper: KeeperClient, tier: Tier) -> None:
    results = await try_promises(keeper, await have(keeper, tier))
    assert len(results) > 100
    assert len({result.name for result in results}) == len(results)
    assert all(result.how for result in results)
    broken = [result for result in results if not result.refused]
    assert not broken, told(broken)
    assert kept(results) == dict.fromkeys(PROMISES, True)


async def test_limits_alone_hold_what_they_say_and_no_more_is_claimed(
    keeper: KeeperClient,
) -> None:
    results = await try_promises(keeper, await have(keeper, Tier.RLIMITS))
    holds = {promise for promise, held in kept(results).items() if held}
    assert holds >= HELD_BY_LIMITS_ALONE, told(results)
    # The suite must be able to fail: on this tier the network is open, and it has to say so.
    assert "network" not in holds
    assert any(result.name.startswith("fork") and not result.refused for result in results)


def as_an_ordinary_user() -> None:
    """In a child of root: leave root, keeping what it takes to read an interpreter in its home."""
    kernel.keep_capabilities()
    os.setgroups([])
    os.setresgid(54321, 54321, 54321)
    os.setresuid(54321, 54321, 54321)
    kernel.keep_only(kernel.CAP_DAC_READ_SEARCH)


def doctor_of_an_ordinary_user() -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).parent / "plyhouse"
    return subprocess.run(
        [program, "doctor", "sandbox", "--tier", "landlock"],
        preexec_fn=as_an_ordinary_user,
        cwd="/",
        env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8"},
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.skipif(os.geteuid() != 0, reason="the other tests are run by an ordinary user already")
async def test_an_ordinary_user_can_keep_bots_as_safely_as_root(keeper: KeeperClient) -> None:
    await have(keeper, Tier.LANDLOCK)
    done = await asyncio.to_thread(doctor_of_an_ordinary_user)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(PROMISES)} of {len(PROMISES)} promises hold" in done.stdout
    assert "the keeper is not root" in done.stdout
