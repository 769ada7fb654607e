"""The output of hosted bots in their matches, for their authors, and their start commands.

Revision ID: 0008
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"

_Id = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the table; nothing was kept before, and nothing known of what submissions need."""
    op.add_column(
        "submissions", sa.Column("needs", sa.String(length=64), nullable=False, server_default="")
    )
    op.create_table(
        "outputs",
        sa.Column("id", _Id, nullable=False),
        sa.Column("match_id", sa.String(length=64), nullable=False),
        sa.Column("bot_id", sa.BigInteger(), nullable=False),
        sa.Column("version_id", sa.BigInteger(), nullable=False),
        sa.Column("part", sa.String(length=64), nullable=False),
        sa.Column("received_ms", sa.BigInteger(), nullable=False),
        sa.Column("crashes", sa.Integer(), nullable=False),
        sa.Column("bytes", sa.Integer(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["match_id"], ["matches.id"], name=op.f("fk_outputs_match_id")),
        sa.ForeignKeyConstraint(["bot_id"], ["bots.id"], name=op.f("fk_outputs_bot_id")),
        sa.ForeignKeyConstraint(
            ["version_id"], ["versions.id"], name=op.f("fk_outputs_version_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_outputs")),
    )
    op.create_index(
        "uq_outputs_match_id_bot_id_part", "outputs", ["match_id", "bot_id", "part"], unique=True
    )
    op.create_index("ix_outputs_bot_id", "outputs", ["bot_id"])
    op.create_index("ix_outputs_version_id", "outputs", ["version_id"])
