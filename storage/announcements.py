"""Announcements on the page of a competition: the SQL."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlalchemy import Connection, func, select

from plyhouse.storage import audit
from plyhouse.storage.competition_sql import find
from plyhouse.storage.errors import CompetitionRefusal, Unknown
from plyhouse.storage.models import announcements
from plyhouse.storage.rows import By

__all__ = ["MAX_TEXT", "MOST", "Announcement", "add", "announce", "list_of", "remove"]

MAX_TEXT = 4000
"""Characters of one announcement."""
MOST = 200
"""Announcements of one competition."""


@dataclass(frozen=True, slots=True)
class Announcement:
    """A text of the staff for everybody who may see the board of a competition."""

    id: int
    at_ms: int
    who: str
    """The account that wrote it."""
    kind: str
    """``note``, or ``change``: the server says what changed in the competition's file."""
    text: str


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
    row = Announcement(0, now_ms, by.who[:100], kind, text[:MAX_TEXT])
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
