"""The last plies of othello, solved: for `plyhouse.games.endgames`.

Alpha-beta over two machine words, without a state for each position.  First come the squares that
leave the other the fewest replies ("fastest first").  With few empty squares, those in quadrants
with an odd number of them come first, because the mover may play there last (parity).  Later
actions are asked by null windows whether they are better; a table holds bounds.  Values are
differences of discs, empty squares to the winner; for games that are only won or lost the window is
between a disc fewer and a disc more.

M. Buro, "Methods for the evaluation of game positions using examples", dissertation,
Paderborn (1994); G. Andersson, "Writing an Othello program" (2004); R. Plaat and others,
"Exploiting graph properties of game trees", AAAI (1996), for what the table of the next
positions can cut off (enhanced transposition cut-offs).

There is a function for each stage (`many` empty squares, `few`, `two`, `one`), as each leaves out
work that no longer pays: the table, sorting, then loops.
"""

from __future__ import annotations

from array import array
from math import ceil, floor
from typing import TYPE_CHECKING, Any, Final, final

from plyhouse.games.bits import BIT, bit_number, count_bits, signed_set
from plyhouse.games.deterministic.othello.board import final_score, placeable, turned
from plyhouse.games.endgames import Endings, Meter

if TYPE_CHECKING:
    from mypy_extensions import i64

__all__ = ["OthelloEndings"]

CHEAP: Final = 8
"""Number of empty squares up to which any search is answered."""
PER_PLY: Final = 2
DEEPER: Final = 3
"""A search that looks d plies ahead may solve PER_PLY * d + DEEPER empty squares: about the same
work.
"""

BY_REPLIES: Final = 7
"""From so many empty squares on, actions are sorted by the replies they leave."""
KEPT: Final = 9
"""From so many on, positions are kept in the table."""
LOOKED_UP: Final = 11
"""From so many on, the next positions are looked up before any of them is searched."""

WORST: Final = -65
WORDS: Final = 3
"""Words of an entry: the two sets of discs, and what is known."""

_CORNERS: Final = -0x7EFF_FFFF_FFFF_FF7F
_EDGE_LEFT: Final = 0x0F0F_0F0F
_EDGE_RIGHT: Final = 0xF0F0_F0F0
_UPPER: Final = 0xFFFF_FFFF


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


def slot(mine: i64, theirs: i64, mask: i64) -> i64:
    """Return where in a table of ``mask`` + 1 entries a position belongs.

    Both sets are cut so that no product leaves 62 bits: interpreted, numbers do not overflow.
    """
    mixed: i64 = (mine & 0x7FFF_FFFF) * 0x2F0B_4C47
    mixed ^= ((mine >> 31) & 0x7FFF_FFFF) * 0x3C6E_F372
    mixed ^= (theirs & 0x7FFF_FFFF) * 0x1B87_3593
    mixed ^= ((theirs >> 31) & 0x7FFF_FFFF) * 0x2545_F491
    mixed ^= ((mine >> 62) & 3) * 0x1234_5678_9ABC ^ ((theirs >> 62) & 3) * 0x2FED_CBA9_8765
    return ((mixed >> 31) ^ (mixed >> 9)) & mask


