"""Standings of leaderboards and competitions, as tables for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from plyhouse.clients.shared.output import counted, interval, note, print_table, rich_table, signed
from plyhouse.protocol.api.boards import BaselineCertainty, Board, Mean, MeanReturn, ProvenLine

if TYPE_CHECKING:
    from rich.table import Table

    from plyhouse.protocol.api.boards import Standing

WHO: Final = ("#", "bot", "player", "rating", "95 % interval")
BY_WINS: Final = ("score", "games", "W-D-L", "returns")
BY_RETURNS: Final = ("return per game", "95 % interval", "games", "W-D-L", "returns")


def print_standings(title: str, rows: Sequence[Standing], *, versions: bool = False) -> None:
    """Print standings of a game.

    With ``versions`` they say of which version of a bot they are.
    """
    print_table(title, *standings_cells(rows, versions=versions), keys=4 if versions else 3)


def standings_table(title: str, rows: Sequence[Standing]) -> Table:
    """Return the same as a table of rich, for any standard output and width."""
    return rich_table(title, *standings_cells(rows))


def standings_cells(
    rows: Sequence[Standing], *, versions: bool = False
) -> tuple[Sequence[str], list[list[str]], str]:
    """Columns, lines, and which columns to align right."""
    by_returns = any(row.mean_return is not None for row in rows)
    columns = WHO + (BY_RETURNS if by_returns else BY_WINS)
    table = []
    for row in rows:
        known = row.rating is not None
        line = [
            str(row.rank),
            f"{row.bot} {row.version or '-'}" if versions else row.bot,
            row.player,
            f"{row.rating:.0f}" if known else "-",
            f"[{row.low:.0f}, {row.high:.0f}]" if known else "-",
        ]
        if not by_returns:
            line.append(f"{row.score:g}")
        elif row.mean_return is None or row.mean_low is None or row.mean_high is None:
            line += ["-", "-"]
        else:
            line.append(signed(row.mean_return, 2))
            line.append(interval(row.mean_low, row.mean_high, 2))
        line += [
            str(row.games),
            f"{row.wins}-{row.draws}-{row.losses}",
            signed(row.returns, 1),
        ]
        table.append(line)
    return (
        columns,
        table,
        "rll" + "".join("R" if name.startswith("95 %") else "r" for name in columns[3:]),
    )


def print_board(view: Board, *, more: bool = False) -> None:
    """Print the table of a board, and notes about data that it withholds."""
    print_table(*board_cells(view, more=more))
    for text in view.notes:
        note(text)


def board_cells(view: Board, *, more: bool = False) -> tuple[str, list[str], list[list[str]], str]:
    """Return title, columns, rows and alignment of a board; all columns with ``more``."""
    graded = any(line.grade for line in view.lines)
    graded = graded and view.decided_by != "grade"
    columns = ["place", "entry", "score", "95 %"] + ["grade"] * graded
    align = "rlrr" + "l" * graded
    rows = [_row(line, graded=graded) for line in view.lines]
    if view.decided_by:
        columns.insert(2, f"{view.decided_by} (decides)")
        align = f"{align[:2]}l{align[2:]}"
        for row, line in zip(rows, view.lines, strict=True):
            value = line.grade if view.decided_by == "grade" else line.decider
            row.insert(2, f"{value}  {line.tie_break}".strip() or "-")
    if more:
        found, heads = _more(view)
        columns += heads
        align += "r" * len(heads)
        rows = [one + other for one, other in zip(rows, found, strict=True)]
    final = "" if view.status == "finished" else f", {view.status}"
    title = f"{view.name}: {counted(view.matches, 'match', 'matches')}{final}"
    return title, columns, rows, align


def _more(view: Board) -> tuple[list[list[str]], list[str]]:
    """Return the cells and the heads of the other columns."""
    nash = any(line.nash for line in view.lines)
    any_time = view.any_time
    columns = ["played", "rating"]
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
    rows = [_more_cells(line, means, nash=nash, any_time=any_time) for line in view.lines]
    return rows, columns


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


def _row(line: ProvenLine, *, graded: bool) -> list[str]:
    """The cells of a line that everybody needs."""
    rating = line.rating
    return [
        "-" if line.place is None else str(line.place),
        line.entry + _kind(line),
        "-" if line.score is None else f"{line.score:.3f}",
        "-" if rating is None else f"{rating.low:.0f} to {rating.high:.0f}",
        *([line.grade] if graded else []),
    ]


def _more_cells(
    line: ProvenLine, means: list[tuple[str, str]], *, nash: bool, any_time: bool
) -> list[str]:
    """The other cells of a line; ``any_time``: there are no fixed-time intervals."""
    rating = line.rating
    cells = [str(line.matches), "-" if rating is None else f"{rating.elo:.0f}"]
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
