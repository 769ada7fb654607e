"""An estimate of the final score from patterns of discs.

The estimate is a sum of weights.  Each row, column, diagonal of at least four squares and corner of
three by three squares adds the weight of its contents.  So does each square where a seat can place.
Each of eight phases has weights, fitted to scores of matches; the last three share theirs.
`python benchmarks/othello_weights.py` makes the file again.

M. Buro, "Experiments with Multi-ProbCut and a new high-quality evaluation function for Othello",
in: Games in AI Research (2000).
"""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Final, final

from plyhouse.games.bits import count_bits
from plyhouse.games.deterministic.othello.board import placeable

if TYPE_CHECKING:
    from mypy_extensions import i64

__all__ = [
    "POINTS",
    "SQUARE_WORTHS",
    "Evaluation",
    "phase_of",
    "shared_evaluation",
]

POINTS: Final = 8
"""Units of an estimate in a disc."""

SIZES: Final = (8, 8, 8, 8, 8, 7, 6, 5, 4, 9)
"""Squares of each pattern in the file: rows from the edge inwards, diagonals, corners."""
ZERO: Final = 128
"""Byte of a weight of zero."""
INSTANCES: Final = 38
"""Weights in a sum."""
LENGTH: Final = 4 + sum([3**size for size in SIZES])
"""Bytes of a phase in the file."""
PHASES: Final = 8
LAST_PHASE: Final = 14
"""Number of empty squares up to which the last phase, number 0, lasts."""
PER_PHASE: Final = 6
"""Empty squares of each phase before."""

