"""People at browsers: sessions, passwords, and guests, who are players for a while.

Revision ID: 0005
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

_Id = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the three tables; existing players have no session or password."""
    op.create_table(
        "sessions",
        sa.Column("id", _Id, nullable=False),
        sa.Column("digest", sa.LargeBinary(length=32), nullable=False),
        sa.Column("player_id", sa.BigInteger(), nullable=False),
        sa.Column("token_id", sa.BigInteger(), nullable=True),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.Column("expires_ms", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["player_id"], ["players.id"], name=op.f("fk_sessions_player_id")),
        sa.ForeignKeyConstraint(["token_id"], ["tokens.id"], name=op.f("fk_sessions_token_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sessions")),
        sa.UniqueConstraint("digest", name=op.f("uq_sessions_digest")),
    )
    op.create_index("ix_sessions_player_id", "sessions", ["player_id"])
    op.create_index("ix_sessions_expires_ms", "sessions", ["expires_ms"])
    op.create_table(
        "passwords",
        sa.Column("player_id", sa.BigInteger(), nullable=False),
        sa.Column("hash", sa.String(length=200), nullable=False),
        sa.Column("changed_ms", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["player_id"], ["players.id"], name=op.f("fk_passwords_player_id")),
        sa.PrimaryKeyConstraint("player_id", name=op.f("pk_passwords")),
    )
    op.create_table(
        "guests",
        sa.Column("player_id", sa.BigInteger(), nullable=False),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.Column("expires_ms", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["player_id"], ["players.id"], name=op.f("fk_guests_player_id")),
        sa.PrimaryKeyConstraint("player_id", name=op.f("pk_guests")),
    )
    op.create_index("ix_guests_expires_ms", "guests", ["expires_ms"])
