"""Local shapes of go: which points around a stone are worth a look.

The shapes of 3 by 3 points are of the kinds that MoGo uses: hane, cut, play at the edge.  Gelly,
Wang, Munos and Teytaud, "Modification of UCT with patterns in Monte-Carlo go", INRIA RR-6062, 2006.
"""

from __future__ import annotations

import functools
from typing import Final

__all__ = ["shapes"]

SHAPES: Final = (
    # Hane: bend around a stone that stands beside one of the other colour.
    "XOX ... ???",
    "XO. ... ?.?",
    "XO? X.. ?.?",
    # Cut: two diagonal stones are joined through this point, and nothing protects it.
    "XO? O.o ?o?",
    "XO? O.X ???",
    "?X? O.O ooo",
    # Edge: "#" is beyond the board.
    "X.? O.? ###",
    "OX? o.O ###",
    "?X? O.o ###",
    "?OX X.O ###",
    "?OX x.x ###",
)
"""Rows of the 3 by 3 points from the top.  X is one colour, O the other, "." empty, "x" not X,
"o" not O, "?" anything.  The point in the middle is the one to play, for either colour."""

ALLOWED: Final = {
    ".": (0,),
    "X": (1,),
    "O": (2,),
    "#": (3,),
    "x": (0, 2, 3),
    "o": (0, 1, 3),
    "?": (0, 1, 2, 3),
}
ORDER: Final = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))
"""Column and row of each neighbour, in the order of the steps of a board."""


@functools.cache
def shapes() -> bytes:
    """Return 1 for each code of eight neighbours around a point worth a look, else 0.

    A code has two bits for each neighbour, in the order of `steps_of`: the first is the lowest.
    """
    table = bytearray(4**8)
    for shape in SHAPES:
        rows = shape.split()
        for swap in (False, True):
            for turn in range(8):
                codes = [0]
                for place, (column, row) in enumerate(ORDER):
                    x, y = column, row
                    for _ in range(turn % 4):
                        x, y = y, -x
                    if turn >= 4:
                        x = -x
                    allowed = ALLOWED[rows[1 - y][x + 1]]
                    if swap:
                        allowed = tuple([3 - each if each in (1, 2) else each for each in allowed])
                    codes = [code | each << (2 * place) for code in codes for each in allowed]
                for code in codes:
                    table[code] = 1
    return bytes(table)
