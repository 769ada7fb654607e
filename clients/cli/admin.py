"""``plyhouse admin``: what operators of a server do, on its database."""

from __future__ import annotations

from typing import Final

import click

from plyhouse.clients.shared.lazy import LazyGroup

__all__ = ["admin"]

_HERE: Final = "plyhouse.clients.cli"

COMMANDS: Final = {
    "player": (f"{_HERE}.player:player", "Add, list, rename and disable players"),
    "bot": (f"{_HERE}.administration:bot", "Disable, enable and reinstate bots"),
    "void": (f"{_HERE}.administration:void", "Exclude a match from every leaderboard and table"),
    "audit": (f"{_HERE}.administration:audit", "Show what organisers did and why"),
    "db": (f"{_HERE}.db:db", "Copy, back up, check or upgrade the database"),
}
"""The subcommands: where each lives and its short help."""


@click.group(cls=LazyGroup, lazy={"Commands": COMMANDS})
def admin() -> None:
    """Administer players, bots, matches and the database.

    These commands work on the database itself, also while a server uses it. The server reads the
    audit log every second or two and acts on it.
    """
