"""``plyhouse serve``: run the server.

The options are made from the fields of `plyhouse.server.config.ServerConfig`, so that
none can be missing here.  An option wins over the environment, that over the file given
with ``--config``, and the file over the default.
"""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import os
import re
import shlex
import sys
import typing
from collections.abc import AsyncIterator, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from plyhouse.server import logs
from plyhouse.server.config import ServerConfig, config_fields, read_settings
from plyhouse.server.worker import Worker, end_with_supervisor

if TYPE_CHECKING:
    from plyhouse.server.serve import RunningServer

log = logging.getLogger("plyhouse.server")


def _config_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command one option per setting of the server, in their order."""
    kinds = typing.get_type_hints(ServerConfig)
    for field in reversed(config_fields()):
        kind = kinds[field.name]
        if kind == (bool | None):  # what is not said is decided by other settings
            kind = bool
        choices = field.metadata.get("choices")
        former = field.metadata.get("former")
        names = [field.name, former] if former else [field.name]
        spellings = [each.replace("_", "-") for each in names]
        command = click.option(
            *(f"--{each}/--no-{each}" if kind is bool else f"--{each}" for each in spellings),
            field.name,
            type=click.Choice(choices) if choices else kind,
            metavar=None if choices or kind is bool else _metavar(field, kind),
            default=field.default,
            show_default=field.default is not None,
            envvar=[f"PLYHOUSE_{each.upper()}" for each in names],
            help=field.metadata["help"],
        )(command)
    return command


def _metavar(field: dataclasses.Field[Any], kind: type) -> str:
    name = field.name
    if name == "database":
        return "URL"
    if "unit" in field.metadata:
        return str(field.metadata["unit"])
    return {int: "N", float: "SECONDS" if "second" not in name else "N", str: "TEXT"}[kind]


@click.command()
@click.option(
    "--config",
    "config_file",
    type=click.Path(path_type=Path, dir_okay=False),
    envvar="PLYHOUSE_CONFIG",
    show_envvar=True,
    help="TOML file with settings: the option names with _ for -, as in max_queue = 500.",
)
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    envvar="PLYHOUSE_WORKERS",
    help="Servers on this machine that share the port; needs PostgreSQL.",
)
@_config_options
@click.pass_context
def serve(ctx: click.Context, /, config_file: Path | None, workers: int, **settings: Any) -> None:
    """Run a server for bots and spectators.

    Every option can also be set in the environment (--port as PLYHOUSE_PORT) or in the
    file given with --config. An option wins over the environment, the environment over
    the file, and the file over the default.

    Stop it with Ctrl-C: running matches are kept, and resume at the next start.
    """
    origins = {
        name: f"--{name.replace('_', '-')}"
        if source is ParameterSource.COMMANDLINE
        else f"PLYHOUSE_{name.upper()}"
        for name in settings
        if (source := ctx.get_parameter_source(name))
        in (ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT)
    }
    given = {name: settings[name] for name in origins}
    in_file = {} if config_file is None else read_settings(config_file)
    config = ServerConfig.from_mapping({**in_file, **given}, str(config_file or "settings"))

    worker = Worker.take()
    origins = {**dict.fromkeys(in_file, str(config_file)), **origins}
    if worker is None and workers > 1:
        sys.exit(_supervise(config, workers, partial(_log_origins, config, origins, in_file)))
    if worker is not None:
        end_with_supervisor()
        config = dataclasses.replace(config, port=worker.port, cluster=worker.cluster)

    # Fits of ratings are small matrices, for which OpenBLAS's threads gain nothing.  They would
    # spin on all cores, which the clocks here and bots on the same machine need. numpy reads this
    # when it is loaded, which is below.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

    first = worker is None or worker.number == 1
    from plyhouse.clients.builtin_bots.launcher import StartedBots
    from plyhouse.clients.runner.local import local_runner
    from plyhouse.server.serve import serve as run

    @contextlib.asynccontextmanager
    async def beside(server: RunningServer) -> AsyncIterator[None]:
        if worker is None:  # else the supervisor has done it
            _log_origins(config, origins, in_file)
        if config.has_local_runner and first:
            async with local_runner(server):
                yield
        else:
            yield

    run(
        _with_programs(config),
        beside=beside,
        builtin_bots=StartedBots if config.has_builtin_bots else None,
        worker=worker,
    )


def _log_origins(
    config: ServerConfig, origins: Mapping[str, str], in_file: Mapping[str, Any]
) -> None:
    """Log which database is used and where each setting came from, without passwords.

    in_file: the settings in the file, of which an option or a variable may replace some
    """
    from plyhouse.storage.urls import parse_url

    shown = {name: _without_password(getattr(config, name)) for name in origins}
    for name, value in in_file.items():
        if getattr(config, name) != value:
            log.warning(
                "%s replaces %s = %r of the file by %r",
                origins[name],
                name,
                _without_password(value),
                shown[name],
            )
    target = parse_url(config.database)
    place = target.place if target.path is None else f"the database {target.path.absolute()}"
    log.info("%s is used (%s)", place, origins.get("database", "default"))
    extra = {name: f"{value} ({origins[name]})" for name, value in shown.items()}
    log.info("settings: %s", ", ".join(extra) or "all by default", extra=extra)


def _without_password(value: Any) -> Any:
    """Return a setting as it may be shown: addresses without user and password."""
    return re.sub(r"(?<=//)[^/\s,]*@", "***@", value) if isinstance(value, str) else value


def _supervise(config: ServerConfig, workers: int, log_origins: Callable[[], None]) -> int:
    """Run several servers with the options of this command; return the exit code."""
    from plyhouse.server.serve import DatabaseUnusable
    from plyhouse.server.supervisor import serve_workers
    from plyhouse.storage.urls import parse_url

    if parse_url(config.database).kind == "sqlite":  # each worker would find that out again
        raise DatabaseUnusable(
            f"--workers {workers} needs PostgreSQL; give --database a PostgreSQL URL, or leave "
            "out --workers"
        )
    logs.set_up(config.log_level, config.log_format)
    log_origins()
    command = [sys.executable, "-P", "-m", "plyhouse.clients.cli.main", *sys.argv[1:]]
    return serve_workers(command, workers, config.host, config.port, config.cluster)


def _with_programs(config: ServerConfig) -> ServerConfig:
    """The settings with the programs that review matches and draw trees: the server itself knows
    no search.
    """
    chosen: dict[str, Any] = {}
    if config.reviews and not config.review_command:
        chosen["review_command"] = _own_command(config, "review", "-")
    if config.trees and not config.tree_command:
        chosen["tree_command"] = _own_command(config, "explain", "--record=-")
    return dataclasses.replace(config, **chosen)


def _own_command(config: ServerConfig, *words: str) -> str:
    """A command of ours that answers in JSON, as one text."""
    command = [sys.executable, "-P", "-m", "plyhouse.clients.cli.main", *words, "--json"]
    if config.game_files:
        command += ["--game-files", config.game_files]
    return shlex.join(command)
