"""How long somebody has been waited for without a break.

Time is what the caller says it is.  A wait counts only as far as it was looked at: after a gap
between two looks (the machine slept, a server was away, the clock was set) everybody's period
begins anew, so that nobody is late because of us.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable
from typing import Final, Generic, TypeVar

__all__ = ["GAP_MS", "Waits"]

GAP_MS: Final = 60_000
"""Looks further apart than this (or backwards in time) begin all periods anew."""

KeyT = TypeVar("KeyT", bound=Hashable)


class Waits(Generic[KeyT]):
    """Who is waited for, and since when.

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
        """Those who are missing now, with how long each has been, in ms."""
        if self._seen is not None and not 0 <= now_ms - self._seen <= GAP_MS:
            self._since.clear()
        self._seen = now_ms
        self._since = {each: self._since.get(each, now_ms) for each in missing}
        return self.waited()

    def waited(self) -> dict[KeyT, int]:
        """What the last look has answered."""
        return {each: (self._seen or 0) - since for each, since in self._since.items()}
