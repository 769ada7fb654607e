"""``plyhouse competition list|pause|resume|delete|withdraw``.

They work on a server with ``--server`` (or PLYHOUSE_SERVER), and on the database without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from plyhouse.clients.cli.administration import operator, why_option, with_store
from plyhouse.clients.shared.competition_requests import confirm, request, why_text
from plyhouse.clients.shared.options import (
    competition_argument,
    database_option,
    server_option,
    token_option,
)
from plyhouse.clients.shared.output import counted, minute, note, print_table
from plyhouse.protocol.api import competition_calls
from plyhouse.protocol.api.competitions import Losses

if TYPE_CHECKING:
    from plyhouse.storage.store import Store


@click.command("list")
@server_option(default=None)
@database_option()
def list_competitions(server: str | None, database: str) -> None:
    """List the competitions, newest first."""
    if server is not None:
        from plyhouse.clients.shared.http import ask

        listed = ask(server, competition_calls.competitions())
        cells = [
            [each.competition, each.name, ", ".join(each.games), each.status] for each in listed
        ]
        if cells:
            print_table("Competitions", ["id", "name", "games", "status"], cells, "llll")
        else:
            note(f"No competitions on {server}.")
        return
    from plyhouse.storage import competition_sql

    rows = with_store(database, lambda store: store.read(competition_sql.list_all))
    if not rows:
        note(f"No competitions in {database}.")
        return
    cells = [
        [each.id, each.name, ", ".join(game.game for game in each.games), each.status,
         minute(each.created_ms)]
        for each in rows
    ]  # fmt: skip
    columns = ["id", "name", "games", "status", "made"]
    print_table("Competitions", columns, cells, "lllll")


def _steer(
    server: str | None, token: str | None, database: str, name: str, step: str, why: str
) -> str:
    """Pause, resume or delete on a server or in a database; return its name."""
    from plyhouse.storage import steering

    if server is None:
        by = operator(why)
        row = with_store(
            database, lambda store: store.write(steering.steer, name, step, by, store.now())
        )
        return row.name
    if step == "delete":
        request(server, token, competition_calls.delete_tournament(name, why_text(why)))
    elif step == "pause":
        request(server, token, competition_calls.pause_tournament(name, why_text(why)))
    else:
        request(server, token, competition_calls.resume_tournament(name, why_text(why)))
    return name


@click.command()
@competition_argument(shown="NAME|ID")
@why_option(required=False)
@server_option(default=None)
@token_option()
@database_option()
def pause(name: str, why: str, server: str | None, token: str | None, database: str) -> None:
    """Pause a competition.

    No more matches begin; running matches are played on.
    """
    note(f"{_steer(server, token, database, name, 'pause', why)} is paused.")


@click.command()
@competition_argument(shown="NAME|ID")
@why_option(required=False)
@server_option(default=None)
@token_option()
@database_option()
def resume(name: str, why: str, server: str | None, token: str | None, database: str) -> None:
    """Resume a paused competition."""
    note(f"{_steer(server, token, database, name, 'resume', why)} is running.")


@click.command()
@competition_argument(shown="NAME|ID")
@click.option("--yes", is_flag=True, help="Do not ask.")
@why_option(required=False)
@server_option(default=None)
@token_option()
@database_option()
def delete(
    name: str, yes: bool, why: str, server: str | None, token: str | None, database: str
) -> None:
    """Delete a competition.

    No more of its matches begin, and no list shows it.

    First says what is lost with it, then asks. Its matches stay, and so do accounts. A rehearsal
    goes without a question.
    """
    lost = _losses(server, token, database, name)
    if not lost.rehearsal:
        for line in loss_lines(lost):
            note(line)
        confirm(f"Delete {lost.name}?", yes=yes)
    note(f"{_steer(server, token, database, name, 'delete', why)} is deleted.")


def _losses(server: str | None, token: str | None, database: str, name: str) -> Losses:
    """Return what would be lost with a competition."""
    if server is not None:
        return request(server, token, competition_calls.competition_losses(name))
    from msgspec import convert

    from plyhouse.storage import competition_changes

    lost = with_store(
        database, lambda store: store.read(competition_changes.losses, name, store.now())
    )
    return convert(lost, Losses, from_attributes=True)


def loss_lines(lost: Losses) -> list[str]:
    """Say what is lost with a competition, and what stays."""
    lines = [f"{lost.name} is {lost.status}. With it you lose:"]
    lines.append(
        f"- its board, reports, grades and announcements, for "
        f"{counted(lost.students, 'student')} with "
        f"{counted(lost.entries, 'entry', 'entries')}"
    )
    if lost.submissions:
        lines.append(f"- {counted(lost.submissions, 'submitted package')} of it alone")
    if lost.codes:
        lines.append(f"- {counted(lost.codes, 'valid code')}")
    if lost.running:
        lines.append(f"- what {counted(lost.running, 'running match', 'running matches')} "
                     "would have counted for")  # fmt: skip
    kept = f"{counted(lost.matches, 'match', 'matches')} of its final" if lost.matches else ""
    lines.append(f"Accounts stay{f', and {kept}' if kept else ''}.")
    if lost.matches:
        lines.append(f"Export first: plyhouse competition export {lost.name!r} --folder FOLDER")
    return lines


@click.command()
@click.argument("tournament_id", metavar="ID")
@click.argument("bot", metavar="PLAYER/BOT")
@why_option(required=False)
@database_option()
def withdraw(tournament_id: str, bot: str, why: str, database: str) -> None:
    """Withdraw a bot from a competition without students.

    Matches that have not begun are not played.
    """
    from plyhouse.storage import people, steering

    async def action(store: Store) -> str:
        player, _, name = bot.partition("/")
        row = await store.read(people.bot_named, player, name)
        entry = await store.write(
            steering.withdraw, tournament_id, row.id, operator(why), store.now()
        )
        return f"{entry.player}/{entry.bot}"

    note(f"Withdrew {with_store(database, action)}.")
