"""Games for the tests: trees written down as nested tuples, in ordinary Python."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, ClassVar

import pytest

from plyhouse.games.base import (
    CHANCE,
    TERMINAL,
    ChanceKind,
    Game,
    GameInfo,
    Information,
    Observation,
    Parameter,
    Utility,
)
from plyhouse.games.scene import Scene

TreeMaker = Callable[..., tuple[Game, Any]]


class Roll:
    """A chance node of a written tree: (probability, subtree) pairs."""

    def __init__(self, *outcomes: tuple[float, Any]) -> None:
        self.outcomes = outcomes


class TreeState:
    """A node: a number is a leaf, worth that to seat 0; a tuple has its children."""

    __slots__ = ("node", "seat", "to_move", "visits")

    def __init__(self, node: Any, seat: int, visits: list[Any]) -> None:
        self.node = node
        self.seat = seat
        self.visits = visits
        if isinstance(node, Roll):
            self.to_move = CHANCE
        else:
            self.to_move = seat if isinstance(node, tuple) else TERMINAL

    def actions(self) -> tuple[int, ...]:
        return tuple(range(len(self.node))) if self.to_move >= 0 else ()

    def after(self, action: int) -> TreeState:
        node = self.node
        child = node.outcomes[action][1] if isinstance(node, Roll) else node[action]
        self.visits.append(child)
        seat = self.seat if self.to_move == CHANCE else 1 - self.seat
        return TreeState(child, seat, self.visits)

    def chance_outcomes(self) -> tuple[tuple[int, float], ...]:
        if self.to_move != CHANCE:
            return ()
        return tuple((index, weight) for index, (weight, _) in enumerate(self.node.outcomes))

    def returns(self) -> tuple[float, float]:
        return (self.node, -self.node)


class TreeGame(Game):
    """A tree as a game; only what a search needs of a game is filled with sense."""

    info: ClassVar[GameInfo] = GameInfo(
        name="tree",
        title="Tree",
        summary="A written tree.",
        min_seats=2,
        max_seats=2,
        chance=ChanceKind.DETERMINISTIC,
        information=Information.PERFECT,
        utility=Utility.ZERO_SUM,
        min_return=-100.0,
        max_return=100.0,
        max_plies=100,
    )
    observation_type: ClassVar[type[Observation]] = Observation

    def initial_state(self) -> TreeState:
        return TreeState(0.0, 0, [])

    def observe(self, state: Any, seat: int | None) -> Observation:
        return Observation(seat, state.to_move, ())

    def sample_state(self, observation: Observation, rng: random.Random) -> TreeState:
        return self.initial_state()

    def scene(self, observation: Observation) -> Scene:
        return Scene((), "", None)

    def describe(self, state: Any) -> str:
        return repr(state.node)


class ChanceTreeGame(TreeGame):
    """A tree with chance nodes."""

    info: ClassVar[GameInfo] = GameInfo(
        name="chance_tree",
        title="Tree with chance",
        summary="A written tree with chance nodes.",
        min_seats=2,
        max_seats=2,
        chance=ChanceKind.STOCHASTIC,
        information=Information.PERFECT,
        utility=Utility.ZERO_SUM,
        min_return=-100.0,
        max_return=100.0,
        max_plies=100,
    )


@pytest.fixture
def roll() -> type[Roll]:
    return Roll


@pytest.fixture
def tree() -> TreeMaker:
    """Make (game, state) from a nested tuple; seat 0, the maximiser, moves at the root."""

    def make(node: Any, seat: int = 0, *, chance: bool = False) -> tuple[Game, Any]:
        game: Game = ChanceTreeGame() if chance else TreeGame()
        return game, TreeState(node, seat, [])

    return make


@pytest.fixture
def random_tree() -> Callable[[int], Any]:
    """Make a random uneven tree, with equal values here and there."""

    def make(seed: int) -> Any:
        rng = random.Random(seed)

        def grow(depth: int) -> Any:
            if depth == 0 or (depth < 4 and rng.random() < 0.15):
                return float(rng.randint(-6, 6))
            return tuple(grow(depth - 1) for _ in range(rng.randint(1, 4)))

        return tuple(grow(4) for _ in range(3))

    return make


class Turn:
    """A node of a tree for several seats: who moves, and the subtrees."""

    def __init__(self, seat: int, *children: Any) -> None:
        self.seat = seat
        self.children = children


class SeatsState:
    """A node for several seats: a `Turn`, a `Roll`, or a tuple of returns."""

    __slots__ = ("node", "to_move")

    def __init__(self, node: Any) -> None:
        self.node = node
        if isinstance(node, Roll):
            self.to_move = CHANCE
        else:
            self.to_move = node.seat if isinstance(node, Turn) else TERMINAL

    def actions(self) -> tuple[int, ...]:
        return tuple(range(len(self.node.children))) if self.to_move >= 0 else ()

    def after(self, action: int) -> SeatsState:
        node = self.node
        return SeatsState(
            node.outcomes[action][1] if isinstance(node, Roll) else node.children[action]
        )

    def chance_outcomes(self) -> tuple[tuple[int, float], ...]:
        if self.to_move != CHANCE:
            return ()
        return tuple((index, weight) for index, (weight, _) in enumerate(self.node.outcomes))

    def returns(self) -> tuple[float, ...]:
        leaf: tuple[float, ...] = self.node
        return leaf


class SeatsTreeGame(TreeGame):
    """A tree for up to five seats, with chance nodes, and returns of any kind."""

    info: ClassVar[GameInfo] = GameInfo(
        name="seats_tree",
        title="Tree for several seats",
        summary="A written tree for several seats.",
        min_seats=1,
        max_seats=5,
        chance=ChanceKind.STOCHASTIC,
        information=Information.PERFECT,
        utility=Utility.GENERAL_SUM,
        min_return=-100.0,
        max_return=100.0,
        max_plies=100,
        parameters=(Parameter("seats", 3, "number of seats", 1, 5),),
    )


@pytest.fixture
def turn() -> type[Turn]:
    return Turn


@pytest.fixture
def seats_tree() -> TreeMaker:
    """Make (game, state) from a tree of `Turn`, `Roll` and tuples of returns."""

    def make(node: Any, seats: int = 3) -> tuple[Game, Any]:
        return SeatsTreeGame(seats=seats), SeatsState(node)

    return make


@pytest.fixture
def random_seats_tree() -> Callable[..., Any]:
    """Make a random tree for some seats whose returns sum to ``total``, if that is given."""

    def make(seed: int, seats: int, total: float | None = None, depth: int = 5) -> Any:
        rng = random.Random(seed)

        def leaf() -> tuple[float, ...]:
            if total is None:
                return tuple(float(rng.randint(0, 6)) for _ in range(seats))
            # Twelve points are dealt out, and all values shifted alike.
            cuts = sorted(rng.randint(0, 12) for _ in range(seats - 1))
            parts = [after - before for before, after in zip([0, *cuts], [*cuts, 12], strict=True)]
            return tuple(part + (total - 12) / seats for part in parts)

        def grow(left: int) -> Any:
            if left == 0 or (left < depth - 1 and rng.random() < 0.1):
                return leaf()
            width = rng.randint(1, 4)
            if left < depth and rng.random() < 0.25:
                weights = [rng.randint(1, 5) for _ in range(width)]
                whole = sum(weights)
                return Roll(*[(weight / whole, grow(left - 1)) for weight in weights])
            return Turn(rng.randrange(seats), *[grow(left - 1) for _ in range(width)])

        return Turn(0, *[grow(depth - 1) for _ in range(3)])

    return make


class TickingClock:
    """A clock in nanoseconds that moves by a fixed step whenever it is read."""

    def __init__(self, step_ns: int) -> None:
        self.step = step_ns
        self.now = 0

    def __call__(self) -> int:
        self.now += self.step
        return self.now


@pytest.fixture
def ticking_clock() -> type[TickingClock]:
    return TickingClock
