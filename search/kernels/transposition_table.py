"""The transposition table: what was found out about positions that can be reached again.

Greenblatt, Eastlake and Crocker, "The Greenblatt chess program", AFIPS Fall Joint Computer
Conference (1967); the bounds after Slate and Atkin, "CHESS 4.5" (1977).  Two tiers, one by
age and one by depth, as Breuker, Uiterwijk and van den Herik found best in "Replacement
schemes for transposition tables", ICCA Journal 17 (1994).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, final

if TYPE_CHECKING:
    from mypy_extensions import i64

__all__ = ["EXACT", "LOWER", "NOTHING", "SOLVED", "UPPER", "Entry", "Table"]

EXACT: Final = 0
LOWER: Final = 1
UPPER: Final = 2
"""Kind of the value of an entry: exact, lower bound or upper bound."""

SOLVED: Final = 1_000_000
"""Depth of an entry that is valid at any depth, because no estimate contributed to it."""

NOTHING: Final = object()
"""Stands for "no action": None may be one."""


@final
class Entry:
    """Entry of one position, from the view of the seat to act."""

    def __init__(self, value: float, depth: i64, bound: i64, action: Any) -> None:
        self.value: float = value
        self.depth: i64 = depth
        self.bound: i64 = bound
        self.action: Any = action


@final
class Table:
    """Entries by key, at most ``size`` of them.

    Python's own dicts do the hashing.  They compare the whole key, so the entries kept do not
    depend on hash values, which differ from process to process for bytes and text.

    Replacement: new entries, and old ones that are asked for, go into ``young``.  When
    the table is full, each new entry makes two of the other dict, ``old``, compete: the
    one searched less deeply is dropped, the other becomes young.  When ``old`` is
    used up, what was young is old.  So nothing is ever searched for, and no step takes
    longer because the table is large.
    """

    def __init__(self, size: int) -> None:
        self.size: i64 = size
        self.young: dict[Any, Entry] = {}
        self.old: dict[Any, Entry] = {}
        self.claimed: bool = False
        """True if an estimate as good or bad as a won or lost game was among the values."""

    def clear(self) -> None:
        """Forget everything."""
        self.young = {}
        self.old = {}
        self.claimed = False

    def drop(self, most: i64) -> bool:
        """Free some entries, at most so many; say whether there are more."""
        left: i64 = most
        while left > 0:
            if len(self.young) > 0:
                self.young.popitem()
            elif len(self.old) > 0:
                self.old.popitem()
            else:
                return False
            left -= 1
        return True

    def count(self) -> int:
        """Entries held now."""
        return len(self.young) + len(self.old)

    def get(self, key: Any) -> Entry | None:
        """Return the entry of a position; read it before storing another, which may reuse it."""
        entry = self.young.get(key)
        if entry is None and len(self.old) > 0:
            entry = self.old.pop(key, None)
            if entry is not None:
                self.young[key] = entry
        return entry

    def put(self, key: Any, value: float, depth: i64, bound: i64, action: Any) -> None:
        """Store what was found; a deeper result about the same position stays."""
        entry = self.young.get(key)
        if entry is None and len(self.old) > 0:
            entry = self.old.pop(key, None)
            if entry is not None:
                self.young[key] = entry
        if entry is None:
            if len(self.young) + len(self.old) < self.size:
                self.young[key] = Entry(value, depth, bound, action)
                return
            entry = self.evict()
            self.young[key] = entry
        elif depth < entry.depth and (bound != EXACT or entry.bound == EXACT):
            # Only its move is news.
            if action is not NOTHING:
                entry.action = action
            return
        entry.value = value
        entry.depth = depth
        entry.bound = bound
        if action is not NOTHING:
            entry.action = action

    def evict(self) -> Entry:
        """Make room: take one entry out and return it, to be used again."""
        if len(self.old) == 0:
            self.old = self.young
            self.young = {}
        key, loser = self.old.popitem()
        if len(self.old) > 0:
            other, rival = self.old.popitem()
            if rival.depth > loser.depth:
                self.young[other] = rival
            else:
                self.young[key] = loser
                loser = rival
        loser.action = NOTHING
        return loser
