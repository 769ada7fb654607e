"""Stored packages of submissions: write, read and delete them.

A package is kept as long as a submission needs it. Packages are removed if they were refused, if
they were submitted only for a deleted competition, and if their player is erased.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, delete, exists, func, select

from plyhouse.storage.errors import Unknown
from plyhouse.storage.locks import lock_row, locking
from plyhouse.storage.models import (
    outputs,
    package_parts,
    packages,
    submission_entries,
    submissions,
)
from plyhouse.storage.statements import parts

PART = 256 * 1024
"""Bytes of a package that are written in one transaction."""


def held_for_alone(connection: Connection, competition_id: str) -> list[int]:
    """Return the submissions that only one competition needs, by their ids."""
    here = submission_entries.c
    others = submission_entries.alias()
    only = select(here.submission_id).where(
        here.competition_id == competition_id,
        here.chosen.is_(True),
        ~exists().where(
            others.c.submission_id == here.submission_id, others.c.competition_id != competition_id
        ),
    )
    return list(connection.execute(only).scalars())


def forget_competition(connection: Connection, competition_id: str) -> None:
    """Delete what was submitted for one competition alone, as that is deleted."""
    here = submission_entries.c
    alone = held_for_alone(connection, competition_id)
    connection.execute(delete(submission_entries).where(here.competition_id == competition_id))
    forget(connection, alone)


def forget(connection: Connection, identities: Iterable[int]) -> None:
    """Delete submissions, what they printed, and packages that nobody needs any more."""
    for part in parts(identities):
        mine = select(submissions.c.digest).where(submissions.c.id.in_(part))
        digests = list(connection.execute(mine).scalars())
        connection.execute(
            delete(submission_entries).where(submission_entries.c.submission_id.in_(part))
        )
        theirs = select(submissions.c.version_id).where(submissions.c.id.in_(part))
        connection.execute(delete(outputs).where(outputs.c.version_id.in_(theirs)))
        connection.execute(delete(submissions).where(submissions.c.id.in_(part)))
        sweep(connection, digests)


def sweep(connection: Connection, digests: Sequence[str]) -> None:
    """Delete those packages of these that no submission needs."""
    here = packages.c.digest
    connection.execute(locking(select(here).where(here.in_(digests)).order_by(here)))
    needed = exists().where(
        submissions.c.digest == packages.c.digest, submissions.c.status != "refused"
    )
    connection.execute(delete(packages).where(packages.c.digest.in_(digests), ~needed))
    kept = exists().where(packages.c.digest == package_parts.c.digest)
    connection.execute(delete(package_parts).where(package_parts.c.digest.in_(digests), ~kept))


def drop_drafts(connection: Connection) -> None:
    """Delete parts of what is no package, or never became one."""
    kept = exists().where(packages.c.digest == package_parts.c.digest)
    connection.execute(delete(package_parts).where(~kept))


def there(connection: Connection, digest: str) -> bool:
    """Return whether there is such a package."""
    return bool(
        connection.execute(select(exists().where(packages.c.digest == digest))).scalar_one()
    )


def put(connection: Connection, digest: str, number: int, part: bytes) -> bool:
    """Write a part of a package; False if the package is there already.  The first is number 0."""
    if there(connection, digest):
        return False
    if number == 0:
        drop_drafts(connection)
    connection.execute(package_parts.insert().values(digest=digest, number=number, part=part))
    return True


def complete(connection: Connection, digest: str, size: int, now_ms: int) -> bool:
    """Make a package of its parts, unless it is there; False if they are not all there."""
    lock_row(connection, packages.c.digest, digest)  # it must not be swept away meanwhile
    if there(connection, digest):
        return True
    count = select(func.count()).where(package_parts.c.digest == digest)
    if connection.execute(count).scalar_one() != max(1, -(-size // PART)):
        return False
    connection.execute(packages.insert().values(digest=digest, bytes=size, created_ms=now_ms))
    return True


def archive(connection: Connection, digest: str) -> bytes:
    """Return a package; raises `Unknown`."""
    if not there(connection, digest):
        raise Unknown(f"there is no package {digest[:12]}; it is not kept any more")
    here = package_parts.c
    query = select(here.part).where(here.digest == digest).order_by(here.number)
    return b"".join(connection.execute(query).scalars())
