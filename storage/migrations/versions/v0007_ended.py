"""Lists of finished matches by when they ended: of all, of a game, and of an ending.

Revision ID: 0007
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Make the three indexes; matches that run are in none of them."""
    over = sa.text("finished_ms IS NOT NULL")
    for name, *first in (
        ("ix_matches_finished_ms_id",),
        ("ix_matches_game_finished_ms_id", "game"),
        ("ix_matches_termination_finished_ms_id", "termination"),
    ):
        columns = [*first, "finished_ms", "id"]
        op.create_index(name, "matches", columns, sqlite_where=over, postgresql_where=over)
