"""``plyhouse competition list|rehearse|pause|resume|delete``."""

from __future__ import annotations

from pathlib import Path

import click

from plyhouse.clients.cli.administration import why_option
from plyhouse.clients.shared.errors import EXIT_USAGE, CommandError
from plyhouse.clients.shared.options import (
    Server,
    competition_argument,
    confirm,
    json_option,
    on_server,
    server_option,
    why_text,
)
from plyhouse.clients.shared.output import counted, note, print_json, print_table
from plyhouse.protocol.api import competition_calls
from plyhouse.protocol.api.competitions import Losses


@click.command("list")
@server_option()
def list_competitions(server: str) -> None:
    """List the competitions, newest first."""
    from plyhouse.clients.shared.http import ask

    listed = ask(server, competition_calls.competitions())
    cells = [[each.competition, each.name, ", ".join(each.games), each.status] for each in listed]
    if cells:
        print_table("Competitions", ["id", "name", "games", "status"], cells, "llll")
    else:
        note(f"No competitions on {server}.")


@click.command()
@competition_argument()
@on_server
@why_option(required=False)
@json_option()
def rehearse(name: str, server: Server, why: str, as_json: bool) -> None:
    """Rehearse the final of a competition on its server.

    The final is played as it would be now: with the bots submitted so far and the baselines, on
    the connected runners; finals go first. The rehearsal counts for nothing: no rating, no grade,
    no suspension. Only you see its standings, and each author sees their own matches. It is a
    separate competition, "NAME (rehearsal)"; delete it before the next one.
    """
    if Path(name).is_file():
        raise CommandError(
            f"{name} is a file. Open it with `plyhouse competition open {name}` first, then "
            "rehearse the competition by its name. `plyhouse competition check` looks for mistakes "
            "in a file.",
            EXIT_USAGE,
        )
    made = server.request(competition_calls.rehearse_competition(name, why=why))
    if as_json:
        print_json(made)
        return
    if made.left_out:
        note(f"Left out, as they have no submission that is ready: {', '.join(made.left_out)}.")
    shown = made.name
    note(f"{shown} has begun: plyhouse competition status {shown!r}, standings {shown!r}")
    note(f"To remove it afterwards: plyhouse competition delete {shown!r} --why rehearsed")


@click.command()
@competition_argument(shown="NAME|ID")
@why_option(required=False)
@on_server
def pause(name: str, why: str, server: Server) -> None:
    """Pause a competition.

    No more matches begin; running matches are played on.
    """
    server.request(competition_calls.step_competition(name, "pause", why=why_text(why)))
    note(f"{name} is paused.")


@click.command()
@competition_argument(shown="NAME|ID")
@why_option(required=False)
@on_server
def resume(name: str, why: str, server: Server) -> None:
    """Resume a paused competition."""
    server.request(competition_calls.step_competition(name, "resume", why=why_text(why)))
    note(f"{name} is running.")


@click.command()
@competition_argument(shown="NAME|ID")
@click.option("--yes", is_flag=True, help="Do not ask.")
@why_option(required=False)
@on_server
def delete(name: str, yes: bool, why: str, server: Server) -> None:
    """Delete a competition.

    No more of its matches begin, and no list shows it.

    First says what is lost with it, then asks. Its matches stay, and so do accounts. A rehearsal
    goes without a question.
    """
    lost = server.request(competition_calls.competition_losses(name))
    if not lost.rehearsal:
        for line in loss_lines(lost):
            note(line)
        confirm(f"Delete {lost.name}?", yes=yes)
    server.request(competition_calls.delete_competition(name, why_text(why)))
    note(f"{name} is deleted.")


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
