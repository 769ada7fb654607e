"""Statements that a database refuses a few times, as a full disk or a bad sector would."""

from __future__ import annotations

import sqlite3
from typing import Any

from sqlalchemy import event

from plyhouse.storage.store import Store

__all__ = ["refuse"]


def refuse(store: Store, part: str, times: int = 1, *, full: bool = False) -> list[str]:
    """Let the next statements with this ``part`` fail in a store on a SQLite file.

    Returns the list that they are added to as they fail.  ``full``: the disk is full for a while;
    otherwise it cannot be read or written.
    """
    refused: list[str] = []

    def before(_: Any, __: Any, statement: str, *___: Any) -> None:
        if part not in statement or len(refused) >= times:
            return
        refused.append(statement)
        error = sqlite3.OperationalError("disk I/O error")
        error.sqlite_errorname = "SQLITE_FULL" if full else "SQLITE_IOERR"
        raise error

    database = store._database
    assert database._writer is not None
    for engine in (database._read_engine, database._writer.engine):
        assert engine is not None
        event.listen(engine, "before_cursor_execute", before)
    return refused
