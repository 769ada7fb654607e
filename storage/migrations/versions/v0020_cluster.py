"""Several servers on one PostgreSQL database.

Revision ID: 0020
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    """Add members of a cluster, owners of pairings, leaders, and batches of messages."""
    false, empty = sa.text("false"), sa.text("''")
    for column in (
        sa.Column("shared", sa.Boolean(), nullable=False, server_default=false),
        sa.Column("address", sa.Text(), nullable=False, server_default=empty),
        sa.Column("version", sa.Text(), nullable=False, server_default=empty),
        sa.Column("draining", sa.Boolean(), nullable=False, server_default=false),
        sa.Column("steady_ms", sa.BigInteger(), nullable=False, server_default=sa.text("0")),
    ):
        op.add_column("leases", column)
    op.add_column("pairings", sa.Column("owner", sa.BigInteger(), nullable=True))
    unfinished = sa.text("finished_ms IS NULL")
    op.create_index(
        "ix_pairings_owner_unfinished",
        "pairings",
        ["owner", "id"],
        sqlite_where=unfinished,
        postgresql_where=unfinished,
    )
    op.create_table(
        "leaders",
        sa.Column("role", sa.String(length=64), nullable=False),
        sa.Column("epoch", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("role", name=op.f("pk_leaders")),
    )
    op.create_table(
        "cluster_batches",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("sender", sa.BigInteger(), nullable=False),
        sa.Column("receiver", sa.BigInteger(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_cluster_batches")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_cluster_batches_receiver_id"), "cluster_batches", ["receiver", "id"])
