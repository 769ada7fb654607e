"""Whether the server can do its work: tried out, not assumed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from plyhouse.storage.errors import StorageError
from plyhouse.storage.store import Store

__all__ = ["HealthCheck"]

log = logging.getLogger("plyhouse.server.house.health")

LASTS_NS: Final = 5_000_000_000
"""How long an answer is good: anybody may ask, and each trial writes to the disk."""


class HealthCheck:
    """Writes a row now and then, when somebody wants to know."""

    def __init__(self, store: Store, now: Callable[[], int]) -> None:
        self._store = store
        self._now = now
        self._known: tuple[bool, int] | None = None
        self._lock = asyncio.Lock()

    async def storing(self) -> bool:
        """Whether the database can be written now, or could within the last seconds."""
        async with self._lock:
            if self._known is None or self._now() - self._known[1] >= LASTS_NS:
                try:
                    await self._store.probe()
                except StorageError as error:
                    log.error("the database cannot be written: %s", error)
                    self._known = False, self._now()
                else:
                    self._known = True, self._now()
            return self._known[0]

    def forget(self) -> None:
        """Try anew when somebody asks next."""
        self._known = None
