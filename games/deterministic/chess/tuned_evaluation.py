"""An estimate of chess positions whose weights are fitted to scores of an engine.

    alpha_beta(game, state, Limit(depth=3), evaluate=tuned)

It sees more than the states' ``heuristic``, and takes four times as long.

It counts pieces by square, mobility, pawns (passed, isolated, doubled), pairs of bishops, rooks on
open files, and attacks on the squares beside a king and the pawns before it.  Each weight is two
numbers of centipawns: one for the middlegame and one for the endgame.  The share of the endgame
grows with each piece that has left the board.  `python benchmarks/chess_weights.py` makes the file
of weights again.

C. Shannon, "Programming a computer for playing chess", Philosophical Magazine 41 (1950), lists most
terms.  P. Österlund's Texel (2014) made the fitting by logistic regression common.
"""

from __future__ import annotations

import struct
from importlib.resources import files
from typing import Any, Final, final

from mypy_extensions import i64

from plyhouse.games.bits import BIT, bit_number, count_bits, signed_set
from plyhouse.games.deterministic.chess.board import (
    BISHOP,
    INDEX,
    KINGS_AT,
    KNIGHT,
    PAWN,
    QUEEN,
    ROOK,
    SIDE_AT,
)

__all__ = [
    "FULL",
    "MOBILITY",
    "WEIGHTS",
    "phase_of",
    "read_weights",
    "tapered",
    "term_sums",
    "tuned",
]

MOBILITY: Final = 6 * 64
"""Weights of squares that a piece attacks, by piece from the knight to the queen.  Squares with an
own piece, or attacked by a pawn of the other side, do not count.  The weights before are of pieces
by square, from a1 as white sees them.
"""
PASSED: Final = MOBILITY + 4
"""Weights of a passed pawn by its rank."""
ISOLATED: Final = PASSED + 8
DOUBLED: Final = ISOLATED + 1
BISHOP_PAIR: Final = DOUBLED + 1
OPEN_FILE: Final = BISHOP_PAIR + 1
"""Weight of a rook on a file without pawns; the next is that on one without own pawns."""
ATTACKS: Final = OPEN_FILE + 2
"""By the number of attacks of pieces on squares beside the other king, at most 15."""
SHIELD: Final = ATTACKS + 16
"""By the number of own pawns on the two ranks before the king, at most 3."""
TURN: Final = SHIELD + 4
"""Weight of the right to move."""
WEIGHTS: Final = TURN + 1

ENDGAME: Final = 65_536
"""Unit of the endgame's centipawns; those of the middlegame are the rest."""
ROUND: Final = 32_768
FULL: Final = 24
"""Pieces of the first position: minor ones count 1, rooks 2, queens 4."""
_PHASES: Final[bytes] = bytes([0, 0, 1, 1, 2, 4, 0, 0] * 2 + [0])
MOST_CENTIPAWNS: Final = 20_000.0
"""More than any position has."""

# Sets of squares. Pawns stand on ranks 2 to 7 only, so that a set of them has no sign bit.
_PAWN_RANKS: Final = 0x00FF_FFFF_FFFF_FF00
_NOT_A: Final = 0x00FE_FEFE_FEFE_FE00
_NOT_H: Final = 0x007F_7F7F_7F7F_7F00
_FILE: Final = 0x0001_0101_0101_0100
_SECOND: Final[i64] = i64(0x4000_0000_0000_0000)
# Squares that a step of 1, 8, 7 or 9 to a smaller number may reach.
_LEFT: Final[i64] = i64(0x7F7F_7F7F_7F7F_7F7F)
_DOWN: Final = 0x00FF_FFFF_FFFF_FFFF
_DOWN_RIGHT: Final = 0x00FE_FEFE_FEFE_FEFE
_DOWN_LEFT: Final = 0x007F_7F7F_7F7F_7F7F


