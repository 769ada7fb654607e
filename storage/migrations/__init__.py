"""Alembic's folder of migrations; run by `plyhouse.storage.schema`, never by hand."""
