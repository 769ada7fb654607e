"""Counting the statements that a database is sent."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import event

from plyhouse.storage.store import Store


@contextmanager
def statements(store: Store) -> Iterator[list[str]]:
    """The SQL that is executed meanwhile."""
    database = store._database
    server = None if database._engine is None else database._engine.sync_engine
    writer = None if database._writer is None else database._writer.engine
    engines = [server, database._read_engine, writer]
    seen: list[str] = []

    def executed(connection: Any, cursor: Any, statement: str, *rest: object) -> None:
        seen.append(statement)

    listened = [engine for engine in engines if engine is not None]
    for engine in listened:
        event.listen(engine, "before_cursor_execute", executed)
    try:
        yield seen
    finally:
        for engine in listened:
            event.remove(engine, "before_cursor_execute", executed)
