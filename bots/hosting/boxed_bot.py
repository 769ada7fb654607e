"""Bots of this machine in the sandbox of a server: submitted packages, or named bots."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

from plyhouse.bots.client.channel import Connector
from plyhouse.bots.hosting.build import build
from plyhouse.bots.hosting.hosted_runner import hosted_runner
from plyhouse.bots.loading import check_spec
from plyhouse.bots.package_files import read_package
from plyhouse.bots.running.base_runner import Runner
from plyhouse.bots.running.run_options import RunOptions
from plyhouse.bots.running.runner import BotRunner
from plyhouse.bots.sandbox.box import Tier
from plyhouse.bots.sandbox.client import ForkServerClient
from plyhouse.bots.sandbox.cores import Cores
from plyhouse.bots.sandbox.launcher import SandboxLauncher
from plyhouse.protocol.hosting.package import Rules, SubmissionError

__all__ = ["MakeRunner", "boxed"]

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
