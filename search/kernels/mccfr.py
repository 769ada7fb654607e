"""External-sampling Monte Carlo CFR: one walk per seat, in which all but the seat is sampled.

Works on states, so that the tree need not fit into memory: nodes are kept as they are
first visited, up to a number, and made again beyond it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, final

from plyhouse.search.kernels.node_state import NodeState

if TYPE_CHECKING:
    from mypy_extensions import i64

__all__ = ["Arm", "Beliefs", "MccfrKernel"]

CHANCE: Final = -1
TERMINAL: Final = -2


@final
class Arm:
    """One action in one information state."""

    __slots__ = ("chance", "regret", "total", "value")

    def __init__(self, chance: float) -> None:
        self.chance: float = chance
        self.regret: float = 0.0
        self.total: float = 0.0
        self.value: float = 0.0


@final
class Beliefs:
    """An information state that was visited; ``state`` is one of those it stands for."""

    __slots__ = ("arms", "key", "seat", "state")

    def __init__(self, key: Any, seat: int, state: Any, arms: list[Arm]) -> None:
        self.key = key
        self.seat: int = seat
        self.state = state
        self.arms: list[Arm] = arms


@final
class Node:
    """A state, and what is needed to walk on from it."""

    __slots__ = ("beliefs", "bounds", "kids", "mover", "moves", "payoffs", "state")

    def __init__(self, state: Any, mover: i64) -> None:
        self.state = state
        self.mover: i64 = mover
        self.moves: list[Any] = []
        self.kids: list[Node | None] = []
        self.beliefs: Beliefs | None = None
        self.bounds: list[float] = []
        """At a chance node, the sums of the probabilities up to each outcome."""
        self.payoffs: list[float] = []


@final
class MccfrKernel:
    """The walks from one state."""

    def __init__(
        self,
        state: Any,
        information_state: Callable[[Any, int], Any],
        random: Callable[[], float],
        seats: int,
        max_kept: int,
        max_depth: int,
    ) -> None:
        self.information_state = information_state
        self.random = random
        self.seats: i64 = seats
        self.max_kept: i64 = max_kept
        self.max_depth: i64 = max_depth
        self.kept: i64 = 0
        self.nodes: i64 = 0
        self.due: i64 = 0
        self.iterations: i64 = 0
        self.poll: Callable[[int], int] = information_state  # type: ignore[assignment]
        self.known: dict[Any, Beliefs] = {}
        self.root: Node = self.make(state)

    def run(self, poll: Callable[[int], int], count: int) -> None:
        """Do so many iterations: in each, one walk for every seat."""
        self.poll = poll
        self.due = self.nodes
        wanted: i64 = self.iterations + count
        while self.iterations < wanted:
            seat: i64 = 0
            for seat in range(self.seats):
                self.walk(self.root, seat, 0)
            self.iterations += 1

    def make(self, any_state: Any) -> Node:
        """Make the node of a state."""
        state: NodeState = any_state
        mover: i64 = state.to_move
        node: Node = Node(any_state, mover)
        if mover == TERMINAL:
            for value in state.returns():
                node.payoffs.append(float(value))
            return node
        if mover == CHANCE:
            total: float = 0.0
            for outcome, probability in state.chance_outcomes():
                share: float = probability
                total += share
                node.moves.append(outcome)
                node.bounds.append(total)
                node.kids.append(None)
            return node
        for action in state.actions():
            node.moves.append(action)
            node.kids.append(None)
        key: Any = self.information_state(any_state, mover)
        found: Beliefs | None = self.known.get(key)
        if found is None:
            even: float = 1.0 / float(len(node.moves))
            arms: list[Arm] = []
            for _ in node.moves:
                arms.append(Arm(even))  # noqa: PERF401 - no closure when compiled
            found = Beliefs(key, mover, any_state, arms)
            self.known[key] = found
        elif len(found.arms) != len(node.moves) or found.seat != mover:
            raise ValueError(
                f"seat {mover} has different actions in one information state, {key!r}"
            )
        node.beliefs = found
        return node

    def kid(self, node: Node, place: i64) -> Node:
        """Return the node after one move of a node."""
        known: Node | None = node.kids[place]
        if known is not None:
            return known
        state: NodeState = node.state
        made: Node = self.make(state.after(node.moves[place]))
        if self.kept < self.max_kept:
            self.kept += 1
            node.kids[place] = made
        return made

    def match(self, arms: list[Arm]) -> None:
        """Set the current policy: each action in proportion to its positive regret."""
        total: float = 0.0
        for arm in arms:
            if arm.regret > 0.0:
                total += arm.regret
        if total > 0.0:
            for arm in arms:
                arm.chance = arm.regret / total if arm.regret > 0.0 else 0.0
        else:
            share: float = 1.0 / float(len(arms))
            for arm in arms:
                arm.chance = share

    def walk(self, node: Node, seat: i64, depth: i64) -> float:
        """Sample the return of ``seat``, trying all of that seat's actions; update its regrets."""
        if self.nodes >= self.due:
            self.due = self.poll(self.nodes)
        self.nodes += 1
        mover: i64 = node.mover
        if mover == TERMINAL:
            return node.payoffs[seat]
        if depth > self.max_depth:
            raise ValueError(f"the game is longer than {self.max_depth} plies")
        place: i64 = 0
        drawn: float
        if mover == CHANCE:
            bounds: list[float] = node.bounds
            last: i64 = len(bounds) - 1
            drawn = self.random()
            while place < last and drawn >= bounds[place]:
                place += 1
            return self.walk(self.kid(node, place), seat, depth + 1)
        beliefs: Beliefs | None = node.beliefs
        if beliefs is None:
            raise AssertionError("a seat's node without an information state")
        arms: list[Arm] = beliefs.arms
        self.match(arms)
        if mover == seat:
            mean: float = 0.0
            for arm in arms:
                # With perfect recall no other visit touches these arms meanwhile.
                arm.value = self.walk(self.kid(node, place), seat, depth + 1)
                mean += arm.chance * arm.value
                place += 1
            for arm in arms:
                arm.regret += arm.value - mean
            return mean
        if mover == (seat + 1) % self.seats:
            for arm in arms:
                arm.total += arm.chance
        drawn = self.random()
        width: i64 = len(arms) - 1
        for arm in arms:
            drawn -= arm.chance
            if drawn < 0.0 or place == width:
                break
            place += 1
        return self.walk(self.kid(node, place), seat, depth + 1)
