"""The tables, as SQLAlchemy Core metadata.

The migrations make these tables; a test compares the two.
"""

from __future__ import annotations

import itertools
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    Connection,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Select,
    String,
    Table,
    Text,
    event,
    select,
    text,
)

from plyhouse.protocol.api.bodies import LONGEST_STORED_LABEL
from plyhouse.protocol.parts import LONGEST_DISPLAY, LONGEST_NAME

UNRATED = -1e9
"""The value of `standings.rating` until the first fit. It keeps the column, and so the
leaderboard's index, free of NULLs, which the two databases sort differently."""

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

# SQLite counts only INTEGER PRIMARY KEY up.  Tables with such ids have `sqlite_autoincrement`, so
# that an id that somebody has seen never means another row.
_Id = BigInteger().with_variant(Integer, "sqlite")
_Ref = BigInteger


def _index_some(name: str, *columns: Column[int] | Column[str], where: ColumnElement[bool]) -> None:
    """Make an index over the rows that fit a condition.

    PostgreSQL gets its option only when it makes the table: naming it here would import its dialect
    for everybody, which takes longer than all tables.
    """
    index = Index(name, *columns, sqlite_where=where)

    @event.listens_for(columns[0].table, "before_create")
    def before_create(_: Table, connection: Connection, **__: object) -> None:
        if connection.dialect.name == "postgresql":
            index.dialect_kwargs["postgresql_where"] = where


meta = Table(
    "meta",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("value", Text, nullable=False),
)

# Servers on a schema of PostgreSQL, see `plyhouse.storage.leases`; empty on SQLite.
leases = Table(
    "leases",
    metadata,
    Column("epoch", _Id, primary_key=True),
    Column("holder", String(300), nullable=False),  # HOST:PID
    Column("started_ms", BigInteger, nullable=False),
    Column("expires_ms", BigInteger, nullable=False),
    Column("ended_ms", BigInteger),  # NULL: it holds, unless another server finds it expired
    Column("shared", Boolean, nullable=False, server_default=text("false")),  # of a cluster
    Column("address", Text, nullable=False, server_default=text("''")),  # URL for other members
    Column("version", Text, nullable=False, server_default=text("''")),  # of Plyhouse
    Column("draining", Boolean, nullable=False, server_default=text("false")),
    # Since when it has been valid without a gap; only kept for members of a cluster.
    Column("steady_ms", BigInteger, nullable=False, server_default=text("0")),
    sqlite_autoincrement=True,
)

# The member of a cluster that does a job which only one does; empty on SQLite.
leaders = Table(
    "leaders",
    metadata,
    Column("role", String(64), primary_key=True),
    Column("epoch", BigInteger, nullable=False),  # of its lease, which may be deleted
)

