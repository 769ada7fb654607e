"""Submitting a package, which takes several transactions: `Store.submissions`.

A submission waits until a runner has checked it and is then ready or refused.  Once it is ready,
it plays where its author submitted it to.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Collection

from sqlalchemy import Connection

from plyhouse.storage import submission_sql as sql
from plyhouse.storage.database import Database
from plyhouse.storage.errors import StorageError
from plyhouse.storage.stored_packages import PART, drop_drafts, put
from plyhouse.storage.submission_rows import SubmissionRow


class Submissions:
    """The part of a store that takes packages."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._keeping = asyncio.Lock()
        """One package is written at a time: what is half written belongs to nobody else."""

    async def add(
        self,
        bot_id: int,
        label: str,
        digest: str,
        archive: bytes,
        now_ms: int,
        *,
        competition: str = "",
        most_bytes: int | None = None,
        most_versions: int | None = None,
        needs: str = "",
        games: Collection[str] | None = None,
        again: bool = False,
    ) -> SubmissionRow:
        """Store a package as a version of a bot; it waits for its check then.

        If the bot has submitted the same before, that submission is returned; if it was refused, it
        waits for another check.  Once it is ready, it plays in the ``competition`` of a class,
        given by name or id.  Without one it plays in all competitions in which a bot of its student
        would be entered on connecting.  Their acceptance is decided now.  ``needs`` is the program
        that it is started with, if it brings none.

        ``games`` are those that a reference bot of the server has to play.  It needs no check if
        the same package of its player has passed one in all of them, unless ``again``.

        Raises `Unknown` and `CompetitionRefusal` for a competition that does not take it.  Raises
        `SubmissionRefusal` if all packages of the player would take more than ``most_bytes``, and
        `LimitReached` if the bot has ``most_versions`` others already.
        """
        size = len(archive)

        def work(connection: Connection) -> SubmissionRow | None:
            return sql.insert(
                connection=connection,
                bot_id=bot_id,
                label=label,
                digest=digest,
                size=size,
                competition=competition,
                most_bytes=most_bytes,
                most_versions=most_versions,
                now_ms=now_ms,
                needs=needs,
                games=games,
                again=again,
            )

        async with self._keeping:
            try:
                while True:
                    await self._keep(digest, archive)
                    row = await self._database.write(work)
                    if row is not None:  # else it was there, and was swept away meanwhile
                        return row
            except StorageError:
                with contextlib.suppress(StorageError):  # otherwise the next one does it
                    await self._database.write(drop_drafts)
                raise

    async def _keep(self, digest: str, data: bytes) -> None:
        """Write a package part by part, so that nobody waits long for the database."""
        for number, start in enumerate(range(0, max(len(data), 1), PART)):
            part = data[start : start + PART]
            if not await self._database.write(lambda c, n=number, p=part: put(c, digest, n, p)):  # type: ignore[misc]
                return
