"""Checkers positions with few pieces as numbers, and where each of them leads.

The numbers are those of `plyhouse.games.deterministic.checkers.endgames`.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, final

from plyhouse.games.deterministic.checkers.endgames import CHOOSE, HOLE, number_of, turned
from plyhouse.games.deterministic.checkers.rules import CheckersState

if TYPE_CHECKING:
    from mypy_extensions import i64

__all__ = ["CheckersEndgamesKernel"]

TERMINAL: Final = -2
OVER: Final = 0
"""The number of every position in which the seat to move has lost already."""


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

    def number_of(self, state: Any) -> int:
        """Return the number of a state in which a seat is to move; -1 if it is left out."""
        if state.to_move == 0:
            return number_of(self.offsets, state.black, state.white, state.kings)
        return number_of(
            self.offsets, turned(state.white), turned(state.black), turned(state.kings)
        )

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
                target = number_of(
                    self.offsets, turned(child.white), turned(child.black), turned(child.kings)
                )
            self.targets.append(target)
            degree += 1
        return degree
