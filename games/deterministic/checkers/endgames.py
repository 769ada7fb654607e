"""The last plies of checkers from a table, for `plyhouse.games.endgames`.

The table has every position with up to four pieces in which the mover does not have to jump.  A
byte holds the plies to the end, as `plyhouse.search.tables.checkers_endgames` computes them.  Jumps
lead to fewer pieces, so other positions take the value of what follows.  Positions are seen by the
seat to move, as black: white to move is the same with the board turned.

A *slice* is all positions with given numbers of own men and kings, and of enemy men and kings.  It
numbers the four sets of squares independently, so the numbers of overlapping sets stay unused.

The file is made again by ``python benchmarks/endgames.py --only tables --pieces 4 --pack FILE``.
"""

from __future__ import annotations

import importlib.util
import itertools
import math
from importlib.resources import files
from typing import TYPE_CHECKING, Any, ClassVar, Final, final

from plyhouse.games.base import TERMINAL
from plyhouse.games.bits import BIT, bit_number, count_bits
from plyhouse.games.endgames import Endings, Meter

if TYPE_CHECKING:
    from mypy_extensions import i64

__all__ = [
    "CHOOSE",
    "HOLE",
    "LENGTH",
    "PIECES",
    "CheckersEndings",
    "Slice",
    "layout",
    "number_of",
    "size_of",
    "slices_of",
    "turned",
]

PIECES: Final = 4
"""Pieces up to which positions are in the table."""
LENGTH: Final = 4
"""Bytes before each slice of the file, which state its length."""
HOLE: Final = -1

# CHOOSE[k * 33 + n]: how many sets of k among n squares there are.
CHOOSE: Final[tuple[int, ...]] = tuple([math.comb(n, k) for k in range(4) for n in range(33)])

Slice = tuple[int, int, int, int]
"""Own men, own kings, enemy men, enemy kings; the own side is to move."""


def slices_of(pieces: int) -> list[Slice]:
    """Return all materials of so many pieces, both sides having some, the fewest men first."""
    found: list[Slice] = [
        (men, kings, enemy_men, pieces - men - kings - enemy_men)
        for men, kings, enemy_men in itertools.product(range(pieces), repeat=3)
        if 0 < men + kings < pieces and men + kings + enemy_men <= pieces
    ]
    return sorted(found, key=lambda item: (item[0] + item[2], item))


def size_of(item: Slice) -> int:
    """Return how many numbers a slice takes, holes included."""
    men, kings, enemy_men, enemy_kings = item
    own = CHOOSE[men * 33 + 28] * CHOOSE[kings * 33 + 32]
    return own * CHOOSE[enemy_men * 33 + 28] * CHOOSE[enemy_kings * 33 + 32]


def layout(pieces: int) -> tuple[list[int], int]:
    """Return where each slice begins in a table, and the length of the table.

    The place of a slice is the number of its men and kings, own before the enemy's, as digits in
    base 4; -1 stands for a slice that is left out.  Entry 0 of a table is the lost end.
    """
    offsets, total = [-1] * 256, 1
    for count in range(2, pieces + 1):
        for item in slices_of(count):
            men, kings, enemy_men, enemy_kings = item
            offsets[men * 64 + kings * 16 + enemy_men * 4 + enemy_kings] = total
            total += size_of(item)
    return offsets, total


def turned(cells: i64) -> i64:
    """Return the set of squares on the board turned around: bit n becomes bit 34 - n."""
    found: i64 = 0
    left: i64 = cells
    while left != 0:
        bit: i64 = left & -left
        left = left ^ bit
        found = found | BIT[34 - bit_number(bit)]
    return found


