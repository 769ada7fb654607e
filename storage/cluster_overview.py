"""The state of a cluster for operators: its members, and what each of them runs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from sqlalchemy import Connection, func, select

from plyhouse.storage import match_owners
from plyhouse.storage.errors import BadUrl
from plyhouse.storage.leases import NOW_MS
from plyhouse.storage.members import Member, members
from plyhouse.storage.models import cluster_batches, events, leaders, leases, matches, pairings

__all__ = ["ClusterOverview", "MemberOverview", "cluster_overview"]


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
