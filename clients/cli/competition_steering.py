"""``plyhouse competition list|pause|resume|delete|withdraw``: of every kind, wherever they are.

They work on a server with ``--server`` (or PLYHOUSE_SERVER), also for a round robin without a
class, and on the database itself without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from plyhouse.clients.cli.administration import minute, operator, why_option, with_store
from plyhouse.clients.shared.options import (
    competition_argument,
    database_option,
    server_option,
    token_option,
)
from plyhouse.clients.shared.organising import confirm, request, why_text
from plyhouse.clients.shared.output import counted, note, print_table
from plyhouse.protocol.api import calls, class_calls
from plyhouse.protocol.api.classes import Losses

if TYPE_CHECKING:
    from plyhouse.storage.store import Store

__all__ = ["delete", "list_competitions", "pause", "resume", "withdraw"]


@click.command("list")
@server_option(default=None)
@database_option()
def list_competitions(server: str | None, database: str) -> None:
    """List the competitions, newest first."""
    if server is not None:
        from plyhouse.clients.shared.http import ask

        listed = ask(server, class_calls.classes())
        others = ask(server, calls.competitions())
        cells = [[each.name, ", ".join(each.games), each.status, "class"] for each in listed]
        cells += [[e.name, e.game, e.status, e.competition] for e in others]
        if cells:
            print_table("Competitions", ["name", "games", "status", "id"], cells, "llll")
        else:
            note(f"No competitions on {server}.")
        return
    from plyhouse.storage import class_sql

    rows = with_store(database, lambda store: store.competitions())
    courses = with_store(database, lambda store: store.read(class_sql.list_all))
    if not rows and not courses:
        note(f"No competitions in {database}.")
        return
    cells = [
        [each.id, each.name, ", ".join(game.game for game in each.games), each.status,
         minute(each.created_ms)]
        for each in courses
    ]  # fmt: skip
    cells += [[row.id, row.name, row.game, row.status, minute(row.created_ms)] for row in rows]
    columns = ["competition", "name", "game", "status", "made (UTC)"]
    print_table("Competitions", columns, cells, "lllll")


def _steer(
    server: str | None, token: str | None, database: str, name: str, step: str, why: str
) -> str:
    """Pause, resume or delete, wherever it is and whatever kind it has; return its name."""
    if server is None:
        return _steer_stored(database, name, step, why)
    from plyhouse.clients.shared.http import ApiError

    try:
        if step == "delete":
            request(server, token, class_calls.drop(name, why_text(why)))
        else:
            request(server, token, class_calls.step(name, step, why, False))
    except ApiError as error:
        if error.code != "storage/unknown":
            raise
        try:  # a round robin without a class, by its id
            if step == "delete":
                request(server, token, calls.drop(name, why_text(why)))
            else:
                request(server, token, calls.steer(name, step, why=why_text(why)))
        except ApiError as other:
            raise error if other.code == "storage/unknown" else other from None
    return name


def _steer_stored(database: str, name: str, step: str, why: str) -> str:
    status = {"pause": "paused", "resume": "running", "delete": "deleted"}[step]

    async def action(store: Store) -> str:
        from plyhouse.storage import class_sql
        from plyhouse.storage.errors import Unknown

        try:
            course = await store.read(class_sql.find, name)
        except Unknown:
            office = store.administration
            return (await office.set_competition_status(name, status, operator(why))).name
        return (await store.write(class_sql.move, course.id, step, operator(why), store.now())).name

    return with_store(database, action)


@click.command()
@competition_argument(shown="NAME|ID")
@why_option(required=False)
@server_option(default=None)
@token_option()
@database_option()
def pause(name: str, why: str, server: str | None, token: str | None, database: str) -> None:
    """Begin nothing more of a competition; matches that run are played on."""
    note(f"{_steer(server, token, database, name, 'pause', why)} is paused.")


@click.command()
@competition_argument(shown="NAME|ID")
@why_option(required=False)
@server_option(default=None)
@token_option()
@database_option()
def resume(name: str, why: str, server: str | None, token: str | None, database: str) -> None:
    """Let a paused competition go on."""
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
    """Delete a competition: nothing more of it begins, and it is listed nowhere.

    First says what is lost with it, then asks. Its matches stay, and so do accounts. A rehearsal
    goes without a question.
    """
    lost = _losses(server, token, database, name)
    if lost is not None and not lost.rehearsal:
        for line in loss_lines(lost):
            note(line)
        confirm(f"Delete {lost.name}?", yes=yes)
    elif lost is None:
        confirm(f"Delete {name}? Its matches stay.", yes=yes)
    note(f"{_steer(server, token, database, name, 'delete', why)} is deleted.")


def _losses(server: str | None, token: str | None, database: str, name: str) -> Losses | None:
    """What would be lost; None for a round robin without a class."""
    if server is None:
        return with_store(database, lambda store: _stored_losses(store, name))
    from plyhouse.clients.shared.http import ApiError

    try:
        return request(server, token, class_calls.losses(name))
    except ApiError as error:
        if error.code != "storage/unknown":
            raise
        return None


async def _stored_losses(store: Store, name: str) -> Losses | None:
    from msgspec import convert

    from plyhouse.storage import class_losses
    from plyhouse.storage.errors import Unknown

    try:
        return convert(
            await store.read(class_losses.losses, name, store.now()), Losses, from_attributes=True
        )
    except Unknown:
        return None


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
@click.argument("competition_id", metavar="ID")
@click.argument("bot", metavar="PLAYER/BOT")
@why_option(required=False)
@database_option()
def withdraw(competition_id: str, bot: str, why: str, database: str) -> None:
    """Take a bot out of what is still to begin of a round robin without a class."""

    async def action(store: Store) -> str:
        player, _, name = bot.partition("/")
        row = await store.bot_named(player, name)
        entry = await store.administration.withdraw(competition_id, row.id, operator(why))
        return f"{entry.player}/{entry.bot}"

    note(f"Withdrew {with_store(database, action)}.")
