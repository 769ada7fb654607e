"""A report on a student as Markdown, which reads well in a terminal, too."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from plyhouse.clients.shared.output import counted
from plyhouse.protocol.api.reports import (
    BaselineScore,
    RatingPoint,
    Report,
    ReportEntry,
    ReportScore,
)
from plyhouse.protocol.parts import ending_words


def _ratings(entry: str, points: Sequence[RatingPoint]) -> list[str]:
    return _section(
        f"Rating of {entry}",
        ("matches of all", "rating", "95 %", "while watching"),
        (
            [
                str(each.matches), f"{each.elo:.0f}",
                interval(each.low, each.high),
                interval(each.any_low, each.any_high),
            ]
            for each in points
        ),
    )  # fmt: skip


def report_text(found: Report, base: str) -> str:
    """The report; ``base`` is the address of the server, for links."""
    who = found.display or found.student
    lines = [f"# {found.competition}: {who}", "", *_opening(found, base)]
    if found.status != "finished":
        lines += [f"The competition is {found.status}: this is not final.", ""]
    scoring = [f"{game} by {each}" for game, each in found.scoring.items()]
    lines += [f"Scored: {', '.join(scoring)}", ""] if scoring else []
    lines += _entries(found.entries)
    any_time = found.any_time
    if any_time:
        lines += ["Pairings were played until grades were certain: all intervals are any-time.", ""]
    lines += _scores("Against the baselines", found.baselines, graded=True, any_time=any_time)
    lines += _scores("Against each opponent", found.opponents, graded=False, any_time=any_time)
    lines += _forfeits(found, base)
    lines += _section(
        "Slowest plies",
        ("match", "ply", "action", "thought", "charged", "left"),
        (
            [
                f"{base}{each.replay}", str(each.ply + 1), each.action,
                f"{each.thought_s:.3f} s", f"{each.charged_s:.3f} s",
                f"{each.left_s:.1f} s",
            ]
            for each in found.slowest
        ),
    )  # fmt: skip
    lines += _section(
        "Lost matches, the latest first",
        ("replay", "game", "entry", "seat", "against", "ended by"),
        (
            [
                f"{base}{each.replay}", each.game, each.entry, str(each.seat),
                ", ".join(each.opponents), ending_words(each.termination),
            ]
            for each in found.lost
        ),
    )  # fmt: skip
    for entry, points in found.history.items():
        lines += _ratings(entry, points)
    if found.notes:
        lines += ["## What the results withhold", "", *(f"- {each}" for each in found.notes), ""]
    return "\n".join(lines).rstrip() + "\n"


def _opening(found: Report, base: str) -> list[str]:
    """The grade, its reason, the plot of results, and what to try next."""
    lines = []
    if found.grade or found.points is not None:
        by = f" (for {found.graded_by})" if found.graded_by else ""
        worth = ""
        if found.points is not None:
            worth = f", {found.points:g} point{'' if found.points == 1 else 's'}"
        lines += [f"Grade: **{found.grade or 'none'}**{by}{worth}", ""]
    if found.days_late:
        days = counted(found.days_late, "day")
        lines += [f"Submitted {days} late: a penalty of {found.penalty:g} % of the points.", ""]
    said = found.summary
    lines += [said.why, ""] if said.why else []
    lines += _plot(found)
    if said.advice:
        lines += [f"Try next: {said.advice}", ""]
        lines += [f"Replay: {base}{said.replay}", ""] if said.replay else []
    return lines


WIDE: Final = 41
"""Characters of the plot of results, from a score of 0 to 1."""
MOST_ROWS: Final = 24


def _plot(found: Report) -> list[str]:
    """The scores against baselines and others as a block of text."""
    known = {each.name for each in found.baselines}
    others = [each for each in found.opponents if each.name not in known]
    rows: list[ReportScore] = [*found.baselines, *others][:MOST_ROWS]
    if not rows:
        return []
    wide = max(len(each.name) for each in rows)
    head = "0".ljust(WIDE // 2 - 1) + "0.5".ljust(WIDE // 2 + 1) + "1"
    lines = [f"{'':{wide}}  {head}", *(f"{each.name:{wide}}  {bar(each)}" for each in rows)]
    legend = "o is the score, - its 95 % interval"
    if any(isinstance(each, BaselineScore) and each.grade for each in rows):
        legend += ", | what a grade needs"
    return ["```", *lines, "```", "", f"Mean scores: {legend}.", ""]


def bar(row: ReportScore) -> str:
    """A score with its interval and the threshold of its grade as a line of text.

    >>> bar(ReportScore("ann/bot", 4, 2, 0, 2, 0.5, 0.25, 0.75, 0.0, 1.0))
    '..........----------o----------..........  0.500'
    """

    def at(value: float) -> int:
        return round(min(1.0, max(0.0, value)) * (WIDE - 1))

    cells = ["."] * WIDE
    if row.low is not None and row.high is not None:
        low, high = at(row.low), at(row.high) + 1
        cells[low:high] = "-" * (high - low)
    if isinstance(row, BaselineScore) and row.grade:
        cells[at(row.at_least)] = "|"
    cells[at(row.score)] = "o"
    return f"{''.join(cells)}  {row.score:.3f}"


def _entries(entries: Sequence[ReportEntry]) -> list[str]:
    rows = []
    for each in entries:
        rating = each.rating
        rows.append(
            [
                each.entry,
                each.version or each.digest[:8] or "-",
                "-" if each.place is None else str(each.place),
                "-" if each.score is None else f"{each.score:.3f}",
                f"{each.wins}-{each.draws}-{each.losses}",
                str(each.forfeits),
                "-" if rating is None else f"{rating.elo:.0f}",
                "-" if rating is None else interval(rating.low, rating.high),
            ]
        )
    head = ("entry", "version", "place", "score", "won-drawn-lost", "forfeits", "rating", "95 %")
    return _section("Entries", head, rows)


def _scores(
    title: str, scores: Sequence[ReportScore], *, graded: bool, any_time: bool
) -> list[str]:
    head = ["bot", "matches", "won-drawn-lost", "score", "95 %"]
    head += [] if any_time else ["while watching"]
    rows = []
    for each in scores:
        row = [
            each.name,
            str(each.matches),
            f"{each.wins}-{each.draws}-{each.losses}",
            f"{each.score:.3f}",
            interval(each.low, each.high, 2),
        ]
        if not any_time:
            row.append(interval(each.any_low, each.any_high, 2))
        if isinstance(each, BaselineScore):
            reached = "reached" if each.reached else "not reached"
            if each.counted is not None and f"{each.counted:.3f}" != f"{each.score:.3f}":
                reached += f", as {each.counted:.3f} counts"
            row.append(f"{each.grade or 'no grade'} from {each.at_least:g}: {reached}")
        rows.append(row)
    return _section(title, [*head, "grade"] if graded else head, rows)


def _forfeits(found: Report, base: str) -> list[str]:
    if not found.forfeits:
        return []
    from plyhouse.games.scene_text import draw_fields

    kinds = ", ".join(
        counted(many, ending_words(kind), ending_words(kind))
        for kind, many in sorted(found.forfeits.items())
    )
    lines = ["## Forfeits", "", f"{kinds}.", ""]
    for each in found.forfeited:
        lines += [
            f"### {ending_words(each.kind)} at ply {each.ply + 1} of {each.game}",
            "",
            each.reason,
            "",
            f"Replay: {base}{each.replay}",
            "",
        ]
        if each.actions:
            lines += [f"Last actions: {', '.join(each.actions)}", ""]
        if each.scene is not None:
            lines += ["```", draw_fields(each.scene, colour=False), "```", ""]
        if each.detail:
            lines += ["```", each.detail.rstrip(), "```", ""]
    return lines


def _section(title: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A heading with a table; nothing if there are no rows."""
    body = [[_cell(cell) for cell in row] for row in rows]
    if not body:
        return []
    wide = [max(len(row[at]) for row in (head, *body)) for at in range(len(head))]

    def line(cells: Sequence[str]) -> str:
        return (
            "| "
            + " | ".join(cell.ljust(width) for cell, width in zip(cells, wide, strict=True))
            + " |"
        )

    rule = "|" + "|".join("-" * (width + 2) for width in wide) + "|"
    return [f"## {title}", "", line(head), rule, *map(line, body), ""]


def interval(low: float | None, high: float | None, digits: int = 0) -> str:
    """An interval of ratings or scores; a dash where nothing is known yet."""
    if low is None or high is None:
        return "-"
    return f"{low:.{digits}f} to {high:.{digits}f}"


def _cell(text: str) -> str:
    """A text that cannot end its cell."""
    return text.replace("|", "\\|").replace("\n", " ")
