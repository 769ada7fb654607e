"""Owners of pairings in a cluster, as queries: the members that run the matches.

The unit of ownership is the pairing, so that all its matches have one owner.  Ownership changes in
two ways only: members `adopt` the pairings of an owner whose lease has ended, and an owner lets
go of its own by `hand_over`.  So the fence of the owner's lease (`plyhouse.storage.leases`)
protects all writes of a match.

A pairing with unfinished matches is an *orphan* if its owner's lease has ended or is deleted.  One
without an owner, as a server without a lease leaves it, is also an orphan.
"""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection, func, or_, select

from plyhouse.storage.models import leases, pairings

__all__ = ["adopt", "hand_over", "orphans", "owned"]

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


def adopt(
    connection: Connection, new_owner: int, limit: int, prefer: Collection[str] = ()
) -> list[str]:
    """Give a member up to ``limit`` orphaned pairings; return their ids.

    Those that it should ``prefer`` come first, then the oldest.  Pairings that another member
    adopts at the same time are left to it.  A member whose lease has ended gets none.
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
        .with_for_update(key_share=True, skip_locked=True)
    )
    found: list[str] = []
    if prefer:
        wanted = query.where(pairings.c.id.in_(prefer)).limit(limit)
        found += connection.execute(wanted).scalars()
    if len(found) < limit:
        others = query.where(pairings.c.id.not_in(found)).limit(limit - len(found))
        found += connection.execute(others).scalars()
    if found:
        taken = pairings.update().where(pairings.c.id.in_(found))
        connection.execute(taken.values(owner=new_owner))
    return found


def hand_over(connection: Connection, own: int, ids: Collection[str], to: int) -> list[str]:
    """Give unfinished pairings of the member ``own`` to another one; return their ids.

    Skips pairings of others.  Returns none if the lease of the receiver has ended.  The caller is
    the owner itself: its transaction has fenced its lease.  It calls this once everything that it
    has submitted for the matches is stored, and submits nothing for them afterwards.  A transaction
    that is still under way would store a ply that the receiver does not know.
    """
    if not _lock_lease(connection, to):
        return []
    given = pairings.update().where(_UNFINISHED, pairings.c.owner == own, pairings.c.id.in_(ids))
    changed = given.values(owner=to).returning(pairings.c.id)
    return sorted(connection.execute(changed).scalars())


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
