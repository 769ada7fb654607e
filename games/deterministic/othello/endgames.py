"""The last plies of othello, solved: for `plyhouse.games.endgames`.

Alpha-beta over two machine words, without a state for each position.  Values are differences of
discs, empty squares to the winner; for games that are only won or lost the window is between a disc
fewer and a disc more.  A search for a score guesses it first, then asks by null windows whether it
is reached and whether more is.  Only exact results leave the solver: estimates sort actions and
guess, they cut nothing off.

With many empty squares, actions are tried in the order of an estimate and of how few replies they
leave.  With fewer empty squares, the replies count alone ("fastest first").  Near the end, squares
come first that lie in quadrants with an odd number of empty ones, because the mover may play there
last (parity).  A table holds bounds and best squares, and the next positions are looked up before
any is searched (enhanced transposition cut-offs).  Discs that nobody can turn any more bound the
score.

M. Buro, "Methods for the evaluation of game positions using examples", dissertation,
Paderborn (1994); G. Andersson, "Writing an Othello program" (2004); A. Plaat and others,
"Exploiting graph properties of game trees", AAAI (1996), for looking up the next positions.
"""

from __future__ import annotations

from math import ceil, floor
from typing import Any, Final, final

from mypy_extensions import i64, mypyc_attr

from plyhouse.games.bits import BIT, bit_number, count_bits, signed_set
from plyhouse.games.deterministic.othello.board import (
    final_score,
    lowest,
    odd_quadrants,
    placeable,
    quadrant,
    turned,
)
from plyhouse.games.deterministic.othello.evaluation import POINTS, Evaluation, shared_evaluation
from plyhouse.games.deterministic.othello.known_positions import KnownPositions
from plyhouse.games.deterministic.othello.last_plies import one_empty, three_empty, two_empty
from plyhouse.games.deterministic.othello.stability import stable_discs
from plyhouse.games.endgames import Endings, Meter

__all__ = ["OthelloEndings"]

CHEAP: Final = 9
"""Number of empty squares up to which any search is answered."""
PER_PLY: Final = 2
DEEPER: Final = 4
"""A search that looks d plies ahead may solve PER_PLY * d + DEEPER empty squares: about the same
work.
"""

BY_REPLIES: Final = 7
"""From so many empty squares on, actions are sorted by the replies they leave."""
KEPT: Final = 10
"""From so many on, positions are kept in the table: nearer to the end, reading it takes longer
than the nodes it saves."""
LOOKED_UP: Final = 13
"""From so many on, the next positions are looked up before any of them is searched."""
ESTIMATED: Final = 12
"""From so many on, actions are sorted by estimates, and scores are guessed."""
ONE_PLY: Final = 14
TWO_PLIES: Final = 17
THREE_PLIES: Final = 20
"""From so many on, an estimate looks one, two or three plies ahead."""

REPLY: Final = 24
"""Cost of a reply of the opponent to an action, in points of the estimate."""
MARGIN: Final = 50
"""Points above the best action from which on an estimate need not be exact."""
REPLY_FASTEST: Final = 20
ODD: Final = 4
CORNER: Final = 16
"""Cost of a reply without an estimate, and gains of an odd quadrant and of a corner."""

STABLE_FROM: Final = 6
"""Scores from which on stable discs are counted: to reach less they are seldom in the way."""

WORST: Final = -65
ENDLESS: Final = 1 << 20
"""More than any estimate."""
_CORNERS: Final[i64] = i64(-0x7EFF_FFFF_FFFF_FF7F)


@final
@mypyc_attr(acyclic=True)
class Move:
    """An action to sort, in a chain that positions with as many empty squares use in turn."""

    def __init__(self) -> None:
        self.bit: i64 = 0
        self.flips: i64 = 0
        self.rank: i64 = 0
        self.following: Move | None = None


