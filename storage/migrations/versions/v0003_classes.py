"""Competitions with a class, and versions told apart by what their files hold.

- A competition of several games made from a file, with its students, groups, entries and codes.
- A version has the digest of its bot's files, which its runner reports.  The same label with
  another digest is another version; earlier ones have an empty digest.

Revision ID: 0003
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def _of_class() -> sa.Column[str]:
    return sa.Column("class_id", sa.String(length=64), nullable=False)


def _refers(table: str, column: str, to: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [f"{to}.id"], name=op.f(f"fk_{table}_{column}"))


def upgrade() -> None:
    """Make the tables of classes, and give versions their digest."""
    op.add_column(
        "versions", sa.Column("digest", sa.String(length=64), nullable=False, server_default="")
    )
    op.drop_index("uq_versions_bot_id_label", "versions")
    op.create_index(
        "uq_versions_bot_id_label_digest", "versions", ["bot_id", "label", "digest"], unique=True
    )
    op.create_table(
        "class_competitions",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("name_key", sa.String(length=100), nullable=False),
        sa.Column("file", sa.Text(), nullable=False),
        sa.Column("format", sa.String(length=32), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("entries_each", sa.Integer(), nullable=False),
        sa.Column("most_students", sa.Integer(), nullable=False),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.Column("opens_ms", sa.BigInteger(), nullable=True),
        sa.Column("freezes_ms", sa.BigInteger(), nullable=True),
        sa.Column("final_ms", sa.BigInteger(), nullable=True),
        sa.Column("started_ms", sa.BigInteger(), nullable=True),
        sa.Column("finished_ms", sa.BigInteger(), nullable=True),
        sa.Column("note", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_class_competitions")),
        sa.UniqueConstraint("name_key", name=op.f("uq_class_competitions_name_key")),
    )
    _make_people()
    op.create_table(
        "class_games",
        _of_class(),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("game", sa.String(length=200), nullable=False),
        sa.Column("competition_id", sa.String(length=64), nullable=True),
        _refers("class_games", "class_id", "class_competitions"),
        _refers("class_games", "competition_id", "competitions"),
        sa.PrimaryKeyConstraint("class_id", "number", name=op.f("pk_class_games")),
    )
    op.create_index("ix_class_games_competition_id", "class_games", ["competition_id"])
    op.create_table(
        "class_entries",
        _of_class(),
        sa.Column("bot_id", sa.BigInteger(), nullable=False),
        sa.Column("player_id", sa.BigInteger(), nullable=False),
        sa.Column("version_id", sa.BigInteger(), nullable=True),
        sa.Column("chosen", sa.Boolean(), nullable=False),
        sa.Column("baseline", sa.Boolean(), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        _refers("class_entries", "class_id", "class_competitions"),
        _refers("class_entries", "bot_id", "bots"),
        _refers("class_entries", "player_id", "players"),
        _refers("class_entries", "version_id", "versions"),
        sa.PrimaryKeyConstraint("class_id", "bot_id", name=op.f("pk_class_entries")),
    )
    op.create_index("ix_class_entries_bot_id", "class_entries", ["bot_id"])


def _make_people() -> None:
    op.create_table(
        "class_students",
        _of_class(),
        sa.Column("player_id", sa.BigInteger(), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("joined_ms", sa.BigInteger(), nullable=False),
        sa.Column("extended_ms", sa.BigInteger(), nullable=True),
        _refers("class_students", "class_id", "class_competitions"),
        _refers("class_students", "player_id", "players"),
        sa.PrimaryKeyConstraint("class_id", "player_id", name=op.f("pk_class_students")),
    )
    op.create_index("ix_class_students_player_id", "class_students", ["player_id"])
    op.create_table(
        "class_members",
        _of_class(),
        sa.Column("player_id", sa.BigInteger(), nullable=False),
        sa.Column("name_key", sa.String(length=64), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("email", sa.String(length=254), nullable=False),
        sa.Column("token", sa.String(length=16), nullable=False),
        _refers("class_members", "class_id", "class_competitions"),
        _refers("class_members", "player_id", "players"),
        sa.PrimaryKeyConstraint("class_id", "player_id", "name_key", name=op.f("pk_class_members")),
    )
    op.create_table(
        "class_codes",
        sa.Column("code", sa.String(length=16), nullable=False),
        _of_class(),
        sa.Column("uses", sa.Integer(), nullable=False),
        sa.Column("used", sa.Integer(), nullable=False),
        sa.Column("expires_ms", sa.BigInteger(), nullable=True),
        sa.Column("player_id", sa.BigInteger(), nullable=True),
        sa.Column("late_ms", sa.BigInteger(), nullable=True),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.Column("revoked_ms", sa.BigInteger(), nullable=True),
        _refers("class_codes", "class_id", "class_competitions"),
        _refers("class_codes", "player_id", "players"),
        sa.PrimaryKeyConstraint("code", name=op.f("pk_class_codes")),
    )
    op.create_index("ix_class_codes_class_id", "class_codes", ["class_id"])
