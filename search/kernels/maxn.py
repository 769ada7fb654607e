"""Max^n: every seat maximises its own return, for any number of seats.

Luckhardt and Irani, "An algorithmic solution of N-person games", AAAI (1986); shallow
pruning after Korf, "Multi-player alpha-beta pruning", Artificial Intelligence 48 (1991).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, final

from plyhouse.search.kernels.leaf_evaluation import Leaves
from plyhouse.search.kernels.node_state import NodeState
from plyhouse.search.kernels.sampling import Sampler

if TYPE_CHECKING:
    from mypy_extensions import i64

__all__ = ["MaxnKernel"]

CHANCE: Final = -1
TERMINAL: Final = -2
INFINITY: Final = float("inf")
MARGIN: Final = 1e-9
"""Share of the range of values by which a bound must be passed before it cuts, so that
rounded sums do not change a choice."""


@final
class MaxnKernel:
    """One search: its counters, its principal variation and the values of all seats.

    With ``prune`` values lie between ``low`` and ``high`` and those of a position sum to no
    more than ``most``, which is checked wherever a position is valued.
    """

    def __init__(
        self,
        poll: Callable[[int], int],
        leaves: Leaves,
        order: bool,
        max_depth: int,
        seats: int,
        prune: bool,
        low: float,
        high: float,
        most: float,
        sampler: Sampler | None,
    ) -> None:
        self.poll = poll
        self.leaves: Leaves = leaves
        self.seats: i64 = seats
        self.prune: bool = prune
        self.low: float = low
        self.high: float = high
        self.most: float = most
        self.margin: float = MARGIN * (high - low)
        # Sum for two seats if all others get the minimum.
        self.for_two: float = most - float(seats - 2) * low
        self.sampler: Sampler | None = sampler
        self.nodes: i64 = 1
        self.due: i64 = 0
        self.vector: list[float] = []
        """Expected returns of all seats after the root action evaluated last."""
        # lines[ply] is the principal variation from that ply on.
        self.lines: list[list[Any]] = []
        for _ in range(max_depth + 1):
            self.lines.append([])

    def begin(self, previous: list[Any]) -> None:
        """Start an iteration; the order of actions stays, as ties depend on it."""
        self.leaves.reset()

    def child_value(self, child: Any, seat: int, depth: int, alpha: float, first: bool) -> float:
        """Value for ``seat``, who moved from the root to ``child``; a bound if below alpha.

        ``depth`` counts the plies from the root.
        """
        state: NodeState = child
        self.vector = self.search(state, depth - 1, 1, seat, alpha)
        return self.vector[seat]

    def line(self) -> list[Any]:
        """Return the expected play after the root action valued last."""
        return self.lines[1]

    def checked(self, values: Any) -> list[float]:
        """Return the values of all seats, checked against the bounds by which the search prunes."""
        vector: list[float] = []
        total: float = 0.0
        for given in values:
            value: float = float(given)
            if self.prune and not self.low <= value <= self.high:
                raise ValueError(
                    f"the values {tuple(values)} are not within the bounds {self.low} to "
                    f"{self.high} by which the search prunes: widen them"
                )
            total += value
            vector.append(value)
        if len(vector) != self.seats:
            raise ValueError(f"{tuple(values)} has not one value for each of {self.seats} seats")
        if self.prune and not total <= self.most + self.margin:
            raise ValueError(
                f"the values {tuple(values)} sum to {total}, more than the {self.most} by which "
                "shallow pruning cuts: raise sum_bound, or use pruning='none'"
            )
        return vector

    def search(
        self, state: NodeState, depth: i64, ply: i64, parent: i64, reached: float
    ) -> list[float]:
        """Return the values of all seats.

        ``parent`` is the seat that chose this state, -1 for chance. ``reached`` is the value that
        it is certain of elsewhere: up to that, its value here may be just a bound.
        """
        if self.nodes >= self.due:
            self.due = self.poll(self.nodes)
        self.nodes += 1
        mover: i64 = state.to_move
        self.lines[ply] = []
        if mover == TERMINAL:
            return self.checked(state.returns())
        if depth == 0:
            return self.checked(self.leaves.all_values(state, self.seats))
        if mover == CHANCE:
            return self.mean(state, depth, ply)
        best: list[float] = []
        own: float = -INFINITY
        for action in tuple(state.actions()):
            values: list[float] = self.search(state.after(action), depth - 1, ply + 1, mover, own)
            if values[mover] > own:
                best = values
                own = values[mover]
                line: list[Any] = [action]
                line.extend(self.lines[ply + 1])
                self.lines[ply] = line
                if self.prune:
                    if own >= self.high:
                        break
                    if parent >= 0 and parent != mover:
                        # The mover gets at least this much, so the parent at most the rest.
                        rest: float = self.for_two - own
                        if rest <= reached - self.margin:
                            bound: list[float] = list(best)
                            bound[parent] = rest
                            return bound
        return best

    def mean(self, state: NodeState, depth: i64, ply: i64) -> list[float]:
        """Return the mean of the outcomes of a chance node, for every seat."""
        outcomes: Any = state.chance_outcomes()
        sampler: Sampler | None = self.sampler
        if sampler is not None:
            outcomes = sampler.outcomes(outcomes, ply)
        means: list[float] = [0.0] * self.seats
        for outcome, weight in outcomes:
            share: float = weight
            values: list[float] = self.search(
                state.after(outcome), depth - 1, ply + 1, CHANCE, -INFINITY
            )
            seat: i64 = 0
            while seat < self.seats:
                means[seat] += share * values[seat]
                seat += 1
        self.lines[ply] = []
        return means
