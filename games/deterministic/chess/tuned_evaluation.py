"""An estimate of chess positions whose weights are fitted to scores of an engine.

It counts pieces by square, pairs of bishops, passed, isolated and doubled pawns, rooks on open
files, and pawns before the king.  Each weight is two numbers of centipawns: one for the middlegame
and one for the endgame.  The share of the endgame grows with each piece that has left the board.
`plyhouse.games.deterministic.chess.network` corrects the sum.
`python benchmarks/chess_weights.py` makes the file of weights again.

Terms that need moves, such as mobility, are missing: they cost more speed than they were worth.

C. Shannon, "Programming a computer for playing chess", Philosophical Magazine 41 (1950), lists most
terms.  P. Österlund's Texel (2014) made the fitting by logistic regression common.
"""

from __future__ import annotations

import struct
from importlib.resources import files
from typing import Any, Final

from mypy_extensions import i64

from plyhouse.games.bits import BIT, bit_number, count_bits
from plyhouse.games.deterministic.chess.board import (
    BISHOP,
    BLACK,
    INDEX,
    KINGS_AT,
    PAWN,
    ROOK,
    SIDE_AT,
    SQUARE,
)
from plyhouse.games.deterministic.chess.network import STAGES, correction

__all__ = [
    "FULL",
    "SQUARES",
    "WEIGHTS",
    "fitted",
    "phase_of",
    "read_weights",
    "square_table",
    "stage_of",
    "tapered",
    "term_sum",
    "tuned",
]

SQUARES: Final = 6 * 64
"""Weights of pieces by square, from a1 as white sees them; the pawn first.  Others follow."""
PASSED: Final = SQUARES
"""Weights of a passed pawn by its rank."""
ISOLATED: Final = PASSED + 8
DOUBLED: Final = ISOLATED + 1
BISHOP_PAIR: Final = DOUBLED + 1
OPEN_FILE: Final = BISHOP_PAIR + 1
"""Weight of a rook on a file without pawns; the next is that on one without own pawns."""
SHIELD: Final = OPEN_FILE + 2
"""By the number of own pawns on the two ranks before the king, at most 3."""
TURN: Final = SHIELD + 4
"""Weight of the right to move."""
WEIGHTS: Final = TURN + 1

ENDGAME: Final = 65_536
"""Unit of the endgame's centipawns; those of the middlegame are the rest."""
ROUND: Final = 32_768
FULL: Final = 24
"""Pieces of the first position: minor ones count 1, rooks 2, queens 4."""
PHASE: Final = 1 << 40
"""Unit of these pieces in tables of squares."""
HALF_PHASE: Final = 1 << 39
_PHASES: Final = (0, 0, 1, 1, 2, 4, 0)
MOST_CENTIPAWNS: Final = 20_000.0
"""More than any position has."""

# Pawns stand on ranks 2 to 7 only, so that a set of them has no sign bit.
_PAWN_RANKS: Final = 0x00FF_FFFF_FFFF_FF00
_NOT_A: Final = 0x00FE_FEFE_FEFE_FE00
_NOT_H: Final = 0x007F_7F7F_7F7F_7F00
_FILES: Final[tuple[int, ...]] = tuple([0x0001_0101_0101_0100 << file for file in range(8)])


def _shield(square: int, ahead: int) -> int:
    """Return the squares at most a file away on the two ranks before a king."""
    found = 0
    for other in range(8, 56):
        files, ranks = (other & 7) - (square & 7), (other >> 3) - (square >> 3)
        if abs(files) <= 1 and 0 < ranks * ahead <= 2:
            found |= 1 << other
    return found


_SHIELDS: Final[tuple[int, ...]] = tuple(
    [_shield(square, ahead) for ahead in (1, -1) for square in range(64)]
)
"""By side and square of a king."""


def read_weights(data: bytes) -> list[int]:
    """Return weights from the bytes of a file: pairs of signed 16-bit numbers, little-endian.

    Raises `ValueError` if their number is wrong.
    """
    if len(data) != 4 * WEIGHTS:
        raise ValueError(f"the weights of chess are {len(data)} bytes, not {4 * WEIGHTS}")
    numbers = struct.unpack(f"<{2 * WEIGHTS}h", data)
    return [numbers[2 * n] + ENDGAME * numbers[2 * n + 1] for n in range(WEIGHTS)]


def square_table(weights: list[int]) -> list[int]:
    """Return the weights of pieces by 128 times their code plus their place in a position.

    Those of black are negative.  Each has what its piece adds to the phase, in units of `PHASE`.
    """
    table = [0] * (16 * 128)
    for piece in range(PAWN, 7):
        for square in range(64):
            weight = weights[64 * (piece - 1) + square]
            phase = PHASE * _PHASES[piece]
            table[128 * piece + SQUARE[square]] = phase + weight
            table[128 * (BLACK + piece) + SQUARE[square ^ 56]] = phase - weight
    return table


_WEIGHTS: Final[list[int]] = read_weights(
    files("plyhouse.games.deterministic.chess").joinpath("weights.bin").read_bytes()
)
_TABLE: Final[list[int]] = square_table(_WEIGHTS)


def tuned(position: bytes, sums: Any) -> float:
    """Return the estimate for white, strictly between -1 and 1: a unit is 20,000 centipawns.

    ``sums`` are those of the network.
    """
    total: i64 = term_sum(position, _TABLE, _WEIGHTS)
    phase: i64 = phase_of(total)
    side: i64 = position[SIDE_AT]
    added: i64 = correction(sums, side, stage_of(phase))
    if side != 0:
        added = -added
    return (tapered(total, phase) + float(added)) / MOST_CENTIPAWNS


