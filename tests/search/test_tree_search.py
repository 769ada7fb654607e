"""Minimax, alpha-beta and expectiminimax: exact values."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import pytest

from plyhouse.games.base import TERMINAL, Game
from plyhouse.games.registry import get_game
from plyhouse.search import Limit, alpha_beta, expectiminimax, minimax

Tree = Callable[..., tuple[Game, Any]]

DETERMINISTIC = [minimax, alpha_beta, expectiminimax]

COURSE_TREE = (
    ((4.0, 2.0, 7.0), (3.0, 1.0)),
    ((5.0, 8.0), (2.0, 9.0), (5.0, 6.0)),
    ((1.0, 2.0), (3.0, 5.0)),
)


@pytest.mark.parametrize("search", DETERMINISTIC)
def test_the_minimax_tree_of_the_course_is_worth_six(search: Any, tree: Tree) -> None:
    result = search(*tree(COURSE_TREE))
    assert result.value == 6.0
    assert result.action == 1
    assert result.pv == (1, 2, 1)
    assert result.exact


def test_minimax_knows_the_value_of_every_root_action(tree: Tree) -> None:
    assert minimax(*tree(COURSE_TREE)).values == {0: 3.0, 1: 6.0, 2: 2.0}


def test_alpha_beta_bounds_the_actions_that_are_not_best(tree: Tree) -> None:
    values = alpha_beta(*tree(COURSE_TREE)).values
    assert values[1] == 6.0
    assert 3.0 <= values[0] < 6.0
    assert 2.0 <= values[2] < 6.0


def test_alpha_beta_visits_less_than_minimax(tree: Tree) -> None:
    game, state = tree(COURSE_TREE)
    alpha_beta(game, state)
    visited = len(state.visits)
    game, state = tree(COURSE_TREE)
    minimax(game, state)
    assert len(state.visits) == 25
    assert visited < 25


def test_the_chance_node_of_the_course_is_worth_ten(tree: Tree, roll: Any) -> None:
    node = roll((1 / 2, 8.0), (1 / 3, 24.0), (1 / 6, -12.0))
    result = expectiminimax(*tree((node, 9.0), chance=True))
    assert result.value == pytest.approx(10.0, abs=1e-12)
    assert result.action == 0
    assert result.pv == (0,)


def test_the_minimiser_may_move_at_the_root(tree: Tree) -> None:
    for search in DETERMINISTIC:
        result = search(*tree((4.0, -2.0, 7.0), seat=1))
        assert (result.action, result.value) == (1, 2.0)


@pytest.mark.parametrize("seed", range(60))
def test_alpha_beta_equals_minimax_on_random_trees(
    seed: int, tree: Tree, random_tree: Callable[[int], Any]
) -> None:
    node = random_tree(seed)
    for depth in (1, 2, 3, 5):
        limit = Limit(depth=depth)
        plain = minimax(*tree(node), limit, evaluate=lambda state, seat: 0.5 - seat)
        pruned = alpha_beta(*tree(node), limit, evaluate=lambda state, seat: 0.5 - seat)
        deepened = alpha_beta(
            *tree(node), limit, evaluate=lambda state, seat: 0.5 - seat, deepen=True
        )
        assert pruned.value == plain.value == deepened.value
        assert pruned.action == plain.action
        assert plain.values[deepened.action] == plain.value
        assert pruned.nodes <= plain.nodes


def test_an_evaluation_need_not_be_fair_to_both_seats(
    tree: Tree, random_tree: Callable[[int], Any]
) -> None:
    def greedy(state: Any, seat: int) -> float:
        return float(len(state.actions()) + 3 * seat)

    for number in range(30):
        for seat in (0, 1):
            for depth in (1, 2, 3, 4):
                root = tree(random_tree(number), seat)
                plain = minimax(*root, Limit(depth=depth), evaluate=greedy)
                assert alpha_beta(*root, Limit(depth=depth), evaluate=greedy).value == plain.value


@pytest.mark.parametrize("search", DETERMINISTIC)
def test_returns_and_estimates_may_be_ints(search: Any, tree: Tree) -> None:
    result = search(*tree(((1, 2), (3, 4))))
    assert (type(result.value), result.value) == (float, 3.0)
    result = search(*tree(((1, 2), (3, 4))), Limit(depth=1), evaluate=lambda state, seat: 7)
    assert (type(result.value), result.value) == (float, 7.0)


def test_a_seat_that_moves_twice_keeps_its_point_of_view(tree: Tree) -> None:
    class Twice:
        """Seat 0 makes two moves, then seat 1 one; leaves 0 to 7 by the bits chosen."""

        __slots__ = ("path", "to_move")

        def __init__(self, path: tuple[int, ...] = ()) -> None:
            self.path = path
            self.to_move = (0, 0, 1, TERMINAL)[len(path)]

        def actions(self) -> tuple[int, ...]:
            return (0, 1) if self.to_move >= 0 else ()

        def after(self, action: int) -> Twice:
            return Twice((*self.path, action))

        def chance_outcomes(self) -> tuple[Any, ...]:
            return ()

        def returns(self) -> tuple[float, float]:
            first, second, third = self.path
            value = float((3, -5, 2, 9, 6, 1, 4, 5)[4 * first + 2 * second + third])
            return (value, -value)

    game, _ = tree(0.0)
    for search in DETERMINISTIC:
        result = search(game, Twice())
        assert (result.value, result.pv) == (4.0, (1, 1, 0))


def test_tic_tac_toe_is_a_draw_and_minimax_visits_its_whole_tree() -> None:
    game = get_game("tic_tac_toe")
    result = minimax(game, game.initial_state())
    assert result.value == 0.0
    assert math.copysign(1.0, result.value) == 1.0
    assert result.exact
    assert result.nodes == 549_946
    assert set(result.values.values()) == {0.0}


def reachable(state: Any) -> dict[Any, Any]:
    """Every position that can come about, by its key."""
    found = {state.key(): state}
    waiting = [state]
    while waiting:
        for action in (here := waiting.pop()).actions():
            child = here.after(action)
            if child.key() not in found:
                found[child.key()] = child
                waiting.append(child)
    return found


def test_alpha_beta_is_right_in_every_position_of_tic_tac_toe() -> None:
    game = get_game("tic_tac_toe")

    @functools.cache
    def true_value(key: Any) -> float:
        state = positions[key]
        if state.to_move == TERMINAL:
            return float(state.returns()[0])
        values = [true_value(state.after(action).key()) for action in state.actions()]
        return max(values) if state.to_move == 0 else min(values)

    positions = reachable(game.initial_state())
    assert len(positions) == 5478
    for key, state in positions.items():
        if state.to_move == TERMINAL:
            continue
        result = alpha_beta(game, state)
        sign = 1.0 if state.to_move == 0 else -1.0
        assert result.value == sign * true_value(key), game.describe(state)
        chosen = true_value(state.after(result.action).key())
        assert chosen == true_value(key), game.describe(state)
        assert result.exact


@pytest.mark.parametrize(
    ("columns", "rows", "connect"), [(3, 3, 3), (4, 3, 3), (3, 4, 3), (4, 4, 3), (4, 4, 4)]
)
def test_small_connect_four_boards_are_solved(columns: int, rows: int, connect: int) -> None:
    game = get_game(f"connect_four(columns={columns},rows={rows},connect={connect})")

    @functools.cache
    def solve(key: Any) -> float:
        state = positions[key]
        if state.to_move == TERMINAL:
            return float(state.returns()[0])
        best = -2.0
        sign = 1.0 if state.to_move == 0 else -1.0
        for action in state.actions():
            child = state.after(action)
            positions[child.key()] = child
            best = max(best, sign * solve(child.key()))
            if best == 1.0:
                break
        return sign * best

    start: Any = game.initial_state()
    positions = {start.key(): start}
    expected = solve(start.key())
    # From the second ply on, so that the pure variant needs no minutes for the largest.
    for action in start.actions():
        child = start.after(action)
        for reply in child.actions():
            state: Any = child.after(reply)
            if columns * rows > 12:
                for second in state.actions()[:1]:
                    state = state.after(second)
                    state = state.after(state.actions()[-1])
            positions[state.key()] = state
            sign = 1.0 if state.to_move == 0 else -1.0
            assert alpha_beta(game, state).value == sign * solve(state.key())
    if columns * rows <= 12:
        assert alpha_beta(game, start).value == expected
        if columns * rows == 9:
            assert minimax(game, start).value == expected
