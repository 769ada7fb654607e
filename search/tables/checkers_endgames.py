"""Endgame tables of checkers: every position with up to four pieces.

Positions are solved by their material, the least first, so that captures and promotions lead to
solved positions.  Schaeffer et al. reached ten pieces this way: "Checkers is solved", Science 317
(2007), and "Building the checkers 10-piece endgame databases" (2003).

The tables value play without counters: who can force a win wins, however long it takes.  The rules
of the game draw after 40 quiet moves of each seat and at a third repetition.  Playing by
`EndgameTable.best_action` never repeats a position, as the distance falls with every ply.  The
longest win with three pieces takes 61 plies, so the 40 moves cannot run out in it unless some are
used up already.  With four pieces it takes 109 plies, captures and steps of men included.
"""

from __future__ import annotations

import itertools
import lzma
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from plyhouse.games.base import TERMINAL
from plyhouse.games.deterministic.checkers.endgames import (
    CHOOSE,
    LENGTH,
    PIECES,
    Slice,
    layout,
    size_of,
    slices_of,
    turned,
)
from plyhouse.games.deterministic.checkers.moves import SQUARE_BIT, jump_actions
from plyhouse.games.deterministic.checkers.rules import Checkers
from plyhouse.search.kernels.checkers_endgames import CheckersEndgamesKernel
from plyhouse.search.limit import Limit
from plyhouse.search.poll import Poll, SearchStopped
from plyhouse.search.tables.endgame_table import EndgameTable, Entry
from plyhouse.search.tables.retrograde import DRAW, OPEN, backwards
from plyhouse.search.tables.table_file import InvalidTable, TableFile, read_table

__all__ = ["CheckersTable", "solve_checkers"]

UNLIMITED = Limit()
KIND: Final = "checkers endgames"
IMPOSSIBLE: Final = 32_766
"""Code of numbers that are no position."""


class CheckersTable(EndgameTable):
    """Every checkers position with up to ``pieces`` pieces, as one number of 16 bits each."""

    def __init__(self, pieces: int, codes: NDArray[np.int16]) -> None:
        super().__init__(Checkers(), 1.0)
        self.pieces = pieces
        self.codes = codes
        """Codes as of `backwards`, seen by the seat to move; entry 0 is the lost end."""
        self.offsets, _ = layout(pieces)
        self.kernel = kernel_of(self.offsets, lambda nodes: nodes + (1 << 40))

    def __len__(self) -> int:
        """Positions of both seats to move."""
        return 2 * int(np.count_nonzero(self.codes[1:] != IMPOSSIBLE))

    def get(self, state: Any) -> Entry | None:
        """Value of the position without counters; None if it has too many pieces."""
        if state.to_move == TERMINAL:
            value = float(state.returns()[0]) + 0.0
            return Entry(value, 0 if value else None)
        number = self.kernel.number_of(state)
        if number < 0:
            return None
        code = int(self.codes[number])
        if code == DRAW:
            return Entry(0.0, None)
        return Entry(1.0 if code > 0 else -1.0, abs(code) - 1)

    def counts(self) -> dict[int, tuple[int, int, int]]:
        """For each number of pieces: positions won, drawn and lost for the seat to move."""
        found = {}
        for pieces in range(2, self.pieces + 1):
            here = np.concatenate([self.slice_codes(item) for item in slices_of(pieces)])
            here = here[here != IMPOSSIBLE]
            won, lost = int(np.count_nonzero(here > 0)), int(np.count_nonzero(here < 0))
            found[pieces] = (won, len(here) - won - lost, lost)
        return found

    def longest(self) -> dict[int, int]:
        """For each number of pieces: plies of the longest win."""
        found = {}
        for pieces in range(2, self.pieces + 1):
            here = np.concatenate([self.slice_codes(item) for item in slices_of(pieces)])
            found[pieces] = int(here[here != IMPOSSIBLE].max()) - 1
        return found

    def slice_codes(self, item: Slice) -> NDArray[np.int16]:
        """Return the codes of one material, `IMPOSSIBLE` for holes."""
        men, kings, enemy_men, enemy_kings = item
        begin = self.offsets[men * 64 + kings * 16 + enemy_men * 4 + enemy_kings]
        return self.codes[begin : begin + size_of(item)]

    def save(self, path: str | Path) -> None:
        """Write the table into a file."""
        facts = {"pieces": self.pieces}
        TableFile(KIND, Checkers().spec, facts, {"codes": self.codes}).save(path)

    def pack(self) -> bytes:
        """Return the file of `plyhouse.games.deterministic.checkers.endgames`.

        Numbers that are no position, or in which the mover has to jump, repeat the one before.
        """
        plies = np.abs(self.codes).astype(np.uint8)
        kept = (self.codes != IMPOSSIBLE) & ~self.jumps()
        last = np.maximum.accumulate(np.where(kept, np.arange(len(plies)), 0))
        filled = plies[last].tobytes()
        packed, begin = b"", 1
        for count in range(2, self.pieces + 1):
            for item in slices_of(count):
                end = begin + size_of(item)
                part = lzma.compress(filled[begin:end], preset=9 | lzma.PRESET_EXTREME)
                packed += len(part).to_bytes(LENGTH, "big") + part
                begin = end
        return packed

    def jumps(self) -> NDArray[np.bool_]:
        """Return for each number whether the mover has to jump; anything for holes."""
        found = bytearray(1)
        sets = self.kernel.subsets
        for count in range(2, self.pieces + 1):
            for men, kings, enemy_men, enemy_kings in slices_of(count):
                for a, b, c, d in itertools.product(
                    sets[men][: CHOOSE[men * 33 + 28]],
                    sets[kings],
                    map(turned, sets[enemy_men][: CHOOSE[enemy_men * 33 + 28]]),
                    sets[enemy_kings],
                ):
                    found.append(bool(jump_actions(0, a | b, c | d, b | d)))
        return np.frombuffer(found, np.bool_)

    @classmethod
    def load(cls, path: str | Path) -> CheckersTable:
        """Read a table; raises `InvalidTable` if it is damaged or another one, and `OSError`."""
        file = read_table(path, KIND, Checkers())
        pieces, codes = int(file.facts["pieces"]), file.arrays["codes"]
        if pieces not in range(2, PIECES + 1) or len(codes) != layout(pieces)[1]:
            raise InvalidTable(path, f"it has {len(codes)} values for {pieces} pieces")
        return cls(pieces, codes)


