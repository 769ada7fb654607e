"""A competition that gets another file, is copied, opened again, or deleted; the SQL."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final

from msgspec.structs import replace
from sqlalchemy import Connection, Select, case, func, select

from plyhouse.protocol.api.competitions import Losses
from plyhouse.storage import audit, competition_messages, competition_sql, entry_rule
from plyhouse.storage.competition_rows import CompetitionRow
from plyhouse.storage.competition_sql import add_baselines, entries_of, find
from plyhouse.storage.entry_rule import Candidate
from plyhouse.storage.errors import CompetitionRefusal
from plyhouse.storage.locks import locking
from plyhouse.storage.models import (
    competition_codes,
    competition_entries,
    competition_games,
    competition_members,
    competition_students,
    competitions,
    matches,
    pairings,
    players,
)
from plyhouse.storage.rows import By
from plyhouse.storage.statements import copy_rows
from plyhouse.storage.stored_packages import held_for_alone
from plyhouse.storage.tournament_settings import settings
from plyhouse.storage.tournaments import change_settings, find_tournament

MOST_LOGGED = 60_000
"""Characters of a value that the audit log keeps: more than a competition file has."""

UNREADABLE: Final = "the competition file cannot be read"
"""Begins the note of a competition whose file cannot be read."""
FROM_FILE: Final = ("file", "parsed", "format", "status", "entries_each", "most_students",
                    "opens_ms", "freezes_ms", "late_ms", "final_ms")  # fmt: skip
"""The columns that follow from a competition's file."""
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
        .values({name: getattr(row, name) for name in FROM_FILE} | {"note": None})
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
    changed = row.file != before.file or row.status != before.status
    changed |= bool(after.new_baselines or after.gone_baselines)
    for key, old, new in after.changes or [("", "", "")] * changed:
        subject = f"{row.name}: {key}" if key else row.name
        values = f"{old or 'none'} -> {new or 'none'}" if key else ""
        why = "; ".join(each for each in (values, by.why) if each)
        audit.add(connection, now_ms, By(by.who, why), after.step, subject, row.id,
                  most=MOST_LOGGED)  # fmt: skip
    if after.notice:
        competition_messages.add(connection, row.id, by, after.notice, now_ms, "change")
    return find(connection, row.id)


def parsed_files(connection: Connection) -> list[tuple[str, str | None]]:
    """Return the id of each competition, also of deleted ones, with the values of its file."""
    query = select(competitions.c.id, competitions.c.parsed)
    return [(identifier, parsed) for identifier, parsed in connection.execute(query)]


def text_of(connection: Connection, competition_id: str) -> str:
    """Return the text of a competition's file."""
    query = select(competitions.c.file).where(competitions.c.id == competition_id)
    return str(connection.execute(query).scalar_one())


def keep_parsed(
    connection: Connection, competition_id: str, text: str, parsed: str | None, note: str | None
) -> None:
    """Store the values of a competition's file, unless the text is another one by now.

    ``note`` says why it cannot be read, after `UNREADABLE`; None keeps all notes but such a one.
    """
    here = competitions.c
    kept = case((here.note.startswith(UNREADABLE, autoescape=True), None), else_=here.note)
    values = {"parsed": parsed, "note": kept if note is None else f"{UNREADABLE}: {note}"}
    connection.execute(
        competitions.update().where(here.id == competition_id, here.file == text).values(values)
    )


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


@dataclass(frozen=True, slots=True)
class Carry:
    """The parts of another competition that a new one copies, in addition to students."""

    competition: str
    """The id of the other one."""
    codes: bool = False
    """Its valid codes let people into the new one from now on, and into the old one no longer."""
    submissions: bool = False
    """The entries of its students play in the new one, with their versions."""


def create(
    connection: Connection,
    row: CompetitionRow,
    by: By,
    now_ms: int,
    *,
    baselines: Sequence[int] = (),
    provided: Collection[int] = (),
    bots: Sequence[int] = (),
    source: Carry | None = None,
) -> None:
    """Store a competition (see `competition_sql.create`), filled from ``source`` if given."""
    competition_sql.create(connection, row, baselines, by, provided, bots)
    if source is not None:
        carry(connection, source, row, by, now_ms)


def carry(connection: Connection, source: Carry, row: CompetitionRow, by: By, now_ms: int) -> None:
    """Fill a new competition from another one, within the transaction that makes it.

    Students that were taken out or disqualified, extensions and late codes stay behind.  Raises
    `CompetitionRefusal` if there are too many students, or if entries are to play other games.
    """
    old = find(connection, source.competition)
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
        # A token that is reissued meanwhile must reach the copy, too.
        locked = select(players.c.id).where(players.c.id.in_(active)).order_by(players.c.id)
        connection.execute(locking(locked))
        fresh = {"competition_id": row.id, "joined_ms": now_ms, "extended_ms": None}
        copy_rows(connection, competition_students, here, **fresh)
        audit.add(connection, now_ms, by, "student.import",
                  f"{len(active)} into {row.name} from {old.name}", row.id)  # fmt: skip
    people = (member.competition_id == old.id) & member.player_id.in_(active)
    copy_rows(connection, competition_members, people, competition_id=row.id)
    if source.codes:
        _codes(connection, old, row, by, now_ms)
    if source.submissions:
        _entries(connection, old, row, active, now_ms)


def _codes(
    connection: Connection, old: CompetitionRow, row: CompetitionRow, by: By, now_ms: int
) -> None:
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


def _entries(
    connection: Connection,
    old: CompetitionRow,
    row: CompetitionRow,
    students: set[int],
    now_ms: int,
) -> None:
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
    programs = entry_rule.programs(connection, [each.bot_id for each in rows])
    for each in rows:
        fits = each.player_id in students and each.bot_id in programs.keys() - baselines
        if fits and each.version_id is not None and mine[each.player_id] < row.entries_each:
            mine[each.player_id] += 1
            taken.append(Candidate(each.bot_id, each.version_id, each.chosen))
    entry_rule.add(connection, row, taken, now_ms)
