"""``plyhouse login`` and ``plyhouse logout``."""

from __future__ import annotations

import codecs
import sys

import click

from plyhouse.clients.shared.errors import EXIT_REFUSED, EXIT_USAGE, CommandError, unknown_token
from plyhouse.clients.shared.options import (
    DEFAULT_SERVER,
    default_server,
    server_option,
    token_option,
)
from plyhouse.clients.shared.output import note
from plyhouse.clients.shared.token_files import (
    DamagedLoginError,
    StoredLogin,
    login_path,
    remove_login,
    store_login,
    stored_login,
)
from plyhouse.protocol.text import decoded, trimmed_token

LONGEST_LINE = 4096
"""Bytes read of a line that should be a token."""


@click.command()
@server_option(default=None, login=False)
@token_option(stored=False)
def login(server: str | None, token: str | None) -> None:
    """Store the server and your token for later commands.

    Asks for the token, or reads it from a pipe: plyhouse login < token.txt. The server checks it.
    It replaces the stored login, whose server is the default, else http://127.0.0.1:8765.
    Server and token are then the default of --server and --token in every command; options and the
    variables PLYHOUSE_SERVER and PLYHOUSE_TOKEN win over them. Commands send the stored token to
    the stored server only.

    The file is readable by you only: login.json in ~/.config/plyhouse, or in the folder plyhouse of
    XDG_CONFIG_HOME. `plyhouse logout` removes it.
    """
    from plyhouse.clients.shared.http import ask
    from plyhouse.protocol.address import Address
    from plyhouse.protocol.api import calls
    from plyhouse.protocol.api.answers import ApiError

    address = Address.read(_stored_server() if server is None else server).base
    known = trimmed_token(token or _typed(address))
    if not known:
        raise CommandError(
            "There is no token: your organiser has one for you, or `plyhouse join CODE` makes one.",
            EXIT_USAGE,
        )
    try:
        person = ask(address, calls.session(), known)
    except ApiError as error:
        if error.code != "auth/bad_token":
            raise
        raise CommandError(unknown_token(address), EXIT_REFUSED) from error
    place = store_login(StoredLogin(address, known))
    note(f"Logged in to {address} as {person.player} ({', '.join(person.scopes)}).")
    note(f"Stored in {place}, readable by you only.")


def _stored_server() -> str:
    """Return the default server; a damaged login, which the new one replaces, names none."""
    try:
        return default_server()
    except DamagedLoginError:
        return DEFAULT_SERVER


def _typed(address: str) -> str:
    """Return the token from a prompt that does not show it, or from a pipe."""
    if sys.stdin.isatty():
        return str(click.prompt(f"Token for {address}", hide_input=True, err=True))
    line = sys.stdin.buffer.readline(LONGEST_LINE)
    try:  # a redirected command writes UTF-16 in some shells, whose line ends in two bytes
        split = line.startswith(codecs.BOM_UTF16_LE) and line.endswith(b"\n")
        return decoded(line + b"\0" if split else line)
    except ValueError as error:
        raise CommandError(f"The token cannot be read: {error}.", EXIT_USAGE) from None


@click.command()
def logout() -> None:
    """Forget the stored server and token.

    The token stays valid; revoke it if others may know it: plyhouse token revoke, or ask your
    organiser.
    """
    try:
        found = stored_login()
        where = f" from {found.server}" if found is not None else ""
    except CommandError:  # damaged, or readable by others: the more reason to remove it
        where = ""
    if remove_login():
        note(f"Logged out{where}: removed {login_path()}.")
    else:
        note("No login is stored.")
