"""``plyhouse serve``: run the server.

The options are made from the fields of `plyhouse.server.config.ServerConfig`, so that
none can be missing here.  An option wins over the environment, that over the file given
with ``--config``, and the file over the default.
"""

from __future__ import annotations

import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from plyhouse.server.config import ServerConfig, config_fields, load_config

__all__ = ["serve"]


def _config_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command one option per setting of the server, in their order."""
    kinds = typing.get_type_hints(ServerConfig)
    for field in reversed(config_fields()):
        spelling = field.name.replace("_", "-")
        kind = kinds[field.name]
        choices = field.metadata.get("choices")
        flags = f"--{spelling}/--no-{spelling}" if kind is bool else f"--{spelling}"
        command = click.option(
            flags,
            field.name,
            type=click.Choice(choices) if choices else kind,
            metavar=None if choices or kind is bool else _metavar(field.name, kind),
            default=field.default,
            show_default=True,
            envvar=f"PLYHOUSE_{field.name.upper()}",
            help=field.metadata["help"],
        )(command)
    return command


def _metavar(name: str, kind: type) -> str:
    if name == "database":
        return "URL"
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
@_config_options
@click.pass_context
def serve(ctx: click.Context, /, config_file: Path | None, **settings: Any) -> None:
    """Run a server for bots and spectators.

    Every option can also be set in the environment (--port as PLYHOUSE_PORT) or in the
    file given with --config. An option wins over the environment, the environment over
    the file, and the file over the default.

    Stop it with Ctrl-C: running matches are kept, and resume at the next start.
    """
    given = {
        name: value
        for name, value in settings.items()
        if ctx.get_parameter_source(name)
        in (ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT)
    }
    if config_file is None:
        config = ServerConfig.from_mapping(given)
    else:
        config = load_config(config_file, given)

    from plyhouse.server.serve import serve as run

    run(config)
