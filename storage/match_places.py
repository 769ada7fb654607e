"""Where matches run in a cluster, and how those that are over have ended."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection

from plyhouse.storage.match_reads import assemble, headers
from plyhouse.storage.models import leases, matches, pairings
from plyhouse.storage.rows import MatchRow

__all__ = ["places"]


def places(
    connection: Connection, identifiers: Collection[str]
) -> dict[str, tuple[MatchRow, str | None, int]]:
    """Return the header, tournament and owner of each match that is stored.

    The owner is 0 for a match that is over, and for one whose owner has stopped.
    """
    query = (
        headers()
        .add_columns(pairings.c.owner, leases.c.epoch.label("alive"))
        .outerjoin(leases, (leases.c.epoch == pairings.c.owner) & leases.c.ended_ms.is_(None))
        .where(matches.c.id.in_(list(identifiers)))
    )
    rows = connection.execute(query).all()
    found = {row.id: row for row in rows}
    return {
        header.id: (
            header,
            found[header.id].tournament_id,
            0 if header.finished_ms else found[header.id].alive or 0,
        )
        for header in assemble(connection, rows, secrets=False)
    }
