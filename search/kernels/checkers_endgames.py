"""Checkers positions with few pieces as numbers, and where each of them leads.

Positions are seen by the seat to move, as black: white to move is the same with the board turned.
A *slice* is all positions with given numbers of own men and kings, and of enemy men and kings.  It
numbers the four sets of squares independently, so the numbers of overlapping sets stay unused.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, final

from plyhouse.games.bits import BIT, bit_number, count_bits
from plyhouse.games.deterministic.checkers.rules import CheckersState

if TYPE_CHECKING:
    from mypy_extensions import i64

__all__ = ["CheckersEndgamesKernel", "turned"]

TERMINAL: Final = -2
OVER: Final = 0
"""The number of every position in which the seat to move has lost already."""
HOLE: Final = -1

# CHOOSE[k * 33 + n]: how many sets of k among n squares there are.
CHOOSE: Final[tuple[int, ...]] = tuple([math.comb(n, k) for k in range(4) for n in range(33)])


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


@final
class CheckersEndgamesKernel:
    """Numbers positions, and lists the edges of a slice.

    ``offsets`` has where each slice begins, at its men and kings, own before the enemy's, as
    digits in base 4; -1 for slices that are left out.  ``subsets[k]`` are the sets of k
    squares in the order of their rank.
    """

    def __init__(
        self, poll: Callable[[int], int], offsets: list[int], subsets: list[list[int]]
    ) -> None:
        self.poll = poll
        self.offsets: list[int] = offsets
        self.subsets: list[list[int]] = subsets
        self.nodes: i64 = 0
        self.due: i64 = 0
        self.degrees: Any = array("i")
        """Per number of the slice: how many edges; -1 for a hole."""
        self.targets: Any = array("i")

    def number(self, own: i64, enemy: i64, kings: i64) -> i64:
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
        offset: i64 = self.offsets[m * 64 + k * 16 + em * 4 + ek]
        if offset < 0:
            return HOLE
        found: i64 = rank(men)
        found = found * CHOOSE[k * 33 + 32] + rank(back)
        found = found * CHOOSE[em * 33 + 28] + rank_turned(enemy_men)
        found = found * CHOOSE[ek * 33 + 32] + rank(enemy_back)
        return offset + found

    def number_of(self, state: Any) -> int:
        """Return the number of a state in which a seat is to move; -1 if it is left out."""
        if state.to_move == 0:
            return self.number(state.black, state.white, state.kings)
        return self.number(turned(state.white), turned(state.black), turned(state.kings))

    def expand(self, men: i64, kings: i64, enemy_men: i64, enemy_kings: i64) -> None:
        """List degrees and targets of all positions of a slice, in the order of numbers."""
        self.degrees = array("i")
        self.targets = array("i")
        for own_men in self.subsets[men][: CHOOSE[men * 33 + 28]]:
            a: i64 = own_men
            for own_kings in self.subsets[kings]:
                b: i64 = own_kings
                for their_men in self.subsets[enemy_men][: CHOOSE[enemy_men * 33 + 28]]:
                    c: i64 = turned(their_men)
                    blocked: bool = a & b != 0 or (a | b) & c != 0
                    for their_kings in self.subsets[enemy_kings]:
                        d: i64 = their_kings
                        if blocked or (a | b | c) & d != 0:
                            self.degrees.append(HOLE)
                        else:
                            self.degrees.append(self.successors(a | b, c | d, b | d))

    def successors(self, own: i64, enemy: i64, kings: i64) -> i64:
        """Add the targets of one position; return how many."""
        if self.nodes >= self.due:
            self.due = self.poll(self.nodes)
        self.nodes += 1
        state: Any = CheckersState(0, own, enemy, kings)
        degree: i64 = 0
        for action in state.actions():
            child: Any = state.after(action)
            target: i64 = OVER
            if child.to_move != TERMINAL:
                target = self.number(turned(child.white), turned(child.black), turned(child.kings))
            self.targets.append(target)
            degree += 1
        return degree
