"""Messages between a class and its staff: announcements, and requests to look again."""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy import Connection, func, select

from plyhouse.protocol.api.bodies import LONGEST_ANNOUNCEMENT
from plyhouse.protocol.api.competitions import Announcement, Regrade
from plyhouse.storage import audit
from plyhouse.storage.competition_sql import find
from plyhouse.storage.errors import CompetitionRefusal, Unknown
from plyhouse.storage.models import (
    announcements,
    bots,
    competition_games,
    competition_students,
    match_seats,
    matches,
    pairings,
    players,
    regrades,
    select_rows,
)
from plyhouse.storage.rows import By

MOST = 200
"""Announcements of one competition."""


def add(
    connection: Connection, competition_id: str, by: By, text: str, now_ms: int, kind: str = "note"
) -> Announcement:
    """Add an announcement to a competition, which the caller's transaction has locked.

    ``kind`` is ``note`` for what the staff writes and ``change`` for what the server says about a
    change of the competition.  Raises `CompetitionRefusal` if the competition has `MOST` already.
    """
    here = announcements.c
    query = (
        select(func.count()).select_from(announcements).where(here.competition_id == competition_id)
    )
    if int(connection.execute(query).scalar_one()) >= MOST:
        raise CompetitionRefusal(
            "competition/too_many",
            f"this competition has {MOST} announcements, the most there can be; remove old ones: "
            "plyhouse competition announcements NAME --remove NUMBER",
        )
    row = Announcement(0, now_ms, by.who[:100], kind, text[:LONGEST_ANNOUNCEMENT])
    values = {"at_ms": row.at_ms, "who": row.who, "kind": row.kind, "text": row.text}
    insert = announcements.insert().values(competition_id=competition_id, **values)
    made = connection.execute(insert.returning(here.id)).scalar_one()
    return replace(row, id=int(made))


def announce(
    connection: Connection, reference: str, text: str, by: By, now_ms: int
) -> Announcement:
    """Publish an announcement of the staff; raises `CompetitionRefusal` and `Unknown`."""
    row = find(connection, reference, lock=True)
    made = add(connection, row.id, by, text, now_ms)
    audit.add(connection, now_ms, by, "announcement.add", f"{made.id} in {row.name}", row.id)
    return made


def list_of(connection: Connection, competition_id: str) -> list[Announcement]:
    """Return the announcements of a competition, newest first."""
    here = announcements.c
    query = (
        select(here.id, here.at_ms, here.who, here.kind, here.text)
        .where(here.competition_id == competition_id)
        .order_by(here.id.desc())
    )
    return [Announcement(*row) for row in connection.execute(query)]


def remove(connection: Connection, reference: str, number: int, by: By, now_ms: int) -> None:
    """Remove an announcement by its number; raises `Unknown`."""
    row = find(connection, reference)
    here = announcements.c
    which = (here.competition_id == row.id) & (here.id == number)
    if not connection.execute(announcements.delete().where(which)).rowcount:
        raise Unknown(f"there is no announcement {number} in {row.name!r}")
    audit.add(connection, now_ms, by, "announcement.remove", f"{number} in {row.name}", row.id)


MOST_OPEN = 5
"""Open requests of one student in one competition."""
MOST_REGRADES = 50
"""Requests of one student in one competition, open or closed."""