def rank(cells: i64) -> i64:
    """Return the number of a set among those of its size, by its squares counted from 0."""
    found: i64 = 0
    left: i64 = cells
    size: i64 = 1
    while left != 0:
        bit: i64 = left & -left
        left = left ^ bit
        at: i64 = bit_number(bit)
        found += CHOOSE[size * 33 + at - at // 9]
        size += 1
    return found


def rank_turned(cells: i64) -> i64:
    """Return the rank of the set on the board turned around."""
    found: i64 = 0
    left: i64 = cells
    size: i64 = count_bits(cells)
    while left != 0:
        bit: i64 = left & -left
        left = left ^ bit
        at: i64 = bit_number(bit)
        found += CHOOSE[size * 33 + 31 - (at - at // 9)]
        size -= 1
    return found


def number_of(offsets: list[int], own: i64, enemy: i64, kings: i64) -> i64:
    """Return the number of a position seen by the seat to move; -1 if it is left out."""
    men: i64 = own & ~kings
    back: i64 = own & kings
    enemy_men: i64 = enemy & ~kings
    enemy_back: i64 = enemy & kings
    m: i64 = count_bits(men)
    k: i64 = count_bits(back)
    em: i64 = count_bits(enemy_men)
    ek: i64 = count_bits(enemy_back)
    if m > 3 or k > 3 or em > 3 or ek > 3:
        return HOLE
    offset: i64 = offsets[m * 64 + k * 16 + em * 4 + ek]
    if offset < 0:
        return HOLE
    found: i64 = rank(men)
    found = found * CHOOSE[k * 33 + 32] + rank(back)
    found = found * CHOOSE[em * 33 + 28] + rank_turned(enemy_men)
    found = found * CHOOSE[ek * 33 + 32] + rank(enemy_back)
    return offset + found


@final
class Table:
    """The slices of the file, each unpacked when it is first needed: all at once take 0.2 s."""

    def __init__(self, data: bytes) -> None:
        self.packed: list[bytes] = [b""] * 256
        self.unpacked: list[bytes | None] = [None] * 256
        # Numbers count from the beginning of a slice.
        self.offsets: list[int] = [HOLE] * 256
        at: int = 0
        for count in range(2, PIECES + 1):
            for men, kings, enemy_men, enemy_kings in slices_of(count):
                place: int = men * 64 + kings * 16 + enemy_men * 4 + enemy_kings
                end: int = at + LENGTH + int.from_bytes(data[at : at + LENGTH], "big")
                self.packed[place] = data[at + LENGTH : end]
                self.offsets[place] = 0
                at = end

    def entry(self, own: i64, enemy: i64, kings: i64) -> int:
        """Return the byte of a position seen by the seat to move."""
        place: i64 = count_bits(own & ~kings) * 64 + count_bits(own & kings) * 16
        place += count_bits(enemy & ~kings) * 4 + count_bits(enemy & kings)
        data = self.unpacked[place]
        if data is None:
            import lzma

            data = lzma.decompress(self.packed[place])
            self.unpacked[place] = data
        return data[number_of(self.offsets, own, enemy, kings)]


_SHARED: list[Table] = []


def shared_table() -> Table | None:
    """Return the table, read when it is first needed; None where Python lacks lzma."""
    if not _SHARED:
        if importlib.util.find_spec("_lzma") is None:
            return None
        folder = files("plyhouse.games.deterministic.checkers")
        _SHARED.append(Table(folder.joinpath("endgames.bin").read_bytes()))
    return _SHARED[0]


@final
class CheckersEndings(Endings):
    """Looks up positions with few pieces, for one search."""

    hurries: ClassVar[bool] = True

    def __init__(self, meter: Meter) -> None:
        self.meter: Meter = meter
        self.table: Table | None = None

    def value(self, state: Any, depth: int, alpha: float, beta: float) -> float | None:
        """Return the value for the mover, see `Endings.value`.

        A win in the table counts if the rules cannot make it a draw.  It then needs no more plies
        than may be quiet, and no earlier position could come for the third time.  A draw in the
        table is a draw by the rules, which only add draws.
        """
        code = self.code(state)
        if code is None:
            return None
        plies: int = abs(code) - 1
        if code != 0 and (
            max(len(state.past) - 2, 0) + plies > state.limit or stood_twice(state.past)
        ):
            return None
        return 1.0 if code > 0 else -1.0 if code < 0 else 0.0

    def best(self, state: Any) -> Any:
        """Return the action of the quickest win, else of a draw, else of the latest loss; None if
        the position is not in the table.
        """
        if self.code(state) is None:
            return None
        best: Any = None
        most: int = -2000
        for action in state.actions():
            rating: int = preference(self.after(state, action))
            if rating > most:
                most = rating
                best = action
        return best

    def code(self, state: Any) -> int | None:
        """Return d + 1 for a win in d plies, -(d + 1) for a loss and 0 for a draw by the table;
        None if the position is not in it.
        """
        pieces: i64 = state.black | state.white
        if count_bits(pieces) > PIECES:
            return None
        if self.table is None:
            self.table = shared_table()
        table = self.table
        if table is None:
            return None
        if state.forced():
            self.meter.visit()
            found: int = -1
            most: int = -2000
            for action in state.actions():
                after: int = self.after(state, action)
                if preference(after) > most:
                    most = preference(after)
                    found = after
            return found
        entry: int
        if state.to_move == 0:
            entry = table.entry(state.black, state.white, state.kings)
        else:
            entry = table.entry(turned(state.white), turned(state.black), turned(state.kings))
        # The winner plays the last ply: wins take an odd number of plies, losses an even one.
        return entry if entry % 2 == 0 else -entry

    def after(self, state: Any, action: Any) -> int:
        """Return the code that an action leads to, for the seat that acts."""
        child: Any = state.after(action)
        if child.to_move == TERMINAL:
            return 0 if child.winner < 0 else 2
        code = self.code(child)
        assert code is not None  # noqa: S101 - no more pieces than before
        return 0 if code == 0 else -code - 1 if code > 0 else 1 - code


def preference(code: int) -> int:
    """Return a number that is greater for better codes: quick wins, draws, late losses."""
    return 1000 - code if code > 0 else 0 if code == 0 else -1000 - code


def stood_twice(past: tuple[int, ...]) -> bool:
    """Return whether a position of ``past`` has stood at least twice; see `CheckersState`."""
    last: int = len(past) - 1
    while last > 4:
        at: int = last - 4
        while at > 0:
            if past[at] == past[last] and past[at - 1] == past[last - 1]:
                return True
            at -= 2
        last -= 1
    return False
