"""``plyhouse competition standings``, ``report`` and ``export``: what came of a competition."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Final

import click
import msgspec

from plyhouse.clients.shared.competition_requests import organiser_token, practice_ladder, request
from plyhouse.clients.shared.competition_table import print_board, print_certainty
from plyhouse.clients.shared.errors import EXIT_USAGE, CommandError
from plyhouse.clients.shared.options import (
    competition_argument,
    json_option,
    server_option,
    token_option,
)
from plyhouse.clients.shared.output import counted, note, print_json
from plyhouse.protocol.api import competition_calls
from plyhouse.protocol.api.reports import Report

__all__ = ["export", "report", "standings"]

FORMATS: Final = (
    *("csv", "json", "md", "html", "grades", "canvas", "moodle", "gradescope"),
    *("jsonl", "pgn", "sgf", "pdn", "mat", "pbn", "gcg", "phh", "parquet"),
)


@click.command()
@competition_argument()
@click.option("--practice", is_flag=True, help="Show its practice ladder instead.")
@click.option("--more", is_flag=True, help="Show all columns.")
@server_option()
@token_option()
@json_option()
def standings(
    name: str, practice: bool, more: bool, server: str, token: str | None, as_json: bool
) -> None:
    """Show the standings with the intervals of ratings, and grades.

    For a competition that is not public, a student's token shows what the student may see, and an
    organiser's token everything. docs/ratings.md explains the columns.
    """
    from plyhouse.clients.shared.http import ask

    if practice:
        ladder = practice_ladder(server, name)
        if ladder is None:
            raise CommandError(
                f"{name} has no practice ladder: it begins when two entries are there, if its file "
                "says ladder = true under [practice].",
                EXIT_USAGE,
            )
        name = ladder.competition
    view = ask(server, competition_calls.table(name), token)
    if as_json:
        print_json(view)
        return
    print_board(view, more=more)
    print_certainty(ask(server, competition_calls.certainty(name), token))


@click.command()
@competition_argument()
@click.option(
    "--student", help="Its account.  [default: the token's own; with --folder, everybody]"
)
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write STUDENT.md and STUDENT.json there instead; without --student, of all students.",
)
@server_option()
@token_option()
@json_option()
def report(
    name: str,
    student: str | None,
    folder: Path | None,
    server: str,
    token: str | None,
    as_json: bool,
) -> None:
    """Report on a student.

    The report has results, forfeits, slow plies, and lost matches to replay.

    A student asks with its own token, and sees its own report only.
    """

    def fetched(who: str) -> Report:
        return request(server, token, competition_calls.report(name, student=who))

    from plyhouse.clients.shared.student_report import report_text
    from plyhouse.protocol.address import Address

    base = Address.read(server).base
    if folder is None:
        found = fetched(student or "")
        if as_json:
            print_json(found)
        else:
            click.echo(report_text(found, base))
        return
    if student is not None:
        whose = [student]
    else:
        listed = request(server, token, competition_calls.students(name))
        whose = [each.student for each in listed]
    folder.mkdir(parents=True, exist_ok=True)
    for who in whose:
        found = fetched(who)
        text = json.dumps(msgspec.to_builtins(found), indent=2, ensure_ascii=False) + "\n"
        _write(folder / f"{found.student}.json", text.encode())
        _write(folder / f"{found.student}.md", report_text(found, base).encode())
    note(f"Wrote {counted(len(whose), 'report')} to {folder}.")


@click.command()
@competition_argument()
@click.option(
    "--format",
    "formats",
    type=click.Choice(FORMATS),
    multiple=True,
    help="Files to write; may be repeated. Standings come as csv, json, md or html, and matches as "
    "jsonl, parquet, or in the format of their game. Canvas and moodle are files that "
    "those import. With gradescope, each student has a results.json.  "
    "[default: csv, grades and json]",
)
@click.option(
    "--to",
    "--folder",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(),
    help="Where to write the files.  [default: here]",
)
@server_option()
@token_option()
def export(
    name: str, formats: tuple[str, ...], folder: Path, server: str, token: str | None
) -> None:
    """Write standings, grades and matches as files.

    All come from stored results.
    """
    from plyhouse.clients.shared.http import download

    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    status = request(server, token, competition_calls.competition(name))
    for each in dict.fromkeys(formats or ("csv", "grades", "json")):
        place = download(
            server,
            competition_calls.export_file(name, each),
            organiser_token(server, token),
            folder,
        )
        if each == "gradescope":
            written += _unpacked(place, folder)
            place.unlink()
        else:
            written.append(place)
    listed = ", ".join(map(str, written[:6]))
    more = f" and {len(written) - 6} more" if len(written) > 6 else ""
    note(f"Wrote {listed}{more}.")
    if status.status != "finished":
        note(f"{status.name} is {status.status}: this is not final.")


def _unpacked(place: Path, folder: Path) -> list[Path]:
    """The files of an archive; their names come from accounts, and are checked all the same."""
    import zipfile

    written = []
    with zipfile.ZipFile(place) as archive:
        for title in archive.namelist():
            place = folder / title
            if not place.resolve().is_relative_to(folder.resolve()):
                raise CommandError(f"The server sent a file {title!r}, which is refused.")
            place.parent.mkdir(parents=True, exist_ok=True)
            _write(place, archive.read(title))
            written.append(place)
    return written


def _write(place: Path, data: bytes) -> None:
    """Write a file as a whole, or not at all."""
    part = place.with_name(f".{place.name}.part")
    part.write_bytes(data)
    os.replace(part, place)
