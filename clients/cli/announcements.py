"""``plyhouse competition announce`` and ``announcements``."""

from __future__ import annotations

import click

from plyhouse.clients.cli.administration import minute
from plyhouse.clients.shared.competition_requests import request
from plyhouse.clients.shared.options import (
    competition_argument,
    json_option,
    server_option,
    token_option,
)
from plyhouse.clients.shared.output import harmless, note, print_json
from plyhouse.protocol.api import competition_calls

__all__ = ["announce", "announcements"]


@click.command()
@competition_argument("text", "TEXT")
@server_option()
@token_option()
def announce(name: str, text: str, server: str, token: str | None) -> None:
    """Publish an announcement on the competition's page.

    Everybody who may see the board reads it there and with `competition announcements`.
    """
    made = request(server, token, competition_calls.announce(name, text))
    note(f"Published announcement {made.id}.")


@click.command()
@competition_argument()
@click.option("--remove", type=int, metavar="NUMBER", help="Remove this announcement.")
@server_option()
@token_option()
@json_option()
def announcements(
    name: str, remove: int | None, server: str, token: str | None, as_json: bool
) -> None:
    """Show the announcements, newest first."""
    from plyhouse.clients.shared.http import ask

    if remove is not None:
        request(server, token, competition_calls.remove_announcement(name, remove))
        note(f"Removed announcement {remove}.")
        return
    found = ask(server, competition_calls.announcements(name), token)
    if as_json:
        print_json(found)
        return
    for each in found:
        click.echo(f"{each.id}  {minute(each.at_ms)} UTC, {each.who}:")
        click.echo("\n".join(f"    {harmless(line)}" for line in each.text.splitlines()))
    if not found:
        note(f"{name} has no announcements.")
