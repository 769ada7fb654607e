"""The values of competition files, in a column of their own.

Only the server can read a file.  It fills the column when it starts, before it serves anybody.

Revision ID: 0023
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"


def upgrade() -> None:
    """Add the column."""
    op.add_column("competitions", sa.Column("parsed", sa.Text(), nullable=True))
