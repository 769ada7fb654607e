"""Where a disc may be placed, and what it turns: for the rules and for the solver of endings.

Sets of squares as in `plyhouse.games.bits`: square 8 * row + column, and bit 63 is the sign.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from plyhouse.games.bits import count_bits, signed_set

if TYPE_CHECKING:
    from mypy_extensions import i64

__all__ = ["final_score", "lowest", "odd_quadrants", "placeable", "quadrant", "turned"]

# Squares whose disc can be enclosed along a row, along a column, and slanting: not those
# at the edges where such a line would have to leave the board.
# The first is shifted to the right by one: numbers of 62 bits are free for mypyc.
_ALONG: Final = 0x3F3F_3F3F_3F3F_3F3F
_UPRIGHT: Final = 0x00FF_FFFF_FFFF_FF00
_SLANTING: Final = 0x007E_7E7E_7E7E_7E00

_UPPER: Final = 0xFFFF_FFFF
_EDGE_LEFT: Final = 0x0F0F_0F0F
_EDGE_RIGHT: Final = 0xF0F0_F0F0


def placeable(mine: i64, theirs: i64) -> i64:
    """Return all squares on which the owner of ``mine`` may place a disc.

    In each direction discs of ``theirs`` next to ``mine`` are collected, up to six in a
    row; the square beyond is a candidate.  The masks keep lines on the board, and keep out
    what the sign of a set drags in when it is shifted to the right.
    """
    inner: i64 = ((theirs >> 1) & _ALONG) << 1
    up: i64 = inner & (mine << 1)
    down: i64 = inner & (mine >> 1)
    up |= inner & (up << 1)
    down |= inner & (down >> 1)
    pair: i64 = inner & (inner << 1)
    back: i64 = inner & (inner >> 1)
    up |= pair & (up << 2)
    down |= back & (down >> 2)
    up |= pair & (up << 2)
    down |= back & (down >> 2)
    found: i64 = (up << 1) | (down >> 1)

    inner = theirs & _UPRIGHT
    up = inner & (mine << 8)
    down = inner & (mine >> 8)
    up |= inner & (up << 8)
    down |= inner & (down >> 8)
    pair = inner & (inner << 8)
    back = inner & (inner >> 8)
    up |= pair & (up << 16)
    down |= back & (down >> 16)
    up |= pair & (up << 16)
    down |= back & (down >> 16)
    found |= (up << 8) | (down >> 8)

    inner = theirs & _SLANTING
    up = inner & (mine << 7)
    down = inner & (mine >> 7)
    up |= inner & (up << 7)
    down |= inner & (down >> 7)
    pair = inner & (inner << 7)
    back = inner & (inner >> 7)
    up |= pair & (up << 14)
    down |= back & (down >> 14)
    up |= pair & (up << 14)
    down |= back & (down >> 14)
    found |= (up << 7) | (down >> 7)

    up = inner & (mine << 9)
    down = inner & (mine >> 9)
    up |= inner & (up << 9)
    down |= inner & (down >> 9)
    pair = inner & (inner << 9)
    back = inner & (inner >> 9)
    up |= pair & (up << 18)
    down |= back & (down >> 18)
    up |= pair & (up << 18)
    down |= back & (down >> 18)
    found |= (up << 9) | (down >> 9)
    return signed_set(found & ~(mine | theirs))


def turned(bit: i64, mine: i64, theirs: i64) -> i64:
    """Return the discs of ``theirs`` that the owner of ``mine`` turns by placing on ``bit``."""
    # Written out for eight directions: with shifts of fixed lengths, endings take a sixth less time
    # than with a function for a line.  Later discs of a run are found two at a time.
    found: i64 = 0
    inner: i64 = ((theirs >> 1) & _ALONG) << 1
    pair: i64 = inner & (inner << 1)
    run: i64 = inner & (bit << 1)
    run |= inner & (run << 1)
    run |= pair & (run << 2)
    run |= pair & (run << 2)
    if (run << 1) & mine != 0:
        found |= run
    pair >>= 1
    run = inner & (bit >> 1)
    run |= inner & (run >> 1)
    run |= pair & (run >> 2)
    run |= pair & (run >> 2)
    if (run >> 1) & mine != 0:
        found |= run
    inner = theirs & _UPRIGHT
    pair = inner & (inner << 8)
    run = inner & (bit << 8)
    run |= inner & (run << 8)
    run |= pair & (run << 16)
    run |= pair & (run << 16)
    if (run << 8) & mine != 0:
        found |= run
    pair >>= 8
    run = inner & (bit >> 8)
    run |= inner & (run >> 8)
    run |= pair & (run >> 16)
    run |= pair & (run >> 16)
    if (run >> 8) & mine != 0:
        found |= run
    inner = theirs & _SLANTING
    pair = inner & (inner << 7)
    run = inner & (bit << 7)
    run |= inner & (run << 7)
    run |= pair & (run << 14)
    run |= pair & (run << 14)
    if (run << 7) & mine != 0:
        found |= run
    pair >>= 7
    run = inner & (bit >> 7)
    run |= inner & (run >> 7)
    run |= pair & (run >> 14)
    run |= pair & (run >> 14)
    if (run >> 7) & mine != 0:
        found |= run
    pair = inner & (inner << 9)
    run = inner & (bit << 9)
    run |= inner & (run << 9)
    run |= pair & (run << 18)
    run |= pair & (run << 18)
    if (run << 9) & mine != 0:
        found |= run
    pair >>= 9
    run = inner & (bit >> 9)
    run |= inner & (run >> 9)
    run |= pair & (run >> 18)
    run |= pair & (run >> 18)
    if (run >> 9) & mine != 0:
        found |= run
    return found


def final_score(mine: i64, theirs: i64) -> i64:
    """Discs by which the owner of ``mine`` has more at the end, empty squares to the winner."""
    own: i64 = count_bits(mine)
    other: i64 = count_bits(theirs)
    if own > other:
        return 64 - other - other
    if own < other:
        return own + own - 64
    return 0


def lowest(cells: i64) -> i64:
    """Return the first cell of a set that is not empty, as a set."""
    return signed_set(cells & -cells)


def quadrant(bit: i64) -> i64:
    """Return the quarter of the board in which a square lies, as a set."""
    if bit & _UPPER != 0:
        return _EDGE_LEFT if bit & _EDGE_LEFT != 0 else _EDGE_RIGHT
    if (bit >> 32) & _EDGE_LEFT != 0:
        return 0x0F0F_0F0F_0000_0000
    return -0x0F0F_0F10_0000_0000


def odd_quadrants(empty: i64) -> i64:
    """Return the quarters with an odd number of empty squares, as a set."""
    found: i64 = 0
    rest: i64 = empty
    while rest != 0:
        bit: i64 = lowest(rest)
        rest ^= bit
        found ^= quadrant(bit)
    return found
