"""Options that several commands share, so that they are spelt and explained once."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any, Final, TypeVar

import click

__all__ = [
    "COMPETITION",
    "competition_argument",
    "competition_option",
    "database_option",
    "game_option",
    "json_option",
    "server_option",
    "time_control_option",
    "token_option",
]

F = TypeVar("F", bound=Callable[..., Any])

DEFAULT_DATABASE: Final = "sqlite:///plyhouse.db"
DEFAULT_SERVER: Final = "http://127.0.0.1:8765"
COMPETITION: Final = "PLYHOUSE_COMPETITION"
"""The variable that names the competition where a command is not given one."""


def database_option(default: str | None = DEFAULT_DATABASE) -> Callable[[F], F]:
    """``--database URL``: SQLite file or PostgreSQL; None as default makes it optional."""
    return click.option(
        "--database",
        metavar="URL",
        envvar="PLYHOUSE_DATABASE",
        show_envvar=True,
        default=default,
        show_default=default is not None,
        help="Database: sqlite:///file.db or postgresql://user@host/name.",
    )


def server_option(default: str | None = DEFAULT_SERVER) -> Callable[[F], F]:
    """``--server URL`` of a running server; None as default makes it optional."""
    return click.option(
        "--server",
        metavar="URL",
        envvar="PLYHOUSE_SERVER",
        show_envvar=True,
        default=default,
        show_default=default is not None,
        help="Address of the server, such as http://127.0.0.1:8765.",
    )


def token_option() -> Callable[[F], F]:
    """``--token T``; the environment is the better place, as others can see command lines."""
    return click.option(
        "--token",
        metavar="TOKEN",
        envvar="PLYHOUSE_TOKEN",
        show_envvar=True,
        help="Token of the player, from `plyhouse player add`.",
    )


def competition_option() -> Callable[[F], F]:
    """``--competition NAME``, or `COMPETITION` from the environment; one of them is required."""
    return click.option(
        "--competition",
        required=True,
        metavar="NAME",
        envvar=COMPETITION,
        show_envvar=True,
        help="The competition.",
    )


def competition_argument(
    other: str = "", metavar: str = "", *, shown: str = "NAME"
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Take a competition as the argument ``name``, by default from `COMPETITION`.

    ``other`` is a required argument after it, shown as ``metavar``.  A single value is that
    argument, and the environment then names the competition.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def run(**values: Any) -> Any:
            if other and values[other] is None:
                values[other], values["name"] = values["name"], None
                if values[other] is None:
                    raise click.UsageError(f"Missing argument '{metavar}'.")
            values["name"] = values["name"] or os.environ.get(COMPETITION)
            if not values["name"]:
                raise click.UsageError(
                    f"Missing argument '{shown}': give the name of a competition, or set "
                    f"{COMPETITION}."
                )
            return command(**values)

        arguments = [("name", shown), *([(other, metavar)] if other else [])]
        for name, text in reversed(arguments):
            run = click.argument(name, metavar=f"[{text}]" if name == "name" else text,
                                 required=False)(run)  # fmt: skip
        return run

    return decorate


def game_option(multiple: bool = False, required: bool = True) -> Callable[[F], F]:
    """``--game SPEC``: a name, with parameters, or a file: ``pig(target=50)``, ``my.py:MyGame``."""
    return click.option(
        "--game",
        "games" if multiple else "game",
        metavar="SPEC",
        required=required,
        multiple=multiple,
        help="Game, also with parameters: connect_four, 'pig(target=50)', mygame.py:MyGame."
        + (" May be given several times." if multiple else ""),
    )


def time_control_option(default: str) -> Callable[[F], F]:
    """``--time-control TC`` in the notation of docs/time-controls.md."""
    return click.option(
        "--time-control",
        metavar="TC",
        default=default,
        show_default=True,
        help="Seconds: move:1, total:60+0.5, byoyomi:60+5x10 or bank:1+30.",
    )


def json_option() -> Callable[[F], F]:
    """``--json``: the result as one JSON document instead of a table."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON for scripts.")
