"""Lines of discs in sets of cells, counted for the whole board at once.

See `plyhouse.games.deterministic.connect_four.rules` for the sets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mypy_extensions import i64

__all__ = ["has_run", "lead_in_fours", "winning_cells"]


def has_run(discs: i64, step: i64, count: i64) -> bool:
    """Return whether so many discs lie in a row, each ``step`` bits from the next."""
    while count > 1 and discs != 0:
        discs = discs & (discs >> step)
        count -= 1
    return discs != 0


def lead_in_fours(mine: i64, theirs: i64, starts: i64, step: i64) -> i64:
    """Return the squared numbers of discs in lines of four with only my discs, less those with only
    theirs.  Lines are in one direction, by their starts; the result is four sums of 16 bits each.

    All lines are counted at once: bit p of a set shifted by i steps is cell i of the line that
    starts at p.  Adding four such sets bit by bit gives the discs of a line as a number of two
    bits; a line of four would have ended the game.
    """
    twice: i64 = step + step
    cell_1: i64 = mine >> step
    cell_2: i64 = mine >> twice
    cell_3: i64 = mine >> (twice + step)
    other_1: i64 = theirs >> step
    other_2: i64 = theirs >> twice
    other_3: i64 = theirs >> (twice + step)
    free: i64 = starts & ~(theirs | other_1 | other_2 | other_3)
    one: i64 = mine ^ cell_1
    two: i64 = cell_2 ^ cell_3
    units: i64 = (one ^ two) & free
    pairs: i64 = ((one & two) | (mine & cell_1) | (cell_2 & cell_3)) & free
    value: i64 = squares(units, pairs)
    free = starts & ~(mine | cell_1 | cell_2 | cell_3)
    one = theirs ^ other_1
    two = other_2 ^ other_3
    units = (one ^ two) & free
    pairs = ((one & two) | (theirs & other_1) | (other_2 & other_3)) & free
    return value - squares(units, pairs)


def squares(units: i64, pairs: i64) -> i64:
    """Sum of the squares of numbers below 4 whose bits are given; in parts of 16 bits.

    The square of u + 2 p is u + 4 p + 4 u p.  Bits are counted in pairs, then nibbles and bytes
    (Warren, Hacker's Delight, section 5-1).  Cells are below bit 62, and so are all constants, as
    mypyc requires for machine words.
    """
    threes: i64 = units & pairs
    units = units - ((units >> 1) & 0x1555_5555_5555_5555)
    units = (units & 0x3333_3333_3333_3333) + ((units >> 2) & 0x3333_3333_3333_3333)
    pairs = pairs - ((pairs >> 1) & 0x1555_5555_5555_5555)
    pairs = (pairs & 0x3333_3333_3333_3333) + ((pairs >> 2) & 0x3333_3333_3333_3333)
    threes = threes - ((threes >> 1) & 0x1555_5555_5555_5555)
    threes = (threes & 0x3333_3333_3333_3333) + ((threes >> 2) & 0x3333_3333_3333_3333)
    pairs += threes
    units = (units & 0x0F0F_0F0F_0F0F_0F0F) + ((units >> 4) & 0x0F0F_0F0F_0F0F_0F0F)
    pairs = (pairs & 0x0F0F_0F0F_0F0F_0F0F) + ((pairs >> 4) & 0x0F0F_0F0F_0F0F_0F0F)
    units += pairs << 2
    return (units & 0x00FF_00FF_00FF_00FF) + ((units >> 8) & 0x00FF_00FF_00FF_00FF)


def winning_cells(board: tuple[str, ...], winner: int | None, connect: int) -> set[tuple[int, int]]:
    """Row from the top and column of the cells in lines that have won; empty before that."""
    found: set[tuple[int, int]] = set()
    if winner is None:
        return found
    mark, rows, columns = "xo"[winner], len(board), len(board[0])
    for row in range(rows):
        for column in range(columns):
            for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                line = [(row + down * step, column + right * step) for step in range(connect)]
                last = line[-1]
                inside = last[0] < rows and 0 <= last[1] < columns
                if inside and {board[y][x] for y, x in line} == {mark}:
                    found.update(line)
    return found
