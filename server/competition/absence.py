"""Continuous waiting times of missing entries.

The caller supplies the time.  A wait counts only while it is observed.  After a gap between two
looks (the machine slept, a server was down, the clock was set) all waits start again, so that no
entry is late through the server's fault.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable
from typing import Final, Generic, TypeVar

__all__ = ["GAP_MS", "Waits"]

GAP_MS: Final = 60_000
"""Looks further apart than this (in ms), or backwards in time, restart all waits."""

KeyT = TypeVar("KeyT", bound=Hashable)


class Waits(Generic[KeyT]):
    """The keys that are waited for, and since when.

    >>> waits = Waits[str]()
    >>> waits.look(0, ["ada", "bob"])
    {'ada': 0, 'bob': 0}
    >>> waits.look(40_000, ["ada"])  # bob has come
    {'ada': 40000}
    >>> waits.look(50_000, ["ada", "bob"])  # and has left again
    {'ada': 50000, 'bob': 0}
    >>> waits.look(3_600_000, ["ada"])  # nobody has looked for an hour
    {'ada': 0}
    """

    def __init__(self) -> None:
        self._since: dict[KeyT, int] = {}
        self._seen: int | None = None

    def look(self, now_ms: int, missing: Collection[KeyT]) -> dict[KeyT, int]:
        """Return the keys that are missing now, with the wait of each in ms."""
        if self._seen is not None and not 0 <= now_ms - self._seen <= GAP_MS:
            self._since.clear()
        self._seen = now_ms
        self._since = {each: self._since.get(each, now_ms) for each in missing}
        return self.waited()

    def waited(self) -> dict[KeyT, int]:
        """Return the answer of the last look."""
        return {each: (self._seen or 0) - since for each, since in self._since.items()}
