"""Ids of submissions that are never used again, also after the last one is deleted.

Revision ID: 0011

PostgreSQL has sequences, which never go back.  SQLite gives the id of a deleted last row to the
next one unless the table is made with AUTOINCREMENT, so the table is made again there.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table again where it is needed; rows and the entries that refer to them stay."""
    if op.get_bind().dialect.name != "sqlite":
        return
    # Rows of submission_entries refer to the table: they are put aside while it is not there.
    op.execute("CREATE TEMP TABLE kept_entries AS SELECT * FROM submission_entries")
    op.execute("DELETE FROM submission_entries")
    op.execute("CREATE TEMP TABLE kept_submissions AS SELECT * FROM submissions")
    op.drop_table("submissions")
    op.create_table(
        "submissions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("bot_id", sa.BigInteger(), nullable=False),
        sa.Column("version_id", sa.BigInteger(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("submitted_ms", sa.BigInteger(), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("report", sa.Text(), nullable=False),
        sa.Column("games", sa.Text(), nullable=False),
        sa.Column("checked_ms", sa.BigInteger(), nullable=True),
        sa.Column("connected", sa.Boolean(), nullable=False),
        sa.Column("needs", sa.String(length=64), nullable=False, server_default=""),
        sa.ForeignKeyConstraint(["bot_id"], ["bots.id"], name=op.f("fk_submissions_bot_id")),
        sa.ForeignKeyConstraint(
            ["version_id"], ["versions.id"], name=op.f("fk_submissions_version_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_submissions")),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "uq_submissions_bot_id_digest", "submissions", ["bot_id", "digest"], unique=True
    )
    op.create_index("ix_submissions_version_id", "submissions", ["version_id"])
    op.create_index("ix_submissions_digest", "submissions", ["digest"])
    op.create_index(
        "ix_submissions_status_submitted_ms_id", "submissions", ["status", "submitted_ms", "id"]
    )
    op.execute(
        "INSERT INTO submissions SELECT id, bot_id, version_id, digest, submitted_ms, status,"
        " report, games, checked_ms, connected, needs FROM kept_submissions"
    )
    op.execute("INSERT INTO submission_entries SELECT * FROM kept_entries")
    op.execute("DROP TABLE kept_submissions")
    op.execute("DROP TABLE kept_entries")
