"""The standings of a competition as CSV, Markdown and HTML.

All functions are pure: they turn the lines of a board
(`plyhouse.server.grades.board_statistics`)
into text.  `plyhouse.server.grades.grade_files` writes grades.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from html import escape
from typing import Final

from plyhouse.protocol.text import minus
from plyhouse.server.grades.board_statistics import BoardLine
from plyhouse.server.grades.standings import Standing

Cell = str | int | float | None
HEAD: Final = ("place", "entry", "student", "status", "baseline", "score", "matches", "wins",
               "draws", "losses", "forfeits")  # fmt: skip
"""The columns of every table of standings."""
FORMULA: Final = "=+-@\t\r"
"""First characters that make spreadsheets read a text as a formula."""


def standings_table(
    lines: Sequence[BoardLine], games: Sequence[str]
) -> tuple[list[str], list[list[Cell]]]:
    """Return the column heads and the rows of standings with their evidence."""
    paid = sorted({game for line in lines for game in line.returns})
    nash = any(line.nash is not None for line in lines)
    head = [*HEAD, *games, "rating", "low", "high", "any_low", "any_high"]
    head += ["rating_rank_low", "rating_rank_high", "ahead_of_next"]
    for game in paid:
        head += [f"{game} return", f"{game} low", f"{game} high"]
        head += [f"{game} any_low", f"{game} any_high"]
        head += [f"{game} without luck", f"{game} without luck low", f"{game} without luck high"]
    head += ["nash_share"] if nash else []
    head += ["version", "digest"]
    rows = [_row(line, games, paid, nash=nash) for line in lines]
    if any(line.standing.entrant.twin_of for line in lines):
        head.append("twin_of")
        for line, row in zip(lines, rows, strict=True):
            row.append(line.standing.entrant.twin_of)
    return head, rows


def _row(line: BoardLine, games: Sequence[str], paid: Sequence[str], *, nash: bool) -> list[Cell]:
    who, at = line.standing.entrant, line.estimate
    row = _cells(line.standing, games)
    if at is None:
        row += [None] * 7
    else:
        row += [at.elo, at.low, at.high, at.any_low, at.any_high, at.rank_low, at.rank_high]
    row.append(line.ahead)
    for game in paid:
        found = line.returns.get(game)
        if found is None:
            row += [None] * 8
            continue
        raw, adjusted = found.raw, found.adjusted
        row += [raw.mean, raw.low, raw.high, *(found.watched or (None, None))]
        row += [adjusted.mean, adjusted.low, adjusted.high]
    if nash:
        row.append(None if line.nash is None else line.nash.share)
    return [*row, who.version, who.digest]


def _cells(standing: Standing, games: Sequence[str]) -> list[Cell]:
    """Return the cells under `HEAD`, and the score in each game."""
    who = standing.entrant
    return [
        *(standing.place, who.name, who.student, who.status, "yes" if who.baseline else ""),
        *(standing.score, standing.matches, standing.wins, standing.draws, standing.losses),
        standing.forfeits,
        *(standing.games.get(game) for game in games),
    ]


def standings_csv(standings: Sequence[Standing], games: Sequence[str]) -> str:
    """Return standings without their evidence as CSV."""
    rows = [[*_cells(each, games), each.entrant.version, each.entrant.digest] for each in standings]
    return table_csv([*HEAD, *games, "version", "digest"], rows)


def table_csv(head: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """Return CSV that is safe in spreadsheets.

    A text that begins like a formula gets a leading ``'``.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([_safe(each) for each in head])
    writer.writerows([[_safe(_plain(cell)) for cell in row] for row in rows])
    return out.getvalue()


def _safe(cell: object) -> object:
    return f"'{cell}" if isinstance(cell, str) and cell[:1] in FORMULA and cell else cell


def _plain(cell: Cell) -> Cell:
    """Return a number with six digits; empty if unknown or unbounded."""
    if cell is None or (isinstance(cell, float) and abs(cell) == float("inf")):
        return ""
    return float(f"{cell:.6g}") if isinstance(cell, float) else cell


def standings_markdown(
    title: str, head: Sequence[str], rows: Sequence[Sequence[Cell]], notes: Sequence[str]
) -> str:
    """Return the standings as a Markdown table with the notes below."""
    cells = [[_short(cell).replace("|", "\\|") for cell in row] for row in rows]
    lines = [f"# {title}", "", f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    lines += [f"| {' | '.join(row)} |" for row in cells]
    if notes:
        lines += ["", *(f"- {note}" for note in notes)]
    return "\n".join(lines) + "\n"


def standings_html(
    title: str, head: Sequence[str], rows: Sequence[Sequence[Cell]], notes: Sequence[str]
) -> str:
    """Return the standings as a self-contained page."""
    heads = "".join(f'<th scope="col">{escape(each)}</th>' for each in head)
    body = "\n".join(
        "<tr>" + "".join(f"<td>{escape(_short(cell))}</td>" for cell in row) + "</tr>"
        for row in rows
    )
    items = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{escape(title)}</title><style>table{{border-collapse:collapse}}"
        "td,th{border:1px solid;padding:.2em .5em}</style></head>\n"
        f"<body><h1>{escape(title)}</h1>\n<table><thead><tr>{heads}</tr></thead>\n"
        f"<tbody>\n{body}\n</tbody></table>\n"
        + (f"<ul>{items}</ul>\n" if items else "")
        + "</body></html>\n"
    )


def _short(cell: Cell) -> str:
    if cell is None or (isinstance(cell, float) and abs(cell) == float("inf")):
        return ""
    if not isinstance(cell, float):
        return str(cell)
    return minus(f"{cell:.4g}" if abs(cell) < 100 else f"{cell:.0f}")
