"""The lease of a server on a PostgreSQL schema, as rows and queries.

Each server that starts inserts a row, whose id is its *epoch*, and renews it while it runs.  Times
are the database's, so the clocks of machines do not matter.  A server whose lease expired loses
it when another one ends it (`acquire`), and not before.

Every transaction of a server begins with `fence`, which locks the row of its own lease until the
commit.  `acquire` waits for these locks before it ends an expired lease: a transaction of the old
server either commits before the new server reads anything, or is refused.  A condition on the
epoch without the lock would not suffice: at READ COMMITTED it may hold when it is checked and no
longer when its transaction commits.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from sqlalchemy import BigInteger, Connection, cast, func, select, text

from plyhouse.storage.models import leases

__all__ = ["NOW_MS", "Held", "acquire", "end", "fence", "renew"]

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


def acquire(connection: Connection, holder: str, valid_ms: int) -> int | Held:
    """End all expired leases and insert a new one; return its epoch, or a lease that is valid.

    Waits until the transactions of the servers with expired leases are over.
    """
    # Two servers that start at the same moment must see each other's rows.
    connection.execute(text("LOCK TABLE leases IN SHARE ROW EXCLUSIVE MODE"))
    running = select(leases.c.epoch, leases.c.holder, leases.c.expires_ms).where(
        leases.c.ended_ms.is_(None)
    )
    valid = connection.execute(running.where(leases.c.expires_ms > NOW_MS).limit(1)).first()
    if valid is not None:
        return Held(*valid)
    # FOR UPDATE, and not the weaker lock that UPDATE takes: it conflicts with the one of `fence`.
    expired = [row.epoch for row in connection.execute(running.with_for_update())]
    if expired:
        ended = leases.update().where(leases.c.epoch.in_(expired)).values(ended_ms=NOW_MS)
        connection.execute(ended)
    inserted = connection.execute(
        leases.insert()
        .values(holder=holder, started_ms=NOW_MS, expires_ms=NOW_MS + valid_ms)
        .returning(leases.c.epoch)
    )
    epoch = int(inserted.scalar_one())
    old = leases.delete().where(leases.c.ended_ms.is_not(None), leases.c.epoch <= epoch - _KEPT)
    connection.execute(old)
    return epoch


def renew(connection: Connection, epoch: int, valid_ms: int) -> bool:
    """Extend a lease, even one that has expired; return False if another server has ended it."""
    mine = leases.update().where(leases.c.epoch == epoch, leases.c.ended_ms.is_(None))
    return connection.execute(mine.values(expires_ms=NOW_MS + valid_ms)).rowcount == 1


def fence(connection: Connection, epoch: int, idle_ms: int) -> bool:
    """Lock a lease until the end of the transaction; return False if it has ended.

    The lock lets the server renew its lease meanwhile; foreign keys use the same one.  A server
    that stops in the middle of its transaction keeps others waiting for ``idle_ms`` at most: then
    PostgreSQL ends the transaction.
    """
    limit = func.set_config("idle_in_transaction_session_timeout", str(idle_ms), True)
    mine = select(limit).where(leases.c.epoch == epoch, leases.c.ended_ms.is_(None))
    locked = mine.with_for_update(of=leases, key_share=True, read=True)
    return connection.execute(locked).first() is not None


def end(connection: Connection, epoch: int) -> None:
    """End a lease, so that the next server need not wait until it expires."""
    mine = leases.update().where(leases.c.epoch == epoch, leases.c.ended_ms.is_(None))
    connection.execute(mine.values(ended_ms=NOW_MS))
