"""Create the runner of a built package, for Python bots and for programs alike."""

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
from plyhouse.bots.sandbox.client import ForkServerClient
from plyhouse.bots.sandbox.cores import Cores
from plyhouse.bots.sandbox.launcher import SandboxLauncher

__all__ = ["Runner", "hosted_runner"]


class Runner(Protocol):
    """One run of a bot on a server."""

    @property
    def games(self) -> tuple[str, ...]:
        """The accepted games; for a Python bot, known once it is loaded."""
        ...

    @property
    def matches(self) -> tuple[str, ...]:
        """Ids of the current matches."""
        ...

    async def run(self) -> RunSummary:
        """Play until the run ends."""
        ...

    def interrupt(self) -> None:
        """Let running matches finish, or leave."""

    def restart_processes(self) -> None:
        """Replace its processes, also during matches."""


def hosted_runner(
    built: Built,
    connector: Connector,
    token: str,
    options: RunOptions,
    *,
    fork_server: ForkServerClient,
    tier: Tier,
    limits: Limits | None = None,
    cores: Cores | None = None,
    nice: int = 0,
) -> Runner:
    """Return a runner with the bot in boxes of the fork server; ``options.on_cost`` gets every ply.

    Hosted bots of a machine should share one ``fork_server`` and one ``cores``.  A bot remembers
    earlier matches as long as its runner runs: to prevent that, make a runner for each match
    (``RunOptions(matches=1)``).
    """
    if built.manifest.run:
        return ProgramRunner(
            built,
            connector,
            token,
            options,
            fork_server=fork_server,
            tier=tier,
            limits=limits,
            cores=cores,
            nice=nice,
        )
    launcher = SandboxLauncher(
        fork_server, tier, folder=built.folder, limits=limits, cores=cores, nice=nice
    )
    options = dataclasses.replace(options, launcher=launcher, digest=built.digest)
    return BotRunner(built.spec, connector, token, options)
