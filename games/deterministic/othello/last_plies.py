"""The last four plies of othello: a function for each number of empty squares.

Each leaves out work that does not pay so near the end: the table, sorting, and then loops.  Empty
squares come as sets of one.  Values are differences of discs for the owner of ``mine``, who is to
move: exact inside of (alpha, beta), otherwise bounds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from plyhouse.games.bits import count_bits
from plyhouse.games.deterministic.othello.board import final_score, turned

if TYPE_CHECKING:
    from mypy_extensions import i64

    from plyhouse.games.endgames import Meter

__all__ = ["one_empty", "three_empty", "two_empty"]

WORST: Final = -65


def one_empty(meter: Meter, mine: i64, theirs: i64, bit: i64) -> i64:
    """Return the value where one square is empty: it goes to the mover, else to the other."""
    if meter.nodes >= meter.due:
        meter.due = meter.watch(meter.nodes)
    meter.nodes += 1
    own: i64 = count_bits(mine)
    flips: i64 = turned(bit, mine, theirs)
    if flips != 0:
        return 2 * (own + count_bits(flips)) - 62
    flips = turned(bit, theirs, mine)
    if flips != 0:
        return 2 * (own - count_bits(flips)) - 64
    return own + own - (62 if own > 31 else 64)


def two_empty(
    meter: Meter, mine: i64, theirs: i64, first: i64, second: i64, alpha: i64, beta: i64
) -> i64:
    """Return the value where two squares are empty."""
    if meter.nodes >= meter.due:
        meter.due = meter.watch(meter.nodes)
    meter.nodes += 1
    best: i64 = WORST
    value: i64
    flips: i64 = turned(first, mine, theirs)
    if flips != 0:
        best = -one_empty(meter, theirs ^ flips, mine | first | flips, second)
        if best >= beta:
            return best
    flips = turned(second, mine, theirs)
    if flips != 0:
        value = -one_empty(meter, theirs ^ flips, mine | second | flips, first)
        return value if value > best else best
    if best > WORST:
        return best
    # A pass.
    best = -WORST
    flips = turned(first, theirs, mine)
    if flips != 0:
        best = one_empty(meter, mine ^ flips, theirs | first | flips, second)
        if best <= alpha:
            return best
    flips = turned(second, theirs, mine)
    if flips != 0:
        value = one_empty(meter, mine ^ flips, theirs | second | flips, first)
        return value if value < best else best
    if best < -WORST:
        return best
    return final_score(mine, theirs)


def three_empty(
    meter: Meter,
    mine: i64,
    theirs: i64,
    first: i64,
    second: i64,
    third: i64,
    alpha: i64,
    beta: i64,
    passed: bool,
) -> i64:
    """Return the value where three squares are empty, tried in the order given."""
    if meter.nodes >= meter.due:
        meter.due = meter.watch(meter.nodes)
    meter.nodes += 1
    best: i64 = WORST
    value: i64
    flips: i64 = turned(first, mine, theirs)
    if flips != 0:
        best = -two_empty(meter, theirs ^ flips, mine | first | flips, second, third, -beta, -alpha)
        if best >= beta:
            return best
        if best > alpha:
            alpha = best
    flips = turned(second, mine, theirs)
    if flips != 0:
        value = -two_empty(
            meter, theirs ^ flips, mine | second | flips, first, third, -beta, -alpha
        )
        if value >= beta:
            return value
        if value > best:
            best = value
            if best > alpha:
                alpha = best
    flips = turned(third, mine, theirs)
    if flips != 0:
        value = -two_empty(
            meter, theirs ^ flips, mine | third | flips, first, second, -beta, -alpha
        )
        return value if value > best else best
    if best > WORST:
        return best
    if passed:
        return final_score(mine, theirs)
    return -three_empty(meter, theirs, mine, first, second, third, -beta, -alpha, True)
