"""Limits on the messages of a bot, and on how many are read in one turn of the event loop.

All bots of a machine share the event loop of their runner.  A flood of one bot must not delay the
turns of the others.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Final

__all__ = ["AT_ONCE", "Allowance", "Turns"]

AT_ONCE: Final = 64
"""Lines or messages of one bot that are taken in one turn of the loop: about a millisecond."""


class Allowance:
    """So many at once, and as many more in every second; what is not used is not kept for later.

    >>> times = iter([0.0, 0.0, 0.0, 0.0, 0.5, 100.0, 100.0, 100.0])
    >>> two = Allowance(2, lambda: next(times))
    >>> [two.take() for _ in range(7)]
    [True, True, False, True, True, True, False]

    ``seconds`` takes the place of the one second.
    """

    def __init__(
        self, most: int, now: Callable[[], float] = time.monotonic, *, seconds: float = 1.0
    ) -> None:
        self.most = most
        self._each = most / seconds
        self._now = now
        self._left = float(most)
        self._at = now()

    def take(self, count: int = 1) -> bool:
        """Take ``count``, and return True, if that many are allowed; otherwise take none."""
        now = self._now()
        self._left = min(float(self.most), self._left + (now - self._at) * self._each)
        self._at = now
        if self._left < count:
            return False
        self._left -= count
        return True


class Turns:
    """Lets others have their turn of the event loop after every `AT_ONCE`."""

    def __init__(self) -> None:
        self._taken = 0

    async def took_one(self) -> None:
        """One more was taken; returns at once, or after the others."""
        self._taken += 1
        if self._taken % AT_ONCE == 0:
            await asyncio.sleep(0)
