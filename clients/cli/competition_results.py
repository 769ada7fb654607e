"""``plyhouse competition standings``, ``report`` and ``export``: what came of a competition."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Final

import click
import msgspec

from plyhouse.clients.cli.competition_status import practice_ladder
from plyhouse.clients.shared.errors import EXIT_USAGE, CommandError
from plyhouse.clients.shared.options import Server, competition_argument, json_option, on_server
from plyhouse.clients.shared.output import counted, note, print_json, print_table, signed
from plyhouse.clients.shared.standings import print_board, print_certainty
from plyhouse.protocol.api import competition_calls
from plyhouse.protocol.api.reports import Report, Suspicions

FORMATS: Final = (
    *("csv", "json", "md", "html", "grades", "canvas", "moodle", "gradescope"),
    *("jsonl", "pgn", "sgf", "pdn", "mat", "pbn", "gcg", "phh", "parquet"),
)


@click.command()
@competition_argument()
@click.option("--practice", is_flag=True, help="Show its practice ladder instead.")
@click.option("--more", is_flag=True, help="Show all columns.")
@on_server
@json_option()
def standings(name: str, practice: bool, more: bool, server: Server, as_json: bool) -> None:
    """Show the standings with the intervals of ratings, and grades.

    For a competition that is not public, a student's token shows what the student may see, and an
    organiser's token everything. docs/ratings.md explains the columns.
    """
    if practice:
        ladder = practice_ladder(server, name)
        if ladder is None:
            raise CommandError(
                f"{name} has no practice ladder: it begins when two entries are there, if its file "
                "says ladder = true under [practice].",
                EXIT_USAGE,
            )
        name = ladder.competition
    view = server.ask(competition_calls.table(name))
    if as_json:
        print_json(view)
        return
    print_board(view, more=more)
    print_certainty(server.ask(competition_calls.certainty(name)))


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
@on_server
@json_option()
def report(
    name: str, student: str | None, folder: Path | None, server: Server, as_json: bool
) -> None:
    """Report on a student.

    The report begins with the grade, its reason, a plot of the results and one thing to try next.
    Then come results, forfeits, slow plies, and lost matches to replay.

    A student asks with its own token, and sees its own report only.
    """

    def fetched(who: str) -> Report:
        return server.request(competition_calls.report(name, student=who))

    from plyhouse.clients.shared.student_report import report_text
    from plyhouse.protocol.address import Address

    base = Address.read(server.address).base
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
        listed = server.request(competition_calls.students(name))
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
@on_server
def export(name: str, formats: tuple[str, ...], folder: Path, server: Server) -> None:
    """Write standings, grades and matches as files.

    All come from stored results.
    """
    from plyhouse.clients.shared.http import download

    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    status = server.request(competition_calls.competition(name))
    for each in dict.fromkeys(formats or ("csv", "grades", "json")):
        place = download(
            server.address, competition_calls.export_file(name, each), server.token, folder
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


@click.command()
@competition_argument()
@click.option(
    "--level",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="Which part of what is named may be named by accident.",
)
@on_server
@json_option()
def suspicious(name: str, level: float, server: Server, as_json: bool) -> None:
    """List pairs of students with unlikely results or choices.

    Files: entries of different owners that are the same, byte for byte.
    Results: what two owners scored against each other beside what the fit of all results expects.
    Choices: bots that do the same in almost all positions that both faced, where others do not.
    All are a reason to look, and prove nothing.
    """
    found = server.request(competition_calls.suspicions(name, level=level))
    if as_json:
        print_json(found)
        return
    _show_same_files(found)
    _show_pairs(found)
    _show_likenesses(found)
    if found.left_out:
        matches = counted(found.left_out, "match", "matches")
        note(f"{matches} left out: older ones, or of a game that is not here.")
    note(
        "A reason to look, no proof: a bot may be made against another, and two may call the same "
        "search, have read the same book, or have left the starter as it is."
    )


def _show_same_files(found: Suspicions) -> None:
    if not found.same_files:
        click.echo("Files: no two entries of different owners are the same.")
        return
    rows = [[each.digest[:12], ", ".join(each.entries)] for each in found.same_files]
    print_table("The same files", ["digest", "entries"], rows, "lw")


def _show_pairs(found: Suspicions) -> None:
    tested = counted(found.pairs_tested, "pair of owners", "pairs of owners")
    if not found.pairs:
        click.echo(f"Results: nothing unlikely among {tested}.")
        return
    rows = [
        [
            f"{each.one} - {each.other}",
            str(each.matches),
            f"{each.score:g}",
            f"{each.expected:.1f}",
            signed(each.residual, 1),
            f"{each.adjusted:.2g}",
        ]
        for each in found.pairs
    ]
    columns = ["pair", "matches", "score of the first", "expected", "residual", "adjusted p"]
    print_table(f"Unlikely results among {tested}", columns, rows, "lrrrrr")


def _show_likenesses(found: Suspicions) -> None:
    records = counted(found.records, "record")
    if not found.likenesses:
        click.echo(f"Choices: no two bots of different owners near identical in {records}.")
        return
    rows = [
        [
            f"{each.one} - {each.other}",
            str(each.positions),
            str(each.same),
            f"{each.expected:.1f}",
            f"{each.adjusted:.2g}",
        ]
        for each in found.likenesses
    ]
    columns = ["bots", "positions of both", "same choice", "expected", "adjusted p"]
    print_table(f"Near identical choices in {records}", columns, rows, "lrrrr")
