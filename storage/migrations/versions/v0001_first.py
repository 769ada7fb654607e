"""The first schema: people, bots, competitions, pairings, matches, events and leaderboards.

Revision ID: 0001
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def _id() -> sa.types.TypeEngine[int]:
    """A key the database counts up; SQLite does that for INTEGER only."""
    return sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make all tables."""
    op.create_table(
        "competitions",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("game", sa.String(length=200), nullable=False),
        sa.Column("time_control", sa.String(length=64), nullable=False),
        sa.Column("format", sa.String(length=32), nullable=False),
        sa.Column("rounds", sa.Integer(), nullable=False),
        sa.Column("mirrored", sa.Boolean(), nullable=False),
        sa.Column("rated", sa.Boolean(), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.Column("started_ms", sa.BigInteger(), nullable=True),
        sa.Column("finished_ms", sa.BigInteger(), nullable=True),
        sa.Column("data", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_competitions")),
    )
    op.create_table(
        "meta",
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_meta")),
    )
    op.create_table(
        "players",
        sa.Column("id", _id(), nullable=False),
        sa.Column("name", sa.String(length=32), nullable=False),
        sa.Column("name_key", sa.String(length=32), nullable=False),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_players")),
        sa.UniqueConstraint("name_key", name=op.f("uq_players_name_key")),
    )
    op.create_table(
        "bots",
        sa.Column("id", _id(), nullable=False),
        sa.Column("player_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.String(length=32), nullable=False),
        sa.Column("name_key", sa.String(length=32), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["player_id"], ["players.id"], name=op.f("fk_bots_player_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_bots")),
    )
    op.create_index("uq_bots_player_id_name_key", "bots", ["player_id", "name_key"], unique=True)
    op.create_table(
        "pairings",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("competition_id", sa.String(length=64), nullable=True),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("game", sa.String(length=200), nullable=False),
        sa.Column("time_control", sa.String(length=64), nullable=False),
        sa.Column("rated", sa.Boolean(), nullable=False),
        sa.Column("seed", sa.LargeBinary(), nullable=False),
        sa.Column("commitment", sa.String(length=64), nullable=False),
        sa.Column("matches", sa.Integer(), nullable=False),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.Column("finished_ms", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competitions.id"], name=op.f("fk_pairings_competition_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pairings")),
    )
    op.create_index(
        op.f("ix_pairings_competition_id"), "pairings", ["competition_id"], unique=False
    )
    op.create_table(
        "tokens",
        sa.Column("id", _id(), nullable=False),
        sa.Column("player_id", sa.BigInteger(), nullable=False),
        sa.Column("prefix", sa.String(length=16), nullable=False),
        sa.Column("digest", sa.LargeBinary(length=32), nullable=False),
        sa.Column("scopes", sa.String(length=64), nullable=False),
        sa.Column("label", sa.String(length=100), nullable=False),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.Column("last_used_ms", sa.BigInteger(), nullable=True),
        sa.Column("revoked_ms", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["player_id"], ["players.id"], name=op.f("fk_tokens_player_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tokens")),
        sa.UniqueConstraint("digest", name=op.f("uq_tokens_digest")),
    )
    op.create_index(op.f("ix_tokens_player_id"), "tokens", ["player_id"], unique=False)
    op.create_index(op.f("ix_tokens_prefix"), "tokens", ["prefix"], unique=False)
    op.create_table(
        "matches",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("pairing_id", sa.String(length=64), nullable=False),
        sa.Column("game", sa.String(length=200), nullable=False),
        sa.Column("time_control", sa.String(length=64), nullable=False),
        sa.Column("rated", sa.Boolean(), nullable=False),
        sa.Column("illegal_rule", sa.String(length=16), nullable=False),
        sa.Column("stream", sa.String(length=64), nullable=False),
        sa.Column("nonces", sa.Text(), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("ply", sa.Integer(), nullable=False),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.Column("started_ms", sa.BigInteger(), nullable=True),
        sa.Column("finished_ms", sa.BigInteger(), nullable=True),
        sa.Column("termination", sa.String(length=32), nullable=False),
        sa.Column("culprit", sa.Integer(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("data", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["pairing_id"], ["pairings.id"], name=op.f("fk_matches_pairing_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_matches")),
    )
    op.create_index("ix_matches_created_ms_id", "matches", ["created_ms", "id"], unique=False)
    op.create_index(
        "ix_matches_game_created_ms_id", "matches", ["game", "created_ms", "id"], unique=False
    )
    op.create_index(op.f("ix_matches_pairing_id"), "matches", ["pairing_id"], unique=False)
    op.create_index(
        "ix_matches_unfinished",
        "matches",
        ["created_ms", "id"],
        unique=False,
        sqlite_where=sa.text("finished_ms IS NULL"),
        postgresql_where=sa.text("finished_ms IS NULL"),
    )
    op.create_table(
        "pair_results",
        sa.Column("game", sa.String(length=200), nullable=False),
        sa.Column("bot_a", sa.BigInteger(), nullable=False),
        sa.Column("bot_b", sa.BigInteger(), nullable=False),
        sa.Column("wins_a", sa.Integer(), nullable=False),
        sa.Column("draws", sa.Integer(), nullable=False),
        sa.Column("wins_b", sa.Integer(), nullable=False),
        sa.Column("score_a", sa.Float(precision=53), nullable=False),
        sa.Column("squares_a", sa.Float(precision=53), nullable=False),
        sa.ForeignKeyConstraint(["bot_a"], ["bots.id"], name=op.f("fk_pair_results_bot_a")),
        sa.ForeignKeyConstraint(["bot_b"], ["bots.id"], name=op.f("fk_pair_results_bot_b")),
        sa.PrimaryKeyConstraint("game", "bot_a", "bot_b", name=op.f("pk_pair_results")),
    )
    op.create_table(
        "rating_snapshots",
        sa.Column("id", _id(), nullable=False),
        sa.Column("game", sa.String(length=200), nullable=False),
        sa.Column("bot_id", sa.BigInteger(), nullable=False),
        sa.Column("taken_ms", sa.BigInteger(), nullable=False),
        sa.Column("rating", sa.Float(precision=53), nullable=False),
        sa.Column("low", sa.Float(precision=53), nullable=False),
        sa.Column("high", sa.Float(precision=53), nullable=False),
        sa.Column("games", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["bot_id"], ["bots.id"], name=op.f("fk_rating_snapshots_bot_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rating_snapshots")),
    )
    op.create_index(
        "ix_rating_snapshots_game_bot_id_taken_ms",
        "rating_snapshots",
        ["game", "bot_id", "taken_ms"],
        unique=False,
    )
    op.create_table(
        "standings",
        sa.Column("game", sa.String(length=200), nullable=False),
        sa.Column("bot_id", sa.BigInteger(), nullable=False),
        sa.Column("score", sa.Float(precision=53), nullable=False),
        sa.Column("games", sa.Integer(), nullable=False),
        sa.Column("wins", sa.Integer(), nullable=False),
        sa.Column("draws", sa.Integer(), nullable=False),
        sa.Column("losses", sa.Integer(), nullable=False),
        sa.Column("returned", sa.Float(precision=53), nullable=False),
        sa.Column("returned_squares", sa.Float(precision=53), nullable=False),
        sa.Column("rating", sa.Float(precision=53), nullable=False),
        sa.Column("low", sa.Float(precision=53), nullable=True),
        sa.Column("high", sa.Float(precision=53), nullable=True),
        sa.Column("rated_ms", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["bot_id"], ["bots.id"], name=op.f("fk_standings_bot_id")),
        sa.PrimaryKeyConstraint("game", "bot_id", name=op.f("pk_standings")),
    )
    op.create_index(
        "ix_standings_game_rating",
        "standings",
        ["game", sa.literal_column("rating DESC"), sa.literal_column("score DESC"), "bot_id"],
        unique=False,
    )
    op.create_table(
        "versions",
        sa.Column("id", _id(), nullable=False),
        sa.Column("bot_id", sa.BigInteger(), nullable=False),
        sa.Column("label", sa.String(length=100), nullable=False),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["bot_id"], ["bots.id"], name=op.f("fk_versions_bot_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_versions")),
    )
    op.create_index("uq_versions_bot_id_label", "versions", ["bot_id", "label"], unique=True)
    op.create_table(
        "entries",
        sa.Column("competition_id", sa.String(length=64), nullable=False),
        sa.Column("bot_id", sa.BigInteger(), nullable=False),
        sa.Column("version_id", sa.BigInteger(), nullable=True),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["bot_id"], ["bots.id"], name=op.f("fk_entries_bot_id")),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competitions.id"], name=op.f("fk_entries_competition_id")
        ),
        sa.ForeignKeyConstraint(
            ["version_id"], ["versions.id"], name=op.f("fk_entries_version_id")
        ),
        sa.PrimaryKeyConstraint("competition_id", "bot_id", name=op.f("pk_entries")),
    )
    op.create_table(
        "events",
        sa.Column("match_id", sa.String(length=64), nullable=False),
        sa.Column("idx", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("ply", sa.Integer(), nullable=False),
        sa.Column("seat", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("thought_ns", sa.BigInteger(), nullable=False),
        sa.Column("lag_ns", sa.BigInteger(), nullable=False),
        sa.Column("stall_ns", sa.BigInteger(), nullable=False),
        sa.Column("charged_ns", sa.BigInteger(), nullable=False),
        sa.Column("remaining_ns", sa.BigInteger(), nullable=False),
        sa.Column("data", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["match_id"], ["matches.id"], name=op.f("fk_events_match_id")),
        sa.PrimaryKeyConstraint("match_id", "idx", name=op.f("pk_events")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "match_seats",
        sa.Column("match_id", sa.String(length=64), nullable=False),
        sa.Column("seat", sa.Integer(), nullable=False),
        sa.Column("bot_id", sa.BigInteger(), nullable=False),
        sa.Column("version_id", sa.BigInteger(), nullable=False),
        sa.Column("returned", sa.Float(precision=53), nullable=True),
        sa.Column("score", sa.Float(precision=53), nullable=True),
        sa.Column("result", sa.String(length=1), nullable=True),
        sa.ForeignKeyConstraint(["bot_id"], ["bots.id"], name=op.f("fk_match_seats_bot_id")),
        sa.ForeignKeyConstraint(["match_id"], ["matches.id"], name=op.f("fk_match_seats_match_id")),
        sa.ForeignKeyConstraint(
            ["version_id"], ["versions.id"], name=op.f("fk_match_seats_version_id")
        ),
        sa.PrimaryKeyConstraint("match_id", "seat", name=op.f("pk_match_seats")),
        sqlite_with_rowid=False,
    )
    op.create_index(
        "ix_match_seats_bot_id_match_id", "match_seats", ["bot_id", "match_id"], unique=False
    )
