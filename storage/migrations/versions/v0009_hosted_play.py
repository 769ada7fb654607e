"""Bots that people may play against where the house runs them, and rehearsals of competitions.

Revision ID: 0009
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Add the two columns: no existing bot is open, and no competition was a rehearsal."""
    op.add_column("bots", sa.Column("open_ms", sa.BigInteger(), nullable=True))
    op.add_column("class_competitions", sa.Column("rehearses", sa.String(length=64), nullable=True))
