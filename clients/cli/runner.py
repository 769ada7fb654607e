"""``plyhouse runner``: a machine that runs bots for their authors."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
from pathlib import Path

import click

from plyhouse.clients.shared.errors import EXIT_OK
from plyhouse.clients.shared.options import number_option, server_option
from plyhouse.protocol.text import trimmed_token


@click.command()
@server_option(login=False)
@click.option(
    "--token",
    required=True,
    envvar="PLYHOUSE_TOKEN",
    show_envvar=True,
    callback=lambda _context, _parameter, text: trimmed_token(text),
    help="A token with the scope runner: plyhouse token create NAME --scope runner.",
)
@click.option("--name", default="", help="Name of the machine; by default its host name.")
@click.option(
    "--cores",
    type=click.IntRange(1, 1024),
    help="Processors given to bots; by default all, of three and more all but one.",
)
@number_option(
    "--bots",
    64,
    "How many bots there is room for in memory; each needs about 16 MiB while it waits.",
    1,
    1024,
)
@click.option(
    "--tier",
    type=click.Choice(["landlock", "bubblewrap", "rlimits"]),
    help="Take this sandbox; else the first that works of landlock and bubblewrap.",
)
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where packages and the bots' logs are kept; by default in the user's cache folder.",
)
@click.option(
    "--keep",
    type=click.IntRange(1),
    default=2048,
    show_default=True,
    metavar="MIB",
    help="How much of packages is kept there; what was not used for longest goes first.",
)
@number_option(
    "--nice",
    10,
    "Niceness of bots that play finals; 0 on a machine that also does other work.",
    0,
    19,
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
@click.option("--while-stdin", is_flag=True, hidden=True, help="End when standard input does.")
def runner(
    server: str,
    token: str,
    name: str,
    cores: int | None,
    bots: int,
    tier: str | None,
    folder: Path | None,
    keep: int,
    nice: int,
    as_json: bool,
    while_stdin: bool,
) -> int:
    """Run submitted bots on this machine.

    It asks the server what to check and what to host, and runs it in a sandbox (see `plyhouse
    doctor sandbox`), until you stop it. Several machines share the work; if one ends, its
    bots go to the others. It can be started before the server, and survives its restart.
    """
    from plyhouse.bots.sandbox.box import Cores, tier_named
    from plyhouse.clients.runner.machine import Machine, Setup
    from plyhouse.clients.runner.packages import runner_log
    from plyhouse.clients.shared.output import harmless
    from plyhouse.protocol.hosting.runner_messages import machine_name

    called = name or machine_name(socket.gethostname())
    kept_in = (folder or _cache_folder()).resolve()
    log = runner_log(kept_in, called)

    def say(line: str) -> None:
        # Much of it is what bots of others print.
        log.info(harmless(line))
        click.echo(json.dumps({"said": line}) if as_json else harmless(line))
        sys.stdout.flush()

    setup = Setup(
        server=server,
        token=token,
        name=called,
        cores=cores or max(1, len(Cores.of_this_machine())),
        bots=bots,
        folder=kept_in,
        keep=keep << 20,
        nice=nice,
        tier=tier_named(tier) if tier else None,
        say=say,
    )

    async def run() -> None:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop.set)
        if while_stdin:
            reader = asyncio.StreamReader()
            protocol = asyncio.StreamReaderProtocol(reader)
            await loop.connect_read_pipe(lambda: protocol, sys.stdin)
            parent = asyncio.create_task(reader.read())
            parent.add_done_callback(lambda _: stop.set())
        await Machine(setup).run(stop)

    asyncio.run(run())
    return EXIT_OK


def _cache_folder() -> Path:
    home = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(home) if home else Path.home() / ".cache") / "plyhouse" / "runner"