def _near(square: int, distance: int, ahead: int) -> int:
    """Return the squares at most a file away, and at most ``distance`` ranks; where ``ahead`` is
    not 0, those in that direction only, on the ranks of pawns.
    """
    found = 0
    for other in range(64):
        files, ranks = (other & 7) - (square & 7), (other >> 3) - (square >> 3)
        if abs(files) <= 1 and abs(ranks) <= distance and (ahead == 0 or ranks * ahead > 0):
            found |= 1 << other
    if ahead != 0:
        return found & _PAWN_RANKS
    return found - (1 << 64) if found >> 63 else found


_ZONES: Final[tuple[int, ...]] = tuple([_near(square, 1, 0) for square in range(64)])
"""By the square of a king the squares beside it."""
_SHIELDS: Final[tuple[int, ...]] = tuple(
    [_near(square, 2, ahead) for ahead in (1, -1) for square in range(64)]
)
"""By side and square of a king the squares on the two ranks before it."""


def read_weights(data: bytes) -> list[int]:
    """Return weights from the bytes of a file: pairs of signed 16-bit numbers, little-endian.

    Raises `ValueError` if their number is wrong.
    """
    if len(data) != 4 * WEIGHTS:
        raise ValueError(f"the weights of chess are {len(data)} bytes, not {4 * WEIGHTS}")
    numbers = struct.unpack(f"<{2 * WEIGHTS}h", data)
    return [numbers[2 * n] + ENDGAME * numbers[2 * n + 1] for n in range(WEIGHTS)]


_WEIGHTS: Final[list[int]] = read_weights(
    files("plyhouse.games.deterministic.chess").joinpath("weights.bin").read_bytes()
)


def tuned(state: Any, seat: int) -> float:
    """Return the estimate of a chess state for a seat: a unit is 20,000 centipawns."""
    if state.to_move < 0:
        returns: tuple[float, ...] = state.returns()
        return returns[seat]
    position: bytes = state.position
    centipawns: float = tapered(term_sums(position, _WEIGHTS), phase_of(position))
    value = centipawns / MOST_CENTIPAWNS
    return value if seat == 0 else -value


def tapered(sums: i64, phase: i64) -> float:
    """Return the centipawns of a phase from `FULL` (middlegame) to 0, from a sum of weights."""
    middle: i64 = ((sums + ROUND) & (ENDGAME - 1)) - ROUND
    end: i64 = (sums - middle) // ENDGAME
    return float(middle * phase + end * (FULL - phase)) / float(FULL)


def phase_of(position: bytes) -> i64:
    """Return how many pieces are left, see `FULL`."""
    phase: i64 = 0
    at: i64 = 21
    while at < 99:
        piece: i64 = position[at]
        phase += _PHASES[piece]
        at += 1
    return phase if phase < FULL else FULL


def term_sums(position: bytes, weights: list[int]) -> i64:
    """Return the sum of the weights that count for white, less those that count for black.

    The sum is linear in the weights, which have the form of those of `read_weights`.
    """
    sets = PieceSets()
    turned = PieceSets()
    total: i64 = square_sum(position, weights, sets, turned)
    weight: i64
    king: i64 = INDEX[position[KINGS_AT]]
    other_king: i64 = INDEX[position[KINGS_AT + 1]]
    white: i64 = sets.pawns & sets.white
    black: i64 = sets.pawns & sets.black
    # A turned board has black below.
    barred: i64 = attacked_above(turned.pawns & turned.black)
    counts: i64 = sets.moves(sets.white, attacked_below(black), _ZONES[other_king])
    counts += turned.moves(turned.white, barred, _ZONES[63 - other_king])
    total += mobility_sum(weights, counts)
    barred = attacked_below(turned.pawns & turned.white)
    counts = sets.moves(sets.black, attacked_above(white), _ZONES[king])
    counts += turned.moves(turned.black, barred, _ZONES[63 - king])
    total -= mobility_sum(weights, counts)
    stopped: i64 = widened(filled_down(black >> 8))
    total += pawn_sum(weights, white, stopped, filled_down(white >> 8), 0)
    stopped = widened(filled_up((white << 8) & _PAWN_RANKS))
    total -= pawn_sum(weights, black, stopped, filled_up((black << 8) & _PAWN_RANKS), 1)
    total += rook_sum(weights, sets.rooks & sets.white, white, black)
    total -= rook_sum(weights, sets.rooks & sets.black, black, white)
    weight = weights[BISHOP_PAIR]
    pair: i64 = sets.bishops & sets.white
    if pair & (pair - 1) != 0:
        total += weight
    pair = sets.bishops & sets.black
    if pair & (pair - 1) != 0:
        total -= weight
    total += shield_weight(weights, white & _SHIELDS[king])
    total -= shield_weight(weights, black & _SHIELDS[64 + other_king])
    weight = weights[TURN]
    return total + weight if position[SIDE_AT] == 0 else total - weight


