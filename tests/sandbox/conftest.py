"""A fork server, the tiers that this machine has, and submissions as folders."""

from __future__ import annotations

import asyncio
import os
import textwrap
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from tests.harness.patience import PATIENCE
from tests.harness.zygote import shared_zygote

from plyhouse.bots.sandbox.box import Tier
from plyhouse.bots.sandbox.client import ForkServerClient
from plyhouse.bots.sandbox.tiers import why_not

REQUIRED = os.environ.get("PLYHOUSE_REQUIRE_SANDBOX", "") not in ("", "0")
"""True if a missing tier is a failure; every other reason to skip is an error anyway."""


@pytest.fixture(autouse=True)
def warm_fork_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fork the fork servers from one that has imported everything.

    Modules whose subject is isolation, or the process itself, have a fixture of this name that does
    nothing.
    """
    monkeypatch.setattr(ForkServerClient, "interpreter", str(shared_zygote().folder / "python"))


@pytest.fixture
async def fork_server() -> AsyncIterator[ForkServerClient]:
    fork_server = await ForkServerClient.start()
    yield fork_server
    await fork_server.close()


async def have(fork_server: ForkServerClient, tier: Tier) -> Tier:
    """Skip the test if this machine lacks ``tier``, or fail it if it must not."""
    problem = await why_not(fork_server, tier)
    if problem and REQUIRED:
        pytest.fail(f"{tier.value} is required here: {problem}")
    if problem:
        pytest.skip(f"{tier.value} does not work here: {problem}")
    return tier


async def all_ended(fork_server: ForkServerClient) -> None:
    """Wait until the fork server has reported the end of each box."""
    async with asyncio.timeout(PATIENCE):
        while fork_server.boxes:  # noqa: ASYNC110 - it reports from another process
            await asyncio.sleep(0.02)


Submission = Callable[..., Path]


@pytest.fixture
def submission(tmp_path: Path) -> Submission:
    """Writes a folder of files, each dedented."""

    def write(name: str = "mine", **files: str) -> Path:
        folder = tmp_path / name
        folder.mkdir()
        for each, text in files.items():
            suffix = ".toml" if each == "plyhouse" else ".txt" if each == "requirements" else ".py"
            (folder / f"{each}{suffix}").write_text(textwrap.dedent(text), "utf-8")
        return folder

    return write
