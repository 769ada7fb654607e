"""The staff of competitions with a class.

Revision ID: 0012
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    """Make the table; the account that opened a competition, by the audit log, becomes its owner.

    A competition whose opener is not known stays without an owner, and so with all organisers.
    """
    staff = op.create_table(
        "class_staff",
        sa.Column("class_id", sa.String(length=64), nullable=False),
        sa.Column("player_id", sa.BigInteger(), nullable=False),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.Column("since_ms", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["class_id"], ["class_competitions.id"], name=op.f("fk_class_staff_class_id")
        ),
        sa.ForeignKeyConstraint(
            ["player_id"], ["players.id"], name=op.f("fk_class_staff_player_id")
        ),
        sa.PrimaryKeyConstraint("class_id", "player_id", name=op.f("pk_class_staff")),
    )
    op.create_index("ix_class_staff_player_id", "class_staff", ["player_id"])
    connection = op.get_bind()
    owners = [
        {"class_id": class_id, "player_id": owner, "role": "owner", "since_ms": created}
        for class_id, created in connection.execute(
            sa.text("SELECT id, created_ms FROM class_competitions")
        ).all()
        if (owner := _opener(connection, class_id, created)) is not None
    ]
    if owners:
        op.bulk_insert(staff, owners)


def _opener(connection: sa.Connection, class_id: str, created_ms: int) -> int | None:
    """Return the player that opened a competition, if it can be told for sure."""
    opened = connection.execute(
        sa.text(
            "SELECT id, who FROM audit WHERE what = 'competition.open' AND subject_id = :id"
            " ORDER BY id LIMIT 1"
        ),
        {"id": class_id},
    ).first()
    if opened is None:
        return None
    # The log has names: of a player that was renamed since, the one of that time.
    renamed = connection.execute(
        sa.text(
            "SELECT subject_id FROM audit WHERE what = 'player.rename' AND id > :after"
            " AND lower(substr(subject, 1, :length)) = :old ORDER BY id LIMIT 1"
        ),
        {
            "after": opened.id,
            "old": f"{opened.who} to ".lower(),
            "length": len(f"{opened.who} to "),
        },
    ).scalar_one_or_none()
    if renamed is not None:
        return int(renamed)
    found = connection.execute(
        sa.text("SELECT id FROM players WHERE name_key = :key AND created_ms <= :made"),
        {"key": opened.who.lower(), "made": created_ms},
    ).scalar_one_or_none()
    return None if found is None else int(found)
