"""Looking at the database again and again, for what others have put there."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final

from plyhouse.storage.errors import StorageError

__all__ = ["Follower"]

LOOK_SECONDS: Final = 1.0
"""Time between two looks."""


class Follower:
    """A task that looks every second, whatever becomes of a look.

    ``name`` is that of the task.  The log is told ``unreadable`` when the database fails a look,
    and ``failed`` with the traceback when anything else does.
    """

    def __init__(
        self,
        look: Callable[[], Awaitable[None]],
        name: str,
        log: logging.Logger,
        *,
        unreadable: str,
        failed: str,
    ) -> None:
        self._look = look
        self._name = name
        self._log = log
        self._unreadable = unreadable
        self._failed = failed
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Look for the first time after a while, and then on."""
        self._task = asyncio.get_running_loop().create_task(self._follow(), name=self._name)

    async def close(self) -> None:
        """Look no longer."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _follow(self) -> None:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            try:
                await self._look()
            except StorageError as error:
                self._log.warning("%s: %s", self._unreadable, error)
            except Exception:
                self._log.exception(self._failed)