def solve_checkers(
    pieces: int = 3,
    *,
    limit: Limit = UNLIMITED,
    progress: Callable[[str], None] | None = None,
) -> CheckersTable:
    """Solve all positions with up to so many pieces (2 to 4).

    Raises `ValueError` for another number and `TimeoutError` when the limit's time or nodes
    do not suffice.  ``progress`` is called for every material solved.
    """
    if pieces not in range(2, PIECES + 1):
        raise ValueError(f"pieces={pieces!r}: expected a whole number from 2 to {PIECES}")
    offsets, total = layout(pieces)
    codes = np.full(total, IMPOSSIBLE, np.int16)
    codes[0] = -1
    poll = Poll(limit)
    kernel = kernel_of(offsets, poll)
    try:
        for count in range(2, pieces + 1):
            for pair in _pairs(slices_of(count)):
                solve_slices(pair, kernel, offsets, codes)
                if progress is not None:
                    progress(_told(pair[0]))
    except SearchStopped:
        raise TimeoutError(
            f"the limit was reached before all positions with {pieces} pieces were solved"
        ) from None
    return CheckersTable(pieces, codes)


def solve_slices(
    pair: list[Slice], kernel: CheckersEndgamesKernel, offsets: list[int], codes: NDArray[np.int16]
) -> None:
    """Solve a material and its mirror image, between which quiet moves go to and fro."""
    local: list[tuple[int, int]] = []
    degree_parts, target_parts = [], []
    for men, kings, enemy_men, enemy_kings in pair:
        kernel.expand(men, kings, enemy_men, enemy_kings)
        degree_parts.append(np.frombuffer(kernel.degrees, np.int32).copy())
        target_parts.append(np.frombuffer(kernel.targets, np.int32).copy())
        begin = offsets[men * 64 + kings * 16 + enemy_men * 4 + enemy_kings]
        local.append((begin, begin + len(degree_parts[-1])))
    degrees, targets = np.concatenate(degree_parts), np.concatenate(target_parts)
    count = len(degrees)
    # Successors outside of the table matter only by their code: use one node for each code.
    numbers = np.full(len(targets), -1, np.int32)
    shift = 0
    for begin, end in local:
        inside = (targets >= begin) & (targets < end)
        numbers[inside] = targets[inside] - begin + shift
        shift += end - begin
    outside = numbers < 0
    ends, which = np.unique(codes[targets[outside]], return_inverse=True)
    numbers[outside] = count + which
    known = np.full(count + len(ends), OPEN, np.int16)
    known[:count][degrees == 0] = -1
    known[:count][degrees < 0] = DRAW
    known[count:] = ends
    outdegrees = np.concatenate((np.maximum(degrees, 0), np.zeros(len(ends), np.int32)))
    solved = backwards(None, outdegrees, numbers, known)[:count]
    solved[degrees < 0] = IMPOSSIBLE
    shift = 0
    for begin, end in local:
        codes[begin:end] = solved[shift : shift + end - begin]
        shift += end - begin


def kernel_of(offsets: list[int], poll: Callable[[int], int]) -> CheckersEndgamesKernel:
    """Return the kernel with its sets of up to three squares."""
    # In the order of ranks: by the greatest square, then the next.
    subsets = [
        [
            sum(SQUARE_BIT[square] for square in chosen)
            for chosen in sorted(
                itertools.combinations(range(1, 33), size), key=lambda chosen: chosen[::-1]
            )
        ]
        for size in range(PIECES)
    ]
    return CheckersEndgamesKernel(poll, offsets, subsets)


def _pairs(slices: list[Slice]) -> Iterator[list[Slice]]:
    """Return every slice with its mirror image, once."""
    for item in slices:
        mirror = (item[2], item[3], item[0], item[1])
        if item == mirror:
            yield [item]
        elif item < mirror:
            yield [item, mirror]


def _told(item: Slice) -> str:
    men, kings, enemy_men, enemy_kings = item
    return f"{men} men and {kings} kings against {enemy_men} and {enemy_kings}: solved"
