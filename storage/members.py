"""Members of a cluster, which share a PostgreSQL schema, and their leaders, as queries.

A member is a server with a shared lease (`plyhouse.storage.leases`); the epoch of the lease
identifies it.  Members end the expired leases of each other, and from then on the database refuses
everything that such a member writes.

A *role* is a job that one member at a time does, its leader.  A role is free if the leader's lease
has ended, or if the leader is draining because it will stop.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal
from urllib.parse import urlsplit

from sqlalchemy import Connection, delete, func, insert, select, text

from plyhouse.storage import match_owners
from plyhouse.storage.errors import BadUrl
from plyhouse.storage.leases import NOW_MS
from plyhouse.storage.models import cluster_batches, events, leaders, leases, matches, pairings
from plyhouse.storage.statements import insert_into

LEADER: Final = "leader"
"""The role of the server that runs the lobby, competitions and hosting."""

GRACE_MS: Final = 2_000
"""How long a member must have been valid without a gap before it ends the leases of others.

All leases expire while the database is away.  The first member that comes back must leave the
others the time to renew theirs.
"""


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
    draining: bool
    """True if it will stop, and hands over what it owns."""
    expires_in_ms: int
    """How long its lease is valid if it is not renewed; negative since it has expired."""

    @property
    def state(self) -> Literal["running", "draining", "expired"]:
        """Whether it runs, will stop, or has not renewed its lease in time."""
        if self.expires_in_ms <= 0:
            return "expired"
        return "draining" if self.draining else "running"


def members(connection: Connection) -> list[Member]:
    """Return the members whose leases have not ended, the oldest first."""
    query = (
        select(
            *(leases.c.epoch, leases.c.holder, leases.c.address, leases.c.version),
            *(leases.c.draining, leases.c.expires_ms - NOW_MS),
        )
        .where(leases.c.shared, leases.c.ended_ms.is_(None))
        .order_by(leases.c.epoch)
    )
    return [Member(*row) for row in connection.execute(query)]


def end_expired(connection: Connection, own_epoch: int, grace_ms: int = GRACE_MS) -> list[int]:
    """End the expired leases of other members; return their epochs.

    Skips a lease that a transaction of its member has locked, so that a member which hangs does
    not delay the takeover of others: PostgreSQL ends that transaction after some seconds
    (`leases.fence`), and the next call ends the lease.  Ends nothing unless the own lease has been
    valid for ``grace_ms`` without a gap.
    """
    steady = select(leases.c.epoch).where(
        leases.c.epoch == own_epoch,
        leases.c.ended_ms.is_(None),
        leases.c.expires_ms > NOW_MS,
        leases.c.steady_ms <= NOW_MS - grace_ms,
    )
    if connection.execute(steady).first() is None:
        return []
    expired = (
        select(leases.c.epoch)
        .where(
            leases.c.shared,
            leases.c.ended_ms.is_(None),
            leases.c.expires_ms <= NOW_MS,
            leases.c.epoch != own_epoch,
        )
        .order_by(leases.c.epoch)
        .with_for_update(skip_locked=True)  # conflicts with the lock of `leases.fence`
    )
    found = list(connection.execute(expired).scalars())
    if found:
        connection.execute(leases.update().where(leases.c.epoch.in_(found)).values(ended_ms=NOW_MS))
    return found


def set_draining(connection: Connection, epoch: int) -> None:
    """Mark a member that will stop: it frees its roles, and gets nothing more to do."""
    connection.execute(leases.update().where(leases.c.epoch == epoch).values(draining=True))


def claim_role(connection: Connection, role: str, epoch: int) -> int:
    """Make a member the leader of a role if that is free; return the epoch of the leader.

    A member that is draining takes no role; where nobody else had it, the result is 0.
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


def holds_role(connection: Connection, role: str, epoch: int) -> bool:
    """Lock a role until the end of the transaction; return False if another member leads it.

    This is the fence of a leader: a draining one may lose its role while its lease is valid.
    """
    mine = select(leaders.c.epoch).where(leaders.c.role == role, leaders.c.epoch == epoch)
    return connection.execute(mine.with_for_update(read=True)).first() is not None


def _stays(connection: Connection, epoch: int) -> bool:
    """Return whether a member's lease has not ended and the member is not draining."""
    found = select(leases.c.epoch).where(
        leases.c.epoch == epoch, leases.c.ended_ms.is_(None), leases.c.draining.is_(False)
    )
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
    return ClusterOverview(rows, sum(match_owners.orphans(connection).values()), free)


def _public(address: str) -> str:
    """Return an address without the user and password in it.

    >>> _public("http://:secret@10.0.0.5:8765")
    'http://10.0.0.5:8765'
    """
    parts = urlsplit(address)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


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
