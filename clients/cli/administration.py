"""``plyhouse admin bot``, ``void`` and ``audit``, and the changes of ``admin player``.

These commands work on the database.  A server that uses it reads of them in the audit log within
a second or two, and acts: connections are closed, matches ended.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final, TypeVar

import click

from plyhouse.clients.shared.errors import EXIT_USAGE, CommandError
from plyhouse.clients.shared.lazy import HintingGroup, LazyGroup
from plyhouse.clients.shared.options import (
    database_option,
    json_option,
    number_option,
)
from plyhouse.clients.shared.output import minute, note, print_table

if TYPE_CHECKING:
    from plyhouse.protocol.api.people import AuditEntry
    from plyhouse.storage.rows import By
    from plyhouse.storage.store import Store

T = TypeVar("T")


def why_option(*, required: bool = True) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """The reason that is kept in the audit log."""
    text = "The reason; it is kept in the audit log."
    if required:
        return click.option("--why", required=True, help=text)
    return click.option("--why", default="", help=text)


def keep_option(*, keep: bool) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """Return whether matches that run are played on."""
    return click.option(
        "--keep-matches/--forfeit-matches",
        default=keep,
        show_default=True,
        help="Play running matches on (who is away loses them by the clock), or forfeit them.",
    )


def operator(why: str) -> By:
    """Return the user of this machine, for the audit log."""
    import getpass

    from plyhouse.storage.rows import By

    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a user without a name, as in some containers
        user = "unknown"
    return By(f"{user} (command line)", why)


def with_store(url: str, action: Callable[[Store], Awaitable[T]], *, create: bool = False) -> T:
    """Open the database (made only with ``create``), do something with it, close it."""

    async def run() -> T:
        from sqlalchemy import make_url

        from plyhouse.storage.errors import Unknown
        from plyhouse.storage.store import Store

        store = await Store.open(url, create=create)
        try:
            return await action(store)
        except Unknown as error:
            # Users often forget --database, and then the database is not the one they mean.
            shown = make_url(url).render_as_string(hide_password=True)
            raise CommandError(f"{error} (in the database {shown})", EXIT_USAGE) from error
        finally:
            await store.close()

    return asyncio.run(run())


def change(url: str, write: Callable[..., T], *about: str, why: str = "", **options: object) -> T:
    """Change something in the database, and note it in the audit log.

    ``write`` is a function of `plyhouse.storage` whose arguments begin with ``about``.
    """
    return with_store(
        url, lambda store: store.write(write, *about, operator(why), store.now(), **options)
    )


@click.command("disable")
@click.argument("name")
@why_option()
@keep_option(keep=False)
@database_option()
def disable_player(name: str, why: str, keep_matches: bool, database: str) -> None:
    """Disable a player and close its connections.

    Disabled players cannot log in.
    """
    from plyhouse.storage import people_changes

    disable = people_changes.disable_player
    row = change(database, disable, name, why=why, keep_matches=keep_matches)
    note(f"Disabled {row.name}; a running server closes its connections.")


@click.command("enable")
@click.argument("name")
@why_option(required=False)
@database_option()
def enable_player(name: str, why: str, database: str) -> None:
    """Let the disabled player NAME log in again."""
    from plyhouse.storage import people_changes

    note(f"Enabled {change(database, people_changes.enable_player, name, why=why).name}.")


@click.command()
@click.argument("name")
@click.argument("new_name")
@why_option(required=False)
@database_option()
def rename(name: str, new_name: str, why: str, database: str) -> None:
    """Rename a player, also in earlier matches.

    Tokens stay valid. Its bots are asked to connect again, and play on.
    """
    from plyhouse.storage import people_changes

    row = change(database, people_changes.rename_player, name, new_name, why=why)
    note(f"{name} is called {row.name} now.")


@click.command()
@click.argument("name")
@click.argument("text", default="")
@database_option()
def display(name: str, text: str, database: str) -> None:
    """Set the display name of a player.

    It is shown beside NAME and may be in any script.

    Without TEXT it is taken away.
    """
    from plyhouse.storage import people_changes

    shown = change(database, people_changes.set_display, name, text).display
    note(f"{name} is shown as {shown}." if shown else f"{name} is shown by its name alone.")


def _bot(text: str) -> tuple[str, str]:
    player, _, name = text.partition("/")
    if not player or not name:
        raise click.UsageError(f"'{text}' names no bot: write PLAYER/BOT, such as alice/mybot.")
    return player, name


@click.group(cls=HintingGroup)
def bot() -> None:
    """Disable, enable and reinstate bots."""


@bot.command("disable")
@click.argument("target", metavar="PLAYER/BOT")
@why_option()
@keep_option(keep=False)
@database_option()
def disable_bot(target: str, why: str, keep_matches: bool, database: str) -> None:
    """Keep a bot from logging in, and close its connection."""
    from plyhouse.storage import people_changes

    disable = people_changes.disable_bot
    row = change(database, disable, *_bot(target), why=why, keep_matches=keep_matches)
    note(f"Disabled {row.player}/{row.name}; a running server closes its connection.")


@bot.command("enable")
@click.argument("target", metavar="PLAYER/BOT")
@why_option(required=False)
@database_option()
def enable_bot(target: str, why: str, database: str) -> None:
    """Let a disabled bot log in again."""
    from plyhouse.storage import people_changes

    row = change(database, people_changes.enable_bot, *_bot(target), why=why)
    note(f"Enabled {row.player}/{row.name}.")


@bot.command()
@click.argument("target", metavar="PLAYER/BOT")
@click.option(
    "--version-label",
    default="",
    help="Which version: its label, or the beginning of its digest.  [default: all of the bot]",
)
@why_option()
@database_option()
def reinstate(target: str, version_label: str, why: str, database: str) -> None:
    """Let suspended versions of a bot be paired again.

    Their forfeits no longer count.

    An entry that was withdrawn from a final stays so.
    """
    from plyhouse.storage import suspensions

    rows = change(database, suspensions.reinstate, *_bot(target), why=why, version=version_label)
    note(f"Reinstated {target}: {', '.join(row.version or 'without a label' for row in rows)}.")


@click.command()
@click.argument("match")
@why_option()
@database_option()
def void(match: str, why: str, database: str) -> None:
    """Exclude a match from every leaderboard and table.

    It stays in the record, with the reason. One that is being played is ended.
    """
    from plyhouse.server.results.voiding import void_match

    with_store(database, lambda store: void_match(store, match, operator(why)))
    note(f"Match {match} is void.")


@click.command()
@number_option("--limit", 50, "Lines.", 1, 10_000)
@database_option()
@json_option()
def audit(limit: int, database: str, as_json: bool) -> None:
    """Show what organisers did and why."""
    from plyhouse.storage import audit as stored_audit

    rows = with_store(database, lambda store: store.read(stored_audit.latest, limit))
    if as_json:
        click.echo(json.dumps([dataclasses.asdict(row) for row in rows], indent=2))
    elif rows:
        cells = [[minute(row.at_ms), row.who, row.what, _subject(row), row.why] for row in rows]
        print_table("Audit log", ["when", "who", "what", "subject", "why"], cells, "lllll")
    else:
        note(f"Nothing in the audit log of {database} yet.")


def _subject(row: AuditEntry) -> str:
    """Return the object of an action; a match's id distinguishes it from others of its game."""
    return f"{row.subject} {row.subject_id}" if row.what == "match.void" else row.subject


_HERE: Final = "plyhouse.clients.cli"

COMMANDS: Final = {
    "player": (f"{_HERE}.accounts:player", "Add, list, rename and disable players"),
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
