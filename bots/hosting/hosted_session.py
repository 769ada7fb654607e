"""Create the session of a package or command, for Python bots and for programs alike."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Iterable
from pathlib import Path

from plyhouse.bots.client.channel import Connector
from plyhouse.bots.hosting.build import Built, build
from plyhouse.bots.hosting.program_session import ProgramSession
from plyhouse.bots.loading import check_spec
from plyhouse.bots.local_packages import (
    COMMAND,
    LOCAL_RULES,
    Command,
    Manifest,
    read_command,
    read_package,
)
from plyhouse.bots.process.launcher import BARE, Launcher
from plyhouse.bots.running.bot_session import BotSession
from plyhouse.bots.running.python_session import PythonSession
from plyhouse.bots.running.run_options import RunOptions
from plyhouse.bots.sandbox.box import Box, Cores, Tier
from plyhouse.bots.sandbox.client import ForkServerClient
from plyhouse.bots.sandbox.launcher import SandboxLauncher, boxed_command
from plyhouse.bots.sandbox.tiers import choose_tier
from plyhouse.games.registry import anywhere
from plyhouse.protocol.hosting.package import Rules

__all__ = ["MakeSession", "boxed", "hosted_session", "launched"]


def hosted_session(
    built: Built,
    connector: Connector,
    token: str,
    options: RunOptions,
    *,
    fork_server: ForkServerClient,
    tier: Tier,
    cores: Cores | None = None,
    nice: int = 0,
) -> BotSession:
    """Return a session with the bot in boxes; ``options.on_cost`` gets every ply.

    Hosted bots of a machine should share one ``fork_server`` and one ``cores``.  A bot remembers
    earlier matches as long as its session runs: to prevent that, make a session for each match
    (``RunOptions(matches=1)``).
    """
    cores = cores or Cores.of_this_machine()
    box = _box(built, tier, nice)
    if built.manifest.run:
        return ProgramSession(
            built, connector, token, options, fork_server=fork_server, box=box, cores=cores
        )
    launcher = SandboxLauncher(fork_server, box, cores)
    options = dataclasses.replace(options, launcher=launcher, digest=built.digest)
    return PythonSession(built.spec, connector, token, options)


MakeSession = Callable[[str, Connector, str, RunOptions], BotSession]
"""Makes what plays a bot: of its name, the way to the server, a token, and options."""


def boxed(
    bot: str,
    store: Path,
    fork_server: ForkServerClient,
    tier: Tier,
    rules: Rules = LOCAL_RULES,
    cores: Cores | None = None,
    games: Iterable[str] = (),
) -> tuple[str, MakeSession]:
    """Return the bot and how to run it: packages in a tree in ``store``, others in place.

    The bot may read the folders of ``games`` that are files.  Blocking, so not for an event loop.
    Raises `SubmissionError` for a package that is refused.
    """
    readable = _folders(games)
    built = _built(bot, store, rules, readable)
    if built is None:
        launcher = SandboxLauncher(fork_server, Box(tier=tier, readable=readable), cores)

        def run_named(
            spec: str, connector: Connector, token: str, options: RunOptions
        ) -> BotSession:
            return PythonSession(
                spec, connector, token, dataclasses.replace(options, launcher=launcher)
            )

        return check_spec(bot), run_named

    def run_built(_: str, connector: Connector, token: str, options: RunOptions) -> BotSession:
        # As a server would run it: with nothing remembered from one match to the next.
        alike = dataclasses.replace(options, forgetful=True)
        return hosted_session(
            built, connector, token, alike, fork_server=fork_server, tier=tier, cores=cores
        )

    return built.spec or " ".join(built.manifest.run), run_built


@contextlib.asynccontextmanager
async def launched(
    bot: str, *, sandbox: bool, games: Iterable[str] = ()
) -> AsyncIterator[tuple[str, Launcher]]:
    """Give the bot, and what starts its process: in a sandbox of this machine, or without.

    The bot of a program in another language is our own `CommandBot`, which runs outside, and starts
    the program in a box.  The bot may read the folders of ``games`` that are files.  Raises
    `SubmissionError` for a package that is refused, and `SandboxError` if there is no sandbox.
    """
    if not sandbox:
        yield check_spec(bot), BARE
        return
    readable = _folders(games)
    fork_server = await ForkServerClient.start()
    try:
        tier = await choose_tier(fork_server)
        with tempfile.TemporaryDirectory(prefix="plyhouse-bot-") as store:
            built = await asyncio.to_thread(_built, bot, Path(store), LOCAL_RULES, readable)
            if built is not None and not built.spec:
                yield _boxed_command(built, tier).spec, BARE
            else:
                box = _box(built, tier) if built else Box(tier=tier, readable=readable)
                yield built.spec if built else check_spec(bot), SandboxLauncher(fork_server, box)
    finally:
        await fork_server.close()


def _box(built: Built, tier: Tier, nice: int = 0) -> Box:
    """Return the box of a package or command."""
    return Box(
        tier=tier,
        folder=str(built.folder),
        command=built.manifest.run,
        readable=built.readable,
        nice=nice,
    )


def _boxed_command(built: Built, tier: Tier) -> Command:
    """Return a command that runs a program in a box."""
    program, *arguments = boxed_command(_box(built, tier))
    label = Path(built.manifest.run[0]).name
    return Command(program, tuple(arguments), plays=built.manifest.games, label=label)


def _built(bot: str, store: Path, rules: Rules, readable: tuple[str, ...]) -> Built | None:
    """Return a package, or a command in the current folder; None for a bot that has a name."""
    if not bot.startswith(COMMAND):
        path = Path(bot)
        if not path.exists():
            return None
        return dataclasses.replace(build(read_package(path, rules), store), readable=readable)
    command = read_command(bot)
    manifest = Manifest(run=(command.program, *command.arguments))
    named = [shutil.which(command.program) or command.program, *command.arguments]
    places = [os.path.abspath(each) for each in named if os.path.exists(each)]
    own = [each if os.path.isdir(each) else os.path.dirname(each) for each in places]
    return Built(Path.cwd(), "", manifest, readable=(*readable, *own))


def _folders(games: Iterable[str]) -> tuple[str, ...]:
    """Return the folders of the games that are files: a bot loads them, too."""
    places = [anywhere(spec).partition("(")[0] for spec in games]
    return tuple(dict.fromkeys(os.path.dirname(each) for each in places if os.sep in each))
