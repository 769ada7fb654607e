"""Standings of leaderboards and competitions, as tables for the terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from plyhouse.clients.shared.output import counted, interval, note, print_table, signed
from plyhouse.protocol.api.standings import BaselineCertainty, Board, Mean, MeanReturn, ProvenLine

if TYPE_CHECKING:
    from plyhouse.protocol.api.standings import Standing

RowT = TypeVar("RowT")
Columns: TypeAlias = list[tuple[str, str, Callable[[RowT], str]]]
"""Columns of a table: the head, the side as in `plain_table`, and the cell of each row."""


def cells_of(
    columns: Columns[RowT], rows: Sequence[RowT]
) -> tuple[list[str], list[list[str]], str]:
    """Return the heads, lines and alignment of a table."""
    heads, sides, cells = zip(*columns, strict=True)
    return list(heads), [[cell(row) for cell in cells] for row in rows], "".join(sides)


def print_standings(title: str, rows: Sequence[Standing], *, versions: bool = False) -> None:
    """Print standings of a game.

    With ``versions`` they say of which version of a bot they are.
    """
    print_table(title, *standings_cells(rows, versions=versions), keys=4 if versions else 3)


def standings_cells(
    rows: Sequence[Standing], *, versions: bool = False
) -> tuple[list[str], list[list[str]], str]:
    """Return heads, lines and alignment of the standings of a game."""
    return cells_of(_standings_columns(rows, versions=versions), rows)


def _standings_columns(rows: Sequence[Standing], *, versions: bool) -> Columns[Standing]:
    columns: Columns[Standing] = [
        ("#", "r", lambda row: str(row.rank)),
        ("bot", "l", lambda row: f"{row.bot} {row.version or '-'}" if versions else row.bot),
        ("player", "l", lambda row: row.player),
        ("rating", "r", lambda row: "-" if row.rating is None else f"{row.rating:.0f}"),
        (
            "95 % interval",
            "R",
            lambda row: "-" if row.rating is None else f"[{row.low:.0f}, {row.high:.0f}]",
        ),
    ]
    if any(row.mean_return is not None for row in rows):
        columns += [
            ("return per game", "r", _mean_return),
            ("95 % interval", "R", _mean_interval),
        ]
    else:
        columns.append(("score", "r", lambda row: f"{row.score:g}"))
    return [
        *columns,
        ("games", "r", lambda row: str(row.games)),
        ("W-D-L", "r", lambda row: f"{row.wins}-{row.draws}-{row.losses}"),
        ("returns", "r", lambda row: signed(row.returns, 1)),
    ]


def _mean_return(row: Standing) -> str:
    return "-" if row.mean_return is None else signed(row.mean_return, 2)


def _mean_interval(row: Standing) -> str:
    if row.mean_low is None or row.mean_high is None:
        return "-"
    return interval(row.mean_low, row.mean_high, 2)


def print_board(view: Board, *, more: bool = False) -> None:
    """Print the table of a board, and notes about data that it withholds."""
    print_table(*board_cells(view, more=more))
    for text in view.notes:
        note(text)


def board_cells(view: Board, *, more: bool = False) -> tuple[str, list[str], list[list[str]], str]:
    """Return title, heads, lines and alignment of a board; all columns with ``more``."""
    columns = _board_columns(view)
    if more:
        columns += _more_columns(view)
    final = "" if view.status == "finished" else f", {view.status}"
    title = f"{view.name}: {counted(view.matches, 'match', 'matches')}{final}"
    return title, *cells_of(columns, view.lines)


def _board_columns(view: Board) -> Columns[ProvenLine]:
    """Return the columns that everybody needs."""
    decided = view.decided_by
    columns: Columns[ProvenLine] = [
        ("place", "r", lambda line: "-" if line.place is None else str(line.place)),
        ("entry", "l", lambda line: line.entry + _kind(line)),
        ("score", "r", lambda line: "-" if line.score is None else f"{line.score:.3f}"),
        ("rating (95 %)", "r", lambda line: _rating(line, "{0.low:.0f} to {0.high:.0f}")),
    ]
    if decided:
        columns.insert(2, (f"{decided} (decides)", "l", _decider))
    if view.graded:
        columns.append(("grade", "l", lambda line: line.grade))
    return columns


def _more_columns(view: Board) -> Columns[ProvenLine]:
    """Return the other columns, some of which need a fixed number of matches."""
    fixed = not view.any_time
    columns: Columns[ProvenLine] = [
        ("played", "r", lambda line: str(line.matches)),
        ("rating", "r", lambda line: _rating(line, "{0.elo:.0f}")),
    ]
    if fixed:
        watched = "{0.any_low:.0f} to {0.any_high:.0f}"
        columns.append(("while watching", "r", lambda line: _rating(line, watched)))
    columns.append(("rank by rating", "r", _ranks))
    if fixed:
        columns.append(
            ("ahead", "r", lambda line: "" if line.ahead is None else f"{line.ahead:.1%}")
        )
    for game, adjusted in view.returns:
        if adjusted:
            columns.append(("without luck", "r", _of_game(game, lambda each: _mean(each.adjusted))))
            continue
        columns.append((f"{game}: return", "r", _of_game(game, lambda each: _mean(each.raw))))
        if fixed:
            columns.append(("while watching", "r", _of_game(game, _watched)))
    if view.averaged:
        columns.append(
            ("Nash share", "r", lambda line: "-" if not line.nash else f"{line.nash.share:.2f}")
        )
    return columns


def _of_game(game: str, shown: Callable[[MeanReturn], str]) -> Callable[[ProvenLine], str]:
    return lambda line: shown(line.returns[game]) if game in line.returns else "-"


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


def _decider(line: ProvenLine) -> str:
    return f"{line.decider}  {line.tie_break}".strip() or "-"


def _rating(line: ProvenLine, form: str) -> str:
    return "-" if line.rating is None else form.format(line.rating)


def _ranks(line: ProvenLine) -> str:
    ranks = set() if line.rating is None else {line.rating.rank_low, line.rating.rank_high}
    return " to ".join(map(str, sorted(ranks))) or "-"


def _kind(line: ProvenLine) -> str:
    if line.twin_of:
        return f" (twin of {line.twin_of})"
    return " (baseline)" if line.baseline else ""


def _watched(found: MeanReturn) -> str:
    if found.any_low is None or found.any_high is None:
        return "-"
    return f"{signed(found.any_low, 2)} to {signed(found.any_high, 2)}"


def _mean(found: Mean | None) -> str:
    if found is None:
        return "-"
    if found.low is None or found.high is None:
        return signed(found.mean, 2)
    return f"{signed(found.mean, 2)} ({signed(found.low, 2)} to {signed(found.high, 2)})"
