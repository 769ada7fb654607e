"""Square boards of pawns, as sets of squares: shared by hexapawn and breakthrough.

Square ``rank * size + file`` counts from a1.  Seat 0 moves up the ranks, seat 1 down.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, final

from mypy_extensions import i64

from plyhouse.games.bits import BIT
from plyhouse.games.boards import square_names

__all__ = ["PawnBoard", "pawn_board", "read_pawns", "write_pawn_action", "write_pawns"]


@final
class PawnBoard:
    """Masks of one board size; made by `pawn_board` only."""

    def __init__(self, size: int = 8) -> None:
        self.size: int = size
        # Distances to the square ahead and those slanting ahead, towards later files.
        self.less: i64 = size - 1
        self.ahead: i64 = size
        self.more: i64 = size + 1
        self.not_first_file: i64 = set_of([s for s in range(size * size) if s % size != 0])
        self.not_last_file: i64 = set_of([s for s in range(size * size) if s % size != size - 1])
        self.below_top: i64 = set_of(list(range(size * (size - 1))))
        self.goal_before: i64 = set_of(
            [s for s in range(size * (size - 1)) if s % size != size - 1]
        )
        self.below_last: i64 = set_of(list(range(size * (size - 2))))
        """All but the ranks from which seat 0 reaches the far rank, or is there."""
        self.above_first: i64 = set_of(list(range(size, size * size)))
        """All but the far rank of seat 1."""
        self.rank: tuple[int, ...] = tuple(
            [set_of(list(range(rank * size, (rank + 1) * size))) for rank in range(size)]
        )
        # What a pawn counts on each of its ranks.
        self.worth: tuple[int, ...] = tuple([2 * size + rank * rank for rank in range(size)])
        # Even a full board of pawns about to win stays below a win.
        most = size * (2 * size + size * size) * 2
        self.scale: float = 0.999 / float(most)
        self.names: tuple[str, ...] = square_names(size, size)

    def __reduce__(self) -> tuple[Any, ...]:
        return pawn_board, (self.size,)

    def lowest(self, ranks: int) -> int:
        """All squares of the first ranks."""
        return set_of(list(range(self.size * ranks)))

    def highest(self, ranks: int) -> int:
        """All squares of the last ranks."""
        cells = self.size * self.size
        return set_of(list(range(cells - self.size * ranks, cells)))


def set_of(squares: Sequence[int]) -> int:
    """The set of some squares, each named once."""
    return sum([BIT[square] for square in squares])


@functools.cache
def pawn_board(size: int) -> PawnBoard:
    """The one `PawnBoard` of this size."""
    return PawnBoard(size)


def write_pawn_action(board: PawnBoard, mover: int, action: int) -> str:
    """The squares from and to of ``from * 3 + direction``."""
    source = action // 3
    ahead = board.size if mover == 0 else -board.size
    return board.names[source] + board.names[source + ahead + action % 3 - 1]


def write_pawns(board: PawnBoard, white: int, black: int) -> tuple[str, ...]:
    """Ranks from the top, of "w", "b" and "."."""
    rows: list[str] = []
    for rank in range(board.size - 1, -1, -1):
        text = ""
        for square in range(rank * board.size, (rank + 1) * board.size):
            bit = BIT[square]
            text += "w" if white & bit else "b" if black & bit else "."
        rows.append(text)
    return tuple(rows)


def read_pawns(rows: Sequence[str]) -> tuple[int, int]:
    """The sets of white and black pawns that `write_pawns` wrote."""
    text = "".join(reversed(rows))
    white = set_of([square for square, mark in enumerate(text) if mark == "w"])
    black = set_of([square for square, mark in enumerate(text) if mark == "b"])
    return white, black
