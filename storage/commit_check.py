"""Check in the database whether a doubtful transaction was stored.

The answer to COMMIT can be lost: the connection breaks, and nobody knows on which side of it.
Every operation of a match can be recognised by what it leaves behind, and a transaction is stored
all or none, so looking settles it.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, select

from plyhouse.storage.models import events, matches, pairings
from plyhouse.storage.rows import (
    EventRow,
    FinishMatch,
    FinishPairing,
    NewMatch,
    NewPairing,
    Op,
    StartMatch,
)

__all__ = ["all_stored"]


def all_stored(connection: Connection, ops: Sequence[Op]) -> bool:
    """Return whether each of these operations has left in the database what it should."""
    return all(_stored(connection, op) for op in ops)


def _stored(connection: Connection, op: Op) -> bool:
    match op:
        case EventRow():
            query = select(events.c.kind, events.c.ply, events.c.seat, events.c.text).where(
                events.c.match_id == op.match_id, events.c.idx == op.index
            )
            wanted: tuple[object, ...] = (op.kind, op.ply, op.seat, op.text)
        case NewPairing():
            query = select(pairings.c.seed).where(pairings.c.id == op.pairing.id)
            wanted = (op.pairing.seed,)
        case NewMatch():
            query = select(matches.c.pairing_id).where(matches.c.id == op.match.id)
            wanted = (op.match.pairing_id,)
        case StartMatch():
            query = select(matches.c.started_ms).where(matches.c.id == op.match_id)
            wanted = (op.started_ms,)
        case FinishMatch():
            query = select(
                matches.c.finished_ms, matches.c.termination, matches.c.culprit, matches.c.ply
            ).where(matches.c.id == op.match_id)
            wanted = (op.finished_ms, op.termination, op.culprit, op.ply)
        case FinishPairing():
            query = select(pairings.c.finished_ms).where(pairings.c.id == op.pairing_id)
            wanted = (op.finished_ms,)
    found = connection.execute(query).first()
    return found is not None and tuple(found) == wanted