# Worth of a square, row by row for a quarter of the board: corners cannot be turned any more,
# squares beside them give the corner away.
_QUARTER: Final[tuple[tuple[int, ...], ...]] = (
    (100, -20, 10, 5),
    (-20, -50, -2, -2),
    (10, -2, -1, -1),
    (5, -2, -1, -1),
)
SQUARE_WORTHS: Final[tuple[int, ...]] = tuple(
    [_QUARTER[min(s // 8, 7 - s // 8)][min(s % 8, 7 - s % 8)] for s in range(64)]
)
"""By square its worth, the order in which actions are tried."""

_SPREAD: Final = 0x0101_0101_0101_0101
_GATHER: Final = 0x0102_0408_1020_4080


def diagonal(cells: i64, mask: i64, first: i64) -> i64:
    """Return the squares of a diagonal by columns, its leftmost square in the lowest bit."""
    return ((((cells & mask) * _SPREAD) >> 56) & 255) >> first


def column(cells: i64, number: i64) -> i64:
    """Return the squares of a column by rows."""
    return ((((cells >> number) & _SPREAD) * _GATHER) >> 56) & 255


@final
class PhaseWeights:
    """Weights by pattern: the mover's discs in the upper bits of an index, the others' below."""

    def __init__(self, data: bytes) -> None:
        """Read the weights: four of mobility, then one for each contents of each pattern."""
        self.own_moves: i64 = data[0] - ZERO
        self.other_moves: i64 = data[1] - ZERO
        self.always: i64 = data[2] - ZERO
        self.if_odd: i64 = data[3] - ZERO
        tables: list[bytes] = []
        start = 4
        for size in SIZES:
            tables.append(unfolded(data[start : start + 3**size], size, False))
            if size == 9:
                tables.append(unfolded(data[start : start + 3**size], size, True))
            start += 3**size
        self.edge: bytes = tables[0]
        self.second: bytes = tables[1]
        self.third: bytes = tables[2]
        self.fourth: bytes = tables[3]
        self.diagonal_8: bytes = tables[4]
        self.diagonal_7: bytes = tables[5]
        self.diagonal_6: bytes = tables[6]
        self.diagonal_5: bytes = tables[7]
        self.diagonal_4: bytes = tables[8]
        self.corner_left: bytes = tables[9]
        self.corner_right: bytes = tables[10]

    def value(self, mine: i64, theirs: i64, odd: i64) -> i64:
        """Return the estimate for the owner of ``mine``, who is to move; ``odd`` is 1 if the number
        of empty squares is.
        """
        total: i64 = self.own_moves * count_bits(placeable(mine, theirs))
        total += self.other_moves * count_bits(placeable(theirs, mine))
        total = (total >> 3) + self.always + odd * self.if_odd
        total += self.lines(mine, theirs) + self.diagonals(mine, theirs)
        total += self.corners(mine, theirs)
        return total - INSTANCES * ZERO

    def lines(self, mine: i64, theirs: i64) -> i64:
        """Return the weights of rows and columns."""
        table = self.edge
        total: i64 = table[(mine & 255) << 8 | (theirs & 255)]
        total += table[((mine >> 56) & 255) << 8 | ((theirs >> 56) & 255)]
        total += table[column(mine, 0) << 8 | column(theirs, 0)]
        total += table[column(mine, 7) << 8 | column(theirs, 7)]
        table = self.second
        total += table[((mine >> 8) & 255) << 8 | ((theirs >> 8) & 255)]
        total += table[((mine >> 48) & 255) << 8 | ((theirs >> 48) & 255)]
        total += table[column(mine, 1) << 8 | column(theirs, 1)]
        total += table[column(mine, 6) << 8 | column(theirs, 6)]
        table = self.third
        total += table[((mine >> 16) & 255) << 8 | ((theirs >> 16) & 255)]
        total += table[((mine >> 40) & 255) << 8 | ((theirs >> 40) & 255)]
        total += table[column(mine, 2) << 8 | column(theirs, 2)]
        total += table[column(mine, 5) << 8 | column(theirs, 5)]
        table = self.fourth
        total += table[((mine >> 24) & 255) << 8 | ((theirs >> 24) & 255)]
        total += table[((mine >> 32) & 255) << 8 | ((theirs >> 32) & 255)]
        total += table[column(mine, 3) << 8 | column(theirs, 3)]
        total += table[column(mine, 4) << 8 | column(theirs, 4)]
        return total

    def diagonals(self, mine: i64, theirs: i64) -> i64:
        """Return the weights of diagonals."""
        table = self.diagonal_8
        # Bit 63 goes apart: mypyc has no literals of more than 62 bits in machine words.
        own: i64 = diagonal(mine, 0x0040_2010_0804_0201, 0) | ((mine >> 56) & 128)
        other: i64 = diagonal(theirs, 0x0040_2010_0804_0201, 0) | ((theirs >> 56) & 128)
        total: i64 = table[own << 8 | other]
        total += pattern(table, mine, theirs, 0x0102_0408_1020_4080, 0)
        table = self.diagonal_7
        total += pattern(table, mine, theirs, 0x0080_4020_1008_0402, 1)
        total += pattern(table, mine >> 8, theirs >> 8, 0x0040_2010_0804_0201, 0)
        total += pattern(table, mine, theirs, 0x0001_0204_0810_2040, 0)
        total += pattern(table, mine, theirs, 0x0204_0810_2040_8000, 1)
        table = self.diagonal_6
        total += pattern(table, mine, theirs, 0x0000_8040_2010_0804, 2)
        total += pattern(table, mine, theirs, 0x2010_0804_0201_0000, 0)
        total += pattern(table, mine, theirs, 0x0000_0102_0408_1020, 0)
        total += pattern(table, mine, theirs, 0x0408_1020_4080_0000, 2)
        table = self.diagonal_5
        total += pattern(table, mine, theirs, 0x0000_0080_4020_1008, 3)
        total += pattern(table, mine, theirs, 0x1008_0402_0100_0000, 0)
        total += pattern(table, mine, theirs, 0x0000_0001_0204_0810, 0)
        total += pattern(table, mine, theirs, 0x0810_2040_8000_0000, 3)
        table = self.diagonal_4
        total += pattern(table, mine, theirs, 0x0000_0000_8040_2010, 4)
        total += pattern(table, mine, theirs, 0x0804_0201_0000_0000, 0)
        total += pattern(table, mine, theirs, 0x0000_0000_0102_0408, 0)
        total += pattern(table, mine, theirs, 0x1020_4080_0000_0000, 4)
        return total

    def corners(self, mine: i64, theirs: i64) -> i64:
        """Return the weights of the squares at corners, from each corner row by row inwards."""
        table = self.corner_left
        own: i64 = (mine & 7) | ((mine >> 5) & 0o70) | ((mine >> 10) & 0o700)
        other: i64 = (theirs & 7) | ((theirs >> 5) & 0o70) | ((theirs >> 10) & 0o700)
        total: i64 = table[own << 9 | other]
        own = ((mine >> 56) & 7) | ((mine >> 45) & 0o70) | ((mine >> 34) & 0o700)
        other = ((theirs >> 56) & 7) | ((theirs >> 45) & 0o70) | ((theirs >> 34) & 0o700)
        total += table[own << 9 | other]
        table = self.corner_right
        own = ((mine >> 5) & 7) | ((mine >> 10) & 0o70) | ((mine >> 15) & 0o700)
        other = ((theirs >> 5) & 7) | ((theirs >> 10) & 0o70) | ((theirs >> 15) & 0o700)
        total += table[own << 9 | other]
        own = ((mine >> 61) & 7) | ((mine >> 50) & 0o70) | ((mine >> 39) & 0o700)
        other = ((theirs >> 61) & 7) | ((theirs >> 50) & 0o70) | ((theirs >> 39) & 0o700)
        total += table[own << 9 | other]
        return total


def pattern(table: bytes, mine: i64, theirs: i64, mask: i64, first: i64) -> i64:
    """Return the weight of a diagonal."""
    weight: i64 = table[diagonal(mine, mask, first) << 8 | diagonal(theirs, mask, first)]
    return weight


def unfolded(weights: bytes, size: int, mirrored: bool) -> bytes:
    """Return weights by two sets of squares, ``mirrored`` those of a corner at the right.

    In the file they are sorted by the contents as a number to base three, the first square last: 1
    is the mover's disc, 2 the other's.
    """
    bits = max(size, 8)
    places = [0]
    for square in range(size):
        bit = 1 << (square // 3 * 3 + 2 - square % 3 if mirrored else square)
        mine = [place + (bit << bits) for place in places]
        theirs = [place + bit for place in places]
        places = places + mine + theirs
    table = bytearray(1 << 2 * bits)
    for number, place in enumerate(places):
        table[place] = weights[number]
    return bytes(table)


@final
class Evaluation:
    """The weights of all phases."""

    def __init__(self, data: bytes) -> None:
        """Take the bytes of the file; each phase is read when it is first needed."""
        self.data: bytes = data
        self.phases: list[PhaseWeights | None] = [None] * PHASES

    def value(self, mine: i64, theirs: i64, empties: i64) -> i64:
        """Return the estimate for the owner of ``mine``, who is to move, in `POINTS` of a disc;
        ``empties`` is the number of empty squares.
        """
        phase: i64 = phase_of(empties)
        weights = self.phases[phase]
        if weights is None:
            start: i64 = phase * LENGTH
            weights = PhaseWeights(self.data[start : start + LENGTH])
            self.phases[phase] = weights
        return weights.value(mine, theirs, empties & 1)


def phase_of(empties: i64) -> i64:
    """Return the phase with so many empty squares, from 0 at the end to 7 at the beginning."""
    if empties <= LAST_PHASE:
        return 0
    phase: i64 = (empties - LAST_PHASE + PER_PHASE - 1) // PER_PHASE
    return phase if phase < PHASES else PHASES - 1


_SHARED: list[Evaluation] = []


def shared_evaluation() -> Evaluation:
    """Return the evaluation of the weights in the file, read once."""
    if not _SHARED:
        folder = files("plyhouse.games.deterministic.othello")
        _SHARED.append(Evaluation(folder.joinpath("weights.bin").read_bytes()))
    return _SHARED[0]
