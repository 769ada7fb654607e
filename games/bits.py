"""Sets of up to 64 cells in one machine word, the same interpreted and compiled.

Compiled, such a set is an `i64`; bit 63 is its sign, so the set that holds only cell 63 is -2**63.
Interpreted code has numbers without bounds.  It keeps a set as the same signed number
(`signed_set` makes it so after a shift to the left), and all functions here also take the unsigned
form.
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

from plyhouse.games.native import COMPILED

__all__ = ["BIT", "bit_number", "count_bits", "pick_bit", "signed_set"]

_GREATEST: Final = 0x7FFF_FFFF_FFFF_FFFF

BIT: Final[tuple[int, ...]] = tuple([1 << n for n in range(63)] + [-(1 << 63)])
"""The set that holds only cell n; ``1 << n`` would be wrong for large n when compiled."""


def count_bits(cells: i64) -> i64:
    """Return how many cells are in the set."""
    if not COMPILED:
        whole: int = cells
        if whole < 0:
            return (whole + (1 << 64)).bit_count()
        return whole.bit_count()
    x: i64 = cells
    # Constants below 2**62 are free for mypyc, greater ones are objects; so bit 63 goes apart.
    x = x - ((x >> 1) & 0x1555_5555_5555_5555) - (((x >> 63) & 1) << 62)
    x = (x & 0x3333_3333_3333_3333) + ((x >> 2) & 0x3333_3333_3333_3333)
    x = (x + (x >> 4)) & 0x0F0F_0F0F_0F0F_0F0F
    x = x + (x >> 8)
    x = x + (x >> 16)
    x = x + (x >> 32)
    return x & 127


def pick_bit(cells: i64, skip: i64) -> i64:
    """Return the set of one cell: the lowest after leaving out ``skip``; there must be more cells.

    >>> pick_bit(0b10110, 1)
    4
    """
    x: i64 = cells
    left: i64 = skip
    while left > 0:
        x = x & (x - 1)
        left -= 1
    return signed_set(x & -x)


def bit_number(bit: i64) -> i64:
    """Return the number of the only cell of a set."""
    if not COMPILED:
        whole: int = bit
        return 63 if whole < 0 else whole.bit_length() - 1
    return count_bits(bit - 1)


def signed_set(cells: i64) -> i64:
    """Return a set that a shift to the left may have made too large, as the signed number."""
    if not COMPILED and cells > _GREATEST:
        return cells | ~_GREATEST
    return cells
