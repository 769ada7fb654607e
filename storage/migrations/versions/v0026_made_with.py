"""The tokens by which tokens and passwords were made in browsers, which end with them.

Revision ID: 0026
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"


def upgrade() -> None:
    """Add the columns, empty: nobody knows by what older ones were made."""
    op.add_column("tokens", sa.Column("made_with", sa.BigInteger, nullable=True))
    op.create_index("ix_tokens_made_with", "tokens", ["made_with"])
    op.add_column("passwords", sa.Column("made_with", sa.BigInteger, nullable=True))
