"""Run by Alembic: migrates over the connection that `plyhouse.storage.schema` passes."""

from __future__ import annotations

from alembic import context

from plyhouse.storage.models import metadata
from plyhouse.storage.schema import VERSION_TABLE

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=VERSION_TABLE,
)
context.run_migrations()  # the caller holds the transaction
