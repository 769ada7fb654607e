"""All tables of Plyhouse 0.2.0, the oldest version whose databases are upgraded.

Revision ID: 0018

The tables stay those of that version. `plyhouse.storage.models` has those of this one.
"""

from __future__ import annotations

from alembic import op
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    text,
)

revision = "0018"
down_revision = None

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

_Id = BigInteger().with_variant(Integer, "sqlite")
_Ref = BigInteger


def _index_some(name: str, *columns: Column[int] | Column[str], where: ColumnElement[bool]) -> None:
    """Make an index over the rows that fit a condition."""
    Index(name, *columns, sqlite_where=where, postgresql_where=where)


Table(
    "meta",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("value", Text, nullable=False),
)
Table(
    "players",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("name", String(32), nullable=False),
    Column("name_key", String(32), nullable=False, unique=True),
    Column("created_ms", BigInteger, nullable=False),
    Column("display", String(64)),
    Column("disabled_ms", BigInteger),
    sqlite_autoincrement=True,
)
Table(
    "audit",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("at_ms", BigInteger, nullable=False),
    Column("who", String(100), nullable=False),
    Column("what", String(32), nullable=False),
    Column("subject", String(200), nullable=False),
    Column("subject_id", String(64), nullable=False),
    Column("why", Text, nullable=False),
    Column("keep_matches", Boolean, nullable=False),
    Column("old_name", String(64)),
    sqlite_autoincrement=True,
)
Table(
    "tokens",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("player_id", _Ref, ForeignKey("players.id"), nullable=False, index=True),
    Column("prefix", String(16), nullable=False, index=True),
    Column("digest", LargeBinary(32), nullable=False, unique=True),
    Column("scopes", String(64), nullable=False),
    Column("label", String(100), nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Column("last_used_ms", BigInteger),
    Column("revoked_ms", BigInteger),
    sqlite_autoincrement=True,
)
Table(
    "bots",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("player_id", _Ref, ForeignKey("players.id"), nullable=False),
    Column("name", String(32), nullable=False),
    Column("name_key", String(32), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Column("disabled_ms", BigInteger),
    Column("open_ms", BigInteger),
    Index("uq_bots_player_id_name_key", "player_id", "name_key", unique=True),
    sqlite_autoincrement=True,
)
Table(
    "versions",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("bot_id", _Ref, ForeignKey("bots.id"), nullable=False),
    Column("label", String(100), nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Column("digest", String(64), nullable=False, server_default=text("''")),
    Index("uq_versions_bot_id_label_digest", "bot_id", "label", "digest", unique=True),
    sqlite_autoincrement=True,
)
Table(
    "suspensions",
    metadata,
    Column("version_id", _Ref, ForeignKey("versions.id"), primary_key=True, autoincrement=False),
    Column("since_ms", BigInteger, nullable=False),
    Column("reason", Text, nullable=False),
    Column("lifted_ms", BigInteger),
)
Table(
    "competitions",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("name", String(100), nullable=False),
    Column("game", String(200), nullable=False),
    Column("time_control", String(64), nullable=False),
    Column("format", String(32), nullable=False),
    Column("rounds", Integer, nullable=False),
    Column("mirrored", Boolean, nullable=False),
    Column("rated", Boolean, nullable=False),
    Column("status", String(16), nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Column("started_ms", BigInteger),
    Column("finished_ms", BigInteger),
    Column("data", Text),
)
Table(
    "entries",
    metadata,
    Column("competition_id", String(64), ForeignKey("competitions.id"), primary_key=True),
    Column("bot_id", _Ref, ForeignKey("bots.id"), primary_key=True),
    Column("version_id", _Ref, ForeignKey("versions.id")),
    Column("status", String(16), nullable=False),
    Column("created_ms", BigInteger, nullable=False),
)
Table(
    "pairings",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("competition_id", String(64), ForeignKey("competitions.id"), index=True),
    Column("round", Integer, nullable=False),
    Column("game", String(200), nullable=False),
    Column("time_control", String(64), nullable=False),
    Column("rated", Boolean, nullable=False),
    Column("seed", LargeBinary, nullable=False),
    Column("commitment", String(64), nullable=False),
    Column("matches", Integer, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Column("finished_ms", BigInteger),
)
_matches = Table(
    "matches",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("pairing_id", String(64), ForeignKey("pairings.id"), nullable=False, index=True),
    Column("game", String(200), nullable=False),
    Column("time_control", String(64), nullable=False),
    Column("rated", Boolean, nullable=False),
    Column("illegal_rule", String(16), nullable=False),
    Column("stream", String(64), nullable=False),
    Column("nonces", Text, nullable=False),
    Column("status", String(16), nullable=False),
    Column("ply", Integer, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Column("started_ms", BigInteger),
    Column("finished_ms", BigInteger),
    Column("termination", String(32), nullable=False),
    Column("culprit", Integer),
    Column("reason", Text, nullable=False),
    Column("data", Text),
    Column("void_reason", Text),
    Index("ix_matches_created_ms_id", "created_ms", "id"),
    Index("ix_matches_game_created_ms_id", "game", "created_ms", "id"),
)
_index_some(
    "ix_matches_unfinished",
    _matches.c.created_ms,
    _matches.c.id,
    where=_matches.c.finished_ms.is_(None),
)
for _first in ((), (_matches.c.game,), (_matches.c.termination,)):
    _index_some(
        "_".join(["ix_matches", *[column.name for column in _first], "finished_ms_id"]),
        *_first,
        _matches.c.finished_ms,
        _matches.c.id,
        where=_matches.c.finished_ms.is_not(None),
    )
Table(
    "match_seats",
    metadata,
    Column("match_id", String(64), ForeignKey("matches.id"), primary_key=True),
    Column("seat", Integer, primary_key=True),
    Column("bot_id", _Ref, ForeignKey("bots.id"), nullable=False),
    Column("version_id", _Ref, ForeignKey("versions.id"), nullable=False),
    Column("returned", Float(53)),
    Column("score", Float(53)),
    Column("result", String(1)),
    Index("ix_match_seats_bot_id_match_id", "bot_id", "match_id"),
    sqlite_with_rowid=False,
)
Table(
    "events",
    metadata,
    Column("match_id", String(64), ForeignKey("matches.id"), primary_key=True),
    Column("idx", Integer, primary_key=True, autoincrement=False),
    Column("kind", String(16), nullable=False),
    Column("ply", Integer, nullable=False),
    Column("seat", Integer, nullable=False),
    Column("text", Text, nullable=False),
    Column("thought_ns", BigInteger, nullable=False),
    Column("lag_ns", BigInteger, nullable=False),
    Column("stall_ns", BigInteger, nullable=False),
    Column("charged_ns", BigInteger, nullable=False),
    Column("remaining_ns", BigInteger, nullable=False),
    Column("data", Text),
    sqlite_with_rowid=False,
)
_standings = Table(
    "standings",
    metadata,
    Column("game", String(200), primary_key=True),
    Column("version_id", _Ref, ForeignKey("versions.id"), primary_key=True),
    Column("score", Float(53), nullable=False),
    Column("games", Integer, nullable=False),
    Column("wins", Integer, nullable=False),
    Column("draws", Integer, nullable=False),
    Column("losses", Integer, nullable=False),
    Column("returned", Float(53), nullable=False),
    Column("returned_squares", Float(53), nullable=False),
    Column("bot_id", _Ref, ForeignKey("bots.id"), nullable=False),
    Column("latest", Boolean, nullable=False),
    Column("rating", Float(53), nullable=False),
    Column("low", Float(53)),
    Column("high", Float(53)),
    Column("rated_ms", BigInteger),
)
_BEST_FIRST = _standings.c.rating.desc(), _standings.c.score.desc(), _standings.c.version_id
Index("ix_standings_game_rating", _standings.c.game, *_BEST_FIRST)
Index("ix_standings_game_latest_rating", _standings.c.game, _standings.c.latest, *_BEST_FIRST)
Index("ix_standings_game_bot_id", _standings.c.game, _standings.c.bot_id)
Table(
    "pair_results",
    metadata,
    Column("game", String(200), primary_key=True),
    Column("version_a", _Ref, ForeignKey("versions.id"), primary_key=True),
    Column("version_b", _Ref, ForeignKey("versions.id"), primary_key=True),
    Column("wins_a", Integer, nullable=False),
    Column("draws", Integer, nullable=False),
    Column("wins_b", Integer, nullable=False),
    Column("score_a", Float(53), nullable=False),
    Column("squares_a", Float(53), nullable=False),
)
Table(
    "rating_snapshots",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("game", String(200), nullable=False),
    Column("bot_id", _Ref, ForeignKey("bots.id"), nullable=False),
    Column("taken_ms", BigInteger, nullable=False),
    Column("rating", Float(53), nullable=False),
    Column("low", Float(53), nullable=False),
    Column("high", Float(53), nullable=False),
    Column("games", Integer, nullable=False),
    Column("version_id", _Ref),
    Index("ix_rating_snapshots_game_bot_id_taken_ms", "game", "bot_id", "taken_ms"),
    sqlite_autoincrement=True,
)


Table(
    "class_competitions",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("name", String(100), nullable=False),
    Column("name_key", String(100), nullable=False, unique=True),
    Column("file", Text, nullable=False),
    Column("format", String(32), nullable=False),
    Column("status", String(16), nullable=False),
    Column("entries_each", Integer, nullable=False),
    Column("most_students", Integer, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Column("opens_ms", BigInteger),
    Column("freezes_ms", BigInteger),
    Column("final_ms", BigInteger),
    Column("started_ms", BigInteger),
    Column("finished_ms", BigInteger),
    Column("note", Text),
    Column("rehearses", String(64)),
)
Table(
    "class_games",
    metadata,
    Column("class_id", String(64), ForeignKey("class_competitions.id"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("game", String(200), nullable=False),
    Column("competition_id", String(64), ForeignKey("competitions.id"), index=True),
)
Table(
    "class_students",
    metadata,
    Column("class_id", String(64), ForeignKey("class_competitions.id"), primary_key=True),
    Column("player_id", _Ref, ForeignKey("players.id"), primary_key=True, index=True),
    Column("status", String(16), nullable=False),
    Column("joined_ms", BigInteger, nullable=False),
    Column("extended_ms", BigInteger),
)
Table(
    "class_members",
    metadata,
    Column("class_id", String(64), ForeignKey("class_competitions.id"), primary_key=True),
    Column("player_id", _Ref, ForeignKey("players.id"), primary_key=True),
    Column("name_key", String(64), primary_key=True),
    Column("name", String(64), nullable=False),
    Column("email", String(254), nullable=False),
    Column("token", String(16), nullable=False),
    Column("institution_id", String(64)),
)
Table(
    "class_entries",
    metadata,
    Column("class_id", String(64), ForeignKey("class_competitions.id"), primary_key=True),
    Column("bot_id", _Ref, ForeignKey("bots.id"), primary_key=True, index=True),
    Column("player_id", _Ref, ForeignKey("players.id"), nullable=False),
    Column("version_id", _Ref, ForeignKey("versions.id")),
    Column("chosen", Boolean, nullable=False),
    Column("baseline", Boolean, nullable=False),
    Column("status", String(16), nullable=False),
    Column("created_ms", BigInteger, nullable=False),
)
Table(
    "class_codes",
    metadata,
    Column("code", String(16), primary_key=True),
    Column("class_id", String(64), ForeignKey("class_competitions.id"), nullable=False, index=True),
    Column("uses", Integer, nullable=False),
    Column("used", Integer, nullable=False),
    Column("expires_ms", BigInteger),
    Column("player_id", _Ref, ForeignKey("players.id")),
    Column("late_ms", BigInteger),
    Column("created_ms", BigInteger, nullable=False),
    Column("revoked_ms", BigInteger),
)
Table(
    "announcements",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("class_id", String(64), ForeignKey("class_competitions.id"), nullable=False, index=True),
    Column("at_ms", BigInteger, nullable=False),
    Column("who", String(100), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("text", Text, nullable=False),
    sqlite_autoincrement=True,
)
Table(
    "class_staff",
    metadata,
    Column("class_id", String(64), ForeignKey("class_competitions.id"), primary_key=True),
    Column("player_id", _Ref, ForeignKey("players.id"), primary_key=True, index=True),
    Column("role", String(16), nullable=False),
    Column("since_ms", BigInteger, nullable=False),
)
Table(
    "regrades",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("class_id", String(64), ForeignKey("class_competitions.id"), nullable=False, index=True),
    Column("player_id", _Ref, ForeignKey("players.id"), nullable=False, index=True),
    Column("match_id", String(64), ForeignKey("matches.id")),
    Column("text", Text, nullable=False),
    Column("asked_ms", BigInteger, nullable=False),
    Column("answer", Text, nullable=False),
    Column("answered_by", String(100), nullable=False),
    Column("answered_ms", BigInteger),
    Column("closed_ms", BigInteger),
    sqlite_autoincrement=True,
)


Table(
    "sessions",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("digest", LargeBinary(32), nullable=False, unique=True),
    Column("player_id", _Ref, ForeignKey("players.id"), nullable=False, index=True),
    Column("token_id", _Ref, ForeignKey("tokens.id")),
    Column("created_ms", BigInteger, nullable=False),
    Column("expires_ms", BigInteger, nullable=False, index=True),
    sqlite_autoincrement=True,
)
Table(
    "passwords",
    metadata,
    Column("player_id", _Ref, ForeignKey("players.id"), primary_key=True, autoincrement=False),
    Column("hash", String(200), nullable=False),
    Column("changed_ms", BigInteger, nullable=False),
)
Table(
    "guests",
    metadata,
    Column("player_id", _Ref, ForeignKey("players.id"), primary_key=True, autoincrement=False),
    Column("created_ms", BigInteger, nullable=False),
    Column("expires_ms", BigInteger, nullable=False, index=True),
)


Table(
    "packages",
    metadata,
    Column("digest", String(64), primary_key=True),
    Column("bytes", BigInteger, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
)
Table(
    "package_parts",
    metadata,
    Column("digest", String(64), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("part", LargeBinary, nullable=False),
)
Table(
    "submissions",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("bot_id", _Ref, ForeignKey("bots.id"), nullable=False),
    Column("version_id", _Ref, ForeignKey("versions.id"), nullable=False, index=True),
    Column("digest", String(64), nullable=False, index=True),
    Column("submitted_ms", BigInteger, nullable=False),
    Column("status", String(16), nullable=False),
    Column("report", Text, nullable=False),
    Column("games", Text, nullable=False),
    Column("checked_ms", BigInteger),
    Column("connected", Boolean, nullable=False),
    Column("needs", String(64), nullable=False, server_default=text("''")),
    Index("uq_submissions_bot_id_digest", "bot_id", "digest", unique=True),
    Index("ix_submissions_status_submitted_ms_id", "status", "submitted_ms", "id"),
    sqlite_autoincrement=True,
)
Table(
    "outputs",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("match_id", String(64), ForeignKey("matches.id"), nullable=False),
    Column("bot_id", _Ref, ForeignKey("bots.id"), nullable=False, index=True),
    Column("version_id", _Ref, ForeignKey("versions.id"), nullable=False, index=True),
    Column("part", String(64), nullable=False),
    Column("received_ms", BigInteger, nullable=False),
    Column("crashes", Integer, nullable=False),
    Column("bytes", Integer, nullable=False),
    Column("data", LargeBinary, nullable=False),
    Index("uq_outputs_match_id_bot_id_part", "match_id", "bot_id", "part", unique=True),
    sqlite_autoincrement=True,
)
Table(
    "submission_entries",
    metadata,
    Column("submission_id", _Ref, ForeignKey("submissions.id"), primary_key=True),
    Column(
        "class_id", String(64), ForeignKey("class_competitions.id"), primary_key=True, index=True
    ),
    Column("chosen", Boolean, nullable=False),
    Column("asked_ms", BigInteger, nullable=False),
    Column("outcome", Text, nullable=False),
)


def upgrade() -> None:
    """Make the tables."""
    metadata.create_all(op.get_bind(), checkfirst=False)
