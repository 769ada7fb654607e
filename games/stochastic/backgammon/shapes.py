"""Shapes of backgammon positions, as inputs of the network: primes, blocks and shots.

A `Shape` describes one side by itself.  `crossing` counts the rolls with which a side may hit or
escape.  Both look at points as bits, so that the cost stays small beside that of the network.
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64

__all__ = ["CROSSED", "SIDED", "Shape", "crossing", "escapes", "parts_of"]

SIDED: Final = 4
"""Inputs of a side: a prime of at least four, five and six points, and how well it holds."""
CROSSED: Final = 4
"""Inputs of what a side may do: the shares of rolls that hit a blot, a blot that costs much, or two
blots.  The last one is the share of rolls that do not bring its last checker past a block."""
ROLLS: Final = 36.0
POINTS: Final = (1 << 25) - 2
FAR: Final = (1 << 25) - (1 << 17)
"""Points, as the side that hits numbers them, where a blot loses 17 pips or more."""
BAR: Final = 25


def escapes(block: i64) -> i64:
    """Count the rolls of more than 6 pips that a checker can play whole.

    Bit 0 of ``block`` is the next point; points of the other side block.
    """
    rolls: i64 = 0
    large: i64 = 4
    while large < 7:
        small: i64 = 7 - large
        while small <= large:
            if (block >> (large + small - 1)) & 1 == 0 and (
                (block >> (large - 1)) & 1 == 0 or (block >> (small - 1)) & 1 == 0
            ):
                rolls += 1 if large == small else 2
            small += 1
        large += 1
    return rolls


@final
class Shape:
    """A side without the other one; its points are bits."""

    def __init__(self, side: tuple[int, ...]) -> None:
        occupied: i64 = 0
        made: i64 = 0
        highest: i64 = 0
        faced: i64 = 0
        blots: i64 = 0
        point: i64 = 1
        while point < BAR:
            count: i64 = side[point]
            if count > 0:
                highest = point
                occupied |= 1 << point
                if count > 1:
                    made |= 1 << point
                    faced |= 1 << (BAR - point)
                else:
                    blots |= 1 << (BAR - point)
            point += 1
        if side[BAR] > 0:
            highest = BAR
        self.occupied: i64 = occupied
        self.made: i64 = made
        """Points with at least two checkers."""
        self.faced: i64 = faced
        """The same, as the other side numbers them."""
        self.blots: i64 = blots
        """Points with one checker, as the other side numbers them."""
        self.highest: i64 = highest
        """The farthest point with a checker, or the bar; 0 if all are borne off."""

    def inputs(self) -> list[float]:
        """Return the network's inputs of the side."""
        made: i64 = self.made
        run: i64 = made & (made >> 1)
        four: i64 = run & (run >> 2)
        five: i64 = four & (made >> 4)
        six: i64 = five & (made >> 5)
        least: i64 = 36
        behind: i64 = 1
        while behind < 8:
            rolls: i64 = escapes(made >> behind)
            if rolls < least:
                least = rolls
            behind += 1
        return [
            1.0 if four != 0 else 0.0,
            1.0 if five != 0 else 0.0,
            1.0 if six != 0 else 0.0,
            1.0 - float(least) / ROLLS,
        ]


def crossing(mine: Shape, bar: i64, theirs: Shape) -> i64:
    """Return what a side with ``bar`` checkers on the bar may do by its next roll, as one number.

    `parts_of` gives its parts.
    """
    held: i64 = 36 - escapes(theirs.made >> (26 - mine.highest))
    blots: i64 = theirs.blots
    if blots == 0:
        return held
    vacant: i64 = POINTS & ~theirs.faced
    start: i64 = mine.occupied
    hit: i64 = 0
    far: i64 = 0
    two: i64 = 0
    large: i64 = 1
    while large < 7:
        small: i64 = 1
        while small <= large:
            hits: i64 = 0
            one: i64 = 0
            other: i64 = 0
            if bar == 0:
                one = start >> large
                other = start >> small
                hits = one | other
                if large == small:
                    one = (one & vacant) >> large
                    hits |= one
                    one = (one & vacant) >> large
                    hits |= one | ((one & vacant) >> large)
                else:
                    hits |= ((one & vacant) >> small) | ((other & vacant) >> large)
            else:
                one = (1 << (BAR - large)) & vacant
                other = (1 << (BAR - small)) & vacant
                hits = one | other
                if bar == 1:
                    if large != small:
                        if one != 0:
                            hits |= (start | one) >> small
                        if other != 0:
                            hits |= (start | other) >> large
                    elif one != 0:
                        one = (start | one) >> large
                        hits |= one
                        one = (one & vacant) >> large
                        hits |= one | ((one & vacant) >> large)
            hits &= blots
            if hits != 0:
                weight: i64 = 1 if large == small else 2
                hit += weight
                if hits & FAR != 0:
                    far += weight
                if hits & (hits - 1) != 0:
                    two += weight
            small += 1
        large += 1
    return (hit << 18) | (far << 12) | (two << 6) | held


def parts_of(crossed: int) -> list[float]:
    """Return the network's inputs of what a side may do."""
    digits: list[int] = [crossed >> 18, crossed >> 12 & 63, crossed >> 6 & 63, crossed & 63]
    return [float(digit) / ROLLS for digit in digits]
