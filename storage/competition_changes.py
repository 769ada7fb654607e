"""A competition that gets another file, or is opened again before its final; the SQL."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace
from sqlalchemy import Connection, select

from plyhouse.storage import announcements, audit
from plyhouse.storage.competition_rows import CompetitionRow
from plyhouse.storage.competition_sql import add_baselines, entries_of, find
from plyhouse.storage.errors import CompetitionRefusal
from plyhouse.storage.models import (
    competition_entries,
    competition_games,
    competition_students,
    competitions,
)
from plyhouse.storage.rows import By
from plyhouse.storage.tournament_settings import settings
from plyhouse.storage.tournaments import change_settings, find_tournament

__all__ = ["Changed", "apply"]

MOST_LOGGED = 60_000
"""Characters of a value that the audit log keeps: more than a competition file has."""

COMPARED = ("file", "status", "freezes_ms", "most_students")
"""The columns that a change was worked out from, and that others may have changed meanwhile."""


@dataclass(frozen=True, slots=True)
class Changed:
    """A competition with its new file, and what has to follow from it."""

    row: CompetitionRow
    """With the new values, the new games among them."""
    changes: Sequence[tuple[str, str, str]]
    """For the audit log: keys with their old and new values."""
    notice: str = ""
    """The notice for students; empty for none."""
    new_baselines: Sequence[int] = ()
    """Bots that become baselines."""
    provided: Collection[int] = ()
    """Those among them that the server submits itself."""
    gone_baselines: Sequence[int] = ()
    settings: dict[str, Any] | None = None
    """Values of `TournamentSettings` that change in the games of a final that has begun."""
    step: str = "competition.change"
    """The name of the action in the audit log."""


def apply(
    connection: Connection, before: CompetitionRow, after: Changed, by: By, now_ms: int
) -> CompetitionRow:
    """Store a change that was worked out for a competition as it was ``before``.

    One transaction: the file, what follows from it, the audit log and the notice for students.
    Raises `CompetitionRefusal` if the competition has changed meanwhile, or has too many students
    or entries for its new limits.
    """
    row, now = after.row, find(connection, before.id, lock=True)
    if any(getattr(now, name) != getattr(before, name) for name in COMPARED):
        raise CompetitionRefusal(
            "competition/changed_meanwhile",
            f"{now.name!r} has changed since you looked at it; look again, and repeat the change",
        )
    _refuse_limits(connection, before, row)
    connection.execute(
        competitions.update()
        .where(competitions.c.id == row.id)
        .values(
            file=row.file,
            format=row.format,
            status=row.status,
            entries_each=row.entries_each,
            most_students=row.most_students,
            opens_ms=row.opens_ms,
            freezes_ms=row.freezes_ms,
            late_ms=row.late_ms,
            final_ms=row.final_ms,
            note=None,
        )
    )
    if [each.game for each in row.games] != [each.game for each in before.games]:
        connection.execute(
            competition_games.delete().where(competition_games.c.competition_id == row.id)
        )
        connection.execute(
            competition_games.insert(),
            [{"competition_id": row.id, "number": n, "game": each.game} for n, each in
             enumerate(row.games)],
        )  # fmt: skip
    entry = competition_entries.c
    if after.gone_baselines:
        gone = entry.bot_id.in_(after.gone_baselines) & entry.baseline.is_(True)
        connection.execute(competition_entries.delete().where(entry.competition_id == row.id, gone))
    if after.new_baselines:
        _refuse_entered(connection, row, after.new_baselines)
        add_baselines(connection, row, after.new_baselines, now_ms, after.provided)
    for game in row.games:
        if after.settings and game.tournament_id is not None:
            part = find_tournament(connection, game.tournament_id, lock=True)
            # A final that began under older rules keeps them.
            began, changes = settings(part).grading, dict(after.settings)
            grading = changes.pop("grading", None)
            if began is not None and grading is not None:
                changes["grading"] = replace(grading, missing_lowest=began.missing_lowest)
            change_settings(connection, part, **changes)
    for key, old, new in after.changes or [("", "", "")]:
        subject = f"{row.name}: {key}" if key else row.name
        values = f"{old or 'none'} -> {new or 'none'}" if key else ""
        why = "; ".join(each for each in (values, by.why) if each)
        audit.add(connection, now_ms, By(by.who, why), after.step, subject, row.id,
                  most=MOST_LOGGED)  # fmt: skip
    if after.notice:
        announcements.add(connection, row.id, by, after.notice, now_ms, "change")
    return find(connection, row.id)


def _refuse_limits(connection: Connection, before: CompetitionRow, row: CompetitionRow) -> None:
    """Raise if there are more students or entries than the new limits allow."""
    if row.most_students < before.most_students:
        here = competition_students.c
        query = select(here.player_id).where(
            here.competition_id == row.id, here.status != "revoked"
        )
        inside = len(connection.execute(query).all())
        if row.most_students < inside:
            raise CompetitionRefusal(
                "competition/full", f"{row.name!r} has {inside} students already"
            )
    if row.entries_each < before.entries_each:
        mine = Counter(
            each.player
            for each in entries_of(connection, row.id)
            if not each.baseline and each.status != "withdrawn"
        )
        full = [name for name, count in mine.items() if count > row.entries_each]
        if full:
            raise CompetitionRefusal(
                "competition/entry_limit",
                f"{', '.join(sorted(full)[:10])} would have more entries than "
                f"{row.entries_each}; take some out first: plyhouse competition disqualify",
            )


def _refuse_entered(connection: Connection, row: CompetitionRow, bots: Sequence[int]) -> None:
    """Raise for a baseline that is a student's entry."""
    for each in entries_of(connection, row.id):
        if each.bot_id in bots:
            raise CompetitionRefusal(
                "competition/entered",
                f"{each.name} is entered by a student, and cannot be a baseline",
            )
