"""One name for each noun: competitions, and the tournaments in which their games are played.

The tables of competitions were called class_*, and `competitions` had the tournaments.  No released
version shares a database between servers, so this migration may rename what an older one reads.

Revision ID: 0022
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"

_TABLES = (
    ("competitions", "tournaments"),
    ("entries", "tournament_entries"),
    ("class_competitions", "competitions"),
    ("class_games", "competition_games"),
    ("class_students", "competition_students"),
    ("class_members", "competition_members"),
    ("class_entries", "competition_entries"),
    ("class_codes", "competition_codes"),
    ("class_staff", "competition_staff"),
)
"""Old and new names, in an order in which no two tables ever have the same."""

_COLUMNS = (
    *(("tournament_entries", "competition_id", "tournament_id"),),
    *(("pairings", "competition_id", "tournament_id"),),
    *(("competition_games", "competition_id", "tournament_id"),),
    *(
        (table, "class_id", "competition_id")
        for table in (
            *("competition_games", "competition_students", "competition_members"),
            *("competition_entries", "competition_codes", "competition_staff"),
            *("announcements", "regrades", "submission_entries"),
        )
    ),
)
"""Tables by their new names, with the old and new names of columns."""

_INDEXES = (
    ("pairings", "competition_id", "pairings", "tournament_id"),
    ("class_games", "competition_id", "competition_games", "tournament_id"),
    ("class_students", "player_id", "competition_students", "player_id"),
    ("class_entries", "bot_id", "competition_entries", "bot_id"),
    ("class_codes", "class_id", "competition_codes", "competition_id"),
    ("class_staff", "player_id", "competition_staff", "player_id"),
    ("announcements", "class_id", "announcements", "competition_id"),
    ("regrades", "class_id", "regrades", "competition_id"),
    ("submission_entries", "class_id", "submission_entries", "competition_id"),
)
"""The indexes of one column: table and column by their old names, then by their new ones."""


def upgrade() -> None:
    """Rename the tables, their columns and what is named after these."""
    connection = op.get_bind()
    for old, new in _TABLES:
        op.execute(sa.text(f"ALTER TABLE {old} RENAME TO {new}"))
    for table, old, new in _COLUMNS:
        op.execute(sa.text(f"ALTER TABLE {table} RENAME COLUMN {old} TO {new}"))
    for table, column, new_table, new_column in _INDEXES:
        old, new = f"ix_{table}_{column}", f"ix_{new_table}_{new_column}"
        if connection.dialect.name == "postgresql":
            if old != new:
                op.execute(sa.text(f"ALTER INDEX {old} RENAME TO {new}"))
        else:  # SQLite renames no index.
            op.drop_index(old, new_table)
            op.create_index(new, new_table, [new_column])
    if connection.dialect.name == "postgresql":
        _rename_constraints(connection)


def _rename_constraints(connection: sa.Connection) -> None:
    """Rename constraints after their tables and columns; SQLite keeps the old names unseen."""
    old_names = {new: old for old, new in _TABLES}
    query = sa.text(
        "SELECT conname FROM pg_constraint"
        " WHERE conrelid = CAST(:table AS regclass) AND contype IN ('p', 'u', 'f')"
    )
    for table in dict.fromkeys((*old_names, *(table for table, _, _ in _COLUMNS))):
        columns = {old: new for owner, old, new in _COLUMNS if owner == table}
        for name in connection.execute(query, {"table": table}).scalars().all():
            kind, _, rest = name.partition("_")
            column = rest.removeprefix(old_names.get(table, table)).removeprefix("_")
            wanted = f"{kind}_{table}" + (f"_{columns.get(column, column)}" if column else "")
            if wanted != name:
                op.execute(sa.text(f"ALTER TABLE {table} RENAME CONSTRAINT {name} TO {wanted}"))
