"""The last plies of connect four, solved: for `plyhouse.games.endgames`; lines of four only.

The mover completes a line if it can.  It must fill a single cell that the opponent threatens; two
such cells lose, and so does filling the cell below one.  The search therefore visits only positions
that are not decided at once, and tries only actions that do not lose at once.  An action wins if it
threatens two cells that can be filled at once, or one and the cell above.  The others are tried by
the cells that they threaten, then from the centre.  Filling the cell below an own threat counts
less.  Only who wins counts: each window asks "more than a loss?" or "more than a draw?".

Two bounds spare searches.  Where no line is left to a seat, it cannot win.  The opponent may also
hold by a strategy that replies in the same column (*follow up*): `ConnectFourEndings.bound` says
what the mover can reach against it.  The next positions are checked by this bound and looked up in
the table before any is searched.  The table holds bounds, the same for a position and its mirror
image.  Entries leave out the part of the key that is their place.

The sets of cells and their key are J. Tromp's, as in the rules; threats by shifts, the actions left
out and the short entries as in P. Pons, "Solving Connect 4: how to build a perfect AI" (2015);
follow-up (*claimeven*) and pairs of cells (*baseinverse*) after V. Allis, "A knowledge-based
approach of Connect-Four" (1988).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, final

from mypy_extensions import mypyc_attr

from plyhouse.games.bits import bit_number, count_bits
from plyhouse.games.deterministic.connect_four.book import book_values
from plyhouse.games.endgames import Endings, Meter

if TYPE_CHECKING:
    from mypy_extensions import i64

__all__ = ["ConnectFourEndings"]

CHEAP: Final = 18
"""Number of empty cells up to which any search that looks two plies ahead is answered."""
PER_PLY: Final = 2
"""Empty cells added for each further ply that the search looks ahead: about the same work."""

KEPT: Final = 8
"""From so many empty cells on, positions are kept in the table."""
MIRRORED: Final = 14
"""From so many on, as the same as their mirror images: later few are reached both ways."""
LOOKED_UP: Final = 16
"""Above so many, the next positions are looked up before any of them is searched."""
BOUNDED: Final = 6
"""Above so many, the next positions are bounded before any of them is searched."""

BOOKED: Final = 29
"""From so many empty cells on, positions of the standard board are looked up in the book."""

SIZES: Final[tuple[int, ...]] = (1021, 8191, 65521, 262_139, 1_048_573)
"""Buckets of a table: prime numbers, so that the remainders of keys spread over them."""


@final
@mypyc_attr(acyclic=True)
class Bucket:
    """Entries of four positions with the same place in the table.

    An entry is the quotient of the key, then the binary digits of the number of positions that it
    took (six bits), then both bounds (two bits each).  The first took the most.
    """

    def __init__(self) -> None:
        self.first: i64 = 0
        self.second: i64 = 0
        self.third: i64 = 0
        self.fourth: i64 = 0


EMPTY: Final = Bucket()


@final
class ConnectFourEndings(Endings):
    """Solves positions on one board for one search, with a table that lives as long."""

    def __init__(self, meter: Meter, columns: int, rows: int) -> None:
        self.meter: Meter = meter
        self.table: list[Bucket] = []
        self.size: i64 = 0
        self.columns: i64 = columns
        self.height: i64 = rows + 1
        self.booked: bool = columns == 7 and rows == 6
        # Use unbounded integers, because mypyc compiles "1 << n" of machine words to a 32-bit
        # shift.
        lowest: int = sum([1 << (c * (rows + 1)) for c in range(columns)])
        column_of: int = (1 << rows) - 1
        self.bottoms: i64 = lowest
        self.cells: i64 = column_of
        self.board: i64 = lowest * column_of
        self.rows: i64 = rows
        self.guards: i64 = lowest << rows
        # The cells from which on an even number of cells is left in the column, and the others.
        lead: int = sum([1 << r for r in range(rows - 2, -1, -2)])
        self.lead: i64 = lowest * lead
        self.follow: i64 = lowest * (column_of ^ lead)
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
        if self.booked and left >= BOOKED:
            written: int | None = book_values().get(self.merged(mine, taken))
            if written is not None:
                return float(written)
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

    def source(self, state: Any) -> str:
        """Return "book" for a position of the book, else "endings"."""
        written = self.booked and self.merged(state.mine, state.taken) in book_values()
        return "book" if written else "endings"

    def best(self, state: Any) -> Any:
        """Return the action that the book thinks best; None if it does not know the position."""
        if not self.booked:
            return None
        values = book_values()
        mine: i64 = state.mine
        taken: i64 = state.taken
        value: int | None = values.get(self.merged(mine, taken))
        if value is None:
            return None
        theirs: i64 = mine ^ taken
        for cells in self.from_centre:
            column: i64 = cells
            cell: i64 = (taken + self.bottoms) & column
            if cell != 0 and values.get(self.merged(theirs, taken | cell), 2) == -value:
                return bit_number(cell) // self.height + 1
        return None

    def merged(self, mine: i64, taken: i64) -> int:
        """Return the lesser key of a position and its mirror image."""
        key: i64 = mine + taken + self.bottoms
        other: i64 = self.mirrored(key)
        return int(key if key < other else other)

    def make_room(self, left: i64) -> None:
        """Make a table for positions with so many empty cells, if there is none."""
        if left < KEPT:
            return
        step: i64 = 0
        if left > 14:
            step = 1
        if left > 20:
            step = 2
        if left > 26:
            step = 3
        if left > 34:
            step = 4
        size: i64 = SIZES[step]
        if self.size < size:
            self.size = size
            self.table = [EMPTY] * int(size)

    def threats(self, discs: i64, taken: i64) -> i64:
        """Return the empty cells that would complete a line of these discs."""
        found: i64 = (discs << 1) & (discs << 2) & (discs << 3)
        step: i64 = self.height - 1
        twice: i64 = step + step
        up: i64 = discs << step
        down: i64 = discs >> step
        pair: i64 = up & (discs << twice)
        found |= pair & ((discs << (twice + step)) | down)
        pair = down & (discs >> twice)
        found |= pair & (up | (discs >> (twice + step)))
        step += 1
        twice = step + step
        up = discs << step
        down = discs >> step
        pair = up & (discs << twice)
        found |= pair & ((discs << (twice + step)) | down)
        pair = down & (discs >> twice)
        found |= pair & (up | (discs >> (twice + step)))
        step += 1
        twice = step + step
        up = discs << step
        down = discs >> step
        pair = up & (discs << twice)
        found |= pair & ((discs << (twice + step)) | down)
        pair = down & (discs >> twice)
        found |= pair & (up | (discs >> (twice + step)))
        return found & (self.board ^ taken)

    def lines_left(self, discs: i64) -> bool:
        """Return whether a line fits into these cells."""
        pair: i64 = discs & (discs >> 1)
        found: i64 = pair & (pair >> 2)
        step: i64 = self.height
        pair = discs & (discs >> step)
        found |= pair & (pair >> (step + step))
        step -= 1
        pair = discs & (discs >> step)
        found |= pair & (pair >> (step + step))
        step += 2
        pair = discs & (discs >> step)
        found |= pair & (pair >> (step + step))
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

    def bound(self, mine: i64, taken: i64, feared: i64, alpha: i64) -> i64:
        """Return an upper bound of the value for the owner of ``mine``, who moves.

        The opponent replies above each disc.  In a column with an even number of empty cells, the
        mover gets every second cell from the lowest on.  So it does in a column with an odd number
        and a threat of the opponent that the mover has to enable.  The other columns with an odd
        number are *open*.  Where the mover takes the lowest cell of one, the opponent takes the
        lowest cell of another.  From then on it replies above each disc there, too.  The mover
        cannot win without a line of cells that it gets, and loses if it has to enable a threat.

        ``feared`` are the cells that complete a line of the opponent.  The result is 1 if nothing
        is known.  Above ``alpha``, it may be 0 for a position that is lost.
        """
        theirs: i64 = mine ^ taken
        empty: i64 = self.board ^ taken
        after: i64 = taken + self.bottoms
        # Adding the board carries into the guard bits of all columns that hold a bit of the set.
        odd: i64 = ((after & self.follow) + self.board) & self.guards
        gets: i64 = empty & (self.lead ^ (odd - (odd >> self.rows)))
        enabled: i64 = feared & ~gets
        open_: i64 = odd & ~(enabled + self.board)
        pair: i64 = 0
        first: i64 = 0
        if open_ != 0:
            columns: i64 = open_ - (open_ >> self.rows)
            pair = after & columns
            gets ^= empty & columns
            enabled = feared & ~(gets | pair)
            first = pair & -pair
            rest: i64 = pair ^ first
            if rest == 0:
                return 1
            if rest & (rest - 1) != 0:
                # No pairs are chosen: the mover may get all these cells.
                if count_bits(rest) & 1 == 0:
                    return 1
                first = pair
        # Above a threat that it enables, the mover gets nothing.
        gets &= ~(self.guards - enabled)
        if self.lines_left(mine | gets | first):
            return 1
        if pair != first and self.lines_left(mine | gets | (pair ^ first)):
            return 1
        if enabled != 0:
            return -1
        if alpha < 0 and self.lines_left(theirs | (empty & ~(gets | pair))):
            return -1
        return 0

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
        value: i64 = self.bound(mine, taken, feared, alpha)
        if value <= alpha:
            return value
        if value < beta:
            beta = value
        if beta > 0 and not self.lines_left(mine | empty):
            if alpha >= 0:
                return 0
            beta = 0
        if alpha < 0 and not self.lines_left(theirs | empty):
            if beta <= 0:
                return 0
            alpha = 0
        key: i64 = 0
        low: i64 = -1
        high: i64 = 1
        known: i64
        kept: bool = left >= KEPT
        if kept:
            key = mine + taken + self.bottoms
            if left >= MIRRORED:
                other: i64 = self.mirrored(key)
                if other < key:
                    key = other
            known = self.found(key)
            if known >= 0:
                low = (known & 3) - 1
                high = ((known >> 2) & 3) - 1
                if low >= beta:
                    return low
                if high <= alpha:
                    return high
        before: i64 = meter.nodes
        best: i64 = -1
        cell: i64
        if moves & (moves - 1) == 0:
            best = -self.search(theirs, taken | moves, left - 1, -beta, -alpha)
        else:
            looks_up: bool = left > LOOKED_UP
            # By column from the centre six bits: a number that is greater for better actions.
            ranks: i64 = 0
            shift: i64 = 0
            threatened: i64 = self.threats(mine, taken)
            for cells in self.from_centre:
                column: i64 = cells
                cell = moves & column
                if cell != 0:
                    if looks_up:
                        child: i64 = theirs + taken + cell + self.bottoms
                        other = self.mirrored(child)
                        if other < child:
                            child = other
                        known = self.found(child)
                        if known >= 0:
                            value = 1 - ((known >> 2) & 3)
                            if value >= beta:
                                return value
                    after: i64 = taken | cell
                    won: i64 = self.threats(mine | cell, after)
                    now: i64 = won & (after + self.bottoms)
                    if now != 0 and (now & (now - 1) != 0 or (now << 1) & won != 0):
                        best = 1
                        break
                    if left > BOUNDED:
                        value = -self.bound(theirs, after, won, -beta)
                        if value >= beta:
                            best = value
                            break
                    value = 4 + count_bits(won)
                    if (cell << 1) & threatened != 0:
                        value -= 2
                    ranks |= value << shift
                shift += 6
            if best >= beta:
                ranks = 0
            while ranks != 0:
                most: i64 = 0
                place: i64 = 0
                pick: i64 = 0
                rest: i64 = ranks
                while rest != 0:
                    value = rest & 63
                    if value > most:
                        most = value
                        pick = place
                    rest >>= 6
                    place += 1
                ranks ^= most << (6 * pick)
                column = self.from_centre[pick]
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
            spent: i64 = meter.nodes - before
            work: i64 = 0
            while spent > 0:
                spent >>= 1
                work += 1
            self.keep(key, work, low, high)
        return best

    def found(self, key: i64) -> i64:
        """Look a position up in the table: its entry without the key, or -1."""
        size: i64 = self.size
        bucket = self.table[key % size]
        part: i64 = key // size
        entry: i64 = bucket.first
        if entry >> 10 == part:
            return entry & 1023
        entry = bucket.second
        if entry >> 10 == part:
            return entry & 1023
        entry = bucket.third
        if entry >> 10 == part:
            return entry & 1023
        entry = bucket.fourth
        if entry >> 10 == part:
            return entry & 1023
        return -1

    def keep(self, key: i64, work: i64, low: i64, high: i64) -> None:
        """Remember what was found, in place of what is oldest and took less work."""
        size: i64 = self.size
        place: i64 = key % size
        bucket = self.table[place]
        if bucket is EMPTY:
            bucket = Bucket()
            self.table[place] = bucket
        part: i64 = key // size
        entry: i64 = (part << 10) | (work << 4) | ((high + 1) << 2) | (low + 1)
        if bucket.first >> 10 == part:
            bucket.first = entry
            return
        if bucket.second >> 10 == part:
            bucket.second = entry
            return
        if bucket.third >> 10 == part:
            bucket.third = entry
            return
        if bucket.fourth >> 10 != part:
            bucket.fourth = bucket.third
            bucket.third = bucket.second
            if work >= (bucket.first >> 4) & 63:
                bucket.second = bucket.first
                bucket.first = entry
            else:
                bucket.second = entry
            return
        bucket.fourth = entry
