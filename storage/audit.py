"""The audit log: who did what to whom, when and why; the SQL."""

from __future__ import annotations

from sqlalchemy import Connection, func, select, text

from plyhouse.protocol.api.people import AuditEntry
from plyhouse.storage.models import audit
from plyhouse.storage.rows import By

MAX_WHY = 1000
"""Characters of a reason that are kept."""

_COLUMNS = (
    audit.c.id,
    audit.c.at_ms,
    audit.c.who,
    audit.c.what,
    audit.c.subject,
    audit.c.subject_id,
    audit.c.why,
    audit.c.keep_matches,
)


def add(
    connection: Connection,
    now_ms: int,
    by: By,
    what: str,
    subject: str,
    subject_id: int | str,
    keep_matches: bool = True,
    *,
    most: int = MAX_WHY,
    old_name: str | None = None,
) -> None:
    """Note what is done in this transaction; ``most`` characters of the reason are kept.

    ``old_name`` is the name that a renamed player had.
    """
    if connection.dialect.name == "postgresql":
        # Numbers are drawn before a transaction commits: without this lock an entry could appear
        # before one that a server has read already, which would then miss it.  Reading goes on.
        connection.execute(text("LOCK TABLE audit IN EXCLUSIVE MODE"))
    connection.execute(
        audit.insert().values(
            at_ms=now_ms,
            who=by.who[:100],
            what=what,
            subject=subject[:200],
            subject_id=str(subject_id),
            why=by.why[:most],
            keep_matches=keep_matches,
            old_name=old_name,
        )
    )


def mark(connection: Connection) -> int:
    """Return the id of the last entry; 0 while there is none."""
    return int(connection.execute(select(func.coalesce(func.max(audit.c.id), 0))).scalar_one())


def since(connection: Connection, after: int) -> list[AuditEntry]:
    """Return the entries after one, oldest first."""
    query = select(*_COLUMNS).where(audit.c.id > after).order_by(audit.c.id)
    return [AuditEntry(*row) for row in connection.execute(query)]


def latest(connection: Connection, limit: int = 100, before: int | None = None) -> list[AuditEntry]:
    """Return the latest entries, newest first; those before an id if one is given."""
    query = select(*_COLUMNS).order_by(audit.c.id.desc()).limit(limit)
    if before is not None:
        query = query.where(audit.c.id < before)
    return [AuditEntry(*row) for row in connection.execute(query)]
