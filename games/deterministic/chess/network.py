"""A small network that corrects the fitted estimate of chess.

It sees a position as each side does: black's boards are turned, and those with the own king on the
files e to h are mirrored.  An input is a kind of piece, own or not, on a square.  Each of `HIDDEN`
units sums the weights of the inputs that are there.  Its output is the square of that sum, cut to
the range from 0 to 1.  The last weights are one for each unit as the mover sees it and one as the
other side does.  They depend on how many pieces are left.
`python benchmarks/chess_network.py` makes the file of weights again.

The sums are lanes of one long number, so that a piece adds to all of them at once: those of white's
view first, then those of black's.  A state that was estimated hands its sums on to those after it,
which change them by the pieces that moved.

Y. Nasu, "Efficiently updatable neural-network-based evaluation functions for computer shogi"
(2018), has inputs by piece and square; L. Lamport, "Multiple byte processing with full-word
instructions", Communications of the ACM 18 (1975), has lanes.
"""

from __future__ import annotations

import struct
from importlib.resources import files
from typing import Any, Final

from mypy_extensions import i64

from plyhouse.games.deterministic.chess.board import BLACK, KINGS_AT, SQUARE

__all__ = [
    "HIDDEN",
    "INPUTS",
    "MOST",
    "SCALE",
    "STAGES",
    "UNIT",
    "correction",
    "network_table",
    "read_network",
    "sums_after",
    "sums_of",
]

HIDDEN: Final = 64
"""A power of two."""
INPUTS: Final = 12 * 64
"""Own pieces by square, the pawn first, then those of the opponent."""
STAGES: Final = 4
"""Sets of last weights, from the endgame to the first position."""
UNIT: Final = 256
"""A weight or sum of 1."""
LANE: Final = 16
"""Bits of a sum."""
ZERO: Final = 1 << (LANE - 1)
"""A sum of 0 in its lane: with this much to spare, no lane borrows from the next."""
SCALE: Final = 32 * UNIT * UNIT
"""The output of a unit is squared, and the last weights are in 32nds of a centipawn."""
MOST: Final = 2000
"""Centipawns of a correction at most."""


def read_network(data: bytes) -> list[int]:
    """Return the numbers of a file, 16 bits each, little-endian.

    Weights of each input in all units come first, then thresholds of the units.  Then each stage
    has weights of the units as the mover sees the position, those as the other side does, and a
    constant.

    Raises `ValueError` if their number is wrong, or if a sum could leave its lane.
    """
    count = (INPUTS + 1) * HIDDEN + STAGES * (2 * HIDDEN + 1)
    if len(data) != 2 * count:
        raise ValueError(f"the network of chess is {len(data)} bytes, not {2 * count}")
    numbers = list(struct.unpack(f"<{count}h", data))
    inputs = INPUTS * HIDDEN
    largest = max([abs(number) for number in numbers[:inputs]])
    if 32 * largest + max([abs(number) for number in numbers[inputs : inputs + HIDDEN]]) >= ZERO:
        raise ValueError(f"the network of chess has a weight of {largest}, too large for 32 pieces")
    return numbers


def packed(numbers: list[int]) -> int:
    """Return numbers as lanes of one, the first lowest."""
    total = 0
    for place, number in enumerate(numbers):
        total += number << (LANE * place)
    return total


def network_table(numbers: list[int]) -> list[int]:
    """Return the weights of a piece in all sums.

    They are at the beginning of the views (`views_of`), plus 128 times the piece's code, plus its
    place in a position.
    """
    inputs: list[int] = []
    for begun in range(0, HIDDEN * INPUTS, HIDDEN):
        inputs.append(packed(numbers[begun : begun + HIDDEN]))  # noqa: PERF401 - compiled
    table = [0] * (4 * 2048)
    for views in range(4):
        white = 7 if views & 1 else 0
        black = 63 if views & 2 else 56
        for kind in range(6):
            for square in range(64):
                at = 2048 * views + 128 * (kind + 1) + SQUARE[square]
                for other, place in ((0, at), (6, at + 128 * BLACK)):
                    low = inputs[64 * (kind + other) + (square ^ white)]
                    high = inputs[64 * (kind + 6 - other) + (square ^ black)]
                    table[place] = low + (high << (LANE * HIDDEN))
    return table


class Network:
    """A network, made ready for sums."""

    def __init__(self, data: bytes) -> None:
        numbers = read_network(data)
        first = INPUTS * HIDDEN
        self.table: list[Any] = list(network_table(numbers))
        thresholds = [number + ZERO for number in numbers[first : first + HIDDEN]]
        self.begun: Any = packed(thresholds + thresholds)
        self.last: list[int] = numbers[first + HIDDEN :]


_SHARED: list[Network] = []
"""The shipped network, read when a position is first estimated."""


def shared() -> Network:
    """Return the shipped network."""
    if len(_SHARED) == 0:
        folder = files("plyhouse.games.deterministic.chess")
        _SHARED.append(Network(folder.joinpath("network.bin").read_bytes()))
    return _SHARED[0]


def views_of(position: bytes) -> i64:
    """Return where the weights begin, by which sides see a mirrored board.

    White's adds 2048, and black's 4096.
    """
    white: i64 = position[KINGS_AT]
    black: i64 = position[KINGS_AT + 1]
    return (2048 if white % 10 >= 5 else 0) + (4096 if black % 10 >= 5 else 0)


def sums_of(position: bytes) -> Any:
    """Return the sums of all units as both sides see the position, in lanes."""
    network = shared()
    table = network.table
    views: i64 = views_of(position)
    # A number too long for a word: adding it adds all lanes.
    sums: Any = network.begun
    start: i64 = 21
    while start < 100:
        at: i64 = start
        while at < start + 8:
            code: i64 = position[at]
            if code != 0:
                sums = sums + table[views + 128 * code + at]
            at += 1
        start += 10
    return sums


def sums_after(sums: Any, before: bytes, after: bytes, at: i64, to: i64) -> Any:
    """Return the sums after a move from one place to another, which may capture or promote there.

    None if the king has come to the other half, where its side sees the mirrored board.
    """
    views: i64 = views_of(before)
    if views != views_of(after):
        return None
    table = _SHARED[0].table
    old: i64 = before[at]
    new: i64 = after[to]
    taken: i64 = before[to]
    sums = sums - table[views + 128 * old + at] + table[views + 128 * new + to]
    if taken != 0:
        sums = sums - table[views + 128 * taken + to]
    return sums


def correction(sums: Any, side: i64, stage: i64) -> i64:
    """Return the centipawns that the network adds for a side whose turn it is."""
    lanes: bytes = sums.to_bytes(4 * HIDDEN, "little")
    last = _SHARED[0].last
    first: i64 = (2 * HIDDEN + 1) * stage
    total: i64 = last[first + 2 * HIDDEN]
    total = total * UNIT * UNIT
    weight: i64
    place: i64 = 0
    while place < 2 * HIDDEN:
        high: i64 = lanes[2 * place + 1]
        if high >= 128:
            value: i64 = lanes[2 * place]
            if high > 128:
                value = UNIT
            # The mover's view comes first in the weights, and white's in the sums.
            weight = last[first + (place ^ (HIDDEN * side))]
            total += weight * value * value
        place += 1
    found: i64 = total // SCALE
    return MOST if found > MOST else -MOST if found < -MOST else found
