"""Comparing the schema of a database with the models."""

from __future__ import annotations

from sqlalchemy import Connection

from plyhouse.storage import schema
from plyhouse.storage.models import metadata


def differences(connection: Connection) -> list[object]:
    """Return the changes with which Alembic would turn the database into the models."""
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    options = {"version_table": schema.VERSION_TABLE, "compare_server_default": True}
    context = MigrationContext.configure(connection, opts=options)
    return list(compare_metadata(context, metadata))
