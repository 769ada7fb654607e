"""The health check: tries whether the server can store matches."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from plyhouse.storage.errors import StorageError
from plyhouse.storage.store import Store
from plyhouse.storage.writer import Writer

log = logging.getLogger("plyhouse.server.administration.health")

LASTS_NS: Final = 5_000_000_000
"""How long a success counts, in nanoseconds: anybody may ask, and each trial writes to the disk."""
ANSWER_SECONDS: Final = 1.5
"""How long the database may take to answer before the server counts as not ready, in seconds."""
PARTS: Final = 15
"""Parts in which this time passes: a standstill of the server itself counts as one of them."""
TRIAL_SECONDS: Final = 30.0
"""How long one trial may take, in seconds; it continues after the answer to find the cause."""
_WORDS: Final = {
    "storage/full": "The disk of the database is full.",
    "storage/locked": "The database is locked by another program.",
    "storage/read_only": "The database cannot be written.",
    "storage/unreachable": "The database cannot be reached.",
    "storage/in_doubt": "The database cannot be reached.",
    "storage/claim_lost": "Another server has taken the database.",
    "storage/overloaded": "The database is too slow for what is played.",
}


class HealthCheck:
    """Writes a row to the database when somebody asks and the last success is too old."""

    def __init__(self, store: Store, writer: Writer, now: Callable[[], int]) -> None:
        self._store = store
        self._writer = writer
        self._now = now
        self._well_at: int | None = None
        """When the last trial succeeded, if none has failed since."""
        self._trial: asyncio.Task[str] | None = None
        self._why = ""
        """The problem that the last trial found; empty if it succeeded."""
        self._logged = ""
        """The last problem in the log, which has it once, as anybody may ask at any rate."""

    async def trouble(self) -> str:
        """Return what keeps the database from storing matches; empty if nothing does.

        The answer is in general terms, because anybody may ask; the log has the details.  A success
        may be some seconds old, if the last transaction did not fail either.  The answer comes
        within `ANSWER_SECONDS`, even while the database is locked.  In that case the trial goes on,
        and all requests share it.  After a standstill of the server the answer of the database may
        be there and not read yet, so this waits for the rest of the time.
        """
        well = self._well_at is not None and self._now() - self._well_at < LASTS_NS
        if well and self._writer.trouble is None:
            return ""
        trial = self._trial
        if trial is None:
            trial = self._trial = asyncio.create_task(self._try())
            trial.add_done_callback(self._tried)
        for _ in range(PARTS):
            done, _ = await asyncio.wait({trial}, timeout=ANSWER_SECONDS / PARTS)
            if done:
                return trial.result()
        return self._why or "The database does not answer."

    def forget(self) -> None:
        """Make the next request try again."""
        self._well_at = None

    async def _try(self) -> str:
        begun = self._now()
        self._well_at = None
        self._why = await self._probe()
        if not self._why:
            self._logged = ""
            self._well_at = begun
            self._writer.trouble = None
        return self._why

    async def _probe(self) -> str:
        try:
            async with asyncio.timeout(TRIAL_SECONDS):
                await self._store.probe()
        except StorageError as error:
            self._log(str(error))
            return _WORDS.get(error.code, "The database cannot store anything.")
        except TimeoutError:
            self._log(f"no answer within {TRIAL_SECONDS:g} s")
            return "The database does not answer."
        return ""

    def _log(self, problem: str) -> None:
        if problem != self._logged:
            log.error("database does not store", extra={"why": problem})
        self._logged = problem

    def _tried(self, _: asyncio.Task[str]) -> None:
        self._trial = None
