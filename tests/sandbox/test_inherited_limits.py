"""A sandbox holds what it promises where the machine's own limits are finite."""

from __future__ import annotations

import asyncio
import json
import resource
import subprocess
import sys

import pytest
from tests.sandbox.conftest import have

from plyhouse.bots.sandbox.box import Tier
from plyhouse.bots.sandbox.client import KeeperClient
from plyhouse.bots.sandbox.promises import PROMISES

PROGRAM = "plyhouse.clients.cli.main"

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


def doctor_with_finite_limits(tier: Tier) -> subprocess.CompletedProcess[str]:
    def lower() -> None:
        for kind, limits in INHERITED.items():
            hard = resource.getrlimit(kind)[1]
            if hard == resource.RLIM_INFINITY or hard >= limits[1]:
                resource.setrlimit(kind, limits)

    return subprocess.run(
        [sys.executable, "-m", PROGRAM, "doctor", "sandbox", "--tier", tier.value, "--json"],
        preexec_fn=lower,
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.mark.parametrize("tier", [Tier.LANDLOCK, Tier.BUBBLEWRAP])
async def test_bot_cannot_raise_its_limits_to_finite_inherited_ones(
    keeper: KeeperClient, tier: Tier
) -> None:
    await have(keeper, tier)
    done = await asyncio.to_thread(doctor_with_finite_limits, tier)
    (found,) = json.loads(done.stdout)["tiers"]
    broken = [each for each in found["attempts"] if not each["refused"]]
    assert not broken, "\n".join(f"{each['name']}: {each['how']}" for each in broken)
    assert found["promises"] == dict.fromkeys(PROMISES, True)
    assert done.returncode == 0, done.stderr
