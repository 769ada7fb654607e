"""Submitted bots: packages, the results of their checks, and the competitions that they play.

Revision ID: 0006
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

_Id = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the four tables; there are no earlier submissions."""
    op.create_table(
        "packages",
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_packages")),
    )
    op.create_table(
        "package_parts",
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("part", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("digest", "number", name=op.f("pk_package_parts")),
    )
    op.create_table(
        "submissions",
        sa.Column("id", _Id, nullable=False),
        sa.Column("bot_id", sa.BigInteger(), nullable=False),
        sa.Column("version_id", sa.BigInteger(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("submitted_ms", sa.BigInteger(), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("report", sa.Text(), nullable=False),
        sa.Column("games", sa.Text(), nullable=False),
        sa.Column("checked_ms", sa.BigInteger(), nullable=True),
        sa.Column("connected", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["bot_id"], ["bots.id"], name=op.f("fk_submissions_bot_id")),
        sa.ForeignKeyConstraint(
            ["version_id"], ["versions.id"], name=op.f("fk_submissions_version_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_submissions")),
    )
    op.create_index(
        "uq_submissions_bot_id_digest", "submissions", ["bot_id", "digest"], unique=True
    )
    op.create_index("ix_submissions_version_id", "submissions", ["version_id"])
    op.create_index("ix_submissions_digest", "submissions", ["digest"])
    op.create_index(
        "ix_submissions_status_submitted_ms_id", "submissions", ["status", "submitted_ms", "id"]
    )
    op.create_table(
        "submission_entries",
        sa.Column("submission_id", sa.BigInteger(), nullable=False),
        sa.Column("class_id", sa.String(length=64), nullable=False),
        sa.Column("chosen", sa.Boolean(), nullable=False),
        sa.Column("asked_ms", sa.BigInteger(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["submission_id"],
            ["submissions.id"],
            name=op.f("fk_submission_entries_submission_id"),
        ),
        sa.ForeignKeyConstraint(
            ["class_id"], ["class_competitions.id"], name=op.f("fk_submission_entries_class_id")
        ),
        sa.PrimaryKeyConstraint("submission_id", "class_id", name=op.f("pk_submission_entries")),
    )
    op.create_index("ix_submission_entries_class_id", "submission_entries", ["class_id"])
