"""A report on a student as Markdown, which reads well in a terminal, too."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from plyhouse.clients.shared.output import counted
from plyhouse.protocol.api.reports import (
    BaselineScore,
    RatingPoint,
    Report,
    ReportEntry,
    ReportScore,
)


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
    lines = [f"# {found.competition}: {who}", ""]
    if found.status != "finished":
        lines += [f"The competition is {found.status}: this is not final.", ""]
    if found.grade:
        by = f" (for {found.graded_by})" if found.graded_by else ""
        worth = "" if found.points is None else f", {found.points:g} points"
        lines += [f"Grade: **{found.grade}**{by}{worth}", ""]
    if found.days_late:
        days = f"{found.days_late} day{'s' if found.days_late > 1 else ''}"
        lines += [f"Submitted {days} late: a penalty of {found.penalty:g} % of the points.", ""]
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
                ", ".join(each.opponents), each.termination.replace("_", " "),
            ]
            for each in found.lost
        ),
    )  # fmt: skip
    for entry, points in found.history.items():
        lines += _ratings(entry, points)
    if found.notes:
        lines += ["## What the results withhold", "", *(f"- {each}" for each in found.notes), ""]
    return "\n".join(lines).rstrip() + "\n"


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
        counted(many, kind.replace("_", " "), kind.replace("_", " "))
        for kind, many in sorted(found.forfeits.items())
    )
    lines = ["## Forfeits", "", f"{kinds}.", ""]
    for each in found.forfeited:
        lines += [
            f"### {each.kind.replace('_', ' ')} at ply {each.ply + 1} of {each.game}",
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
