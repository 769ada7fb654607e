"""When late submissions end, in a column of its own; and no persons among the entries.

The server reads competition files, so the database keeps what it needs of them.  A person who had
played in person could be an entry, in place of a bot of the same student.

Revision ID: 0021
"""

from __future__ import annotations

import tomllib
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"

_DAY_MS = 86_400_000

_classes = sa.table(
    "class_competitions",
    sa.column("id"),
    sa.column("file"),
    sa.column("status"),
    sa.column("freezes_ms"),
    sa.column("late_ms"),
)
_entries = sa.table(
    "class_entries", sa.column("class_id"), sa.column("bot_id"), sa.column("baseline")
)
_bots = sa.table("bots", sa.column("id"), sa.column("player_id"), sa.column("name_key"),
                 sa.column("kind"))  # fmt: skip
_players = sa.table("players", sa.column("id"), sa.column("name_key"))


def upgrade() -> None:
    """Add the column, fill it, and free the places that persons took."""
    op.add_column("class_competitions", sa.Column("late_ms", sa.BigInteger(), nullable=True))
    connection = op.get_bind()
    here = _classes.c
    rows = connection.execute(
        sa.select(here.id, here.file, here.freezes_ms).where(here.freezes_ms.is_not(None))
    )
    for identifier, text, freezes_ms in rows.all():
        days = late_days(text)
        if days:
            late = _classes.update().where(here.id == identifier)
            connection.execute(late.values(late_ms=freezes_ms + days * _DAY_MS))
    persons = (
        sa.select(_bots.c.id)
        .join(_players, _players.c.id == _bots.c.player_id)
        .where((_bots.c.kind != "bot") | (_bots.c.name_key == _players.c.name_key))
    )
    not_begun = sa.select(here.id).where(here.status.in_(("draft", "open", "frozen")))
    connection.execute(
        _entries.delete().where(
            _entries.c.bot_id.in_(persons),
            _entries.c.class_id.in_(not_begun),
            _entries.c.baseline.is_(False),
        )
    )


def late_days(text: str) -> int:
    r"""Return ``late.days`` of a competition file; 0 if it has none.

    >>> late_days("[late]\ndays = 3"), late_days("late = 3"), late_days("[")
    (3, 0, 0)
    """
    try:
        late: Any = tomllib.loads(text.removeprefix("\ufeff")).get("late")
    except (tomllib.TOMLDecodeError, RecursionError):
        return 0
    days = late.get("days") if isinstance(late, dict) else 0
    return days if isinstance(days, int) else 0
