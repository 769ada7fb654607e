"""How fast positions of a live match follow each other, where it is faster than eyes.

The module is pure: the caller asks when the next position is due.
"""

from __future__ import annotations

from typing import Final

__all__ = ["LEAST", "TOO_MANY", "patience"]

LEAST: Final = 350_000_000
"""Nanoseconds that each position is shown, as long as that keeps up with the match."""
TOO_MANY: Final = 120
"""Behind by more plies than these, one sees the latest position at once."""


def patience(behind: int) -> int:
    """Nanoseconds until the next position, ``behind`` plies before the last; 0: go to the end.

    The time shrinks with the queue, so that nobody is left far behind.

    >>> [patience(behind) // 1_000_000 for behind in (1, 4, 8, 40, 121)]
    [350, 350, 175, 35, 0]
    """
    return 0 if behind > TOO_MANY else int(LEAST / max(1.0, behind / 4))
