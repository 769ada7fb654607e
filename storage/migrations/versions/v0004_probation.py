"""Versions that are suspended after repeated forfeits, and since when that is lifted.

Revision ID: 0004
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Make the table of suspensions."""
    op.create_table(
        "suspensions",
        sa.Column("version_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("since_ms", sa.BigInteger(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("lifted_ms", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["version_id"], ["versions.id"], name=op.f("fk_suspensions_version_id")
        ),
        sa.PrimaryKeyConstraint("version_id", name=op.f("pk_suspensions")),
    )
