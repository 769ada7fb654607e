"""Options that several commands share, so that they are spelt and explained once.

Here is also what commands do with them: ask the server, read a file, confirm.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from plyhouse.clients.shared.errors import EXIT_REFUSED, EXIT_USAGE, CommandError
from plyhouse.protocol.text import decoded, trimmed_token

if TYPE_CHECKING:
    from plyhouse.protocol.api.routes import Call

T = TypeVar("T")
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


def server_option(
    default: str | None = DEFAULT_SERVER, *, login: bool = True
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """``--server URL`` of a running server; None as default makes it optional.

    With ``login``, the server that `plyhouse login` stored comes before the default.  Its token,
    too, where the command takes one and asks that server.
    """
    shown = f"  [default: that of `plyhouse login`{f', else {default}' if default else ''}]"

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def run(**values: Any) -> Any:
            if login:
                _fill_in_login(values)
            return command(**values)

        return click.option(
            "--server",
            metavar="URL",
            envvar="PLYHOUSE_SERVER",
            show_envvar=True,
            default=default,
            help="Address of the server, such as https://example.org." + (shown if login else ""),
        )(run)

    return decorate


def names_server() -> bool:
    """Return whether the command line or the environment names the server of this command."""
    source = click.get_current_context().get_parameter_source("server")
    return source is not click.core.ParameterSource.DEFAULT


def _fill_in_login(values: dict[str, Any]) -> None:
    """Put the stored server and token where the user gave none."""
    chosen = names_server()
    if chosen and (values.get("token") or "token" not in values):
        return
    from plyhouse.clients.shared.token_files import stored_login

    stored = stored_login()
    if stored is None:
        return
    if not chosen:
        values["server"] = stored.server
    if "token" in values:
        values["token"] = token_for(values["server"], values["token"])


def default_server() -> str:
    """Return the server of a command that is given none."""
    from plyhouse.clients.shared.token_files import stored_login

    if named := os.environ.get("PLYHOUSE_SERVER"):
        return named
    stored = stored_login()
    return DEFAULT_SERVER if stored is None else stored.server


def token_for(server: str, token: str | None) -> str | None:
    """Return the token to send to a server: the given one, else the one stored for this server."""
    from plyhouse.clients.shared.token_files import stored_login
    from plyhouse.protocol.address import Address

    if token:
        return token
    stored = stored_login()
    if stored is None or Address.read(stored.server).base != Address.read(server).base:
        return None
    return stored.token


def required_token(server: str, token: str | None, source: str = "") -> str:
    """Return the token; raise `CommandError` without one, which `source` says where to get."""
    from plyhouse.clients.shared.token_files import stored_login
    from plyhouse.protocol.address import Address

    if found := token_for(server, token):
        return found
    stored = stored_login()
    if stored is None:
        message = "There is no token: run `plyhouse login`, or set PLYHOUSE_TOKEN."
    else:
        address = Address.read(server).base
        message = (
            f"There is no token for {address}: the stored login is for {stored.server}. Run "
            f"`plyhouse login --server {address}` to replace it, or set PLYHOUSE_TOKEN."
        )
    raise CommandError(f"{message} {source}".rstrip(), EXIT_REFUSED)


def token_option(*, stored: bool = True) -> Callable[[F], F]:
    """``--token T``; the environment is the better place, as others can see command lines.

    ``stored`` says in the help that the token of `plyhouse login` is the default.
    """
    return click.option(
        "--token",
        metavar="TOKEN",
        envvar="PLYHOUSE_TOKEN",
        show_envvar=True,
        callback=lambda _context, _parameter, text: text and trimmed_token(text),
        help="Your token on the server." + "  [default: that of `plyhouse login`]" * stored,
    )


class Server:
    """The server that a command asks, and the user's token there; see `on_server`."""

    def __init__(self, address: str, token: str | None = None) -> None:
        self.address = address
        self.token = token

    def __str__(self) -> str:
        return self.address

    def ask(self, call: Call[T]) -> T:
        """Make a call, with the token if there is one; raises `ApiError` and `Unreachable`."""
        from plyhouse.clients.shared.http import ask

        return ask(self.address, call, self.token)

    def request(self, call: Call[T]) -> T:
        """Make a call that needs an organiser's token; raise `CommandError` without a token."""
        self.need_token(
            "`plyhouse admin player add NAME --scope play --scope organise` makes one for an "
            "organiser."
        )
        return self.ask(call)

    def need_token(self, source: str = "") -> str:
        """Return the token; raise `CommandError` without one, which `source` says where to get."""
        return required_token(self.address, self.token, source)


def on_server(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--server`` and ``--token``, which the command gets as one `Server`."""

    @functools.wraps(command)
    def run(server: str, token: str | None, **values: Any) -> Any:
        return command(server=Server(server, token), **values)

    return server_option()(token_option()(run))


def competition_option() -> Callable[[F], F]:
    """``--competition NAME``, or `COMPETITION` from the environment; one of them is required."""
    return click.option(
        "--competition",
        required=True,
        metavar="NAME",
        envvar=COMPETITION,
        show_envvar=True,
        help="The competition.",
        callback=lambda _context, _parameter, name: _competition(name),
    )


def _competition(name: str) -> str:
    """Return the name of a competition; refuse what begins as no name does, such as ``..``."""
    if not name[:1].isalnum():
        raise click.UsageError(f"'{name}' names no competition: see plyhouse competition list.")
    return name


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
            if "FILE" not in shown:
                values["name"] = _competition(values["name"])
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


def time_control_option(default: str = "move:1") -> Callable[[F], F]:
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


def number_option(
    name: str, default: float, text: str, least: float = 1, most: float | None = None
) -> Callable[[F], F]:
    """Return an option for a number between two bounds; a whole number if the default is one."""
    bounds = (
        click.FloatRange(least, most)
        if isinstance(default, float)
        else click.IntRange(int(least), None if most is None else int(most))
    )
    return click.option(name, default=default, show_default=True, type=bounds, help=text)


def output_option(default: str, what: str) -> Callable[[F], F]:
    """``--output FILE`` for what a command makes, such as "the network"."""
    return click.option(
        "-o",
        "--output",
        type=click.Path(path_type=Path, dir_okay=False),
        default=Path(default),
        show_default=True,
        help=f"File to write {what} to.",
    )


def match_of_file_option() -> Callable[[F], F]:
    """``--match MATCH``: which match of a file of records."""
    return click.option(
        "--match",
        "which",
        metavar="MATCH",
        help="Which match of a FILE: its number, from 1, or its id.  [default: the first]",
    )


def why_text(why: str) -> str:
    """Return the reason to send; a default if the user gave none."""
    return why or "by the command line"


def read_text(file: Path) -> str:
    """Return the text of a file, see `decoded`; raise `CommandError` for another encoding."""
    try:
        return decoded(file.read_bytes())
    except ValueError as error:
        raise CommandError(f"{file} cannot be read: {error}.", EXIT_USAGE) from error


def confirm(question: str, *, yes: bool) -> None:
    """Ask the user to confirm an irreversible action, unless ``yes`` is set.

    Raises `CommandError` if there is no terminal, and `click.Abort` if the user declines.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        raise CommandError(
            f"{question} Nobody can answer here, so nothing was done: give --yes.", EXIT_USAGE
        )
    click.confirm(question, abort=True, err=True)
