"""Logins of students at their institution, by which Canvas finds them.

Revision ID: 0025
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"


def upgrade() -> None:
    """Add the column, empty: an older row may have a login or a number as its id."""
    op.add_column("competition_members", sa.Column("login", sa.String(254), nullable=True))
