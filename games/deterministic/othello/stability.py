"""Discs that can never be turned: they bound the score, as each stays with its owner.

Along each of its four lines a stable disc lies at the edge of the board, in a full line, or next to
a stable disc of its owner.  The set found grows from the corners and full lines; there may be more
stable discs.

M. Buro, "Methods for the evaluation of game positions using examples", dissertation,
Paderborn (1994).
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

from plyhouse.games.bits import signed_set

__all__ = ["stable_discs"]

_CORNERS: Final[i64] = i64(-0x7EFF_FFFF_FFFF_FF7F)
_SIDES: Final[i64] = i64(-0x7E7E_7E7E_7E7E_7E7F)
_ENDS: Final[i64] = i64(-0x00FF_FFFF_FFFF_FF01)
_RIM: Final[i64] = i64(-0x007E_7E7E_7E7E_7E01)


def stable_discs(own: i64, other: i64) -> i64:
    """Return discs of ``own`` that nobody can turn any more; perhaps not all."""
    taken: i64 = own | other
    if taken & _CORNERS == 0:
        return 0
    empty: i64 = ~taken
    # Rows and columns without an empty square.
    level: i64 = taken & (taken >> 4) & 0x0F0F_0F0F_0F0F_0F0F
    level = level & (level >> 2) & 0x0303_0303_0303_0303
    level = level & (level >> 1) & 0x0101_0101_0101_0101
    level = signed_set((level << 8) - level)
    upright: i64 = taken & (taken >> 32) & 0xFFFF_FFFF
    upright = upright & (upright >> 16) & 0xFFFF
    upright = upright & (upright >> 8) & 0xFF
    upright = signed_set(upright * 0x0101_0101_0101_0101)
    # Empty squares spread along both kinds of diagonals; the rest is full.
    rising: i64 = empty | ((empty & 0x007F_7F7F_7F7F_7F7F) << 9)
    rising |= (rising & 0x0000_3F3F_3F3F_3F3F) << 18
    rising |= (rising & 0x0F0F_0F0F) << 36
    down: i64 = empty | ((empty >> 9) & 0x007F_7F7F_7F7F_7F7F)
    down |= (down >> 18) & 0x0000_3F3F_3F3F_3F3F
    down |= (down >> 36) & 0x0F0F_0F0F
    rising = signed_set(~(rising | down))
    falling: i64 = empty | ((empty & 0x00FE_FEFE_FEFE_FEFE) << 7)
    falling |= (falling & 0x0000_FCFC_FCFC_FCFC) << 14
    falling |= (falling & 0xF0F0_F0F0) << 28
    down = empty | ((empty >> 7) & 0x00FE_FEFE_FEFE_FEFE)
    down |= (down >> 14) & 0x0000_FCFC_FCFC_FCFC
    down |= (down >> 28) & 0xF0F0_F0F0
    falling = signed_set(~(falling | down))
    found: i64 = signed_set(own & ((level & upright & rising & falling) | _CORNERS))
    if found == 0:
        return 0
    # What a shift carries over an edge lands on squares that count as edges of that direction.
    level |= _SIDES
    upright |= _ENDS
    rising |= _RIM
    falling |= _RIM
    before: i64 = 0
    while found != before:
        before = found
        found |= (
            own
            & (level | (found << 1) | (found >> 1))
            & (upright | (found << 8) | (found >> 8))
            & (rising | (found << 9) | (found >> 9))
            & (falling | (found << 7) | (found >> 7))
        )
        found = signed_set(found)
    return found
