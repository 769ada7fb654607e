"""``plyhouse student erase`` and ``export-data``."""

from __future__ import annotations

import json
from pathlib import Path

import click

from plyhouse.clients.cli.administration import why_option
from plyhouse.clients.shared.competition_requests import confirm, request
from plyhouse.clients.shared.options import server_option, token_option
from plyhouse.clients.shared.output import counted, note
from plyhouse.clients.shared.secret_files import secret_writer

__all__ = ["erase", "export_data"]


@click.command()
@click.argument("account")
@click.option("--yes", is_flag=True, help="Do not ask.")
@server_option()
@token_option()
@why_option(required=False)
def erase(account: str, yes: bool, server: str, token: str | None, why: str) -> None:
    """Erase a student for ever.

    ACCOUNT is a student or a group; it is erased in all competitions.

    A pseudonym stands for the account, its members and its bots from then on. Tokens, packages,
    requests and what its bots printed are deleted. Results stay. docs/privacy.md says what cannot
    be erased.
    """
    from plyhouse.protocol.api import calls

    confirm(f"Erase {account} on {server} for ever?", yes=yes)
    made = request(server, token, calls.erase_player(account, why=why))
    gone = ", ".join(made.competitions)
    note(
        f"{account} is called {made.pseudonym} now, and keeps "
        f"{counted(made.matches, 'match', 'matches')}." + (f" It left {gone}." if gone else "")
    )


@click.command("export-data")
@click.argument("account")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write a file that only you can read.  [default: standard output]",
)
@server_option()
@token_option()
def export_data(account: str, output: Path | None, server: str, token: str | None) -> None:
    """Export everything that is stored about ACCOUNT, as JSON.

    Students export their own data with their own token.
    """
    from plyhouse.protocol.api import calls

    found = request(server, token, calls.stored_data(account))
    with secret_writer(output) as write:
        write(json.dumps(found, indent=2, ensure_ascii=False) + "\n")
