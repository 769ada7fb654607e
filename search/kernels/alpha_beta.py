"""Fail-soft negamax alpha-beta for two-seat, zero-sum, deterministic games: the plain one.

No window is wider than the bounds of the returns: a mover who has found a win looks no further.

Knuth and Moore, "An analysis of alpha-beta pruning", Artificial Intelligence 6 (1975);
fail-soft after Fishburn, "Another optimization of alpha-beta search", SIGART 84 (1983).

Everything that saves nodes (table, killers, null windows, quiescence) is in
`plyhouse.search.kernels.alpha_beta_full`, so that the plain search stays fast and short.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, final

from plyhouse.search.kernels.leaf_evaluation import Leaves
from plyhouse.search.kernels.node_state import NodeState

if TYPE_CHECKING:
    from mypy_extensions import i64

__all__ = ["AlphaBetaKernel"]

TERMINAL: Final = -2
INFINITY: Final = float("inf")


@final
class AlphaBetaKernel:
    """One search: its counters and its principal variation."""

    def __init__(
        self, poll: Callable[[int], int], leaves: Leaves, order: bool, max_depth: int
    ) -> None:
        self.poll = poll
        self.leaves: Leaves = leaves
        self.most: float = leaves.most
        self.blind: bool = leaves.evaluate is None and not leaves.heuristic
        self.order: bool = order
        self.nodes: i64 = 1
        self.due: i64 = 0
        self.seat: i64 = 0
        self.follow: bool = False
        self.previous: list[Any] = []
        # lines[ply] is the principal variation from that ply on, where the value of the
        # node at that ply was inside its window; elsewhere it is what was left there.
        self.lines: list[list[Any]] = []
        for _ in range(max_depth + 1):
            self.lines.append([])

    def begin(self, previous: list[Any]) -> None:
        """Start an iteration; ``previous`` is the principal variation to try first."""
        self.previous = previous
        self.leaves.reset()

    def child_value(
        self, child: Any, seat: int, depth: int, alpha: float, beta: float, first: bool
    ) -> float:
        """Value for ``seat``, who moved from the root to ``child``: exact inside of (alpha,
        beta), otherwise a bound.

        ``depth`` counts the plies from the root; ``first`` says that the action is the
        head of the previous principal variation.
        """
        state: NodeState = child
        self.seat = seat
        self.lines[1] = []
        if self.nodes >= self.due:
            self.due = self.poll(self.nodes)
        self.nodes += 1
        mover: i64 = state.to_move
        if mover == TERMINAL:
            value: float = state.returns()[seat]
            return value
        if depth <= 1:
            return self.leaves.value(state, seat)
        self.follow = first
        if mover == seat:
            return self.search(state, depth - 1, alpha, beta, 1)
        return -self.search(state, depth - 1, -beta, -alpha, 1)

    def line(self) -> list[Any]:
        """Return the expected play after the root action valued last, inside its window."""
        return self.lines[1]

    def ordered(self, state: Any, actions: tuple[Any, ...], ply: i64) -> tuple[Any, ...]:
        """Sort the actions: the previous principal variation, then the game's own order."""
        if self.order:
            actions = tuple(state.order(actions))
        if self.follow:
            if ply < len(self.previous):
                head: Any = self.previous[ply]
                if head in actions:
                    sorted_actions: list[Any] = [head]
                    for action in actions:
                        if action != head:
                            sorted_actions.append(action)  # noqa: PERF401 - no closure when compiled
                    return tuple(sorted_actions)
            self.follow = False
        return actions

    def search(self, state: NodeState, depth: i64, alpha: float, beta: float, ply: i64) -> float:
        """Return the value for the mover: exact inside (alpha, beta), otherwise a bound."""
        if depth == 1:
            return self.frontier(state, alpha, beta, ply)
        mover: i64 = state.to_move
        actions: tuple[Any, ...] = tuple(state.actions())
        if self.order or self.follow:
            actions = self.ordered(state, actions, ply)
        best: float = -INFINITY
        value: float
        for action in actions:
            if self.nodes >= self.due:
                self.due = self.poll(self.nodes)
            child: NodeState = state.after(action)
            self.nodes += 1
            to_move: i64 = child.to_move
            if to_move == mover:
                value = self.search(child, depth - 1, alpha, beta, ply + 1)
            elif to_move != TERMINAL:
                value = -self.search(child, depth - 1, -beta, -alpha, ply + 1)
            else:
                value = child.returns()[mover]
            self.follow = False
            if value > best:
                best = value
                if value >= beta:
                    break
                if value > alpha:
                    alpha = value
                    line: list[Any] = [action]
                    if to_move != TERMINAL:
                        line.extend(self.lines[ply + 1])
                    self.lines[ply] = line
                    if value >= self.most:
                        break
        return best

    def frontier(self, state: NodeState, alpha: float, beta: float, ply: i64) -> float:
        """Do the work of `search` one ply above the depth limit, below which most nodes lie."""
        mover: i64 = state.to_move
        mine: bool = mover == self.seat
        blind: bool = self.blind
        nodes: i64 = self.nodes
        due: i64 = self.due
        best: float = -INFINITY
        value: float
        self.follow = False
        for action in tuple(state.actions()):
            if nodes >= due:
                self.nodes = nodes
                due = self.poll(nodes)
                self.due = due
            child: NodeState = state.after(action)
            nodes += 1
            to_move: i64 = child.to_move
            if to_move == TERMINAL:
                value = child.returns()[mover]
            elif blind:
                self.leaves.used = True
                value = 0.0
            else:
                # Always from the view of the seat that searches, as minimax does: an
                # evaluation need not be fair to both.
                value = self.leaves.value(child, self.seat)
                if not mine:
                    value = -value
            if value > best:
                best = value
                if value >= beta:
                    break
                if value > alpha:
                    alpha = value
                    self.lines[ply] = [action]
                    if value >= self.most:
                        break
        self.nodes = nodes
        return best
