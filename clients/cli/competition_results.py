"""``plyhouse competition board``, ``report`` and ``export``: what came of a competition."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click
import msgspec

from plyhouse.clients.shared.errors import EXIT_USAGE, CommandError
from plyhouse.clients.shared.options import (
    competition_argument,
    json_option,
    server_option,
    token_option,
)
from plyhouse.clients.shared.organising import needed, practice_ladder, request
from plyhouse.clients.shared.output import counted, note, print_json, print_table, signed
from plyhouse.protocol.api import class_calls
from plyhouse.protocol.api.boards import BaselineCertainty, Board, Mean, MeanReturn, ProvenLine
from plyhouse.protocol.api.reports import Report

__all__ = ["board", "board_cells", "export", "print_board", "print_certainty", "report"]

FORMATS: Final = (
    *("csv", "json", "md", "html", "grades", "gradescope"),
    *("jsonl", "pgn", "sgf", "pdn", "mat", "parquet"),
)


@click.command()
@competition_argument()
@click.option("--practice", is_flag=True, help="Show its practice ladder instead.")
@server_option()
@token_option()
@json_option()
def board(name: str, practice: bool, server: str, token: str | None, as_json: bool) -> None:
    """Show the standings of NAME with ratings, and how sure they are.

    Of a competition that is not public the token of a student shows what it may see, that of an
    organiser everything. docs/ratings.md says what the columns mean.
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
    view = ask(server, class_calls.table(name), token)
    if as_json:
        print_json(view)
        return
    print_board(view)
    print_certainty(ask(server, class_calls.certainty(name), token))


def print_board(view: Board) -> None:
    """The table of a board, and what it withholds."""
    print_table(*board_cells(view))
    for text in view.notes:
        note(text)


def board_cells(view: Board) -> tuple[str, list[str], list[list[str]], str]:
    """Title, columns, rows and alignment of a board."""
    nash = any(line.nash for line in view.lines)
    any_time = view.any_time
    columns = ["place", "entry", "score", "played", "rating", "95 %"]
    columns += ["rank by rating"] if any_time else ["while watching", "rank by rating", "ahead"]
    means: list[tuple[str, str]] = []
    for game in sorted({game for line in view.lines for game in line.returns}):
        means.append((game, "raw"))
        columns.append(f"{game}: return")
        if not any_time:
            means.append((game, "watched"))
            columns.append("while watching")
        if any(line.returns[game].adjusted for line in view.lines if game in line.returns):
            means.append((game, "adjusted"))
            columns.append("without luck")
    if nash:
        columns.append("Nash share")
    align = "rl" + "r" * (len(columns) - 2)
    rows = [_row(line, means, nash=nash, any_time=any_time) for line in view.lines]
    final = "" if view.status == "finished" else f", {view.status}"
    title = f"{view.name}: {counted(view.matches, 'match', 'matches')}{final}"
    return title, columns, rows, align


def print_certainty(lines: Sequence[BaselineCertainty]) -> None:
    """How sure grades are, where a gauntlet goes on until they are."""
    said = {True: "reached", False: "not reached", None: "open"}
    rows = [
        [
            each.entry,
            each.baseline,
            str(each.pairs),
            f"{each.mean:.3f}" if each.pairs else "-",
            f"{each.low:.3f} to {each.high:.3f}",
            "open, no more pairs" if each.state == "maximum" else said[each.reached],
        ]
        for each in lines
    ]
    if rows:
        columns = ["entry", "against", "pairs", "mean", "bounds", "threshold"]
        print_table("Until certain", columns, rows, "llrrll")


def _row(
    line: ProvenLine, means: list[tuple[str, str]], *, nash: bool, any_time: bool
) -> list[str]:
    """The cells of a line; ``any_time``: there are no fixed-time intervals."""
    rating = line.rating
    cells = [
        "-" if line.place is None else str(line.place),
        line.entry + _kind(line),
        "-" if line.score is None else f"{line.score:.3f}",
        str(line.matches),
    ]
    near = "-" if rating is None else f"{rating.low:.0f} to {rating.high:.0f}"
    cells += ["-" if rating is None else f"{rating.elo:.0f}", near]
    if not any_time:
        wide = "-" if rating is None else f"{rating.any_low:.0f} to {rating.any_high:.0f}"
        cells.append(wide)
    ranks = set() if rating is None else {rating.rank_low, rating.rank_high}
    cells.append(" to ".join(map(str, sorted(ranks))) or "-")
    if not any_time:
        cells.append("" if line.ahead is None else f"{line.ahead:.1%}")
    cells += [_return(line.returns.get(game), kind) for game, kind in means]
    if nash:
        cells.append("-" if line.nash is None else f"{line.nash.share:.2f}")
    return cells


def _kind(line: ProvenLine) -> str:
    if line.twin_of:
        return f" (twin of {line.twin_of})"
    return " (baseline)" if line.baseline else ""


def _return(found: MeanReturn | None, kind: str) -> str:
    if found is None:
        return "-"
    if kind != "watched":
        return _mean(found.raw if kind == "raw" else found.adjusted)
    if found.any_low is None or found.any_high is None:
        return "-"
    return f"{signed(found.any_low, 2)} to {signed(found.any_high, 2)}"


def _mean(found: Mean | None) -> str:
    if found is None:
        return "-"
    if found.low is None or found.high is None:
        return signed(found.mean, 2)
    return f"{signed(found.mean, 2)} ({signed(found.low, 2)} to {signed(found.high, 2)})"


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
    """Report on a student in NAME: results, forfeits, slow plies, and lost matches to replay.

    A student asks with its own token, and sees its own report only.
    """

    def fetched(who: str) -> Report:
        return request(server, token, class_calls.report(name, who))

    from plyhouse.clients.cli.report_text import report_text
    from plyhouse.clients.shared.http import Url

    base = Url(server).base
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
        listed = request(server, token, class_calls.students(name))
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
    help="What to write, several if you like: standings as csv, json, md or html; grades.csv; one "
    "results.json per student for Gradescope; all matches as jsonl, parquet, or in the format of "
    "their game.  [default: csv, grades and json]",
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
    """Write what came of NAME as files: standings, grades and matches, from stored results."""
    from plyhouse.clients.shared.http import download, path

    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    status = request(server, token, class_calls.status(name))
    here = ("class", "competitions", name, "export")
    for each in dict.fromkeys(formats or ("csv", "grades", "json")):
        place = download(server, path(*here, each), needed(token), folder)
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
