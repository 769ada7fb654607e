"""Leaderboards of Leduc poker by chips won, as those of the other games of chips.

Revision ID: 0014
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"

GAME = "leduc_poker"
SPAN = 26.0
"""By how much two returns can differ: a seat wins or loses 13 chips at most."""

_matches = sa.table("matches", sa.column("id"), sa.column("game"), sa.column("rated", sa.Boolean()))
_seats = sa.table(
    "match_seats",
    *map(sa.column, ("match_id", "version_id", "result")),
    sa.column("returned", sa.Float()),
)
_standings = sa.table("standings", *map(sa.column, ("game", "score", "games", "returned")))
_pairs = sa.table(
    "pair_results",
    *map(sa.column, ("game", "version_a", "version_b", "wins_a", "draws", "wins_b")),
    *map(sa.column, ("score_a", "squares_a")),
)


def upgrade() -> None:
    """Work the sums out again; ratings follow at the next start of a server.

    The scores of matches in competitions stay. Pairs of which not every match is stored any
    more keep their sums.
    """
    connection = op.get_bind()
    here = _standings.c
    connection.execute(
        _standings.update()
        .where(here.game == GAME)
        .values(score=0.5 * here.games + here.returned / SPAN)
    )
    one, other = _seats.alias(), _seats.alias()
    score = 0.5 + one.c.returned / SPAN
    query = (
        sa.select(
            one.c.version_id,
            other.c.version_id,
            sa.func.count(),
            sa.func.sum(score),
            sa.func.sum(score * score),
        )
        .select_from(_matches)
        .join(one, one.c.match_id == _matches.c.id)
        .join(other, other.c.match_id == _matches.c.id)
        .where(
            _matches.c.game == GAME,
            _matches.c.rated.is_(True),
            one.c.result.is_not(None),
            one.c.version_id < other.c.version_id,
        )
        .group_by(one.c.version_id, other.c.version_id)
    )
    pair = _pairs.c
    for version_a, version_b, count, total, squares in connection.execute(query).all():
        connection.execute(
            _pairs.update()
            .where(
                pair.game == GAME,
                pair.version_a == version_a,
                pair.version_b == version_b,
                pair.wins_a + pair.draws + pair.wins_b == count,
            )
            .values(score_a=total, squares_a=squares)
        )
