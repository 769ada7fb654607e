"""Row locks that keep what a transaction has checked true until it commits.

PostgreSQL lets another transaction commit between a check and the write that relies on it.  A
writer therefore locks the row that the check is about (a player, a bot, a competition) before it
checks: a later writer waits, and then reads what was committed.  SQLite needs no such lock and
ignores these, because every transaction that writes there begins with BEGIN IMMEDIATE.

Transactions take locks in this order, so that none waits for another in a circle: names, players,
bots, competitions, tournaments, packages, and last the audit log.  If two deadlock
all the same, PostgreSQL ends one of them, and `plyhouse.storage.database` runs that one again.
"""

from __future__ import annotations

from typing import Any, TypeVar

from sqlalchemy import Column, Connection, Select, select, text

_NAMES = int.from_bytes(b"names")
"""Tells our advisory lock of names from others."""

SelectT = TypeVar("SelectT", bound=Select[Any])


def locking(query: SelectT) -> SelectT:
    """Let a query of one table lock the rows that it returns until the transaction ends.

    Rows that refer to the locked ones can still be added by others.
    """
    return query.with_for_update(key_share=True)


def lock_row(connection: Connection, column: Column[Any], value: object) -> None:
    """Lock the rows of a table in which a column has this value until the transaction ends."""
    connection.execute(locking(select(column).where(column == value)))


def lock_names(connection: Connection) -> None:
    """Let no other transaction that locks them name a player until this one ends.

    Names that look alike are refused, which no constraint can hold.
    """
    if connection.dialect.name == "postgresql":
        schema = f"hashtextextended(coalesce(current_schema(), ''), {_NAMES})"
        connection.execute(text(f"SELECT pg_advisory_xact_lock({schema})"))
