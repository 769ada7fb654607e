"""A thread of one's own for calls that would hold the event loop up."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, TypeAlias, TypeVar

__all__ = ["Worker"]

T = TypeVar("T")

_Job: TypeAlias = tuple[
    asyncio.AbstractEventLoop, "asyncio.Future[Any]", Callable[..., Any], tuple[Any, ...]
]


class Worker:
    """One thread that carries out calls in order; it begins with the first call.

    A call costs the event loop a queue and one wake-up, about half of what an executor's future
    chained to asyncio's costs; the writer makes one with every transaction.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._begun = False

    def call(self, function: Callable[..., T], *arguments: Any) -> asyncio.Future[T]:
        """Have the thread call a function; the future has what it returns or raises.

        Cancelling the future takes the call back if the thread has not come to it yet.
        """
        if not self._begun:
            self._begun = True
            threading.Thread(target=self._run, name=self._name, daemon=True).start()
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._jobs.put((loop, future, function, arguments))
        return future

    def stop(self) -> None:
        """Let the thread end after the calls made so far."""
        self._jobs.put(None)

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            loop, future, function, arguments = job
            if future.cancelled():
                continue
            result, failure = None, None
            try:
                result = function(*arguments)
            except BaseException as error:  # whoever waits is to have it
                failure = error
            with contextlib.suppress(RuntimeError):  # the loop was closed meanwhile
                loop.call_soon_threadsafe(_settle, future, result, failure)
            del job, loop, future, function, arguments, result, failure  # while it waits


def _settle(future: asyncio.Future[Any], result: Any, failure: BaseException | None) -> None:
    if future.cancelled():
        return
    if failure is None:
        future.set_result(result)
    else:
        future.set_exception(failure)
