"""Administration, display names, and results kept per version.

- An audit log; players and bots that are disabled, display names, matches that were made void.
- Leaderboards had a line for each bot, and get one for each of its versions.  The lines are summed
  up again from the matches, which always knew the version; the fitted rating goes to the version
  that played last, until the next fit.

Revision ID: 0002
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

UNRATED = -1e9


def _id() -> sa.types.TypeEngine[int]:
    """A key the database counts up; SQLite does that for INTEGER only."""
    return sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the audit log, add the columns, and divide the results by version."""
    op.create_table(
        "audit",
        sa.Column("id", _id(), nullable=False),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
        sa.Column("who", sa.String(length=100), nullable=False),
        sa.Column("what", sa.String(length=32), nullable=False),
        sa.Column("subject", sa.String(length=200), nullable=False),
        sa.Column("subject_id", sa.String(length=64), nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("keep_matches", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit")),
    )
    op.add_column("players", sa.Column("display", sa.String(length=64), nullable=True))
    op.add_column("players", sa.Column("disabled_ms", sa.BigInteger(), nullable=True))
    op.add_column("bots", sa.Column("disabled_ms", sa.BigInteger(), nullable=True))
    op.add_column("matches", sa.Column("void_reason", sa.Text(), nullable=True))
    op.add_column("rating_snapshots", sa.Column("version_id", sa.BigInteger(), nullable=True))
    op.execute("CREATE TEMPORARY TABLE old_standings AS SELECT * FROM standings")
    op.execute("CREATE TEMPORARY TABLE old_pair_results AS SELECT * FROM pair_results")
    op.drop_index("ix_standings_game_rating", "standings")
    op.drop_table("standings")
    op.drop_table("pair_results")
    _make_standings()
    _make_pair_results()
    for statement in (*_STANDINGS, *_SNAPSHOTS, *_PAIR_RESULTS):
        op.execute(statement)
    op.execute("DROP TABLE old_standings")
    op.execute("DROP TABLE old_pair_results")


def _make_standings() -> None:
    op.create_table(
        "standings",
        sa.Column("game", sa.String(length=200), nullable=False),
        sa.Column("version_id", sa.BigInteger(), nullable=False),
        sa.Column("score", sa.Float(precision=53), nullable=False),
        sa.Column("games", sa.Integer(), nullable=False),
        sa.Column("wins", sa.Integer(), nullable=False),
        sa.Column("draws", sa.Integer(), nullable=False),
        sa.Column("losses", sa.Integer(), nullable=False),
        sa.Column("returned", sa.Float(precision=53), nullable=False),
        sa.Column("returned_squares", sa.Float(precision=53), nullable=False),
        sa.Column("bot_id", sa.BigInteger(), nullable=False),
        sa.Column("latest", sa.Boolean(), nullable=False),
        sa.Column("rating", sa.Float(precision=53), nullable=False),
        sa.Column("low", sa.Float(precision=53), nullable=True),
        sa.Column("high", sa.Float(precision=53), nullable=True),
        sa.Column("rated_ms", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["bot_id"], ["bots.id"], name=op.f("fk_standings_bot_id")),
        sa.ForeignKeyConstraint(
            ["version_id"], ["versions.id"], name=op.f("fk_standings_version_id")
        ),
        sa.PrimaryKeyConstraint("game", "version_id", name=op.f("pk_standings")),
    )
    op.create_index("ix_standings_game_bot_id", "standings", ["game", "bot_id"], unique=False)
    order: list[str | sa.ColumnElement[Any]] = [
        sa.literal_column("rating DESC"),
        sa.literal_column("score DESC"),
        "version_id",
    ]
    op.create_index("ix_standings_game_rating", "standings", ["game", *order], unique=False)
    op.create_index(
        "ix_standings_game_latest_rating", "standings", ["game", "latest", *order], unique=False
    )


def _make_pair_results() -> None:
    op.create_table(
        "pair_results",
        sa.Column("game", sa.String(length=200), nullable=False),
        sa.Column("version_a", sa.BigInteger(), nullable=False),
        sa.Column("version_b", sa.BigInteger(), nullable=False),
        sa.Column("wins_a", sa.Integer(), nullable=False),
        sa.Column("draws", sa.Integer(), nullable=False),
        sa.Column("wins_b", sa.Integer(), nullable=False),
        sa.Column("score_a", sa.Float(precision=53), nullable=False),
        sa.Column("squares_a", sa.Float(precision=53), nullable=False),
        sa.ForeignKeyConstraint(
            ["version_a"], ["versions.id"], name=op.f("fk_pair_results_version_a")
        ),
        sa.ForeignKeyConstraint(
            ["version_b"], ["versions.id"], name=op.f("fk_pair_results_version_b")
        ),
        sa.PrimaryKeyConstraint("game", "version_a", "version_b", name=op.f("pk_pair_results")),
    )


_STANDINGS = (
    f"""
    INSERT INTO standings (game, version_id, bot_id, latest, score, games, wins, draws, losses,
                           returned, returned_squares, rating)
    SELECT m.game, s.version_id, s.bot_id, false, sum(s.score), count(*),
           sum(CASE WHEN s.result = 'W' THEN 1 ELSE 0 END),
           sum(CASE WHEN s.result = 'D' THEN 1 ELSE 0 END),
           sum(CASE WHEN s.result = 'L' THEN 1 ELSE 0 END),
           sum(s.returned), sum(s.returned * s.returned), {UNRATED}
    FROM match_seats s JOIN matches m ON m.id = s.match_id
    WHERE m.rated AND s.result IS NOT NULL
    GROUP BY m.game, s.version_id, s.bot_id
    """,  # noqa: S608 (a constant of this file)
    """
    UPDATE standings SET latest = true
    WHERE (game, version_id) IN (
        SELECT game, version_id FROM (
            SELECT m.game, s.version_id, row_number() OVER (
                PARTITION BY m.game, s.bot_id ORDER BY m.finished_ms DESC, s.version_id DESC
            ) AS place
            FROM match_seats s JOIN matches m ON m.id = s.match_id
            WHERE m.rated AND s.result IS NOT NULL
        ) AS played
        WHERE place = 1
    )
    """,
    *(
        f"""
        UPDATE standings SET {column} = (
            SELECT o.{column} FROM old_standings o
            WHERE o.game = standings.game AND o.bot_id = standings.bot_id
        )
        WHERE latest AND EXISTS (
            SELECT 1 FROM old_standings o
            WHERE o.game = standings.game AND o.bot_id = standings.bot_id
        )
        """  # noqa: S608 (a constant of this file)
        for column in ("rating", "low", "high", "rated_ms")
    ),
)

_SNAPSHOTS = (
    """
    UPDATE rating_snapshots SET version_id = (
        SELECT s.version_id FROM standings s
        WHERE s.game = rating_snapshots.game AND s.bot_id = rating_snapshots.bot_id AND s.latest
    )
    """,
)

# Where both bots had one version each, their results are what they were.  Elsewhere they are summed
# up again: a seat's score of a match of two is its score against the other; in matches of
# more seats, who got more scores 1 and who got as much 1/2, as the rule of scoring by the size of
# returns is not the database's to know.
_PAIR_RESULTS = (
    """
    CREATE TEMPORARY TABLE one_version AS
    SELECT game, bot_id, min(version_id) AS version_id FROM standings
    GROUP BY game, bot_id HAVING count(*) = 1
    """,
    """
    INSERT INTO pair_results (game, version_a, version_b, wins_a, draws, wins_b, score_a,
                              squares_a)
    SELECT o.game,
           CASE WHEN a.version_id < b.version_id THEN a.version_id ELSE b.version_id END,
           CASE WHEN a.version_id < b.version_id THEN b.version_id ELSE a.version_id END,
           CASE WHEN a.version_id < b.version_id THEN o.wins_a ELSE o.wins_b END,
           o.draws,
           CASE WHEN a.version_id < b.version_id THEN o.wins_b ELSE o.wins_a END,
           CASE WHEN a.version_id < b.version_id THEN o.score_a
                ELSE o.wins_a + o.draws + o.wins_b - o.score_a END,
           CASE WHEN a.version_id < b.version_id THEN o.squares_a
                ELSE o.wins_a + o.draws + o.wins_b - 2 * o.score_a + o.squares_a END
    FROM old_pair_results o
    JOIN one_version a ON a.game = o.game AND a.bot_id = o.bot_a
    JOIN one_version b ON b.game = o.game AND b.bot_id = o.bot_b
    """,
    """
    INSERT INTO pair_results (game, version_a, version_b, wins_a, draws, wins_b, score_a,
                              squares_a)
    SELECT game, version_a, version_b,
           sum(CASE WHEN score > 0.5 THEN 1 ELSE 0 END),
           sum(CASE WHEN score = 0.5 THEN 1 ELSE 0 END),
           sum(CASE WHEN score < 0.5 THEN 1 ELSE 0 END),
           sum(score), sum(score * score)
    FROM (
        SELECT m.game, a.version_id AS version_a, b.version_id AS version_b,
               CASE WHEN (SELECT count(*) FROM match_seats n WHERE n.match_id = m.id) = 2
                        THEN a.score
                    WHEN a.returned > b.returned THEN 1.0
                    WHEN a.returned = b.returned THEN 0.5
                    ELSE 0.0 END AS score
        FROM matches m
        JOIN match_seats a ON a.match_id = m.id
        JOIN match_seats b ON b.match_id = m.id AND b.version_id > a.version_id
        WHERE m.rated AND a.result IS NOT NULL AND a.bot_id <> b.bot_id
          AND (NOT EXISTS (SELECT 1 FROM one_version o
                           WHERE o.game = m.game AND o.bot_id = a.bot_id)
               OR NOT EXISTS (SELECT 1 FROM one_version o
                              WHERE o.game = m.game AND o.bot_id = b.bot_id))
    ) AS met
    GROUP BY game, version_a, version_b
    """,
    "DROP TABLE one_version",
)