def square_sum(position: bytes, weights: list[int], sets: PieceSets, turned: PieceSets) -> i64:
    """Return the weights of pieces by square; fill the sets of the board, and of the board turned
    by 180 degrees.
    """
    total: i64 = 0
    weight: i64
    whites: i64 = 0
    turned_whites: i64 = 0
    blacks: i64 = 0
    turned_blacks: i64 = 0
    number: i64 = 0
    at: i64 = 21
    # Doubling and halving bits is faster than a table of them; the sign bit goes apart.
    bit: i64 = 1
    other: i64 = BIT[63]
    while number < 64:
        piece: i64 = position[at]
        if piece != 0:
            if piece < 8:
                weight = weights[(piece - 1) * 64 + number]
                total += weight
                whites |= bit
                turned_whites |= other
            else:
                piece -= 8
                weight = weights[(piece - 1) * 64 + (number ^ 56)]
                total -= weight
                blacks |= bit
                turned_blacks |= other
            if piece == PAWN:
                sets.pawns |= bit
                turned.pawns |= other
            elif piece == KNIGHT:
                sets.knights |= bit
                turned.knights |= other
            elif piece == BISHOP:
                sets.bishops |= bit
                turned.bishops |= other
            elif piece == ROOK:
                sets.rooks |= bit
                turned.rooks |= other
            elif piece == QUEEN:
                sets.queens |= bit
                turned.queens |= other
        number += 1
        at += 1
        if number & 7 == 0:
            at += 2
        if number == 63:
            bit = BIT[63]
        else:
            bit += bit
        other = _SECOND if number == 1 else other >> 1
    sets.white = whites
    sets.black = blacks
    turned.white = turned_whites
    turned.black = turned_blacks
    return total


@final
class PieceSets:
    """Pieces as sets of squares."""

    def __init__(self) -> None:
        self.white: i64 = 0
        self.black: i64 = 0
        self.pawns: i64 = 0
        self.knights: i64 = 0
        self.bishops: i64 = 0
        self.rooks: i64 = 0
        self.queens: i64 = 0

    def moves(self, own: i64, barred: i64, zone: i64) -> i64:
        """Count the moves of one side's pieces to squares with smaller numbers.

        Moves onto ``own`` pieces and to squares ``barred`` by pawns do not count.  Two pieces that
        attack a square from the same direction count once.  Returns a number with one byte for
        each piece from the knight to the queen, and the attacks on the squares of ``zone`` above.
        """
        empty: i64 = ~(self.white | self.black)
        allowed: i64 = ~(own | barred)
        cells: i64 = self.knights & own
        counts: i64 = 0
        if cells != 0:
            counts = jumped(cells, allowed, zone)
        cells = self.bishops & own
        found: i64
        if cells != 0:
            found = swept(cells, empty, 7, _DOWN_RIGHT, allowed, zone)
            found += swept(cells, empty, 9, _DOWN_LEFT, allowed, zone)
            counts += (found & 255) << 8 | (found >> 32) << 32
        cells = self.rooks & own
        if cells != 0:
            found = swept(cells, empty, 1, _LEFT, allowed, zone)
            found += swept(cells, empty, 8, _DOWN, allowed, zone)
            counts += (found & 255) << 16 | (found >> 32) << 32
        cells = self.queens & own
        if cells != 0:
            found = swept(cells, empty, 7, _DOWN_RIGHT, allowed, zone)
            found += swept(cells, empty, 9, _DOWN_LEFT, allowed, zone)
            found += swept(cells, empty, 1, _LEFT, allowed, zone)
            found += swept(cells, empty, 8, _DOWN, allowed, zone)
            counts += (found & 255) << 24 | (found >> 32) << 32
        return counts


