"""More than a hundred attempts to break out, on every tier that this machine has."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.sandbox.conftest import have
from tests.sandbox.escapes import PROMISES, Result, kept, try_promises

from plyhouse.bots.sandbox import kernel
from plyhouse.bots.sandbox.box import Tier
from plyhouse.bots.sandbox.client import ForkServerClient

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def warm_fork_servers() -> None:
    """Nothing: isolation is the subject, so every fork server has its own interpreter."""


HELD_BY_LIMITS_ALONE = {"open files", "environment", "output", "time", "end"}
"""The promises of the weakest tier."""


def told(results: list[Result]) -> str:
    return "\n".join(
        f"{'refused' if each.refused else 'WORKED '} {each.promise}: {each.name}: {each.how}"
        for each in results
    )


@pytest.mark.parametrize("tier", [Tier.LANDLOCK, Tier.BUBBLEWRAP])
async def test_every_attempt_is_refused_and_named(
    fork_server: ForkServerClient, tier: Tier
) -> None:
    results = await try_promises(fork_server, await have(fork_server, tier))
    assert len(results) > 100
    assert len({result.name for result in results}) == len(results)
    assert all(result.how for result in results)
    broken = [result for result in results if not result.refused]
    assert not broken, told(broken)
    assert kept(results) == dict.fromkeys(PROMISES, True)


async def test_limits_alone_hold_what_they_say_and_no_more_is_claimed(
    fork_server: ForkServerClient,
) -> None:
    results = await try_promises(fork_server, await have(fork_server, Tier.RLIMITS))
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


def escapes_as(prepare: Callable[[], None], tier: Tier) -> list[Result]:
    """Try everything from a process that calls ``prepare`` first."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.sandbox.escapes", tier.value],
        preexec_fn=prepare,
        cwd="/",
        env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return [Result(**each) for each in json.loads(done.stdout)]


@pytest.mark.skipif(os.geteuid() != 0, reason="the other tests are run by an ordinary user already")
async def test_an_ordinary_user_can_keep_bots_as_safely_as_root(
    fork_server: ForkServerClient,
) -> None:
    await have(fork_server, Tier.LANDLOCK)
    results = await asyncio.to_thread(escapes_as, as_an_ordinary_user, Tier.LANDLOCK)
    assert kept(results) == dict.fromkeys(PROMISES, True), told(results)


INHERITED = {
    resource.RLIMIT_NOFILE: (1024, 20_000),
    resource.RLIMIT_NPROC: (90_000, 96_365),
    resource.RLIMIT_CPU: (50_000, 60_000),
    resource.RLIMIT_DATA: (64 << 30, 65 << 30),
    resource.RLIMIT_AS: (64 << 30, 65 << 30),
    resource.RLIMIT_STACK: (8 << 20, 1 << 30),
    resource.RLIMIT_FSIZE: (1 << 30, 2 << 30),
    resource.RLIMIT_CORE: (0, 1 << 30),
    resource.RLIMIT_MEMLOCK: (0, 8 << 20),
    resource.RLIMIT_SIGPENDING: (1000, 96_365),
}
"""Soft and hard limits as a service manager sets them: finite, and far above those of a box."""


def with_finite_limits() -> None:
    for kind, limits in INHERITED.items():
        hard = resource.getrlimit(kind)[1]
        if hard == resource.RLIM_INFINITY or hard >= limits[1]:
            resource.setrlimit(kind, limits)


@pytest.mark.parametrize("tier", [Tier.LANDLOCK, Tier.BUBBLEWRAP])
async def test_bot_cannot_raise_its_limits_to_finite_inherited_ones(
    fork_server: ForkServerClient, tier: Tier
) -> None:
    await have(fork_server, tier)
    results = await asyncio.to_thread(escapes_as, with_finite_limits, tier)
    assert kept(results) == dict.fromkeys(PROMISES, True), told(results)
