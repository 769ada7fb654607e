"""Timers whose work is repeated until the server stops, even after failures."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any, Final

from plyhouse.storage.errors import StorageError

LOOK_SECONDS: Final = 1.0
"""Time between two looks at the database for changes by other programs, in seconds."""


class Periodic:
    """Work that runs again and again on the event loop until it is stopped.

    ``work`` is a function or a coroutine function; ``seconds`` pass between its end and its next
    run.  A failed run does not prevent the next one.  The log names ``name``: a database failure is
    a warning, any other failure an error with its traceback.  In a row of failures, the log has
    only the first, second, fourth, eighth and so on, so that a quick timer does not flood it.
    """

    def __init__(
        self,
        work: Callable[[], Coroutine[Any, Any, None] | None],
        seconds: float,
        name: str,
        log: logging.Logger,
    ) -> None:
        self._work = work
        self._seconds = seconds
        self._name = name
        self._log = log
        self._failures = 0
        """Failures in a row."""
        self._going = False
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None

    def start(self, *, at_once: bool = False) -> None:
        """Begin to repeat on the running loop: after a while, or ``at_once``."""
        self.stop()
        self._going = True
        self._schedule(0.0 if at_once else self._seconds)

    def stop(self) -> None:
        """Prevent further runs, and cancel the current one."""
        self._going = False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._task is not None:
            self._task.cancel()
            self._task = None

    async def close(self) -> None:
        """Stop, and wait for the end of the current run."""
        task = self._task
        self.stop()
        if task is not None:
            await asyncio.wait([task])

    def _schedule(self, seconds: float) -> None:
        self._timer = asyncio.get_running_loop().call_later(seconds, self._run)

    def _run(self) -> None:
        self._timer = None
        try:
            running = self._work()
        except Exception as error:
            self._ended(error)
        else:
            if running is None:
                self._ended(None)
                return
            self._task = asyncio.get_running_loop().create_task(running, name=self._name)
            self._task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        error = None if task.cancelled() else task.exception()
        if task is self._task:  # otherwise it was stopped meanwhile
            self._task = None
            self._ended(error)

    def _ended(self, error: BaseException | None) -> None:
        if self._going and self._timer is None:  # the run may have stopped or restarted this
            self._schedule(self._seconds)
        if error is None:
            self._failures = 0
            return
        self._failures += 1
        if self._failures & (self._failures - 1):
            return
        known = isinstance(error, StorageError)
        level = logging.WARNING if known else logging.ERROR
        facts = {
            "work": self._name,
            "in_a_row": self._failures,
            "again_s": self._seconds,
            "why": str(error),
        }
        self._log.log(level, "periodic work failed", extra=facts, exc_info=None if known else error)