def ask(
    connection: Connection,
    competition_id: str,
    player_id: int,
    text: str,
    match_id: str | None,
    now_ms: int,
) -> Regrade:
    """Store a student's request about one of its finished matches, or about its grade.

    Raises `CompetitionRefusal` if the account is no student or has too many requests, and
    `Unknown` if the student did not play the match in this competition.
    """
    row, here = find(connection, competition_id, lock=True), regrades.c
    query = (
        select(competition_students.c.status, players.c.name)
        .join(players, players.c.id == competition_students.c.player_id)
        .where(
            competition_students.c.competition_id == row.id,
            competition_students.c.player_id == player_id,
        )
    )
    student = connection.execute(query).first()
    if student is None or student.status == "revoked":
        raise CompetitionRefusal("competition/no_student", f"you are no student of {row.name!r}")
    if match_id is not None:
        _own_match(connection, row.id, row.name, player_id, match_id)
    mine = here.competition_id == row.id, here.player_id == player_id
    counts = select(func.count(), func.count(here.closed_ms)).where(*mine)
    total, closed = connection.execute(counts).one()
    if total >= MOST_REGRADES or total - closed >= MOST_OPEN:
        limit = (
            f"{MOST_REGRADES} requests" if total >= MOST_REGRADES else f"{MOST_OPEN} open requests"
        )
        raise CompetitionRefusal(
            "competition/too_many",
            f"you have {limit} in {row.name!r}, the most there can be: speak to the staff",
        )
    values = {"text": text, "asked_ms": now_ms, "answer": "", "answered_by": ""}
    insert = regrades.insert().values(
        competition_id=row.id, player_id=player_id, match_id=match_id, **values
    )
    number = int(connection.execute(insert.returning(here.id)).scalar_one())
    subject = f"{number} of {audit.ABOUT} in {row.name}"
    by = By(student.name)
    audit.add(connection, now_ms, by, "regrade.ask", subject, row.id, player_id=player_id)
    return _one(connection, row.id, number)


def _own_match(
    connection: Connection, competition_id: str, name: str, player_id: int, match_id: str
) -> None:
    query = (
        select(matches.c.id)
        .join(pairings, pairings.c.id == matches.c.pairing_id)
        .join(competition_games, competition_games.c.tournament_id == pairings.c.tournament_id)
        .join(match_seats, match_seats.c.match_id == matches.c.id)
        .join(bots, bots.c.id == match_seats.c.bot_id)
        .where(
            matches.c.id == match_id,
            matches.c.finished_ms.is_not(None),
            competition_games.c.competition_id == competition_id,
            bots.c.player_id == player_id,
        )
    )
    if connection.execute(query.limit(1)).first() is None:
        raise Unknown(
            f"there is no finished match {match_id!r} of yours in {name!r}: take an id from your "
            "report, or leave it out to ask about your grade"
        )


def requests(
    connection: Connection,
    competition_id: str,
    player_id: int | None = None,
    number: int | None = None,
) -> list[Regrade]:
    """Return the requests, open ones first, then the newest; of one student if given."""
    here = regrades.c
    query = (
        select_rows(
            Regrade, regrades, student=players.c.name, match=func.coalesce(here.match_id, "")
        )
        .join(players, players.c.id == here.player_id)
        .where(here.competition_id == competition_id)
        .order_by(here.closed_ms.is_not(None), here.id.desc())
    )
    if player_id is not None:
        query = query.where(here.player_id == player_id)
    if number is not None:
        query = query.where(here.id == number)
    return [Regrade(*row) for row in connection.execute(query)]


def _one(connection: Connection, competition_id: str, number: int) -> Regrade:
    found = requests(connection, competition_id, number=number)
    if not found:
        raise Unknown(f"there is no request {number} in this competition")
    return found[0]


def answer(
    connection: Connection,
    competition_id: str,
    number: int,
    text: str,
    by: By,
    now_ms: int,
    *,
    close: bool = False,
) -> Regrade:
    """Answer a request; a new text replaces an earlier one, an empty text keeps it.

    ``close`` closes the request.  Raises `Unknown`, or `CompetitionRefusal` if it is closed.
    """
    row = find(connection, competition_id, lock=True)
    old = _one(connection, row.id, number)
    if old.closed_ms is not None:
        raise CompetitionRefusal(
            "competition/not_now", f"request {number} is closed: its student may ask again"
        )
    values: dict[str, object] = {}
    text = "" if text == old.answer else text
    if text:
        values |= {"answer": text, "answered_by": by.who[:100], "answered_ms": now_ms}
    if close:
        values["closed_ms"] = now_ms
    subject = f"{number} of {audit.ABOUT} in {row.name}"
    own = select(regrades.c.player_id).where(regrades.c.id == number)
    student = int(connection.execute(own).scalar_one())
    for what, done in (("regrade.answer", bool(text)), ("regrade.close", close)):
        if done:
            audit.add(connection, now_ms, by, what, subject, row.id, player_id=student)
    if values:
        connection.execute(regrades.update().where(regrades.c.id == number).values(values))
    return _one(connection, row.id, number)
