"""The table of the othello solver: bounds and best squares of positions.

Each place holds two positions.  One is kept for the work it took, the other is the last one.
(D. Breuker, J. Uiterwijk, J. van den Herik, "Replacement schemes for transposition tables", ICCA
Journal 17 (1994).)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

from mypy_extensions import mypyc_attr

if TYPE_CHECKING:
    from mypy_extensions import i64

__all__ = ["KnownPositions"]


@final
@mypyc_attr(acyclic=True)
class Bucket:
    """Entries of two positions: their discs, and all else in one number, see `packed`."""

    def __init__(self) -> None:
        self.mine: i64 = -1
        self.theirs: i64 = -1
        self.known: i64 = 0
        self.last_mine: i64 = -1
        self.last_theirs: i64 = -1
        self.last_known: i64 = 0


EMPTY: Final = Bucket()
"""Stands in every place where nothing has been kept, and is never written to."""


def slot(mine: i64, theirs: i64, mask: i64) -> i64:
    """Return where in a table of ``mask`` + 1 places a position belongs.

    Both sets are cut so that no product leaves 62 bits: interpreted, numbers do not overflow.
    """
    mixed: i64 = (mine & 0x7FFF_FFFF) * 0x2F0B_4C47
    mixed ^= ((mine >> 31) & 0x7FFF_FFFF) * 0x3C6E_F372
    mixed ^= (theirs & 0x7FFF_FFFF) * 0x1B87_3593
    mixed ^= ((theirs >> 31) & 0x7FFF_FFFF) * 0x2545_F491
    mixed ^= ((mine >> 62) & 3) * 0x1234_5678_9ABC ^ ((theirs >> 62) & 3) * 0x2FED_CBA9_8765
    return ((mixed >> 31) ^ (mixed >> 9)) & mask


def packed(empties: i64, low: i64, high: i64, square: i64) -> i64:
    """Return what is known as one number: bits 0 to 7 the lower bound plus 64, 8 to 15 the upper
    one plus 64, 16 to 23 the best square, from 24 on the empty squares.
    """
    return (low + 64) | ((high + 64) << 8) | (square << 16) | (empties << 24)


@final
class KnownPositions:
    """A table that grows when asked for room, and forgets then."""

    def __init__(self) -> None:
        self.buckets: list[Bucket] = []
        self.mask: i64 = -1

    def make_room(self, bits: i64) -> None:
        """Have two to the power of ``bits`` places at least."""
        size: i64 = 1
        size <<= bits
        if self.mask < size - 1:
            self.mask = size - 1
            self.buckets = [EMPTY] * int(size)

    def find(self, mine: i64, theirs: i64) -> i64:
        """Return what is known of a position, see `packed`; 0 if nothing is."""
        bucket = self.buckets[slot(mine, theirs, self.mask)]
        if bucket.mine == mine and bucket.theirs == theirs:
            return bucket.known
        if bucket.last_mine == mine and bucket.last_theirs == theirs:
            return bucket.last_known
        return 0

    def keep(self, mine: i64, theirs: i64, empties: i64, low: i64, high: i64, square: i64) -> None:
        """Remember a position, in place of one with at most as many empty squares or the last."""
        place: i64 = slot(mine, theirs, self.mask)
        bucket = self.buckets[place]
        if bucket is EMPTY:
            bucket = Bucket()
            self.buckets[place] = bucket
        if bucket.mine != mine or bucket.theirs != theirs:
            if empties < bucket.known >> 24:
                bucket.last_mine = mine
                bucket.last_theirs = theirs
                bucket.last_known = packed(empties, low, high, square)
                return
            bucket.last_mine = bucket.mine
            bucket.last_theirs = bucket.theirs
            bucket.last_known = bucket.known
            bucket.mine = mine
            bucket.theirs = theirs
        bucket.known = packed(empties, low, high, square)
