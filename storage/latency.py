"""How long transactions take, as counts in classes of doubling width."""

from __future__ import annotations

from bisect import bisect_left
from typing import Final

__all__ = ["BOUNDS_NS", "Latency"]

BOUNDS_NS: Final = tuple(125_000 << power for power in range(17))
"""Upper bounds of the classes: 0.125 ms, doubled up to 8.2 s; what takes longer is in one more."""


class Latency:
    """Counts durations; adding one costs a search among seventeen numbers."""

    __slots__ = ("counts", "total_ns")

    def __init__(self) -> None:
        self.counts = [0] * (len(BOUNDS_NS) + 1)
        """How many durations were in each class; the last has those beyond all bounds."""
        self.total_ns = 0
        """Sum of all durations."""

    def add(self, duration_ns: int) -> None:
        """Count one duration."""
        self.counts[bisect_left(BOUNDS_NS, duration_ns)] += 1
        self.total_ns += duration_ns
