"""Batches of messages between the servers of a cluster, which NATS could not carry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqlalchemy import Connection, delete, insert, select

from plyhouse.storage.models import cluster_batches

__all__ = ["AT_ONCE", "add", "forget", "forget_older", "waiting"]

AT_ONCE: Final = 64
"""Rows that `waiting` returns at most."""


def add(
    connection: Connection, sender: int, batches: Sequence[tuple[int, bytes]], now_ms: int
) -> None:
    """Store what one server sends: receivers and data."""
    rows = [
        {"sender": sender, "receiver": receiver, "data": data, "created_ms": now_ms}
        for receiver, data in batches
    ]
    connection.execute(insert(cluster_batches), rows)


def waiting(connection: Connection, receiver: int) -> list[tuple[int, bytes]]:
    """Return ids and data of the oldest rows for a server."""
    columns = select(cluster_batches.c.id, cluster_batches.c.data)
    mine = columns.where(cluster_batches.c.receiver == receiver)
    found = connection.execute(mine.order_by(cluster_batches.c.id).limit(AT_ONCE))
    return [(row.id, row.data) for row in found]


def forget(connection: Connection, ids: Sequence[int]) -> None:
    """Delete rows."""
    connection.execute(delete(cluster_batches).where(cluster_batches.c.id.in_(ids)))


def forget_older(connection: Connection, before_ms: int) -> None:
    """Delete rows that no server has read in time: their receivers are gone."""
    connection.execute(delete(cluster_batches).where(cluster_batches.c.created_ms < before_ms))
