"""Create the runner of a built package, for Python bots and for programs alike."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

from plyhouse.bots.client.channel import Connector
from plyhouse.bots.hosting.build import Built, build
from plyhouse.bots.hosting.program import ProgramRunner
from plyhouse.bots.loading import check_spec
from plyhouse.bots.local_packages import read_package
from plyhouse.bots.running.base_runner import Runner
from plyhouse.bots.running.run_options import RunOptions
from plyhouse.bots.running.runner import BotRunner
from plyhouse.bots.sandbox.box import Cores, Limits, Tier
from plyhouse.bots.sandbox.client import ForkServerClient
from plyhouse.bots.sandbox.launcher import SandboxLauncher
from plyhouse.protocol.hosting.package import Rules, SubmissionError

__all__ = ["MakeRunner", "boxed", "hosted_runner"]


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


MakeRunner = Callable[[str, Connector, str, RunOptions], Runner]
"""Makes what plays a bot: of its name, the way to the server, a token, and options."""


def boxed(
    bot: str,
    store: Path,
    fork_server: ForkServerClient,
    tier: Tier,
    rules: Rules | None = None,
    cores: Cores | None = None,
) -> tuple[str, MakeRunner]:
    """Return the bot and how to run it: packages in a tree in ``store``, named bots in place.

    Blocking, so not for an event loop.  Raises `SubmissionError` for a package that is refused, and
    for a command, which is no package.
    """
    path = Path(bot)
    if bot.startswith("cmd:"):
        raise SubmissionError(
            "missing", f"{bot} is no package: a sandbox needs a folder with plyhouse.toml"
        )
    if not path.exists():
        launcher = SandboxLauncher(fork_server, tier, cores=cores)

        def run_named(spec: str, connector: Connector, token: str, options: RunOptions) -> Runner:
            return BotRunner(
                spec, connector, token, dataclasses.replace(options, launcher=launcher)
            )

        return check_spec(bot), run_named
    built = build(read_package(path, rules), store)

    def run_built(_: str, connector: Connector, token: str, options: RunOptions) -> Runner:
        # As a server would run it: with nothing remembered from one match to the next.
        alike = dataclasses.replace(options, forgetful=True)
        return hosted_runner(
            built, connector, token, alike, fork_server=fork_server, tier=tier, cores=cores
        )

    return built.spec or " ".join(built.manifest.run), run_built
