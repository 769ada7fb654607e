"""Announcements of competitions, and requests of students to look at a result again.

Revision ID: 0010
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"

_Id = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make both tables, empty."""
    op.create_table(
        "announcements",
        sa.Column("id", _Id, nullable=False),
        sa.Column("class_id", sa.String(length=64), nullable=False),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
        sa.Column("who", sa.String(length=100), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["class_id"], ["class_competitions.id"], name=op.f("fk_announcements_class_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_announcements")),
    )
    op.create_index("ix_announcements_class_id", "announcements", ["class_id"])
    op.create_table(
        "regrades",
        sa.Column("id", _Id, nullable=False),
        sa.Column("class_id", sa.String(length=64), nullable=False),
        sa.Column("player_id", sa.BigInteger(), nullable=False),
        sa.Column("match_id", sa.String(length=64), nullable=True),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("asked_ms", sa.BigInteger(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("answered_by", sa.String(length=100), nullable=False),
        sa.Column("answered_ms", sa.BigInteger(), nullable=True),
        sa.Column("closed_ms", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["class_id"], ["class_competitions.id"], name=op.f("fk_regrades_class_id")
        ),
        sa.ForeignKeyConstraint(["match_id"], ["matches.id"], name=op.f("fk_regrades_match_id")),
        sa.ForeignKeyConstraint(["player_id"], ["players.id"], name=op.f("fk_regrades_player_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_regrades")),
    )
    op.create_index("ix_regrades_class_id", "regrades", ["class_id"])
    op.create_index("ix_regrades_player_id", "regrades", ["player_id"])
