"""How long to wait before connecting again: exponential, capped, with jitter."""

from __future__ import annotations

import random
from dataclasses import dataclass

__all__ = ["Backoff"]


@dataclass(frozen=True, slots=True)
class Backoff:
    """``first`` seconds, ``factor`` times as long after each failure, never above ``longest``.

    Each wait is shortened at random by up to the share ``jitter``. So a thousand bots that lost the
    same server do not all come back in the same instant.

    >>> steady = Backoff(jitter=0.0)
    >>> [steady.delay(failures, random.Random()) for failures in (1, 2, 3, 7, 100)]
    [0.25, 0.5, 1.0, 15.0, 15.0]
    """

    first: float = 0.25
    factor: float = 2.0
    longest: float = 15.0
    jitter: float = 0.5

    def delay(self, failures: int, rng: random.Random) -> float:
        """Seconds to wait after so many failures in a row (at least 1)."""
        exponent = min(max(failures, 1) - 1, 64)
        full = min(self.longest, self.first * self.factor**exponent)
        return full * (1.0 - self.jitter * rng.random())