@final
class OthelloEndings(Endings):
    """Solves positions for one search, with a table that lives as long as the search."""

    def __init__(self, meter: Meter) -> None:
        self.meter: Meter = meter
        self.table: Any = None
        self.mask: i64 = -1

    def value(self, state: Any, depth: int, alpha: float, beta: float) -> float | None:
        """Return the value for the mover, see `Endings.value`; by discs or by who wins."""
        black: i64 = state.black
        white: i64 = state.white
        empties: i64 = 64 - count_bits(black | white)
        if empties > CHEAP and empties > PER_PLY * depth + DEEPER:
            return None
        mine: i64 = black
        theirs: i64 = white
        if state.to_move == 1:
            mine = white
            theirs = black
        low: i64
        high: i64
        if state.score:
            low = floor(max(alpha, -65.0))
            high = ceil(min(beta, 65.0))
            return float(self.solved(mine, theirs, empties, low, high))
        # More than a loss is a draw at least: a value above -1 means one above -1 disc.
        low = -1 if alpha < 0.0 else 0
        high = 1 if beta > 0.0 else 0
        discs: i64 = self.solved(mine, theirs, empties, low, high)
        return 1.0 if discs > 0 else -1.0 if discs < 0 else 0.0

    def solved(self, mine: i64, theirs: i64, empties: i64, alpha: i64, beta: i64) -> i64:
        """Return the difference of discs for the owner of ``mine``, who is to move."""
        empty: i64 = signed_set(~(mine | theirs))
        self.make_room(empties)
        # The state itself has been counted by who asks.
        self.meter.nodes -= 1
        return self.any(mine, theirs, empty, empties, alpha, beta, odd_quadrants(empty), False)

    def make_room(self, empties: i64) -> None:
        """Make a table for positions with so many empty squares, if there is none."""
        if empties < KEPT:
            return
        bits: i64 = 14
        if empties > 12:
            bits = 17
        if empties > 16:
            bits = 19
        if empties > 20:
            bits = 21
        size: i64 = 1
        size <<= bits
        if self.mask < size - 1:
            self.mask = size - 1
            self.table = array("q", bytes(8 * WORDS * int(size)))

    def any(
        self,
        mine: i64,
        theirs: i64,
        empty: i64,
        n: i64,
        alpha: i64,
        beta: i64,
        odd: i64,
        passed: bool,
    ) -> i64:
        """Return the value of a position with ``n`` empty squares."""
        if n >= BY_REPLIES:
            return self.many(mine, theirs, empty, n, alpha, beta, odd, passed)
        if n > 2:
            return self.few(mine, theirs, empty, n, alpha, beta, odd, passed)
        meter = self.meter
        if n == 2:
            first: i64 = lowest(empty)
            return self.two(mine, theirs, first, empty ^ first, alpha, beta)
        if n == 1:
            return self.one(mine, theirs, empty)
        meter.visit()
        return final_score(mine, theirs)

    def many(
        self,
        mine: i64,
        theirs: i64,
        empty: i64,
        n: i64,
        alpha: i64,
        beta: i64,
        odd: i64,
        passed: bool,
    ) -> i64:
        """Return the value where many squares are empty: sorted by replies, with the table."""
        meter = self.meter
        meter.visit()
        cells: i64 = placeable(mine, theirs)
        if cells == 0:
            if passed:
                return final_score(mine, theirs)
            return -self.many(theirs, mine, empty, n, -beta, -alpha, odd, True)
        place: i64 = 0
        best_square: i64 = 64
        low: i64 = -64
        high: i64 = 64
        kept: bool = n >= KEPT
        known: i64
        if kept:
            place = WORDS * slot(mine, theirs, self.mask)
            known = self.found(place, mine, theirs)
            if known != 0:
                low = (known & 255) - 64
                high = ((known >> 8) & 255) - 64
                best_square = (known >> 16) & 127
                if low >= beta or low == high:
                    return low
                if high <= alpha:
                    return high
                if low > alpha:
                    alpha = low
                if high < beta:
                    beta = high
        ranks: list[int] = []
        rest: i64 = cells
        bit: i64
        flips: i64
        rank: i64
        replies: i64
        square: i64
        own: i64
        other: i64
        value: i64
        looks_up: bool = n >= LOOKED_UP
        while rest != 0:
            bit = lowest(rest)
            rest ^= bit
            flips = turned(bit, mine, theirs)
            own = mine | bit | flips
            other = theirs ^ flips
            square = bit_number(bit)
            if looks_up:
                known = self.found(WORDS * slot(other, own, self.mask), other, own)
                if known != 0:
                    value = 64 - ((known >> 8) & 255)
                    if value >= beta:
                        return value
            if square == best_square:
                rank = 0
            else:
                replies = placeable(other, own)
                rank = 64 + 8 * (count_bits(replies) + count_bits(replies & _CORNERS))
                if bit & odd != 0:
                    rank -= 4
                if bit & _CORNERS != 0:
                    rank -= 16
            ranks.append(int((rank << 6) | square))
        if len(ranks) > 1:
            ranks.sort()
        best: i64 = WORST
        floor_: i64 = alpha
        for entry in ranks:
            square = entry
            square = square & 63
            bit = BIT[square]
            flips = turned(bit, mine, theirs)
            own = mine | bit | flips
            other = theirs ^ flips
            if best > WORST and beta - alpha > 1:
                value = -self.any(
                    other, own, empty ^ bit, n - 1, -alpha - 1, -alpha, odd ^ quadrant(bit), False
                )
                if value > alpha and value < beta:
                    value = -self.any(
                        other, own, empty ^ bit, n - 1, -beta, -value, odd ^ quadrant(bit), False
                    )
            else:
                value = -self.any(
                    other, own, empty ^ bit, n - 1, -beta, -alpha, odd ^ quadrant(bit), False
                )
            if value > best:
                best = value
                best_square = square
                if value > alpha:
                    alpha = value
                    if value >= beta:
                        break
        if kept:
            if best > floor_ and best > low:
                low = best
            if best < beta and best < high:
                high = best
            self.keep(place, mine, theirs, low, high, best_square)
        return best

    def few(
        self,
        mine: i64,
        theirs: i64,
        empty: i64,
        n: i64,
        alpha: i64,
        beta: i64,
        odd: i64,
        passed: bool,
    ) -> i64:
        """Return the value where three to six squares are empty: those in odd quadrants first."""
        meter = self.meter
        meter.visit()
        best: i64 = WORST
        cells: i64 = empty & odd
        rest: i64 = empty ^ cells
        bit: i64
        first: i64
        left: i64
        flips: i64
        value: i64
        while True:
            if cells == 0:
                cells = rest
                rest = 0
                if cells == 0:
                    break
            bit = lowest(cells)
            cells ^= bit
            flips = turned(bit, mine, theirs)
            if flips == 0:
                continue
            left = empty ^ bit
            if n == 3:
                first = lowest(left)
                value = -self.two(
                    theirs ^ flips, mine | bit | flips, first, left ^ first, -beta, -alpha
                )
            else:
                value = -self.few(
                    theirs ^ flips,
                    mine | bit | flips,
                    left,
                    n - 1,
                    -beta,
                    -alpha,
                    odd ^ quadrant(bit),
                    False,
                )
            if value > best:
                best = value
                if value >= beta:
                    return value
                if value > alpha:
                    alpha = value
        if best > WORST:
            return best
        if passed:
            return final_score(mine, theirs)
        return -self.few(theirs, mine, empty, n, -beta, -alpha, odd, True)

    def two(self, mine: i64, theirs: i64, first: i64, second: i64, alpha: i64, beta: i64) -> i64:
        """Return the value where two squares are empty."""
        meter = self.meter
        meter.visit()
        best: i64 = WORST
        value: i64
        flips: i64 = turned(first, mine, theirs)
        if flips != 0:
            best = -self.one(theirs ^ flips, mine | first | flips, second)
            if best >= beta:
                return best
        flips = turned(second, mine, theirs)
        if flips != 0:
            value = -self.one(theirs ^ flips, mine | second | flips, first)
            if value > best:
                best = value
        if best > WORST:
            return best
        # A pass.
        meter.visit()
        best = -WORST
        flips = turned(first, theirs, mine)
        if flips != 0:
            best = self.one(mine ^ flips, theirs | first | flips, second)
            if best <= alpha:
                return best
        flips = turned(second, theirs, mine)
        if flips != 0:
            value = self.one(mine ^ flips, theirs | second | flips, first)
            if value < best:
                best = value
        if best < -WORST:
            return best
        return final_score(mine, theirs)

    def one(self, mine: i64, theirs: i64, bit: i64) -> i64:
        """Return the value where one square is empty: it goes to the mover, else to the other."""
        meter = self.meter
        meter.visit()
        flips: i64 = turned(bit, mine, theirs)
        own: i64 = count_bits(mine)
        if flips != 0:
            meter.visit()
            return 2 * (own + count_bits(flips)) - 62
        flips = turned(bit, theirs, mine)
        if flips != 0:
            meter.visit()
            return 2 * (own - count_bits(flips)) - 64
        return own + own - (62 if own > 31 else 64)

    def found(self, place: i64, mine: i64, theirs: i64) -> i64:
        """Look a position up in the table: 0, or both bounds and the best square."""
        table = self.table
        seen: i64 = table[place]
        if seen != mine:
            return 0
        seen = table[place + 1]
        if seen != theirs:
            return 0
        known: i64 = table[place + 2]
        return known

    def keep(self, place: i64, mine: i64, theirs: i64, low: i64, high: i64, square: i64) -> None:
        """Put what was found in the place of what was there."""
        table = self.table
        table[place] = mine
        table[place + 1] = theirs
        table[place + 2] = (low + 64) | ((high + 64) << 8) | (square << 16)
