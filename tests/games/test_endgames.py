"""The games' endgame solvers must agree with minimax."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

from plyhouse.games import get_game
from plyhouse.games.base import Game
from plyhouse.games.deterministic.connect_four.endgames import ConnectFourEndings
from plyhouse.games.endgames import Meter


def with_few_empty(game: Game, empty: int, rng: random.Random) -> Any:
    """A position after random play with at most so many empty cells, or None: the game ended.

    Where that is possible, nothing is played that ends the game or lets the other end it.
    """
    state: Any = game.initial_state()
    while state.to_move >= 0 and cells_left(state) > empty:
        quiet = [action for action in state.actions() if not ends(state.after(action))]
        state = state.after(rng.choice(quiet or state.actions()))
    return state if state.to_move >= 0 else None


def ends(state: Any) -> bool:
    """Return whether the game is over, or can be after one action."""
    return any(state.after(action).to_move < 0 for action in state.actions()) or state.to_move < 0


def cells_left(state: Any) -> int:
    """Empty cells of a position of othello or connect four."""
    if hasattr(state, "black"):
        return 64 - int((state.black | state.white) & (1 << 64) - 1).bit_count()
    return int(state.shape.columns * state.shape.rows) - int(state.taken).bit_count()


def minimax(state: Any, known: dict[Any, float]) -> float:
    """Return the mover's value under best play, by plain minimax."""
    key = state.key()
    if key not in known:
        value = -math.inf
        for action in state.actions():
            child = state.after(action)
            if child.to_move < 0:
                gain = child.returns()[state.to_move]
            else:
                gain = minimax(child, known)
                if child.to_move != state.to_move:
                    gain = -gain
            value = max(value, gain)
        known[key] = value
    return known[key]


@pytest.mark.parametrize(
    ("spec", "most"),
    [
        ("othello", 6),
        ("othello(score=true)", 6),
        ("connect_four", 11),
        ("connect_four(columns=4,rows=4)", 11),
        ("connect_four(columns=5,rows=4)", 11),
        ("connect_four(columns=4,rows=7)", 11),
        ("connect_four(columns=10,rows=4)", 10),
    ],
)
def test_the_value_is_that_of_minimax(spec: str, most: int) -> None:
    game = get_game(spec)
    low, high = game.return_bounds
    values = set()
    for seed in range(40):
        rng = random.Random(seed)
        state = with_few_empty(game, rng.randint(1, most), rng)
        if state is None:
            continue
        value = minimax(state, {})
        endings = state.endings(Meter())
        assert endings.value(state, 99, -math.inf, math.inf) == value
        values.add(value)
        for _ in range(6):
            # Inside the window exact, else a bound on the right side; with what is remembered.
            alpha = rng.randint(int(low), int(high) - 1) + rng.choice((0.0, 0.5, -0.5))
            beta = alpha + rng.choice((1e-9, 0.5, 1.0, high - low))
            found = endings.value(state, 99, alpha, beta)
            assert value <= found if found < beta else value >= found
            assert value >= found if found > alpha else value <= found
    assert {value > 0 for value in values} == {True, False}


@pytest.mark.parametrize("columns_rows", [(7, 6), (4, 4), (5, 5), (4, 7), (8, 4), (7, 5)])
def test_connect_four_bound_is_at_least_the_value(columns_rows: tuple[int, int]) -> None:
    columns, rows = columns_rows
    game = get_game(f"connect_four(columns={columns},rows={rows})")
    solver = ConnectFourEndings(Meter(), columns, rows)
    bounds = set()
    for seed in range(150):
        rng = random.Random(seed)
        state = with_few_empty(game, rng.randint(4, 11), rng)
        if state is None:
            continue
        value = minimax(state, {})
        feared = solver.threats(state.mine ^ state.taken, state.taken)
        for alpha in (-1, 0):
            bound = int(solver.bound(state.mine, state.taken, feared, alpha))
            assert value <= bound, game.describe(state)
            bounds.add(bound)
    assert bounds == {-1, 0, 1}


@pytest.mark.parametrize("spec", ["othello", "othello(score=true)", "connect_four"])
def test_mirror_images_are_worth_the_same(spec: str) -> None:
    # By other actions in another order: the more empty cells, the more of the solver has a part.
    game = get_game(spec)
    for seed in range(12):
        rng = random.Random(seed)
        state = with_few_empty(game, 9 if "othello" in spec else 18, rng)
        if state is not None:
            image = mirrored(game, state)
            found = [s.endings(Meter()).value(s, 99, -math.inf, math.inf) for s in (state, image)]
            assert found[0] == found[1]


@pytest.mark.parametrize("seed", range(3))
def test_othello_value_is_that_of_the_best_action(seed: int) -> None:
    # With 12 empty squares estimates sort the actions, with 11 the replies do.
    state = with_few_empty(get_game("othello(score=true)"), 12, random.Random(seed))
    assert state is not None
    values = []
    for action in state.actions():
        child = state.after(action)
        sign = 1.0 if child.to_move == state.to_move else -1.0
        values.append(sign * child.endings(Meter()).value(child, 99, -math.inf, math.inf))
    assert state.endings(Meter()).value(state, 99, -math.inf, math.inf) == max(values)


def mirrored(game: Game, state: Any) -> Any:
    """The position with left and right exchanged."""
    fields = game.observe(state, None).fields()
    fields["board"] = tuple(row[::-1] for row in fields["board"])
    return game.sample_state(game.decode_observation(fields), random.Random(0))


class EnoughError(Exception):
    """Raised by a watch."""


@pytest.mark.parametrize("spec", ["othello", "connect_four"])
def test_a_limit_stops_in_the_middle(spec: str) -> None:
    game = get_game(spec)
    state = with_few_empty(game, 10 if spec == "othello" else 22, random.Random(1))

    def value(limit: int) -> tuple[float | None, int]:
        def watch(nodes: int) -> int:
            if nodes >= limit:
                raise EnoughError
            return limit

        meter = Meter(watch)
        try:
            return state.endings(meter).value(state, 99, -math.inf, math.inf), meter.nodes
        except EnoughError:
            return None, meter.nodes

    found, nodes = value(1 << 40)
    assert found is not None
    assert nodes > 30
    for limit in (1, 2, 3, nodes // 2, nodes - 2, nodes - 1):
        assert value(limit) == (None, limit)
    assert value(nodes) == (found, nodes)


def test_what_is_remembered_after_a_stop_is_right() -> None:
    game = get_game("othello(score=true)")
    state = with_few_empty(game, 11, random.Random(2))
    due = [50]

    def watch(nodes: int) -> int:
        if nodes >= due[0]:
            due[0] = 2 * nodes
            raise EnoughError
        return due[0]

    endings = state.endings(Meter(watch))
    stops = 0
    while True:
        try:
            value = endings.value(state, 99, -math.inf, math.inf)
            break
        except EnoughError:
            stops += 1
    assert stops > 1
    assert value == state.endings(Meter()).value(state, 99, -math.inf, math.inf)


@pytest.mark.parametrize("spec", ["checkers", "connect_four(columns=8,rows=6)", "kalah", "othello"])
def test_what_is_far_from_the_end_is_left_to_the_search(spec: str) -> None:
    state: Any = get_game(spec).initial_state()
    meter = Meter()
    assert state.endings(meter).value(state, 2, -1.0, 1.0) is None
    assert meter.nodes == 0


def test_only_lines_of_four_are_solved() -> None:
    state: Any = get_game("connect_four(connect=3)").initial_state()
    assert state.endings(Meter()) is None
