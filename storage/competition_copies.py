"""Students, codes and entries of a competition carried over to a new one; the SQL."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from plyhouse.storage import audit, competition_sql, entry_admission
from plyhouse.storage.competition_rows import CompetitionRow
from plyhouse.storage.competition_sql import find
from plyhouse.storage.entry_admission import Candidate
from plyhouse.storage.errors import CompetitionRefusal
from plyhouse.storage.models import (
    competition_codes,
    competition_entries,
    competition_members,
    competition_students,
)
from plyhouse.storage.rows import By
from plyhouse.storage.statements import copy_rows

__all__ = ["Carried", "Carry", "carry", "create"]


@dataclass(frozen=True, slots=True)
class Carry:
    """The parts of another competition that a new one copies, in addition to students."""

    source: str
    """The id of the other one."""
    codes: bool = False
    """Its valid codes let people into the new one from now on, and into the old one no longer."""
    submissions: bool = False
    """The entries of its students play in the new one, with their versions."""


@dataclass(frozen=True, slots=True)
class Carried:
    """How much a new competition took over."""

    students: int = 0
    codes: int = 0
    entries: int = 0


def create(
    connection: Connection,
    row: CompetitionRow,
    baselines: Sequence[int],
    by: By,
    now_ms: int,
    provided: Collection[int] = (),
    wish: Carry | None = None,
) -> Carried:
    """Store a competition (see `competition_sql.create`), filled from another one by ``wish``."""
    competition_sql.create(connection, row, baselines, by, provided)
    return Carried() if wish is None else carry(connection, wish, row, by, now_ms)


def carry(connection: Connection, wish: Carry, row: CompetitionRow, by: By, now_ms: int) -> Carried:
    """Fill a new competition from another one, within the transaction that makes it.

    Students that were taken out or disqualified, extensions and late codes stay behind.  Raises
    `CompetitionRefusal` if there are too many students, or if entries are to play other games.
    """
    old = find(connection, wish.source)
    student, member = competition_students.c, competition_members.c
    here = (student.competition_id == old.id) & (student.status == "active")
    active = set(connection.execute(select(student.player_id).where(here)).scalars())
    if len(active) > row.most_students:
        raise CompetitionRefusal(
            "competition/full",
            f"{old.name!r} has {len(active)} students, and the file of {row.name!r} allows "
            f"{row.most_students} (limits.students)",
        )
    if active:
        fresh = {"competition_id": row.id, "joined_ms": now_ms, "extended_ms": None}
        copy_rows(connection, competition_students, here, **fresh)
        audit.add(connection, now_ms, by, "student.import",
                  f"{len(active)} into {row.name} from {old.name}", row.id)  # fmt: skip
    people = (member.competition_id == old.id) & member.player_id.in_(active)
    copy_rows(connection, competition_members, people, competition_id=row.id)
    codes = _codes(connection, old, row, by, now_ms) if wish.codes else 0
    entries = _entries(connection, old, row, active, now_ms) if wish.submissions else 0
    return Carried(len(active), codes, entries)


def _codes(
    connection: Connection, old: CompetitionRow, row: CompetitionRow, by: By, now_ms: int
) -> int:
    here = competition_codes.c
    moved = connection.execute(
        competition_codes.update()
        .where(
            here.competition_id == old.id,
            here.revoked_ms.is_(None),
            here.used < here.uses,
            func.coalesce(here.expires_ms, now_ms + 1) > now_ms,
        )
        .values(competition_id=row.id, late_ms=None)
    ).rowcount
    if moved:
        subject = f"{moved} from {old.name} to {row.name}"
        audit.add(connection, now_ms, by, "student.code", subject, row.id)
    return moved


def _entries(
    connection: Connection,
    old: CompetitionRow,
    row: CompetitionRow,
    students: set[int],
    now_ms: int,
) -> int:
    games = [{each.game for each in one.games} for one in (old, row)]
    if games[0] != games[1]:
        raise CompetitionRefusal(
            "competition/other_games",
            f"{row.name!r} is not of the games of {old.name!r} ({', '.join(sorted(games[0]))}), "
            "so its entries cannot be carried over; leave --submissions out",
        )
    here = competition_entries.c
    baselines = set(
        connection.execute(select(here.bot_id).where(here.competition_id == row.id)).scalars()
    )
    mine: Counter[int] = Counter()
    taken = []
    query = select(competition_entries).where(
        here.competition_id == old.id, here.status == "active", here.baseline.is_(False)
    )
    rows = connection.execute(query.order_by(here.created_ms, here.bot_id)).all()
    programs = entry_admission.programs(connection, [each.bot_id for each in rows])
    for each in rows:
        fits = each.player_id in students and each.bot_id in programs.keys() - baselines
        if fits and each.version_id is not None and mine[each.player_id] < row.entries_each:
            mine[each.player_id] += 1
            taken.append(Candidate(each.bot_id, each.version_id, each.chosen))
    entry_admission.add(connection, row, taken, now_ms)
    return len(taken)
