"""Comparing the schema of a database with the models."""

from __future__ import annotations

from sqlalchemy import Connection, UniqueConstraint

from plyhouse.storage import schema
from plyhouse.storage.models import metadata


def differences(connection: Connection) -> list[object]:
    """Return the changes with which Alembic would turn the database into the models.

    SQLite cannot rename a constraint, and nothing refers to one by its name: there, names of
    constraints do not count.
    """
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    options = {"version_table": schema.VERSION_TABLE, "compare_server_default": True}
    context = MigrationContext.configure(connection, opts=options)
    found = list(compare_metadata(context, metadata))
    if connection.dialect.name == "sqlite":
        removed, added = (
            {_covered(each[1]) for each in found if each[0] == kind}
            for kind in ("remove_constraint", "add_constraint")
        )
        renamed = removed & added
        found = [
            each
            for each in found
            if not str(each[0]).endswith("_constraint") or _covered(each[1]) not in renamed
        ]
    return found


def _covered(constraint: UniqueConstraint) -> tuple[str, ...]:
    """Return the table and the columns of a constraint."""
    return constraint.table.name, *(column.name for column in constraint.columns)
