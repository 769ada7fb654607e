"""Estimates for chess positions made by hand: A. Turing's count of material, and a later one.

The states' ``heuristic`` is fitted (`plyhouse.games.deterministic.chess.tuned_evaluation`).  To let
a search use one of these:

    alpha_beta(game, state, Limit(depth=3), evaluate=turing)
"""

from __future__ import annotations

from typing import Any, Final

from mypy_extensions import i64

from plyhouse.games.deterministic.chess.board import BISHOP, INDEX, KING, KNIGHT, QUEEN

__all__ = ["piece_square_value", "piece_squares", "turing", "turing_material"]

_TURING: Final[tuple[int, ...]] = (0, 2, 6, 7, 10, 20, 0, 0)
"""Halves of a pawn: pawn 1, knight 3, bishop 3 1/2, rook 5, queen 10 (A. Turing, "Digital
computers applied to games", in: Faster than Thought, 1953)."""

# T. Michniewski's "simplified evaluation function" (2008): centipawns of a piece and, in
# the tables, of its square, as white sees them, the eighth rank first.
_VALUES: Final = (0, 100, 320, 330, 500, 900, 0)
_TABLES: Final = (
    (0,) * 64,
    (
          0,   0,   0,   0,   0,   0,   0,   0,
         50,  50,  50,  50,  50,  50,  50,  50,
         10,  10,  20,  30,  30,  20,  10,  10,
          5,   5,  10,  25,  25,  10,   5,   5,
          0,   0,   0,  20,  20,   0,   0,   0,
          5,  -5, -10,   0,   0, -10,  -5,   5,
          5,  10,  10, -20, -20,  10,  10,   5,
          0,   0,   0,   0,   0,   0,   0,   0,
    ),
    (
        -50, -40, -30, -30, -30, -30, -40, -50,
        -40, -20,   0,   0,   0,   0, -20, -40,
        -30,   0,  10,  15,  15,  10,   0, -30,
        -30,   5,  15,  20,  20,  15,   5, -30,
        -30,   0,  15,  20,  20,  15,   0, -30,
        -30,   5,  10,  15,  15,  10,   5, -30,
        -40, -20,   0,   5,   5,   0, -20, -40,
        -50, -40, -30, -30, -30, -30, -40, -50,
    ),
    (
        -20, -10, -10, -10, -10, -10, -10, -20,
        -10,   0,   0,   0,   0,   0,   0, -10,
        -10,   0,   5,  10,  10,   5,   0, -10,
        -10,   5,   5,  10,  10,   5,   5, -10,
        -10,   0,  10,  10,  10,  10,   0, -10,
        -10,  10,  10,  10,  10,  10,  10, -10,
        -10,   5,   0,   0,   0,   0,   5, -10,
        -20, -10, -10, -10, -10, -10, -10, -20,
    ),
    (
          0,   0,   0,   0,   0,   0,   0,   0,
          5,  10,  10,  10,  10,  10,  10,   5,
         -5,   0,   0,   0,   0,   0,   0,  -5,
         -5,   0,   0,   0,   0,   0,   0,  -5,
         -5,   0,   0,   0,   0,   0,   0,  -5,
         -5,   0,   0,   0,   0,   0,   0,  -5,
         -5,   0,   0,   0,   0,   0,   0,  -5,
          0,   0,   0,   5,   5,   0,   0,   0,
    ),
    (
        -20, -10, -10,  -5,  -5, -10, -10, -20,
        -10,   0,   0,   0,   0,   0,   0, -10,
        -10,   0,   5,   5,   5,   5,   0, -10,
         -5,   0,   5,   5,   5,   5,   0,  -5,
          0,   0,   5,   5,   5,   5,   0,  -5,
        -10,   5,   5,   5,   5,   5,   0, -10,
        -10,   0,   5,   0,   0,   0,   0, -10,
        -20, -10, -10,  -5,  -5, -10, -10, -20,
    ),
    (
        -30, -40, -40, -50, -50, -40, -40, -30,
        -30, -40, -40, -50, -50, -40, -40, -30,
        -30, -40, -40, -50, -50, -40, -40, -30,
        -30, -40, -40, -50, -50, -40, -40, -30,
        -20, -30, -30, -40, -40, -30, -30, -20,
        -10, -20, -20, -20, -20, -20, -20, -10,
         20,  20,   0,   0,   0,   0,  20,  20,
         20,  30,  10,   0,   0,  10,  30,  20,
    ),
    (
        -50, -40, -30, -20, -20, -30, -40, -50,
        -30, -20, -10,   0,   0, -10, -20, -30,
        -30, -10,  20,  30,  30,  20, -10, -30,
        -30, -10,  30,  40,  40,  30, -10, -30,
        -30, -10,  30,  40,  40,  30, -10, -30,
        -30, -10,  20,  30,  30,  20, -10, -30,
        -30, -30,   0,   0,   0,   0, -30, -30,
        -50, -30, -30, -30, -30, -30, -30, -50,
    ),
)  # fmt: skip
"""By piece; the last table is the king's in an endgame."""

