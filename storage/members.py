"""Members of a cluster, their leaders, and the owners of matches, as queries.

Members share a PostgreSQL schema.  A member is a server with a shared lease
(`plyhouse.storage.leases`); the epoch of the lease identifies it.  Members end the expired leases
of each other, and from then on the database refuses everything that such a member writes.

A *role* is a job that one member at a time does, its leader.  A role is free if the leader's lease
has ended.  So the lease is also the fence of a leader: it keeps its role as long as it may write.

The unit of ownership is the pairing, so that all its matches have one owner.  Ownership changes in
one way only: members `adopt` the pairings of an owner whose lease has ended.  So the fence of the
owner's lease (`plyhouse.storage.leases`) protects all writes of a match.

A pairing with unfinished matches is an *orphan* if its owner's lease has ended or is deleted.  One
without an owner, as a server without a lease leaves it, is also an orphan.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal
from urllib.parse import urlsplit

from sqlalchemy import Connection, case, delete, func, insert, or_, select, text

from plyhouse.storage.errors import BadUrl
from plyhouse.storage.leases import NOW_MS
from plyhouse.storage.match_reads import assemble, headers
from plyhouse.storage.models import cluster_batches, events, leaders, leases, matches, pairings
from plyhouse.storage.rows import MatchRow
from plyhouse.storage.statements import insert_into

LEADER: Final = "leader"
"""The role of the server that runs the lobby, competitions and hosting."""
GRACE_MS: Final = 2_000
"""How long a member must have been valid without a gap before it ends the leases of others.

All leases expire while the database is away, and all members are silent if NATS is away, too.
The first member that comes back must leave the others the time to renew theirs.
"""
AT_ONCE: Final = 64
"""Rows that `waiting` returns at most."""
_UNFINISHED = pairings.c.finished_ms.is_(None)
_WITH_A_LEASE = (
    select(leases.c.epoch)
    .where(leases.c.epoch == pairings.c.owner, leases.c.ended_ms.is_(None))
    .exists()
)


@dataclass(frozen=True, slots=True)
class Member:
    """A server of a cluster."""

    epoch: int
    holder: str
    """Host and process number, as ``HOST:PID``."""
    address: str
    """The base URL at which other members reach its HTTP; empty for none."""
    version: str
    """The version of Plyhouse that it runs."""
    expires_in_ms: int
    """How long its lease is valid if it is not renewed; negative since it has expired."""

    @property
    def state(self) -> Literal["running", "expired"]:
        """Whether it runs, or has not renewed its lease in time."""
        return "running" if self.expires_in_ms > 0 else "expired"


def members(connection: Connection) -> list[Member]:
    """Return the members whose leases have not ended, the oldest first."""
    query = (
        select(
            *(leases.c.epoch, leases.c.holder, leases.c.address, leases.c.version),
            leases.c.expires_ms - NOW_MS,
        )
        .where(leases.c.shared, leases.c.ended_ms.is_(None))
        .order_by(leases.c.epoch)
    )
    return [Member(*row) for row in connection.execute(query)]


def end_expired(
    connection: Connection,
    own_epoch: int,
    silent: Collection[int] = (),
    left_ms: int = 0,
    *,
    grace_ms: int = GRACE_MS,
) -> list[int]:
    """End the expired leases of other members; return their epochs.

    The leases of ``silent`` members, from which nothing is heard, end ``left_ms`` early.

    Skips a lease that a transaction of its member has locked, so that a member which hangs does
    not delay the takeover of others: PostgreSQL ends that transaction after some seconds
    (`leases.fence`), and the next call ends the lease.  Ends nothing unless the own lease has been
    valid for ``grace_ms`` without a gap.
    """
    steady = select(leases.c.epoch).where(
        leases.c.epoch == own_epoch,
        leases.c.ended_ms.is_(None),
        leases.c.expires_ms > NOW_MS + (left_ms if silent else 0),
        leases.c.steady_ms <= NOW_MS - grace_ms,
    )
    if connection.execute(steady).first() is None:
        return []
    expired = (
        select(leases.c.epoch)
        .where(
            leases.c.shared,
            leases.c.ended_ms.is_(None),
            leases.c.expires_ms <= NOW_MS + case((leases.c.epoch.in_(silent), left_ms), else_=0),
            leases.c.epoch != own_epoch,
        )
        .order_by(leases.c.epoch)
        .with_for_update(skip_locked=True)  # conflicts with the lock of `leases.fence`
    )
    found = list(connection.execute(expired).scalars())
    if found:
        connection.execute(leases.update().where(leases.c.epoch.in_(found)).values(ended_ms=NOW_MS))
    return found


def claim_role(connection: Connection, role: str, epoch: int) -> int:
    """Make a member the leader of a role if that is free; return the epoch of the leader.

    A member whose lease has ended takes no role; where nobody else had it, the result is 0.
    """
    leader = select(leaders.c.epoch).where(leaders.c.role == role)
    present = connection.execute(leader).scalar()
    if present is not None and (present == epoch or _stays(connection, present)):
        return int(present)
    if not _stays(connection, epoch):
        return int(present or 0)
    free = insert_into(leaders, connection.dialect).values(role=role, epoch=epoch)
    connection.execute(free.on_conflict_do_nothing())
    # The leases are read in a statement of their own: while this one waits for the lock, PostgreSQL
    # would keep the leases that it has joined to an earlier leader.
    present = connection.execute(leader.with_for_update()).scalar_one()
    if present == epoch or _stays(connection, present):
        return int(present)
    connection.execute(leaders.update().where(leaders.c.role == role).values(epoch=epoch))
    return epoch


def _stays(connection: Connection, epoch: int) -> bool:
    """Return whether a member's lease has not ended."""
    found = select(leases.c.epoch).where(leases.c.epoch == epoch, leases.c.ended_ms.is_(None))
    return connection.execute(found).first() is not None


