"""Expectiminimax on pig against value iteration and exact finite-horizon values."""

from __future__ import annotations

import functools
from typing import Any

import pytest

from plyhouse.games.base import CHANCE, TERMINAL
from plyhouse.games.registry import get_game
from plyhouse.search import Limit, expectiminimax

SPEC = "pig(target=12)"


def positions_of(state: Any) -> dict[Any, Any]:
    """Every position that can come about, by its key."""
    found = {state.key(): state}
    waiting = [state]
    while waiting:
        here = waiting.pop()
        moves = (
            [outcome for outcome, _ in here.chance_outcomes()]
            if here.to_move == CHANCE
            else here.actions()
        )
        for move in moves:
            child = here.after(move)
            if child.key() not in found:
                found[child.key()] = child
                waiting.append(child)
    return found


@pytest.fixture(scope="module")
def positions() -> dict[Any, Any]:
    return positions_of(get_game(SPEC).initial_state())


@pytest.fixture(scope="module")
def optimal(positions: dict[Any, Any]) -> dict[Any, float]:
    """Value of every position for seat 0 under optimal play, by value iteration."""
    values = {
        key: float(state.returns()[0]) if state.to_move == TERMINAL else 0.0
        for key, state in positions.items()
    }
    children: list[tuple[Any, int, list[tuple[Any, float]]]] = []
    for key, state in positions.items():
        if state.to_move == CHANCE:
            edges = [(state.after(o).key(), p) for o, p in state.chance_outcomes()]
            children.append((key, CHANCE, edges))
        elif state.to_move != TERMINAL:
            edges = [(state.after(action).key(), 1.0) for action in state.actions()]
            children.append((key, state.to_move, edges))
    change = 1.0
    while change > 1e-13:
        change = 0.0
        for key, mover, edges in children:
            if mover == CHANCE:
                new = sum(values[child] * weight for child, weight in edges)
            else:
                best = max if mover == 0 else min
                new = best(values[child] for child, _ in edges)
            change = max(change, abs(new - values[key]))
            values[key] = new
    return values


def test_optimal_values_are_the_fixed_point_of_the_search(
    positions: dict[Any, Any], optimal: dict[Any, float]
) -> None:
    game = get_game(SPEC)

    def evaluate(state: Any, seat: int) -> float:
        value = optimal[state.key()]
        return value if seat == 0 else -value

    seats_to_move = [state for state in positions.values() if state.to_move >= 0]
    for state in seats_to_move[::7]:
        sign = 1.0 if state.to_move == 0 else -1.0
        for depth in (1, 2, 4):
            result = expectiminimax(game, state, Limit(depth=depth), evaluate=evaluate)
            assert result.value == pytest.approx(sign * optimal[state.key()], abs=1e-10)
            child = state.after(result.action)
            assert optimal[child.key()] == pytest.approx(optimal[state.key()], abs=1e-10)


def test_values_at_a_depth_limit_equal_dynamic_programming(positions: dict[Any, Any]) -> None:
    game = get_game(SPEC)

    @functools.cache
    def horizon_value(key: Any, depth: int, seat: int) -> float:
        state = positions[key]
        if state.to_move == TERMINAL:
            return float(state.returns()[seat])
        if depth == 0:
            return float(state.heuristic()[seat])
        if state.to_move == CHANCE:
            total = 0.0
            for outcome, weight in state.chance_outcomes():
                total += weight * horizon_value(state.after(outcome).key(), depth - 1, seat)
            return total
        values = [
            horizon_value(state.after(action).key(), depth - 1, seat) for action in state.actions()
        ]
        return max(values) if state.to_move == seat else min(values)

    for state in list(positions.values())[::11]:
        if state.to_move < 0:
            continue
        for depth in (1, 2, 3, 5):
            result = expectiminimax(game, state, Limit(depth=depth))
            assert result.value == horizon_value(state.key(), depth, state.to_move)


def test_near_the_end_the_choice_is_the_optimal_one(
    positions: dict[Any, Any], optimal: dict[Any, float]
) -> None:
    game = get_game(SPEC)
    wrong = []
    tried = 0
    for state in positions.values():
        if len(state.actions()) != 2 or max(state.scores) < 8:
            continue
        after = [optimal[state.after(action).key()] for action in state.actions()]
        if abs(after[0] - after[1]) < 0.05:
            continue
        tried += 1
        result = expectiminimax(game, state, Limit(depth=5))
        if optimal[state.after(result.action).key()] != pytest.approx(
            optimal[state.key()], abs=1e-9
        ):
            wrong.append(game.describe(state))
    assert tried > 20
    assert not wrong