def swept(cells: i64, empty: i64, step: i64, mask: i64, allowed: i64, zone: i64) -> i64:
    """Count the ``allowed`` squares that pieces attack by steps to smaller numbers, as far as
    squares are empty, plus those of ``zone`` times 2 ** 32.

    ``mask`` has the squares that a step may reach; it drops what a shift of the sign fills.
    """
    free: i64 = empty & mask
    cells |= free & (cells >> step)
    free = free & (free >> step)
    cells |= free & (cells >> (2 * step))
    free = free & (free >> (2 * step))
    cells |= free & (cells >> (4 * step))
    return counted((cells >> step) & mask, allowed, zone)


def jumped(knights: i64, allowed: i64, zone: i64) -> i64:
    """Count the same for the four jumps of knights to smaller numbers."""
    counts: i64 = counted((knights >> 17) & 0x0000_7F7F_7F7F_7F7F, allowed, zone)
    counts += counted((knights >> 15) & 0x0000_FEFE_FEFE_FEFE, allowed, zone)
    counts += counted((knights >> 10) & 0x003F_3F3F_3F3F_3F3F, allowed, zone)
    counts += counted((knights >> 6) & 0x00FC_FCFC_FCFC_FCFC, allowed, zone)
    return counts


def counted(cells: i64, allowed: i64, zone: i64) -> i64:
    """Count the ``allowed`` squares of a set, plus those of ``zone`` times 2 ** 32."""
    count: i64 = count_bits(cells & allowed)
    near: i64 = cells & zone
    while near != 0:
        count += 0x1_0000_0000
        near = near & (near - 1)
    return count


def mobility_sum(weights: list[int], counts: i64) -> i64:
    """Return the weights of mobility and of attacks beside a king, see `PieceSets.moves`."""
    total: i64 = 0
    place: i64 = MOBILITY
    weight: i64
    while place < MOBILITY + 4:
        weight = weights[place]
        total += weight * (counts & 255)
        counts >>= 8
        place += 1
    weight = weights[ATTACKS + (counts if counts < 15 else 15)]
    return total + weight


def attacked_above(pawns: i64) -> i64:
    """Return the squares that pawns attack which move to greater numbers."""
    return signed_set(((pawns & _NOT_A) << 7) | ((pawns & _NOT_H) << 9))


def attacked_below(pawns: i64) -> i64:
    """Return the squares that pawns attack which move to smaller numbers."""
    return ((pawns & _NOT_A) >> 9) | ((pawns & _NOT_H) >> 7)


def rook_sum(weights: list[int], rooks: i64, own: i64, other: i64) -> i64:
    """Return the weights of rooks on files without pawns, and without own pawns."""
    total: i64 = 0
    weight: i64
    while rooks != 0:
        number: i64 = bit_number(rooks & -rooks)
        rooks = rooks & (rooks - 1)
        file: i64 = _FILE
        file = file << (number & 7)
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
    weight: i64 = weights[DOUBLED]
    total: i64 = weight * count_bits(own & behind)
    files: i64 = filled_up(filled_down(own))
    weight = weights[ISOLATED]
    total += weight * count_bits(own & ~((files & _NOT_A) >> 1 | (files & _NOT_H) << 1))
    passed: i64 = own & ~stopped
    while passed != 0:
        rank: i64 = bit_number(passed & -passed) >> 3
        weight = weights[PASSED + (rank if side == 0 else 7 - rank)]
        total += weight
        passed = passed & (passed - 1)
    return total


def shield_weight(weights: list[int], pawns: i64) -> i64:
    """Return the weight of so many pawns before a king."""
    count: i64 = count_bits(pawns)
    weight: i64 = weights[SHIELD + (count if count < 3 else 3)]
    return weight
