"""Leases of servers.

Revision ID: 0019
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    """Make the table, empty; forget which server held the claim by the earlier rule."""
    op.create_table(
        "leases",
        sa.Column("epoch", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("holder", sa.String(length=300), nullable=False),
        sa.Column("started_ms", sa.BigInteger(), nullable=False),
        sa.Column("expires_ms", sa.BigInteger(), nullable=False),
        sa.Column("ended_ms", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("epoch", name=op.f("pk_leases")),
        sqlite_autoincrement=True,
    )
    op.execute("DELETE FROM meta WHERE name = 'claim'")
