"""Bots that are handed in, as awaitable methods: `plyhouse.storage.store.Store.submissions`.

Each method is one transaction.  A submission waits for its check, which a runner does, and is ready
or refused then; once it is ready, it plays where it was handed in for.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Collection, Iterable

from sqlalchemy import Connection

from plyhouse.storage import submission_checks as checks
from plyhouse.storage import submission_sql as sql
from plyhouse.storage.database import Database
from plyhouse.storage.errors import StorageError
from plyhouse.storage.package_retention import PART, archive, drop_drafts, put
from plyhouse.storage.submission_rows import CheckedFor, SubmissionRow, WaitingCheck

__all__ = ["Submissions"]


class Submissions:
    """The part of a store that knows what was handed in."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._keeping = asyncio.Lock()
        """One package is written at a time: what is half written belongs to nobody else."""

    async def submit(
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
        """Take a package as a version of a bot; it waits for its check then.

        If the bot has handed in the same before, that submission is returned; if it was refused,
        it waits for another check.  Once it is ready, it plays in the ``competition`` (with a
        class; by name or id), or without one in all that a bot of its student is entered in when
        it connects.  Whether they take it is decided now.  ``needs`` is the program that it is
        started with, if it brings none.

        ``games`` are those that a reference bot of the server has to play.  It needs no check if
        the same package of its player has passed one in all of them, unless ``again``.

        Raises `Unknown` and `ClassRefusal` for a competition that does not take it,
        `SubmissionRefusal` if all packages of the player would take more than ``most_bytes``, and
        `LimitReached` if the bot has ``most_versions`` others already.
        """
        size = len(archive)

        def work(connection: Connection) -> SubmissionRow | None:
            return sql.submit(
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

    async def get(self, submission_id: int) -> SubmissionRow:
        """Return a submission; raises `Unknown`."""
        return await self._database.read(lambda c: sql.find(c, submission_id))

    async def of_bot(self, bot_id: int) -> list[SubmissionRow]:
        """Return what was handed in of a bot, the newest first."""
        return await self._database.read(lambda c: sql.of(c, bot_id=bot_id))

    async def of_player(
        self, player_id: int, class_id: str = "", limit: int | None = None
    ) -> list[SubmissionRow]:
        """Return what a player has handed in, the newest first.

        Only what is to play in a competition with a class if its id is given, and so many at most.
        """
        return await self._database.read(
            lambda c: sql.of(c, player_id=player_id, class_id=class_id, limit=limit)
        )

    async def waiting(self, limit: int = 1000) -> dict[int, WaitingCheck]:
        """Return the checks that wait, by submission: students' first, then those of baselines.

        The oldest of each player come before the second oldest of all others.
        """
        return await self._database.read(lambda c: checks.waiting(c, limit))

    async def checked_for(self, submission_id: int) -> list[CheckedFor]:
        """Return the competitions that a submission is checked for."""
        return await self._database.read(lambda c: checks.checked_for(c, submission_id))

    async def of_baselines(self, class_id: str) -> list[SubmissionRow]:
        """Return what was handed in as baselines of a competition, the newest first."""
        return await self._database.read(lambda c: sql.of(c, class_id=class_id, baselines=True))

    async def waiting_for(self, class_id: str) -> list[str]:
        """Return the names of what is to play in a competition once its check is over."""
        return await self._database.read(lambda c: sql.waiting_for(c, class_id))

    async def checked(
        self, submission_id: int, ok: bool, report: str, games: Iterable[str], now_ms: int
    ) -> SubmissionRow:
        """Note what the check said; one that is ready is entered where it is to play.

        Nothing changes if it was checked already: two runners may have had it.  Raises `Unknown`
        if it was removed meanwhile.
        """
        plays = tuple(games)
        return await self._database.write(
            lambda c: sql.check(c, submission_id, ok, report, plays, now_ms)
        )

    async def archive(self, digest: str) -> bytes:
        """Return a package, a zip, by its digest; raises `Unknown`."""
        return await self._database.read(lambda c: archive(c, digest))

    async def ready_version(self, bot_id: int, version_id: int | None) -> SubmissionRow | None:
        """Return the submission whose version that is, or the newest of a bot; if it is ready."""
        return await self._database.read(lambda c: sql.ready_version(c, bot_id, version_id))

    async def ready_versions(
        self, wanted: Collection[tuple[int, int | None]]
    ) -> dict[tuple[int, int | None], SubmissionRow]:
        """Return `ready_version` of several bots, without those that have none."""
        return await self._database.read(lambda c: sql.ready_versions(c, wanted))

    async def open_to_people(
        self, limit: int = 200, bot_ids: Collection[int] | None = None
    ) -> list[SubmissionRow]:
        """Return what people may play against, one of each bot, by name; or of these bots."""
        return await self._database.read(lambda c: sql.open_to_people(c, limit, bot_ids))

    async def set_open(self, bot_id: int, open_ms: int | None) -> None:
        """Let people play against what is handed in of a bot; None: not any more."""
        await self._database.write(lambda c: sql.set_open(c, bot_id, open_ms))

    async def entered(self, class_id: str) -> set[int]:
        """Return the bots that are entered in a competition with a version that was handed in."""
        return await self._database.read(lambda c: sql.entered(c, class_id))

    async def remove(self, submission_id: int) -> None:
        """Remove a submission, and its package if nobody else has handed it in.

        Raises `SubmissionRefusal` while it is entered in a competition that is not over.
        """
        await self._database.write(lambda c: sql.remove(c, submission_id))
