"""The last plies of connect four, solved: for `plyhouse.games.endgames`; lines of four only.

The mover completes a line if it can.  It must fill a single cell that the opponent threatens; two
such cells lose, and so does filling the cell below one.  The search therefore visits only positions
that are not decided at once, and tries only actions that do not lose at once.  Actions that
threaten most come first, then those near the centre.  Only who wins counts: each window asks "more
than a loss?" or "more than a draw?", and where no line is left to a seat, it cannot win.  A table
holds bounds, the same for a position and its mirror image.

The sets of cells and their key are J. Tromp's, as in the rules; threats by shifts and the
actions left out as in P. Pons, "Solving Connect 4: how to build a perfect AI" (2015), after
V. Allis, "A knowledge-based approach of Connect-Four" (1988).
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any, Final, final

from plyhouse.games.bits import count_bits
from plyhouse.games.endgames import Endings, Meter

if TYPE_CHECKING:
    from mypy_extensions import i64

__all__ = ["ConnectFourEndings"]

CHEAP: Final = 12
"""Number of empty cells up to which any search that looks two plies ahead is answered."""
PER_PLY: Final = 2
"""Empty cells added for each further ply that the search looks ahead: about the same work."""

KEPT: Final = 5
"""From so many empty cells on, positions are kept in the table."""
MIRRORED: Final = 14
"""From so many on, as the same as their mirror images: later few are reached both ways."""

WORDS: Final = 2
"""Words of an entry: the key, and what is known."""


@final
class ConnectFourEndings(Endings):
    """Solves positions on one board for one search, with a table that lives as long."""

    def __init__(self, meter: Meter, columns: int, rows: int) -> None:
        self.meter: Meter = meter
        self.table: Any = None
        self.mask: i64 = -1
        self.columns: i64 = columns
        self.height: i64 = rows + 1
        # Use unbounded integers, because mypyc compiles "1 << n" of machine words to a 32-bit
        # shift.
        lowest: int = sum([1 << (c * (rows + 1)) for c in range(columns)])
        column_of: int = (1 << rows) - 1
        self.bottoms: i64 = lowest
        self.cells: i64 = column_of
        self.board: i64 = lowest * column_of
        # Columns from the centre, as sets of cells.
        order = sorted(range(columns), key=lambda c: (abs(2 * c - columns + 1), c))
        self.from_centre: tuple[int, ...] = tuple(
            [int(((1 << rows) - 1) << (c * (rows + 1))) for c in order]
        )

    def value(self, state: Any, depth: int, alpha: float, beta: float) -> float | None:
        """Return the value for the mover, see `Endings.value`."""
        mine: i64 = state.mine
        taken: i64 = state.taken
        left: i64 = count_bits(self.board ^ taken)
        plies: i64 = depth
        if left > CHEAP and left > CHEAP + PER_PLY * (plies - 2):
            return None
        self.make_room(left)
        if self.threats(mine, taken) & (taken + self.bottoms) != 0:
            self.meter.visit()
            return 1.0
        found: i64 = 0
        meter = self.meter
        if beta > 0.0:  # a draw is not enough: is it won?
            # The state itself has been counted by who asks.
            meter.nodes -= 1
            found = self.search(mine, taken, left, 0, 1)
            if found > 0 or alpha >= 0.0:
                return float(found)
            meter.nodes += 1
        meter.nodes -= 1
        found = self.search(mine, taken, left, -1, 0)
        return float(found)

    def make_room(self, left: i64) -> None:
        """Make a table for positions with so many empty cells, if there is none."""
        if left < KEPT:
            return
        bits: i64 = 12
        if left > 14:
            bits = 15
        if left > 20:
            bits = 18
        if left > 26:
            bits = 21
        size: i64 = 1
        size <<= bits
        if self.mask < size - 1:
            self.mask = size - 1
            self.table = array("q", bytes(8 * WORDS * int(size)))

    def threats(self, discs: i64, taken: i64) -> i64:
        """Return the empty cells that would complete a line of these discs."""
        found: i64 = (discs << 1) & (discs << 2) & (discs << 3)
        step: i64 = self.height - 1
        last: i64 = step + 2
        while step <= last:
            twice: i64 = step + step
            pair: i64 = (discs << step) & (discs << twice)
            found |= pair & (discs << (twice + step))
            found |= pair & (discs >> step)
            pair = (discs >> step) & (discs >> twice)
            found |= pair & (discs << step)
            found |= pair & (discs >> (twice + step))
            step += 1
        return found & (self.board ^ taken)

    def lines_left(self, discs: i64) -> bool:
        """Return whether a line fits into these cells."""
        pair: i64 = discs & (discs >> 1)
        found: i64 = pair & (pair >> 2)
        step: i64 = self.height - 1
        last: i64 = step + 2
        while step <= last:
            pair = discs & (discs >> step)
            found |= pair & (pair >> (step + step))
            step += 1
        return found != 0

    def mirrored(self, key: i64) -> i64:
        """Return the key of the mirror image: the columns the other way round."""
        ones: i64 = self.cells + self.cells + 1
        result: i64 = 0
        rest: i64 = key
        column: i64 = 0
        while column < self.columns:
            result = (result << self.height) | (rest & ones)
            rest >>= self.height
            column += 1
        return result

    def search(self, mine: i64, taken: i64, left: i64, alpha: i64, beta: i64) -> i64:
        """Return the value for the owner of ``mine``, who moves and cannot win at once."""
        meter = self.meter
        if meter.nodes >= meter.due:
            meter.due = meter.watch(meter.nodes)
        meter.nodes += 1
        if left == 0:
            return 0
        theirs: i64 = mine ^ taken
        moves: i64 = (taken + self.bottoms) & self.board
        feared: i64 = self.threats(theirs, taken)
        forced: i64 = moves & feared
        if forced != 0:
            if forced & (forced - 1) != 0:
                return -1
            moves = forced
        # The cell above is where they would win next.
        moves = moves & ~(feared >> 1)
        if moves == 0:
            return -1
        if left <= 2:
            return 0
        empty: i64 = self.board ^ taken
        if beta > 0 and not self.lines_left(mine | empty):
            if alpha >= 0:
                return 0
            beta = 0
        if alpha < 0 and not self.lines_left(theirs | empty):
            if beta <= 0:
                return 0
            alpha = 0
        key: i64 = 0
        place: i64 = 0
        low: i64 = -1
        high: i64 = 1
        kept: bool = left >= KEPT
        if kept:
            key = mine + taken + self.bottoms
            if left >= MIRRORED:
                other: i64 = self.mirrored(key)
                if other < key:
                    key = other
            mixed: i64 = (key & 0x7FFF_FFFF) * 0x2F0B_4C47
            mixed ^= (key >> 31) * 0x1B87_3593
            place = WORDS * (((mixed >> 31) ^ (mixed >> 11)) & self.mask)
            table = self.table
            seen: i64 = table[place]
            if seen == key:
                known: i64 = table[place + 1]
                low = (known & 3) - 1
                high = (known >> 2) - 1
                if low >= beta:
                    return low
                if high <= alpha:
                    return high
        best: i64 = -1
        value: i64
        cell: i64
        column: i64
        if moves & (moves - 1) == 0:
            best = -self.search(theirs, taken | moves, left - 1, -beta, -alpha)
        else:
            ranks: list[int] = []
            place_of: i64 = 0
            for cells in self.from_centre:
                column = cells
                cell = moves & column
                if cell != 0:
                    value = 32 - count_bits(self.threats(mine | cell, taken | cell))
                    ranks.append(int((value << 4) | place_of))
                place_of += 1  # noqa: SIM113 - enumerate makes boxed numbers
            ranks.sort()
            for rank in ranks:
                column = self.from_centre[rank & 15]
                cell = moves & column
                value = -self.search(theirs, taken | cell, left - 1, -beta, -alpha)
                if value > best:
                    best = value
                    if value > alpha:
                        alpha = value
                        if value >= beta:
                            break
        if kept:
            # Every window holds one number only: the value is on one side of it.
            if best >= beta:
                low = best
            else:
                high = best
            self.table[place] = key
            self.table[place + 1] = (low + 1) | ((high + 1) << 2)
        return best
