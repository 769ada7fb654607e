"""How long what was handed in is kept; the SQL.

A package is kept for as long as a submission needs it: those of refused ones are not, nor what was
handed in for a competition alone that is deleted, nor anything of a player that is forgotten.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, delete, exists, select

from plyhouse.storage.models import packages, submission_entries, submissions

__all__ = ["forget", "forget_class", "sweep"]

AT_ONCE = 500
"""Ids in one statement: databases limit the number of parameters."""


def forget_class(connection: Connection, class_id: str) -> None:
    """A competition is deleted: so is what was handed in for it alone."""
    here = submission_entries.c
    others = submission_entries.alias()
    only = select(here.submission_id).where(
        here.class_id == class_id,
        here.chosen.is_(True),
        ~exists().where(
            others.c.submission_id == here.submission_id, others.c.class_id != class_id
        ),
    )
    alone = list(connection.execute(only).scalars())
    connection.execute(delete(submission_entries).where(here.class_id == class_id))
    forget(connection, alone)


def forget(connection: Connection, identities: Iterable[int]) -> None:
    """Delete submissions, and packages that nobody needs any more."""
    gone = list(identities)
    for start in range(0, len(gone), AT_ONCE):
        part = gone[start : start + AT_ONCE]
        mine = select(submissions.c.digest).where(submissions.c.id.in_(part))
        digests = list(connection.execute(mine).scalars())
        connection.execute(
            delete(submission_entries).where(submission_entries.c.submission_id.in_(part))
        )
        connection.execute(delete(submissions).where(submissions.c.id.in_(part)))
        sweep(connection, digests)


def sweep(connection: Connection, digests: Sequence[str]) -> None:
    """Delete those packages of these that no submission needs."""
    needed = exists().where(
        submissions.c.digest == packages.c.digest, submissions.c.status != "refused"
    )
    connection.execute(delete(packages).where(packages.c.digest.in_(digests), ~needed))
