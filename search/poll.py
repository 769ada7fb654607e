"""The interpreted heartbeat of a compiled search.

Compiled code holds the interpreter lock and sees no Ctrl-C.  So every search regularly calls a
`Poll`.  This module is never compiled: during the interpreted call, Python delivers a pending
KeyboardInterrupt and passes the lock to other threads.

>>> poll = Poll(Limit(nodes=20, clock=lambda: 0))
>>> poll(0)
20
>>> poll(16)
20
>>> poll(20)
Traceback (most recent call last):
plyhouse.search.poll.SearchStopped
"""

from __future__ import annotations

from typing import Final

from plyhouse.search.limit import Limit, require_limit

__all__ = ["Poll", "SearchStopped"]

FIRST: Final = 16
SHORTEST: Final = 1
LONGEST: Final = 4096
TARGET_NS: Final = 1_000_000
"""Nodes between two polls: started at `FIRST`, then doubled or cut so that polls come
about every millisecond.  A compiled game visits thousands of nodes in that time, a
user's slow one perhaps none, and both keep their deadline."""


class SearchStopped(Exception):  # noqa: N818 - no error: the limit is reached
    """Raised through a search when its limit is reached; never leaves the library."""


class Poll:
    """Watches one search: call it with the nodes visited so far.

    The call returns the node count at which to call again, or raises `SearchStopped`
    when the time or the nodes of the limit are used up.  The number of nodes visited
    under a node limit is exact and does not depend on the clock.
    """

    def __init__(self, limit: Limit) -> None:
        require_limit(limit)
        self.clock = limit.clock
        self.started = limit.clock()
        self.last = self.started
        self.interval = FIRST
        self.deadline = None if limit.time is None else self.started + round(limit.time * 1e9)
        self.node_limit = limit.nodes

    def __call__(self, nodes: int) -> int:
        """Check the limit after so many nodes; return the count at which to check again."""
        now = self.clock()
        if self.deadline is not None and now >= self.deadline:
            raise SearchStopped
        if self.node_limit is not None and nodes >= self.node_limit:
            raise SearchStopped
        passed = now - self.last
        self.last = now
        if passed < TARGET_NS // 2:
            self.interval = min(self.interval * 2, LONGEST)
        elif passed > TARGET_NS:
            self.interval = max(self.interval * TARGET_NS // passed, SHORTEST)
        due = nodes + self.interval
        return due if self.node_limit is None else min(due, self.node_limit)

    def seconds(self) -> float:
        """Return the seconds since the search began."""
        return (self.clock() - self.started) / 1e9
