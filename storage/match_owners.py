"""Owners of pairings in a cluster, as queries: the members that run the matches.

The unit of ownership is the pairing, so that all its matches have one owner.  Ownership changes in
one way only: members `adopt` the pairings of an owner whose lease has ended.  So the fence of the
owner's lease (`plyhouse.storage.leases`) protects all writes of a match.

A pairing with unfinished matches is an *orphan* if its owner's lease has ended or is deleted.  One
without an owner, as a server without a lease leaves it, is also an orphan.
"""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection, func, or_, select

from plyhouse.storage.match_reads import assemble, headers
from plyhouse.storage.models import leases, matches, pairings
from plyhouse.storage.rows import MatchRow

_UNFINISHED = pairings.c.finished_ms.is_(None)
_WITH_A_LEASE = (
    select(leases.c.epoch)
    .where(leases.c.epoch == pairings.c.owner, leases.c.ended_ms.is_(None))
    .exists()
)


def orphans(connection: Connection) -> dict[int, int]:
    """Return the numbers of orphaned pairings by the epochs of their owners; 0 stands for none."""
    query = (
        select(pairings.c.owner, func.count())
        .where(_UNFINISHED, or_(pairings.c.owner.is_(None), ~_WITH_A_LEASE))
        .group_by(pairings.c.owner)
    )
    return {owner or 0: count for owner, count in connection.execute(query)}


def adopt(connection: Connection, new_owner: int, limit: int) -> list[str]:
    """Give a member up to ``limit`` orphaned pairings, the oldest first; return their ids.

    Pairings that another member adopts at the same time are left to it.  A member whose lease has
    ended gets none.
    """
    if not _lock_lease(connection, new_owner):
        return []
    # Leases are read in a statement of their own.  PostgreSQL checks the condition of a statement
    # that locks again for pairings that changed meanwhile, but with the leases as they were at its
    # beginning: it could take a pairing from a new member that has just adopted it.
    ended = select(pairings.c.owner).where(_UNFINISHED, ~_WITH_A_LEASE).distinct()
    owners = list(connection.execute(ended.where(pairings.c.owner.is_not(None))).scalars())
    query = (
        select(pairings.c.id)
        .where(_UNFINISHED, or_(pairings.c.owner.is_(None), pairings.c.owner.in_(owners)))
        .order_by(pairings.c.id)
        .limit(limit)
        .with_for_update(key_share=True, skip_locked=True)
    )
    found = list(connection.execute(query).scalars())
    if found:
        taken = pairings.update().where(pairings.c.id.in_(found))
        connection.execute(taken.values(owner=new_owner))
    return found


def _lock_lease(connection: Connection, epoch: int) -> bool:
    """Keep the lease of a member from being ended before the commit; False if it has ended.

    The server that ends it later finds the pairings among those of the member.
    """
    lease = select(leases.c.epoch).where(leases.c.epoch == epoch, leases.c.ended_ms.is_(None))
    locked = lease.with_for_update(key_share=True, read=True)
    return connection.execute(locked).first() is not None


def owned(connection: Connection, owner: int) -> list[str]:
    """Return the ids of a member's unfinished pairings, the oldest first."""
    query = select(pairings.c.id).where(_UNFINISHED, pairings.c.owner == owner)
    return list(connection.execute(query.order_by(pairings.c.id)).scalars())


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
