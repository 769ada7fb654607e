"""Ids of submissions that are never used again, also after the last one is deleted.

Revision ID: 0011

PostgreSQL has sequences, which never go back.  SQLite gives the id of a deleted last row to the
next one unless the table is made with AUTOINCREMENT, so the table is made again there.
"""

from __future__ import annotations

from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Make the table again with its rows; the connection must not check foreign keys."""
    if op.get_bind().dialect.name == "sqlite":
        options = {"sqlite_autoincrement": True}
        with op.batch_alter_table("submissions", recreate="always", table_kwargs=options):
            pass
