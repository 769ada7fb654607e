"""One built package, ready to play: whoever hosts it need not know which language it is in."""

from __future__ import annotations

import dataclasses
from typing import Protocol

from plyhouse.bots.client.channel import Connector
from plyhouse.bots.hosting.build import Built
from plyhouse.bots.hosting.program import ProgramRunner
from plyhouse.bots.running.run_options import RunOptions
from plyhouse.bots.running.runner import BotRunner
from plyhouse.bots.running.summary import RunSummary
from plyhouse.bots.sandbox.box import Limits, Tier
from plyhouse.bots.sandbox.client import KeeperClient
from plyhouse.bots.sandbox.cores import Cores
from plyhouse.bots.sandbox.launcher import SandboxLauncher

__all__ = ["Runner", "hosted_runner"]


class Runner(Protocol):
    """One run of a bot on a server."""

    @property
    def games(self) -> tuple[str, ...]:
        """What it accepts; of a bot by our API known once it is loaded."""
        ...

    @property
    def matches(self) -> tuple[str, ...]:
        """Ids of the matches it is playing now."""
        ...

    async def run(self) -> RunSummary:
        """Play until there is no more to do."""
        ...

    def interrupt(self) -> None:
        """Let running matches finish, or leave."""

    def restart_processes(self) -> None:
        """Replace its processes in the middle of whatever is played."""


def hosted_runner(
    built: Built,
    connector: Connector,
    token: str,
    options: RunOptions,
    *,
    keeper: KeeperClient,
    tier: Tier,
    limits: Limits | None = None,
    cores: Cores | None = None,
    nice: int = 0,
) -> Runner:
    """A runner whose bot lives in boxes of ``keeper``; ``options.on_cost`` is told of every ply.

    All hosted bots of a machine should share one ``keeper`` and one ``cores``.  A bot keeps what it
    remembers for as long as its runner runs: for matches without memory, make a runner for each
    (``RunOptions(matches=1)``).
    """
    if built.manifest.run:
        return ProgramRunner(
            built, connector, token, options, keeper=keeper, tier=tier, limits=limits, cores=cores,
            nice=nice,
        )  # fmt: skip
    launcher = SandboxLauncher(
        keeper, tier, folder=built.folder, limits=limits, cores=cores, nice=nice
    )
    options = dataclasses.replace(options, launcher=launcher, digest=built.digest)
    return BotRunner(built.spec, connector, token, options)
