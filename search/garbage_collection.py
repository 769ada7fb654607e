"""Keeps Python's garbage collector from looking through a growing search tree.

A full collection visits every object.  With a million nodes it takes 0.1 seconds, several times
during a search, and finds nothing, because trees and tables have no cycles.  The young generations,
where a user's game may leave some, are collected as ever.

>>> with no_full_collections():
...     gc.get_threshold()[2] == NEVER
True
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

__all__ = ["no_full_collections"]

NEVER: Final = 1_000_000_000
"""Threshold of the oldest generation that is not reached."""


class _Pauses:
    """How many searches of this process want none, and what was set before the first."""

    lock = threading.Lock()
    running = 0
    threshold = (0, 0, 0)


@contextmanager
def no_full_collections() -> Iterator[None]:
    """Suspend full collections in this process; searches in several threads may overlap."""
    with _Pauses.lock:
        if _Pauses.running == 0:
            _Pauses.threshold = gc.get_threshold()
            young, middle, _ = _Pauses.threshold
            gc.set_threshold(young, middle, NEVER)
        _Pauses.running += 1
    try:
        yield
    finally:
        with _Pauses.lock:
            _Pauses.running -= 1
            if _Pauses.running == 0:
                gc.set_threshold(*_Pauses.threshold)
