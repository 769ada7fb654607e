"""Leases of servers on a PostgreSQL schema, as rows and queries.

Each server that starts inserts a row, whose id is its *epoch*, and renews it while it runs.  Times
are the database's, so the clocks of machines do not matter.  A server whose lease expired loses
it when another one ends it, and not before.  Members of a cluster also end the lease of a silent
one that missed a renewal (`plyhouse.storage.members`).

A single server has the schema for itself: `acquire` ends what expired.  The members of a cluster
share the schema, each with a lease of its own; `plyhouse.storage.members` ends the expired ones.

Every transaction of a server begins with `fence`, which locks the row of its own lease until the
commit.  The server that ends an expired lease locks it more strongly: a transaction of the old
server either commits before the new server reads anything, or is refused.  A condition on the
epoch without the lock would not suffice: at READ COMMITTED it may hold when it is checked and no
longer when its transaction commits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from sqlalchemy import BigInteger, Connection, case, cast, func, select, text

from plyhouse.storage.models import leases

if TYPE_CHECKING:
    from sqlalchemy.sql.functions import Function

NOW_MS: Final = cast(func.extract("epoch", func.clock_timestamp()) * 1000, BigInteger)
"""The time of the statement; ``now()`` would be that of the transaction, which may have waited."""
_KEPT: Final = 20
"""How many ended leases stay in the table, for operators to read."""


class Held(NamedTuple):
    """A lease of another server that has not expired."""

    epoch: int
    holder: str
    """Host and process number, as ``HOST:PID``."""
    expires_ms: int


def acquire(
    connection: Connection,
    holder: str,
    valid_ms: int,
    *,
    shared: bool = False,
    address: str = "",
    version: str = "",
) -> int | Held:
    """Insert a new lease and return its epoch, or else a valid lease that excludes it.

    A single server excludes every other one, and a member of a cluster (``shared``) excludes
    single servers.  Ends expired leases that would exclude the new one if they were valid, and
    waits until the transactions of their servers are over.
    """
    # A server that stops before its commit must not keep the members from renewing their leases.
    connection.execute(select(_idle_limit(valid_ms)))
    # Two servers that start at the same moment must see each other's rows.
    connection.execute(text("LOCK TABLE leases IN SHARE ROW EXCLUSIVE MODE"))
    running = select(leases.c.epoch, leases.c.holder, leases.c.expires_ms).where(
        leases.c.ended_ms.is_(None)
    )
    columns: dict[str, object] = {}  # a single server may hold a schema without these columns
    if shared:
        running = running.where(leases.c.shared.is_(False))
        columns = {"shared": True, "address": address, "version": version, "steady_ms": NOW_MS}
    valid = connection.execute(
        running.where(leases.c.expires_ms > NOW_MS).order_by(leases.c.epoch).limit(1)
    ).first()
    if valid is not None:
        return Held(*valid)
    # FOR UPDATE, and not the weaker lock that UPDATE takes: it conflicts with the one of `fence`.
    expired = [row.epoch for row in connection.execute(running.with_for_update())]
    if expired:
        ended = leases.update().where(leases.c.epoch.in_(expired)).values(ended_ms=NOW_MS)
        connection.execute(ended)
    inserted = connection.execute(
        leases.insert()
        .values(holder=holder, started_ms=NOW_MS, expires_ms=NOW_MS + valid_ms, **columns)
        .returning(leases.c.epoch)
    )
    epoch = int(inserted.scalar_one())
    old = leases.delete().where(leases.c.ended_ms.is_not(None), leases.c.epoch <= epoch - _KEPT)
    connection.execute(old)
    return epoch


def renew(connection: Connection, epoch: int, valid_ms: int, left_ms: int = 0) -> bool:
    """Extend a lease, even one that has expired; return False if another server has ended it.

    A renewal with no more than ``left_ms`` left is a gap, as one after the expiry is: others might
    have ended the lease meanwhile (`plyhouse.storage.members.end_expired`).
    """
    # A server that stops before its commit must not keep others from ending the lease.
    connection.execute(select(_idle_limit(valid_ms)))
    mine = leases.update().where(leases.c.epoch == epoch, leases.c.ended_ms.is_(None))
    steady = case((leases.c.expires_ms > NOW_MS + left_ms, leases.c.steady_ms), else_=NOW_MS)
    changes = {"expires_ms": NOW_MS + valid_ms, "steady_ms": steady}
    return connection.execute(mine.values(changes)).rowcount == 1


def fence(connection: Connection, epoch: int, idle_ms: int) -> bool:
    """Lock a lease until the end of the transaction; return False if it has ended.

    The lock lets the server renew its lease meanwhile; foreign keys use the same one.  A server
    that stops in the middle of its transaction keeps others waiting for ``idle_ms`` at most: then
    PostgreSQL ends the transaction.
    """
    mine = select(_idle_limit(idle_ms)).where(leases.c.epoch == epoch, leases.c.ended_ms.is_(None))
    locked = mine.with_for_update(of=leases, key_share=True, read=True)
    return connection.execute(locked).first() is not None


def end(connection: Connection, epoch: int) -> None:
    """End a lease, so that the next server need not wait until it expires."""
    mine = leases.update().where(leases.c.epoch == epoch, leases.c.ended_ms.is_(None))
    connection.execute(mine.values(ended_ms=NOW_MS))


def running(connection: Connection) -> list[int]:
    """Return the epochs of the leases that have not ended."""
    query = select(leases.c.epoch).where(leases.c.ended_ms.is_(None))
    return list(connection.execute(query).scalars())


def _idle_limit(idle_ms: int) -> Function[str]:
    """Let PostgreSQL end this transaction if the server is silent for so long."""
    return func.set_config("idle_in_transaction_session_timeout", str(idle_ms), True)