@final
class OthelloEndings(Endings):
    """Solves positions for one search, with a table that lives as long as the search."""

    def __init__(self, meter: Meter) -> None:
        self.meter: Meter = meter
        self.evaluation: Evaluation = shared_evaluation()
        self.table: KnownPositions = KnownPositions()
        # The first action by the number of empty squares.
        self.moves: list[Move] = [Move() for _ in range(65)]

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

    def best(self, state: Any) -> Any:
        """Return the best square that the table knows, if any."""
        if self.table.mask < 0:
            return None
        mine: i64 = state.white if state.to_move == 1 else state.black
        theirs: i64 = state.black if state.to_move == 1 else state.white
        square: i64 = (self.table.find(mine, theirs) >> 16) & 127
        return int(square) if int(square) in state.actions() else None

    def solved(self, mine: i64, theirs: i64, empties: i64, alpha: i64, beta: i64) -> i64:
        """Return the difference of discs for the owner of ``mine``, who is to move."""
        empty: i64 = signed_set(~(mine | theirs))
        odd: i64 = odd_quadrants(empty)
        if empties >= KEPT:
            self.table.make_room(12 if empties < 13 else 16 if empties < 17 else 18)
            if empties > 20:
                self.table.make_room(20)
        # The state itself has been counted by who asks.
        self.meter.nodes -= 1
        if empties < ESTIMATED or beta - alpha < 3:
            return self.any(mine, theirs, empty, empties, alpha, beta, odd, False)
        guess: i64 = self.guess(mine, theirs, empties, (empties + 4) >> 2, -ENDLESS, ENDLESS)
        # Scores are even.
        asked: i64 = 2 * (guess // (2 * POINTS))
        low: i64 = alpha
        high: i64 = beta
        value: i64 = low
        while low < high:
            if asked <= low:
                asked = low + 1
            if asked > high:
                asked = high
            value = self.any(mine, theirs, empty, empties, asked - 1, asked, odd, False)
            if value >= asked:
                low = value
                asked = value + 2
            else:
                high = value
                asked = value
        return value

    def guess(self, mine: i64, theirs: i64, n: i64, depth: i64, alpha: i64, beta: i64) -> i64:
        """Return the estimate of a search to a small depth."""
        meter = self.meter
        if meter.nodes >= meter.due:
            meter.due = meter.watch(meter.nodes)
        meter.nodes += 1
        if depth == 0 or n == 0:
            return self.evaluation.value(mine, theirs, n)
        cells: i64 = placeable(mine, theirs)
        if cells == 0:
            if placeable(theirs, mine) == 0:
                return final_score(mine, theirs) * POINTS
            return -self.guess(theirs, mine, n, depth, -beta, -alpha)
        best: i64 = -ENDLESS
        value: i64
        rest: i64 = cells & ~_CORNERS
        cells = cells & _CORNERS
        while True:
            if cells == 0:
                cells = rest
                rest = 0
                if cells == 0:
                    return best
            bit: i64 = lowest(cells)
            cells ^= bit
            flips: i64 = turned(bit, mine, theirs)
            value = -self.guess(theirs ^ flips, mine | bit | flips, n - 1, depth - 1, -beta, -alpha)
            if value > best:
                best = value
                if value >= beta:
                    return best
                if value > alpha:
                    alpha = value

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
        if n == 3:
            return self.three(mine, theirs, empty, odd, alpha, beta)
        if n > 2:
            return self.few(mine, theirs, empty, n, alpha, beta, odd, passed)
        meter = self.meter
        if n == 2:
            first: i64 = lowest(empty)
            return two_empty(meter, mine, theirs, first, empty ^ first, alpha, beta)
        if n == 1:
            return one_empty(meter, mine, theirs, empty)
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
        if meter.nodes >= meter.due:
            meter.due = meter.watch(meter.nodes)
        meter.nodes += 1
        if alpha >= STABLE_FROM:
            most: i64 = 64 - 2 * count_bits(stable_discs(theirs, mine))
            if most <= alpha:
                return most
        cells: i64 = placeable(mine, theirs)
        if cells == 0:
            if passed:
                return final_score(mine, theirs)
            return -self.many(theirs, mine, empty, n, -beta, -alpha, odd, True)
        best_bit: i64 = 0
        low: i64 = -64
        high: i64 = 64
        kept: bool = n >= KEPT
        table = self.table
        known: i64
        if kept:
            known = table.find(mine, theirs)
            if known != 0:
                low = (known & 255) - 64
                high = ((known >> 8) & 255) - 64
                if low >= beta or low == high:
                    return low
                if high <= alpha:
                    return high
                if low > alpha:
                    alpha = low
                if high < beta:
                    beta = high
                best_bit = BIT[(known >> 16) & 63]
        first: Move = self.moves[n]
        move: Move = first
        count: i64 = 0
        least: i64 = ENDLESS
        rest: i64 = cells
        bit: i64
        flips: i64
        rank: i64
        replies: i64
        own: i64
        other: i64
        value: i64
        looks_up: bool = n >= LOOKED_UP
        depth: i64 = -1
        if n >= ESTIMATED:
            depth = 0
            if n >= ONE_PLY:
                depth = 1
            if n >= TWO_PLIES:
                depth = 2
            if n >= THREE_PLIES:
                depth = 3
        while rest != 0:
            bit = lowest(rest)
            rest ^= bit
            flips = turned(bit, mine, theirs)
            own = mine | bit | flips
            other = theirs ^ flips
            if other == 0:
                return 64
            if looks_up:
                known = table.find(other, own)
                if known != 0:
                    value = 64 - ((known >> 8) & 255)
                    if value >= beta:
                        return value
            if bit == best_bit:
                rank = 0
            else:
                replies = placeable(other, own)
                if depth < 0:
                    rank = 64 + REPLY_FASTEST * count_bits(replies)
                    if replies & _CORNERS != 0:
                        rank += REPLY_FASTEST * count_bits(replies & _CORNERS)
                    if bit & odd != 0:
                        rank -= ODD
                    if bit & _CORNERS != 0:
                        rank -= CORNER
                else:
                    rank = 8192 + REPLY * (count_bits(replies) + count_bits(replies & _CORNERS))
                    rank += self.guess(other, own, n - 1, depth, -ENDLESS, least + MARGIN - rank)
                    if rank < least:
                        least = rank
            if count > 0:
                following = move.following
                if following is None:
                    following = Move()
                    move.following = following
                move = following
            move.bit = bit
            move.flips = flips
            move.rank = rank
            count += 1
        best: i64 = WORST
        floor_: i64 = alpha
        tried: i64 = 0
        while tried < count:
            tried += 1
            # Sorting all would take longer: most often the first one is enough.
            pick: Move = first
            following = first.following
            rest = count - 1
            while rest > 0 and following is not None:
                if following.rank < pick.rank:
                    pick = following
                following = following.following
                rest -= 1
            pick.rank = ENDLESS
            bit = pick.bit
            flips = pick.flips
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
                best_bit = bit
                if value > alpha:
                    alpha = value
                    if value >= beta:
                        break
        if kept:
            if best > floor_ and best > low:
                low = best
            if best < beta and best < high:
                high = best
            table.keep(mine, theirs, n, low, high, bit_number(best_bit))
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
        if meter.nodes >= meter.due:
            meter.due = meter.watch(meter.nodes)
        meter.nodes += 1
        best: i64 = WORST
        cells: i64 = empty & odd
        rest: i64 = empty ^ cells
        bit: i64
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
            if n == 4:
                value = -self.three(
                    theirs ^ flips, mine | bit | flips, left, odd ^ quadrant(bit), -beta, -alpha
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

    def three(self, mine: i64, theirs: i64, empty: i64, odd: i64, alpha: i64, beta: i64) -> i64:
        """Return the value where three squares are empty: a single one of its quadrant first."""
        first: i64 = empty & odd
        if first == 0:
            first = empty
        first = lowest(first)
        left: i64 = empty ^ first
        second: i64 = lowest(left)
        return three_empty(
            self.meter, mine, theirs, first, second, left ^ second, alpha, beta, False
        )
