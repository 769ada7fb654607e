"""Create the runner of a built package, for Python bots and for programs alike."""

from __future__ import annotations

import dataclasses

from plyhouse.bots.client.channel import Connector
from plyhouse.bots.hosting.build import Built
from plyhouse.bots.hosting.program import ProgramRunner
from plyhouse.bots.running.base_runner import Runner
from plyhouse.bots.running.run_options import RunOptions
from plyhouse.bots.running.runner import BotRunner
from plyhouse.bots.sandbox.box import Limits, Tier
from plyhouse.bots.sandbox.client import ForkServerClient
from plyhouse.bots.sandbox.cores import Cores
from plyhouse.bots.sandbox.launcher import SandboxLauncher

__all__ = ["hosted_runner"]


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
