"""Suspension of versions that forfeit repeatedly.

After each forfeit, the last matches of that version are read from the database, so a restart loses
nothing.  A suspension is an entry of the audit log, on which
`plyhouse.server.administration.audit_follower` acts.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Final

from plyhouse.server.competition_rules.suspension_rule import Ended, why
from plyhouse.server.config import ServerConfig
from plyhouse.server.match.terminations import FORFEITS
from plyhouse.server.table.presence import Presence
from plyhouse.storage import suspensions
from plyhouse.storage.errors import StorageError
from plyhouse.storage.store import Store
from plyhouse.storage.suspensions import EndedMatch

__all__ = ["ForfeitWatch", "suspended_text"]

log = logging.getLogger("plyhouse.server.lobby.suspension")

DEPTH: Final = 4
"""How many windows of matches are read, because matches lost in one absence count once."""


def suspended_text(reason: str) -> str:
    """Return the message to the author of a suspended version."""
    return (
        f"This version is suspended and not paired: {reason}. A fixed bot is a new version and "
        "may play at once; otherwise ask the organiser to reinstate it."
    )


class ForfeitWatch:
    """Suspends versions after too many forfeits; ``look`` makes the server act on it."""

    def __init__(
        self, config: ServerConfig, store: Store, look: Callable[[], Awaitable[None]]
    ) -> None:
        self._config = config
        self._store = store
        self._look = look

    def concerns(self, culprit: Presence) -> bool:
        """Return whether a forfeit may lead to a suspension; people are not suspended."""
        return self._config.suspend_after > 0 and culprit.kind == "bot"

    async def forfeited(self, match_id: str, seat: int, name: str) -> None:
        """Suspend the version that forfeited a match if it has done so too often."""
        window = self._config.suspend_window
        try:
            version, rows = await self._store.read(
                suspensions.ended, match_id, seat, DEPTH * window
            )
            ended = [Ended(row.ended_ms, _forfeit(row)) for row in rows]
            reason = why(ended, self._config.suspend_after, window)
            if not reason:
                return
            store = self._store
            if await store.write(suspensions.suspend, version, reason, store.now()):
                log.warning("version suspended", extra={"bot": name, "why": reason})
                await self._look()
        except StorageError as error:
            log.error("a suspension could not be stored", extra={"bot": name, "why": str(error)})


def _forfeit(row: EndedMatch) -> str:
    return row.termination if row.guilty and row.termination in FORFEITS else ""
