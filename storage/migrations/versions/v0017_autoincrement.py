"""Ids that SQLite never gives to a second row.

Revision ID: 0017

PostgreSQL has sequences, which never go back.  SQLite gives the id of a deleted last row to the
next one unless the table is made with AUTOINCREMENT, so the tables are made again there.
"""

from __future__ import annotations

from alembic import op

revision = "0017"
down_revision = "0016"

TABLES = (
    *("players", "audit", "tokens", "bots", "versions", "rating_snapshots"),
    *("announcements", "regrades", "sessions", "outputs"),
)


def upgrade() -> None:
    """Make the tables again with their rows; the connection must not check foreign keys."""
    if op.get_bind().dialect.name != "sqlite":
        return
    for name in TABLES:
        options = {"sqlite_autoincrement": True}
        with op.batch_alter_table(name, recreate="always", table_kwargs=options):
            pass
