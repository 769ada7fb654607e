"""Values that bots prepare in a thread of their process, while a turn waits only so long.

A table or a solution may take longer than a turn.  The bot then plays otherwise for now.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final, TypeVar

from plyhouse.bots import Turn

__all__ = ["begun", "value_in_time"]

Value = TypeVar("Value")

_THREADS: Final = ThreadPoolExecutor(1, thread_name_prefix="prepare")


def begun(prepare: Callable[[], Value]) -> Future[Value]:
    """Begin to prepare a value; one after the other."""
    return _THREADS.submit(prepare)


def value_in_time(turn: Turn, future: Future[Value], share: float = 0.5) -> Value | None:
    """Wait for a value during a share of the turn's time; return None if it takes longer."""
    given = turn.limit.time
    wait = turn.time_left if given is None else min(given, turn.time_left)
    try:
        return future.result(None if wait == float("inf") else wait * share)
    except TimeoutError:
        return None