def fitted(position: bytes) -> float:
    """Return the estimate without the network."""
    total: i64 = term_sum(position, _TABLE, _WEIGHTS)
    return tapered(total, phase_of(total)) / MOST_CENTIPAWNS


def phase_of(total: i64) -> i64:
    """Return how many pieces are left by a sum of terms: from `FULL` (middlegame) to 0."""
    phase: i64 = (total + HALF_PHASE) >> 40
    return phase if phase < FULL else FULL


def stage_of(phase: i64) -> i64:
    """Return which last weights of the network a phase has."""
    return phase * STAGES // (FULL + 1)


def tapered(total: i64, phase: i64) -> float:
    """Return the centipawns of a sum of terms at a phase."""
    middle: i64 = ((total + ROUND) & (ENDGAME - 1)) - ROUND
    end: i64 = ((total + HALF_PHASE) & (PHASE - 1)) - HALF_PHASE - middle
    return float(middle * phase + end // ENDGAME * (FULL - phase)) / float(FULL)


def term_sum(position: bytes, table: list[int], weights: list[int]) -> i64:
    """Return the sum of the weights that count for white, less those that count for black.

    ``table`` has the weights of pieces by square (`square_table`), ``weights`` those of all other
    terms.  The sum is linear in the weights.
    """
    total: i64 = 0
    weight: i64
    white: i64 = 0
    black: i64 = 0
    bishops: i64 = 0
    # Files of rooks, each in four bits and above 7.
    rooks: i64 = 0
    black_rooks: i64 = 0
    start: i64 = 21
    while start < 100:
        at: i64 = start
        while at < start + 8:
            code: i64 = position[at]
            if code != 0:
                weight = table[128 * code + at]
                total += weight
                if code == PAWN:
                    white |= BIT[INDEX[at]]
                elif code == BLACK + PAWN:
                    black |= BIT[INDEX[at]]
                elif code == ROOK:
                    rooks = (rooks << 4) + 8 + at - start
                elif code == BLACK + ROOK:
                    black_rooks = (black_rooks << 4) + 8 + at - start
                elif code == BISHOP:
                    bishops += 1
                elif code == BLACK + BISHOP:
                    bishops += 16
            at += 1
        start += 10
    weight = weights[BISHOP_PAIR]
    if bishops & 15 >= 2:
        total += weight
    if bishops >= 32:
        total -= weight
    if rooks != 0:
        total += rook_sum(weights, rooks, white, black)
    if black_rooks != 0:
        total -= rook_sum(weights, black_rooks, black, white)
    stopped: i64 = widened(filled_down(black >> 8))
    total += pawn_sum(weights, white, stopped, filled_down(white >> 8), 0)
    stopped = widened(filled_up((white << 8) & _PAWN_RANKS))
    total -= pawn_sum(weights, black, stopped, filled_up((black << 8) & _PAWN_RANKS), 1)
    total += shield_weight(weights, white & _SHIELDS[INDEX[position[KINGS_AT]]])
    total -= shield_weight(weights, black & _SHIELDS[64 + INDEX[position[KINGS_AT + 1]]])
    weight = weights[TURN]
    return total + weight if position[SIDE_AT] == 0 else total - weight


def rook_sum(weights: list[int], rooks: i64, own: i64, other: i64) -> i64:
    """Return the weights of rooks on files without pawns, and without own pawns."""
    total: i64 = 0
    weight: i64
    while rooks != 0:
        file: i64 = _FILES[rooks & 7]
        rooks >>= 4
        if own & file == 0:
            weight = weights[OPEN_FILE if other & file == 0 else OPEN_FILE + 1]
            total += weight
    return total


def filled_down(cells: i64) -> i64:
    """Return the squares, and all below them on their files."""
    cells |= cells >> 8
    cells |= cells >> 16
    return (cells | (cells >> 32)) & _PAWN_RANKS


def filled_up(cells: i64) -> i64:
    """Return the squares, and all above them on their files."""
    cells |= (cells << 8) & _PAWN_RANKS
    cells |= (cells << 16) & _PAWN_RANKS
    return (cells | (cells << 32)) & _PAWN_RANKS


def widened(cells: i64) -> i64:
    """Return the squares, and those on the files beside them."""
    return cells | ((cells & _NOT_A) >> 1) | ((cells & _NOT_H) << 1)


def pawn_sum(weights: list[int], own: i64, stopped: i64, behind: i64, side: i64) -> i64:
    """Return the sum of the terms of one side's pawns.

    ``stopped`` are the squares on which a pawn is not passed, ``behind`` those behind an own pawn.
    """
    total: i64 = 0
    weight: i64
    cells: i64 = own & behind
    if cells != 0:
        weight = weights[DOUBLED]
        total += weight * count_bits(cells)
    files: i64 = filled_up(filled_down(own))
    cells = own & ~((files & _NOT_A) >> 1 | (files & _NOT_H) << 1)
    if cells != 0:
        weight = weights[ISOLATED]
        total += weight * count_bits(cells)
    cells = own & ~stopped
    while cells != 0:
        rank: i64 = bit_number(cells & -cells) >> 3
        weight = weights[PASSED + (rank if side == 0 else 7 - rank)]
        total += weight
        cells = cells & (cells - 1)
    return total


def shield_weight(weights: list[int], pawns: i64) -> i64:
    """Return the weight of so many pawns before a king."""
    count: i64 = count_bits(pawns)
    weight: i64 = weights[SHIELD + (count if count < 3 else 3)]
    return weight
