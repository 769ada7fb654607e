"""Migrations that servers of the version before can work with, as a rolling upgrade needs.

During an upgrade, servers of two successive versions share the database.  A migration may therefore
only *expand* the schema: nothing that the older version reads or writes goes or gets stricter.
Migrations up to `FIRST` may do more, as no released version below it shares a database.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Engine, create_engine, inspect

from plyhouse.storage import schema

FIRST = "0022"
"""The schema of the first version whose servers share a database."""


def tables(engine: Engine) -> dict[str, Any]:
    """Return the columns and uniqueness of all tables."""
    look = inspect(engine)
    return {
        name: (
            {each["name"]: each for each in look.get_columns(name)},
            {each["name"] for each in look.get_indexes(name) if each["unique"]},
        )
        for name in look.get_table_names()
    }


def contractions(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """Return what the second schema lacks or refuses and the first one did not."""
    found = []
    for table, (columns, unique) in old.items():
        if table not in new:
            found.append(f"{table} is gone")
            continue
        columns_now, unique_now = new[table]
        found += [f"{table}.{name} is gone" for name in columns.keys() - columns_now.keys()]
        found += [f"{table} must be unique by {name}" for name in unique_now - unique]
        for name, column in columns_now.items():
            optional = column["nullable"] or column["default"] is not None
            was_optional = name in columns and (
                columns[name]["nullable"] or columns[name]["default"] is not None
            )
            if not optional and (name not in columns or was_optional):
                found.append(f"{table}.{name} is required")
    return sorted(found)


def test_migrations_only_expand_the_schema() -> None:
    engine = create_engine("sqlite://")
    found: dict[str, list[str]] = {}
    before: dict[str, Any] = {}
    for revision in schema.KNOWN:
        with engine.begin() as connection:
            schema.migrate(connection, revision)
        after = tables(engine)
        if revision > FIRST and (wrong := contractions(before, after)):
            found[revision] = wrong
        before = after
    assert found == {}, "a server of the release before reads or writes what goes"
