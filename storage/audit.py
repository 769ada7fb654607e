"""The audit log: who did what to whom, when and why; the SQL.

An entry refers to accounts, bots and versions by their ids.  Names are put in when it is read, as
they were at its time: a later entry ``player.rename`` has the name that an account had before.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import Connection, Row, Select, case, func, select, text

from plyhouse.protocol.api.people import AuditEntry
from plyhouse.storage.models import audit, bots, players, versions
from plyhouse.storage.names import key_of
from plyhouse.storage.rows import By

MAX_WHY = 1000
"""Characters of a reason that are kept."""
ABOUT: Final = "{}"
"""Stands in a subject for the name of what the entry is about."""

_ENTRIES: Final = (
    select(
        *audit.c,
        bots.c.name.label("bot"),
        versions.c.label.label("version"),
        versions.c.digest.label("digest"),
    )
    .outerjoin(bots, bots.c.id == audit.c.bot_id)
    .outerjoin(versions, versions.c.id == audit.c.version_id)
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
    player_id: int | None = None,
    bot_id: int | None = None,
    version_id: int | None = None,
    most: int = MAX_WHY,
    old_name: str | None = None,
) -> None:
    """Note what is done in this transaction; ``most`` characters of the reason are kept.

    The entry is about the version, the bot or the account of these ids, if there is one.
    ``subject`` has `ABOUT` in the place of its name.  ``old_name`` is the name that a renamed
    player had, or that of a member of the account.
    """
    bot: Any = bot_id
    player: Any = player_id
    if version_id is not None:
        bot = select(versions.c.bot_id).where(versions.c.id == version_id).scalar_subquery()
    if bot is not None:
        player = select(bots.c.player_id).where(bots.c.id == bot).scalar_subquery()
    account = select(players.c.id).where(players.c.name_key == key_of(by.who))
    if connection.dialect.name == "postgresql":
        # Numbers are drawn before a transaction commits: without this lock an entry could appear
        # before one that a server has read already, which would then miss it.  Reading goes on.
        connection.execute(text("LOCK TABLE audit IN EXCLUSIVE MODE"))
    connection.execute(
        audit.insert().values(
            at_ms=now_ms,
            who=case((account.exists(), ""), else_=by.who[:100]),
            who_id=account.scalar_subquery(),
            what=what,
            subject=subject[:200],
            subject_id=str(subject_id),
            player_id=player,
            bot_id=bot,
            version_id=version_id,
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
    return _read(connection, _ENTRIES.where(audit.c.id > after).order_by(audit.c.id))


def latest(connection: Connection, limit: int = 100, before: int | None = None) -> list[AuditEntry]:
    """Return the latest entries, newest first; those before an id if one is given."""
    query = _ENTRIES.order_by(audit.c.id.desc()).limit(limit)
    return _read(connection, query if before is None else query.where(audit.c.id < before))


def about(connection: Connection, player_id: int) -> list[AuditEntry]:
    """Return the entries about an account, oldest first."""
    return _read(connection, _ENTRIES.where(audit.c.player_id == player_id).order_by(audit.c.id))


def _read(connection: Connection, query: Select[Any]) -> list[AuditEntry]:
    rows = connection.execute(query).all()
    names = _Names(connection, rows)
    return [
        AuditEntry(
            row.id,
            row.at_ms,
            row.who if row.who_id is None else names.of(row.who_id, row.id),
            row.what,
            _subject(row, names),
            row.subject_id,
            row.why,
            row.keep_matches,
        )
        for row in rows
    ]


def _subject(row: Row[Any], names: _Names) -> str:
    if row.player_id is None:
        return str(row.subject)
    name = names.of(row.player_id, row.id)
    if row.what == "player.rename":
        name = f"{row.old_name or name} to {name}"
    elif row.old_name is not None:
        name = row.old_name
    elif row.bot is not None:
        name = f"{name}/{row.bot}"
        name += f" version {row.version}" if row.version else ""
        name += f" ({row.digest[:12]})" if row.digest else ""
    return str(row.subject.replace(ABOUT, name, 1))


class _Names:
    """The names of the accounts in some entries, at the times of the entries."""

    def __init__(self, connection: Connection, rows: Sequence[Row[Any]]) -> None:
        ids = {each for row in rows for each in (row.who_id, row.player_id) if each is not None}
        self._now: dict[int, str] = {}
        self._before: dict[int, list[tuple[int, str]]] = defaultdict(list)
        """The names of each account before its renames, with the ids of these entries."""
        if not ids:
            return
        now = select(players.c.id, players.c.name).where(players.c.id.in_(ids))
        self._now.update((player, name) for player, name in connection.execute(now))
        renames = select(audit.c.player_id, audit.c.id, audit.c.old_name).where(
            audit.c.player_id.in_(ids),
            audit.c.what == "player.rename",
            audit.c.old_name.is_not(None),
        )
        for player, entry, name in connection.execute(renames.order_by(audit.c.id)):
            self._before[player].append((entry, name))

    def of(self, player_id: int, entry: int) -> str:
        """Return the name of an account after an entry."""
        later = (name for number, name in self._before[player_id] if number > entry)
        return next(later, self._now.get(player_id, "a deleted account"))
