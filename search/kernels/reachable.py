"""The graph of reachable positions, as arrays of numbers.

Retrograde analysis and value iteration work on it: every position has a number, and the arrays hold
the numbers of its successors.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, final

from plyhouse.search.kernels.node_state import NodeState

if TYPE_CHECKING:
    from mypy_extensions import i64

__all__ = ["ReachableKernel"]

CHANCE: Final = -1
TERMINAL: Final = -2


@final
class ReachableKernel:
    """The graph of positions; edges lie in the order of the positions they start from.

    Positions that are over are not numbered (their keys need not tell who won): an edge to
    one is ``-1 - r``, where ``results[r]`` is the return of seat 0.
    """

    def __init__(
        self,
        poll: Callable[[int], int],
        key: Callable[[Any], Any] | None,
        fresh: Callable[[Any], Any] | None,
        most: int,
    ) -> None:
        self.poll = poll
        self.key = key
        self.fresh = fresh
        self.most: i64 = most
        self.nodes: i64 = 0
        self.due: i64 = 0
        self.index: dict[Any, int] = {}
        """The number of every position that is not over, by its key, in rising order."""
        self.results: list[float] = []
        self.movers: Any = array("b")
        self.degrees: Any = array("i")
        self.targets: Any = array("i")
        self.weights: Any = array("d")
        """Probabilities of the edges of chance nodes, 1 for the others."""
        self.full: bool = False
        """True if there are more positions than ``most``; then the graph is not complete."""
        self.waiting: list[Any] = []

    def explore(self, starts: list[Any]) -> None:
        """Number everything that can be reached from these states, breadth first."""
        for start in starts:
            self.number(start)
        weight: float
        while self.waiting:
            level: list[Any] = self.waiting
            self.waiting = []
            for item in level:
                state: NodeState = item
                mover: i64 = state.to_move
                degree: i64 = 0
                if mover == CHANCE:
                    for outcome, probability in state.chance_outcomes():
                        weight = probability
                        self.targets.append(self.number(state.after(outcome)))
                        self.weights.append(weight)
                        degree += 1
                else:
                    for action in tuple(state.actions()):
                        self.targets.append(self.number(state.after(action)))
                        self.weights.append(1.0)
                        degree += 1
                self.movers.append(mover)
                self.degrees.append(degree)
                if self.full:
                    return

    def number(self, state: Any) -> i64:
        """Return the number of a position or, below 0, of the result it has ended with."""
        if self.nodes >= self.due:
            self.due = self.poll(self.nodes)
        self.nodes += 1
        if state.to_move == TERMINAL:
            value: float = float(state.returns()[0]) + 0.0
            if value not in self.results:
                self.results.append(value)
            return -1 - self.results.index(value)
        fresh = self.fresh
        if fresh is not None:
            state = fresh(state)
        chosen = self.key
        key: Any = state.key() if chosen is None else chosen(state)
        found = self.index.get(key)
        if found is not None:
            return found
        new: i64 = len(self.index)
        if new >= self.most:
            self.full = True
            return 0
        self.index[key] = int(new)
        self.waiting.append(state)
        return new