# Messages between members of a cluster while NATS is away; empty on SQLite.
cluster_batches = Table(
    "cluster_batches",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("sender", BigInteger, nullable=False),  # epoch of a lease, as is the receiver
    Column("receiver", BigInteger, nullable=False),
    Column("data", LargeBinary, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Index("ix_cluster_batches_receiver_id", "receiver", "id"),
    sqlite_autoincrement=True,
)

players = Table(
    "players",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("name", String(LONGEST_NAME), nullable=False),
    Column("name_key", String(LONGEST_NAME), nullable=False, unique=True),  # lower case
    Column("created_ms", BigInteger, nullable=False),
    Column("display", String(LONGEST_DISPLAY)),  # NFC; NULL where the name is shown
    Column("disabled_ms", BigInteger),
    sqlite_autoincrement=True,
)

audit = Table(
    "audit",
    metadata,
    Column("id", _Id, primary_key=True),  # in the order of the commits
    Column("at_ms", BigInteger, nullable=False),
    Column("who", String(100), nullable=False),
    Column("what", String(32), nullable=False),
    Column("subject", String(200), nullable=False),
    Column("subject_id", String(64), nullable=False),
    Column("why", Text, nullable=False),
    Column("keep_matches", Boolean, nullable=False),
    # The name before a player.rename, or of a member of the account; NULL once it is erased.
    Column("old_name", String(64)),
    # By these ids names are looked up; NULL: `who` is no account, the entry is about none.
    Column("who_id", BigInteger),
    Column("player_id", BigInteger, index=True),
    Column("bot_id", BigInteger),
    Column("version_id", BigInteger),
    sqlite_autoincrement=True,
)

tokens = Table(
    "tokens",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("player_id", _Ref, ForeignKey("players.id"), nullable=False, index=True),
    Column("prefix", String(16), nullable=False, index=True),
    Column("digest", LargeBinary(32), nullable=False, unique=True),
    Column("scopes", String(64), nullable=False),
    Column("label", String(LONGEST_STORED_LABEL), nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Column("last_used_ms", BigInteger),
    Column("revoked_ms", BigInteger),
    # The token behind the session in which it was made, which may be deleted; NULL: none.
    Column("made_with", BigInteger, index=True),
    sqlite_autoincrement=True,
)

bots = Table(
    "bots",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("player_id", _Ref, ForeignKey("players.id"), nullable=False),
    Column("name", String(LONGEST_NAME), nullable=False),
    Column("name_key", String(LONGEST_NAME), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Column("disabled_ms", BigInteger),
    Column("open_ms", BigInteger),  # when its author opened its submissions for play
    Index("uq_bots_player_id_name_key", "player_id", "name_key", unique=True),
    sqlite_autoincrement=True,
)

versions = Table(
    "versions",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("bot_id", _Ref, ForeignKey("bots.id"), nullable=False),
    Column("label", String(LONGEST_STORED_LABEL), nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Column("digest", String(64), nullable=False, server_default=text("''")),  # "": unknown
    Index("uq_versions_bot_id_label_digest", "bot_id", "label", "digest", unique=True),
    sqlite_autoincrement=True,
)

suspensions = Table(
    "suspensions",
    metadata,
    Column("version_id", _Ref, ForeignKey("versions.id"), primary_key=True, autoincrement=False),
    Column("since_ms", BigInteger, nullable=False),
    Column("reason", Text, nullable=False),
    Column("lifted_ms", BigInteger),  # NULL: it is suspended
)

# The schedules of single games of competitions, with their entries.
tournaments = Table(
    "tournaments",
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

tournament_entries = Table(
    "tournament_entries",
    metadata,
    Column("tournament_id", String(64), ForeignKey("tournaments.id"), primary_key=True),
    Column("bot_id", _Ref, ForeignKey("bots.id"), primary_key=True),
    Column("version_id", _Ref, ForeignKey("versions.id")),
    Column("status", String(16), nullable=False),
    Column("created_ms", BigInteger, nullable=False),
)

pairings = Table(
    "pairings",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("tournament_id", String(64), ForeignKey("tournaments.id"), index=True),
    Column("round", Integer, nullable=False),
    Column("game", String(200), nullable=False),
    Column("time_control", String(64), nullable=False),
    Column("rated", Boolean, nullable=False),
    Column("seed", LargeBinary, nullable=False),
    Column("commitment", String(64), nullable=False),
    Column("matches", Integer, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Column("finished_ms", BigInteger),
    Column("owner", BigInteger),  # epoch of the lease of the server that runs its matches
)
_index_some(
    "ix_pairings_owner_unfinished",
    pairings.c.owner,
    pairings.c.id,
    where=pairings.c.finished_ms.is_(None),
)

matches = Table(
    "matches",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("pairing_id", String(64), ForeignKey("pairings.id"), nullable=False, index=True),
    Column("game", String(200), nullable=False),
    Column("time_control", String(64), nullable=False),
    Column("rated", Boolean, nullable=False),
    Column("illegal_rule", String(16), nullable=False),
    Column("stream", String(64), nullable=False),
    Column("nonces", Text, nullable=False),  # JSON list of hex texts
    Column("status", String(16), nullable=False),
    Column("ply", Integer, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Column("started_ms", BigInteger),
    Column("finished_ms", BigInteger),
    Column("termination", String(32), nullable=False),
    Column("culprit", Integer),
    Column("reason", Text, nullable=False),
    Column("data", Text),
    Column("void_reason", Text),  # why it was made void; NULL: it counts
    Index("ix_matches_created_ms_id", "created_ms", "id"),
    Index("ix_matches_game_created_ms_id", "game", "created_ms", "id"),
)
# Few matches run at any time: recovery and the list of live ones read only this small index.
_index_some(
    "ix_matches_unfinished",
    matches.c.created_ms,
    matches.c.id,
    where=matches.c.finished_ms.is_(None),
)
# The list of finished matches, the last to end first: of all, of a game, and of an ending.
for _first in ((), (matches.c.game,), (matches.c.termination,)):
    _index_some(
        "_".join(["ix_matches", *[column.name for column in _first], "finished_ms_id"]),
        *_first,
        matches.c.finished_ms,
        matches.c.id,
        where=matches.c.finished_ms.is_not(None),
    )

match_seats = Table(
    "match_seats",
    metadata,
    Column("match_id", String(64), ForeignKey("matches.id"), primary_key=True),
    Column("seat", Integer, primary_key=True),
    Column("bot_id", _Ref, ForeignKey("bots.id"), nullable=False),
    Column("version_id", _Ref, ForeignKey("versions.id"), nullable=False),
    Column("returned", Float(53)),  # this and the next two are set when the match finishes
    Column("score", Float(53)),
    Column("result", String(1)),  # W, D or L; NULL in a void match
    Index("ix_match_seats_bot_id_match_id", "bot_id", "match_id"),
    sqlite_with_rowid=False,
)

events = Table(
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
    sqlite_with_rowid=False,  # stored by match, so reading a match is one run of pages
)

standings = Table(
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
    Column("latest", Boolean, nullable=False),  # whether its bot played with it last
    Column("rating", Float(53), nullable=False),  # UNRATED until the first fit
    Column("low", Float(53)),
    Column("high", Float(53)),
    Column("rated_ms", BigInteger),
)
_BEST_FIRST = standings.c.rating.desc(), standings.c.score.desc(), standings.c.version_id
Index("ix_standings_game_rating", standings.c.game, *_BEST_FIRST)
Index("ix_standings_game_latest_rating", standings.c.game, standings.c.latest, *_BEST_FIRST)
Index("ix_standings_game_bot_id", standings.c.game, standings.c.bot_id)

pair_results = Table(
    "pair_results",
    metadata,
    Column("game", String(200), primary_key=True),
    Column("version_a", _Ref, ForeignKey("versions.id"), primary_key=True),
    Column("version_b", _Ref, ForeignKey("versions.id"), primary_key=True),
    Column("wins_a", Integer, nullable=False),
    Column("draws", Integer, nullable=False),
    Column("wins_b", Integer, nullable=False),
    Column("score_a", Float(53), nullable=False),  # sums over the matches, to fit ratings to
    Column("squares_a", Float(53), nullable=False),
)

rating_snapshots = Table(
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

# Competitions, with or without students.  Each game of a final is played in a tournament.  Without
# students, a competition and its only tournament share an id.

competitions = Table(
    "competitions",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("name", String(100), nullable=False),
    Column("name_key", String(100), nullable=False, unique=True),  # small letters
    Column("file", Text, nullable=False),
    Column("format", String(32), nullable=False),
    Column("status", String(16), nullable=False),
    Column("entries_each", Integer, nullable=False),  # bots that a student may enter
    Column("most_students", Integer, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Column("opens_ms", BigInteger),
    Column("freezes_ms", BigInteger),
    Column("final_ms", BigInteger),
    Column("started_ms", BigInteger),
    Column("finished_ms", BigInteger),
    Column("note", Text),  # why an automatic step failed
    Column("rehearses", String(64)),  # the competition that this one rehearses
    Column("late_ms", BigInteger),  # until when the file takes late submissions
    Column("parsed", Text),  # the values of the file as JSON; NULL if it cannot be read
)

competition_games = Table(
    "competition_games",
    metadata,
    Column("competition_id", String(64), ForeignKey("competitions.id"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("game", String(200), nullable=False),
    Column("tournament_id", String(64), ForeignKey("tournaments.id"), index=True),
)

competition_students = Table(
    "competition_students",
    metadata,
    Column("competition_id", String(64), ForeignKey("competitions.id"), primary_key=True),
    Column("player_id", _Ref, ForeignKey("players.id"), primary_key=True, index=True),
    Column("status", String(16), nullable=False),
    Column("joined_ms", BigInteger, nullable=False),
    Column("extended_ms", BigInteger),  # until when it may submit after the freeze
)

competition_members = Table(
    "competition_members",
    metadata,
    Column("competition_id", String(64), ForeignKey("competitions.id"), primary_key=True),
    Column("player_id", _Ref, ForeignKey("players.id"), primary_key=True),
    Column("name_key", String(64), primary_key=True),
    Column("name", String(64), nullable=False),
    Column("email", String(254), nullable=False),
    Column("token", String(16), nullable=False),  # the beginning of it; empty if it got none
    Column("institution_id", String(64)),  # NULL: not known
    Column("login", String(254)),  # at the institution; NULL: not known
)

competition_entries = Table(
    "competition_entries",
    metadata,
    Column("competition_id", String(64), ForeignKey("competitions.id"), primary_key=True),
    Column("bot_id", _Ref, ForeignKey("bots.id"), primary_key=True, index=True),
    Column("player_id", _Ref, ForeignKey("players.id"), nullable=False),
    Column("version_id", _Ref, ForeignKey("versions.id")),  # NULL: has not connected yet
    Column("chosen", Boolean, nullable=False),  # by the student; else the last one that came
    Column("baseline", Boolean, nullable=False),
    Column("status", String(16), nullable=False),
    Column("created_ms", BigInteger, nullable=False),
)

competition_codes = Table(
    "competition_codes",
    metadata,
    Column("code", String(16), primary_key=True),
    Column("competition_id", String(64), ForeignKey("competitions.id"), nullable=False, index=True),
    Column("uses", Integer, nullable=False),
    Column("used", Integer, nullable=False),
    Column("expires_ms", BigInteger),
    Column("player_id", _Ref, ForeignKey("players.id")),  # the group that it lets in; NULL: new
    Column("late_ms", BigInteger),  # until when those who join by it may submit
    Column("created_ms", BigInteger, nullable=False),
    Column("revoked_ms", BigInteger),
)

announcements = Table(
    "announcements",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("competition_id", String(64), ForeignKey("competitions.id"), nullable=False, index=True),
    Column("at_ms", BigInteger, nullable=False),
    Column("who", String(100), nullable=False),
    Column("kind", String(16), nullable=False),  # "note", or "change" of the competition's file
    Column("text", Text, nullable=False),
    sqlite_autoincrement=True,
)

competition_staff = Table(
    "competition_staff",
    metadata,
    Column("competition_id", String(64), ForeignKey("competitions.id"), primary_key=True),
    Column("player_id", _Ref, ForeignKey("players.id"), primary_key=True, index=True),
    Column("role", String(16), nullable=False),  # owner, assistant or reader
    Column("since_ms", BigInteger, nullable=False),
)

# Requests of students to look at a match or a grade again.
regrades = Table(
    "regrades",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("competition_id", String(64), ForeignKey("competitions.id"), nullable=False, index=True),
    Column("player_id", _Ref, ForeignKey("players.id"), nullable=False, index=True),
    Column("match_id", String(64), ForeignKey("matches.id")),  # NULL: about the grade
    Column("text", Text, nullable=False),
    Column("asked_ms", BigInteger, nullable=False),
    Column("answer", Text, nullable=False),  # empty until the staff answers
    Column("answered_by", String(100), nullable=False),
    Column("answered_ms", BigInteger),
    Column("closed_ms", BigInteger),
    sqlite_autoincrement=True,
)

# People at browsers.

sessions = Table(
    "sessions",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("digest", LargeBinary(32), nullable=False, unique=True),
    Column("player_id", _Ref, ForeignKey("players.id"), nullable=False, index=True),
    Column("token_id", _Ref, ForeignKey("tokens.id")),  # what it was begun with; NULL: no token
    Column("created_ms", BigInteger, nullable=False),
    Column("expires_ms", BigInteger, nullable=False, index=True),
    sqlite_autoincrement=True,
)

passwords = Table(
    "passwords",
    metadata,
    Column("player_id", _Ref, ForeignKey("players.id"), primary_key=True, autoincrement=False),
    Column("hash", String(200), nullable=False),  # with its salt and costs
    Column("changed_ms", BigInteger, nullable=False),
    Column("made_with", BigInteger),  # as that of a token
)

guests = Table(
    "guests",
    metadata,
    Column("player_id", _Ref, ForeignKey("players.id"), primary_key=True, autoincrement=False),
    Column("created_ms", BigInteger, nullable=False),
    Column("expires_ms", BigInteger, nullable=False, index=True),
)

# Submitted bots, for the server to run.

packages = Table(
    "packages",
    metadata,
    Column("digest", String(64), primary_key=True),
    Column("bytes", BigInteger, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
)

# A package in parts, which are written one by one before it: nobody's match waits for megabytes.
package_parts = Table(
    "package_parts",
    metadata,
    Column("digest", String(64), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("part", LargeBinary, nullable=False),
)

submissions = Table(
    "submissions",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("bot_id", _Ref, ForeignKey("bots.id"), nullable=False),
    Column("version_id", _Ref, ForeignKey("versions.id"), nullable=False, index=True),
    Column("digest", String(64), nullable=False, index=True),  # refused ones have no package
    Column("submitted_ms", BigInteger, nullable=False),
    Column("status", String(16), nullable=False),
    Column("report", Text, nullable=False),
    Column("games", Text, nullable=False),  # JSON list of specs
    Column("checked_ms", BigInteger),
    Column("connected", Boolean, nullable=False),  # whether the version has connected, too
    Column(
        "needs", String(64), nullable=False, server_default=text("''")
    ),  # the program it begins with
    Index("uq_submissions_bot_id_digest", "bot_id", "digest", unique=True),
    Index("ix_submissions_status_submitted_ms_id", "status", "submitted_ms", "id"),
    sqlite_autoincrement=True,
)

outputs = Table(
    "outputs",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("match_id", String(64), ForeignKey("matches.id"), nullable=False),
    Column("bot_id", _Ref, ForeignKey("bots.id"), nullable=False, index=True),
    Column("version_id", _Ref, ForeignKey("versions.id"), nullable=False, index=True),
    Column("part", String(64), nullable=False),  # one for each machine's program
    Column("received_ms", BigInteger, nullable=False),
    Column("crashes", Integer, nullable=False),
    Column("bytes", Integer, nullable=False),
    Column("data", LargeBinary, nullable=False),
    Index("uq_outputs_match_id_bot_id_part", "match_id", "bot_id", "part", unique=True),
    sqlite_autoincrement=True,
)

submission_entries = Table(
    "submission_entries",
    metadata,
    Column("submission_id", _Ref, ForeignKey("submissions.id"), primary_key=True),
    Column(
        "competition_id", String(64), ForeignKey("competitions.id"), primary_key=True, index=True
    ),
    Column("chosen", Boolean, nullable=False),  # the author named this competition
    Column("asked_ms", BigInteger, nullable=False),
    Column("outcome", Text, nullable=False),  # empty until the check
)


def select_rows(kind: Any, *tables: Table, **others: ColumnElement[Any]) -> Select[Any]:
    """Return a query with a column for each field of a kind of row, which ``kind(*row)`` reads.

    A field is one of ``others``, else the column of its name in the first table that has one.
    ``player``, ``bot`` and ``version`` are else their names and the version's label.  The last
    fields, with defaults, may have none.
    """
    label = versions.c.label
    known: dict[str, ColumnElement[Any]] = {"version": label, "label": label}
    known |= {"player": players.c.name, "bot": bots.c.name}
    for table in reversed(tables):
        known |= dict(table.c.items())
    known |= others
    fields = itertools.takewhile(known.__contains__, kind.__match_args__)
    return select(*[known[name].label(name) for name in fields])
