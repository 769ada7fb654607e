"""Counts of what a deleted competition takes with it; the SQL."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, func, select

from plyhouse.storage.competition_sql import find
from plyhouse.storage.models import (
    competition_codes,
    competition_entries,
    competition_games,
    competition_students,
    matches,
    pairings,
)
from plyhouse.storage.stored_packages import held_for_alone

__all__ = ["Losses", "losses"]


@dataclass(frozen=True, slots=True)
class Losses:
    """Counts of what is deleted, or left without its place, with a competition."""

    name: str
    status: str
    rehearsal: bool
    students: int
    """The number of students that were not removed; their accounts stay."""
    entries: int
    """Baselines not counted."""
    submissions: int
    """Packages that were submitted for this competition alone; they are deleted."""
    codes: int
    """The number of codes that still let students in."""
    matches: int
    """Finished matches of its final; they stay in the list of matches, without a table."""
    running: int
    """Matches that are being played."""


def losses(connection: Connection, reference: str, now_ms: int) -> Losses:
    """Count what would be lost with a competition; raises `Unknown`."""
    row = find(connection, reference)
    student, entry, code = competition_students.c, competition_entries.c, competition_codes.c
    parts = select(competition_games.c.tournament_id).where(
        competition_games.c.competition_id == row.id
    )
    played = (
        select(func.count())
        .select_from(matches)
        .join(pairings, pairings.c.id == matches.c.pairing_id)
        .where(pairings.c.tournament_id.in_(parts))
    )

    def count(query: Select[Any]) -> int:
        return int(connection.execute(query).scalar_one())

    return Losses(
        row.name,
        row.status,
        row.rehearses is not None,
        count(
            select(func.count())
            .select_from(competition_students)
            .where(student.competition_id == row.id, student.status != "revoked")
        ),
        count(
            select(func.count())
            .select_from(competition_entries)
            .where(entry.competition_id == row.id, entry.baseline.is_(False))
        ),
        len(held_for_alone(connection, row.id)),
        count(
            select(func.count())
            .select_from(competition_codes)
            .where(
                code.competition_id == row.id,
                code.revoked_ms.is_(None),
                code.used < code.uses,
                func.coalesce(code.expires_ms, now_ms + 1) > now_ms,
            )
        ),
        count(played.where(matches.c.finished_ms.is_not(None))),
        count(played.where(matches.c.finished_ms.is_(None))),
    )
