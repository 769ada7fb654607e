"""``plyhouse admin player`` and ``plyhouse token``: accounts and tokens in the database."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from plyhouse.clients.cli.administration import (
    change,
    disable_player,
    display,
    enable_player,
    keep_option,
    rename,
    why_option,
    with_store,
)
from plyhouse.clients.shared.lazy import HintingGroup
from plyhouse.clients.shared.options import database_option
from plyhouse.clients.shared.output import note, print_table

if TYPE_CHECKING:
    from plyhouse.storage.store import Store

SCOPES = ("play", "runner", "organise", "admin")

scope_option = click.option(
    "--scope",
    "scopes",
    multiple=True,
    type=click.Choice(SCOPES),
    default=["play"],
    show_default=True,
    help="Scope of the token; may be given several times.",
)


@click.group(cls=HintingGroup)
def token() -> None:
    """Create tokens of players, list and revoke them.

    Bots and people log in with a token of their player. These commands work on the database
    itself, also while a server uses it; `plyhouse admin player add` creates players.
    """


def show_token(token: str, name: str) -> None:
    """Print a token alone on standard output, so that a script can capture it."""
    note(f"The token of {name}. It is shown only once; keep it secret:")
    click.echo(token)


@token.command()
@click.argument("name")
@scope_option
@click.option("--label", default="", help="Purpose of the token, shown by `token list`.")
@database_option()
def create(name: str, scopes: tuple[str, ...], label: str, database: str) -> None:
    """Create one more token for the player NAME and print it.

    The token stands alone on standard output: TOKEN=$(plyhouse token create alice)
    """
    from plyhouse.storage import people

    async def action(store: Store) -> str:
        row = await store.read(people.player, name)
        return await store.add_token(row.id, scopes, label)

    show_token(with_store(database, action), name)


@token.command("list")
@click.argument("name")
@database_option()
def list_tokens(name: str, database: str) -> None:
    """List the tokens of a player by their first characters."""
    from plyhouse.storage import people

    async def action(store: Store) -> list[list[str]]:
        row = await store.read(people.player, name)
        return [
            [
                each.prefix,
                " ".join(each.scopes),
                each.label or "-",
                day(each.created_ms),
                day(each.last_used_ms) if each.last_used_ms else "never",
                "revoked" if each.revoked_ms is not None else "valid",
            ]
            for each in await store.read(people.list_tokens, row.id)
        ]

    rows = with_store(database, action)
    columns = ["token", "scopes", "label", "since", "last used", "state"]
    print_table(f"Tokens of {name}", columns, rows, "llllll")


@token.command()
@click.argument("prefix")
@why_option(required=False)
@keep_option(keep=True)
@database_option()
def revoke(prefix: str, why: str, keep_matches: bool, database: str) -> None:
    """Revoke the token that begins with PREFIX.

    Bots cannot log in with it again, and a running server closes the connections that were
    opened with it.
    """
    from plyhouse.storage import people_changes

    revoke = people_changes.revoke_token
    row = change(database, revoke, prefix, why=why, keep_matches=keep_matches)
    note(f"Revoked the token {row.prefix}....")


def day(milliseconds: int) -> str:
    """The day of a wall-clock time in milliseconds since 1970, on this machine: ``2026-05-04``."""
    from datetime import datetime

    return datetime.fromtimestamp(milliseconds / 1000).date().isoformat()


@click.group(cls=HintingGroup)
def player() -> None:
    """Add, list, rename and disable players.

    A player is an account: a person or a team. Bots log in with a token of their player.
    These commands work on the database itself, also while a server uses it.
    """


@player.command()
@click.argument("name")
@scope_option
@click.option("--label", default="", help="Purpose of the token, shown by `token list`.")
@database_option()
def add(name: str, scopes: tuple[str, ...], label: str, database: str) -> None:
    """Add the player NAME and print a token for it.

    The token stands alone on standard output: TOKEN=$(plyhouse admin player add alice)
    """

    async def action(store: Store) -> str:
        row = await store.add_player(name)
        return await store.add_token(row.id, scopes, label)

    show_token(with_store(database, action, create=True), name)


@player.command("list")
@database_option()
def list_players(database: str) -> None:
    """List the players."""
    from plyhouse.storage import people

    async def action(store: Store) -> list[list[str]]:
        rows = []
        for row in await store.read(people.list_players):
            tokens = [
                t for t in await store.read(people.list_tokens, row.id) if t.revoked_ms is None
            ]
            state = "disabled" if row.disabled_ms is not None else ""
            rows.append(
                [row.name, row.display or "-", day(row.created_ms), str(len(tokens)), state]
            )
        return rows

    rows = with_store(database, action)
    if not rows:
        note(f"No players in {database}; add one with `plyhouse admin player add NAME`.")
        return
    columns = ["player", "display name", "since", "valid tokens", "state"]
    print_table("Players", columns, rows, "lllrl")


for _command in (disable_player, enable_player, rename, display):
    player.add_command(_command)
