"""The name that a player had before it was renamed, in the audit log.

Revision ID: 0018
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"

_audit = sa.table("audit", *map(sa.column, ("id", "what", "subject", "old_name")))


def upgrade() -> None:
    """Add the column; entries so far have both names in a text, ``OLD to NEW``."""
    op.add_column("audit", sa.Column("old_name", sa.String(length=64), nullable=True))
    connection = op.get_bind()
    renames = sa.select(_audit.c.id, _audit.c.subject).where(_audit.c.what == "player.rename")
    for identifier, subject in connection.execute(renames).all():
        old = subject.partition(" to ")[0]
        connection.execute(_audit.update().where(_audit.c.id == identifier).values(old_name=old))
