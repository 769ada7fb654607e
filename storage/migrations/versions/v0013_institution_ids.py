"""Institution ids of the students of a competition, for grade books.

Revision ID: 0013
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    """Add the column; nobody has an id yet."""
    op.add_column("class_members", sa.Column("institution_id", sa.String(length=64), nullable=True))