_MOST: Final = 20_000.0
"""More centipawns than any position has."""


def _worths() -> tuple[tuple[int, ...], ...]:
    """Value and square of every code of a piece on every place of the board; black's as the
    mirror image, negative.  Code 7 and 15 are the kings of an endgame.
    """
    worths: list[tuple[int, ...]] = []
    for code in range(16):
        side, piece = divmod(code, 8)
        table = _TABLES[piece]
        value = _VALUES[min(piece, KING)]
        sign = 1 - 2 * side
        mirror = 56 if side == 0 else 0
        worths.append(tuple([sign * (value + table[INDEX[at] ^ mirror]) for at in range(128)]))
    return tuple(worths)


_WORTHS: Final[tuple[tuple[int, ...], ...]] = _worths()


def piece_square_value(position: bytes) -> float:
    """Michniewski's estimate for white, strictly between -1 and 1.

    The kings come to the centre once each side that has a queen has one minor piece at most.
    """
    total: i64 = 0
    queens: i64 = 0
    others: i64 = 0
    kings: i64 = 0
    active: i64 = 0
    start: i64 = 21
    # Pieces are counted in units of 1 for white and 256 for black.
    while start < 100:
        at: i64 = start
        while at < start + 8:
            code: i64 = position[at]
            if code != 0:
                worth: i64 = 0
                piece: i64 = code & 7
                if piece == KING:
                    worth = _WORTHS[code][at]
                    kings += worth
                    worth = _WORTHS[code + 1][at]
                    active += worth
                else:
                    worth = _WORTHS[code][at]
                    total += worth
                    unit: i64 = 1 if code < 8 else 256
                    if piece == QUEEN:
                        queens += unit
                    elif piece in (KNIGHT, BISHOP):
                        others += unit
                    elif piece != 1:
                        others += 2 * unit  # a rook rules the endgame out beside a queen
            at += 1
        start += 10
    white_late = queens & 255 == 0 or others & 255 <= 1
    black_late = queens < 256 or others < 512
    total += active if white_late and black_late else kings
    return float(total) / _MOST


def turing_material(position: bytes) -> float:
    """Turing's count for white, strictly between -1 and 1.

    He compared positions by the ratio of white's material to black's, W / B.  The share (W - B) /
    (W + B) orders them in the same way and has bounds.
    """
    white: i64 = 0
    black: i64 = 0
    start: i64 = 21
    while start < 100:
        at: i64 = start
        while at < start + 8:
            code: i64 = position[at]
            if code != 0:
                if code < 8:
                    white += _TURING[code]
                else:
                    black += _TURING[code & 7]
            at += 1
        start += 10
    if white + black == 0:
        return 0.0
    return 0.999 * float(white - black) / float(white + black)


def piece_squares(state: Any, seat: int) -> float:
    """Return Michniewski's estimate of a chess state for a seat, for searches to evaluate by."""
    if state.to_move < 0:
        returns: tuple[float, ...] = state.returns()
        return returns[seat]
    value = piece_square_value(state.position)
    return value if seat == 0 else -value


def turing(state: Any, seat: int) -> float:
    """Turing's count of a chess state for a seat, to evaluate positions in a search."""
    if state.to_move < 0:
        returns: tuple[float, ...] = state.returns()
        return returns[seat]
    value = turing_material(state.position)
    return value if seat == 0 else -value
