"""``plyhouse admin player``: accounts, directly in the database."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from plyhouse.clients.cli.administration import (
    disable_player,
    display,
    enable_player,
    rename,
    with_store,
)
from plyhouse.clients.cli.tokens import day, scope_option, show_token
from plyhouse.clients.shared.lazy import HintingGroup
from plyhouse.clients.shared.options import database_option
from plyhouse.clients.shared.output import note, print_table

if TYPE_CHECKING:
    from plyhouse.storage.store import Store

__all__ = ["player"]


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