def cluster_name(connection: Connection) -> str:
    """Return a name of the cluster, of letters and digits, from the identity of its tables."""
    table = text("SELECT current_database(), current_schema(), CAST('leases'::regclass AS oid)")
    words = " ".join(str(each) for each in connection.execute(table).one())
    return hashlib.sha256(words.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class MemberOverview:
    """A member of a cluster, and what it runs."""

    member: Member
    """Its address is without the secret by which members know each other."""
    age_ms: int
    """How long ago it started."""
    matches: int
    """How many unfinished matches it owns."""
    plies: int
    """How many plies these matches have."""
    roles: tuple[str, ...]
    """The roles that it leads, sorted."""
    waiting: int
    """How many batches of messages wait for it in the database, because NATS is away."""


@dataclass(frozen=True, slots=True)
class ClusterOverview:
    """All members, and what has none."""

    members: tuple[MemberOverview, ...]
    """The oldest first."""
    orphans: int
    """How many unfinished pairings wait for a new owner."""
    free_roles: tuple[str, ...]
    """Roles whose last leader's lease has ended, sorted."""


def cluster_overview(connection: Connection) -> ClusterOverview:
    """Return the members whose leases have not ended, and what each owns and leads.

    Raises `BadUrl` on SQLite.  Reads the events of all unfinished matches.
    """
    if connection.dialect.name != "postgresql":
        raise BadUrl("SQLite has no cluster; give --database the PostgreSQL URL of one")
    found = members(connection)
    started = select(leases.c.epoch, NOW_MS - leases.c.started_ms)
    ages = {row[0]: row[1] for row in connection.execute(started)}
    counted = (
        select(
            pairings.c.owner,
            func.count(matches.c.id.distinct()),
            func.count(events.c.match_id),
        )
        .join(matches, matches.c.pairing_id == pairings.c.id)
        .outerjoin(events, (events.c.match_id == matches.c.id) & (events.c.kind == "action"))
        .where(pairings.c.finished_ms.is_(None), matches.c.finished_ms.is_(None))
        .group_by(pairings.c.owner)
    )
    owned = {owner: (games, plies) for owner, games, plies in connection.execute(counted)}
    roles: dict[int, list[str]] = {}
    for role, epoch in connection.execute(select(*leaders.c).order_by(leaders.c.role)):
        roles.setdefault(epoch, []).append(role)
    unread = select(cluster_batches.c.receiver, func.count()).group_by(cluster_batches.c.receiver)
    waiting = {row[0]: row[1] for row in connection.execute(unread)}
    rows = tuple(
        MemberOverview(
            replace(each, address=_public(each.address)),
            ages[each.epoch],
            *owned.get(each.epoch, (0, 0)),
            tuple(roles.pop(each.epoch, ())),
            waiting.get(each.epoch, 0),
        )
        for each in found
    )
    free = tuple(sorted(role for left in roles.values() for role in left))
    return ClusterOverview(rows, sum(orphans(connection).values()), free)


def _public(address: str) -> str:
    """Return an address without the user and password in it.

    >>> _public("http://:secret@10.0.0.5:8765")
    'http://10.0.0.5:8765'
    """
    parts = urlsplit(address)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


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
