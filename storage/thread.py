"""A worker thread for calls that would block the event loop."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T")

_Job: TypeAlias = tuple[Callable[..., None], tuple[Any, ...]]


class Worker:
    """A thread that runs calls in order; it starts with the first call."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._begun = False

    def post(self, job: Callable[..., None], *arguments: Any) -> None:
        """Have the thread call a function, which must not raise.

        This costs a queue: the job itself tells the event loop when it is done, if it has to.
        """
        if not self._begun:
            self._begun = True
            threading.Thread(target=self._run, name=self._name, daemon=True).start()
        self._jobs.put((job, arguments))

    def call(self, function: Callable[..., T], *arguments: Any) -> asyncio.Future[T]:
        """Have the thread call a function; the future has what it returns or raises.

        Cancelling the future takes the call back if the thread has not come to it yet.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self.post(_call, loop, future, function, arguments)
        return future

    def stop(self) -> None:
        """Let the thread end after the calls made so far."""
        self._jobs.put(None)

    def _run(self) -> None:
        while (waiting := self._jobs.get()) is not None:
            job, arguments = waiting
            job(*arguments)
            del waiting, job, arguments  # while it waits


def _call(
    loop: asyncio.AbstractEventLoop,
    future: asyncio.Future[T],
    function: Callable[..., T],
    arguments: tuple[Any, ...],
) -> None:
    if future.cancelled():
        return
    result, failure = None, None
    try:
        result = function(*arguments)
    except BaseException as error:  # the waiting caller receives the error
        failure = error
    with contextlib.suppress(RuntimeError):  # the loop was closed meanwhile
        loop.call_soon_threadsafe(_settle, future, result, failure)


def _settle(future: asyncio.Future[Any], result: Any, failure: BaseException | None) -> None:
    if future.cancelled():
        return
    if failure is None:
        future.set_result(result)
    else:
        future.set_exception(failure)
