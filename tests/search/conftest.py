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
