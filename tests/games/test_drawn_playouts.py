"""Playouts that draw several choices from one random number are uniform all the same."""

from __future__ import annotations

import random
from typing import Any

import pytest

from plyhouse.games import get_game


def uniform_returns(state: Any, rng: random.Random) -> tuple[float, ...]:
    while state.to_move >= 0:
        state = state.after(rng.choice(state.actions()))
    result: tuple[float, ...] = state.returns()
    return result


def share(results: list[tuple[float, ...]], wanted: float) -> float:
    return sum(result[0] == wanted for result in results) / len(results)


@pytest.mark.parametrize(
    "spec",
    [
        "tic_tac_toe",
        "connect_four",
        "connect_four(columns=4,rows=5)",
        "connect_four(columns=10,rows=3,connect=3)",
        "connect_four(columns=5,rows=2,connect=5)",
        "connect_four(columns=3,rows=10,connect=2)",
    ],
)
def test_wins_losses_and_draws_come_as_often_as_in_random_play(spec: str) -> None:
    rng = random.Random(17)
    state: Any = get_game(spec).initial_state()
    for ply in range(4):
        if state.to_move < 0:
            break
        count = 4000
        fast = [state.playout(rng) for _ in range(count)]
        slow = [uniform_returns(state, rng) for _ in range(count)]
        for value in (1.0, 0.0, -1.0):
            # Five standard deviations of a difference of two shares.
            assert share(fast, value) == pytest.approx(share(slow, value), abs=0.056), ply
        state = state.after(state.actions()[ply % len(state.actions())])


def test_a_playout_of_a_finished_game_is_its_result() -> None:
    for spec, moves in (("tic_tac_toe", (0, 3, 1, 4, 2)), ("connect_four", (1, 2) * 3 + (1,))):
        state: Any = get_game(spec).initial_state()
        for move in moves:
            state = state.after(move)
        assert state.playout(random.Random(1)) == (1.0, -1.0)


def test_exact_chances_near_the_end_of_tic_tac_toe() -> None:
    # X on a1 b1 c2, O on a2 b2 c3, X to move: cells c1, a3, b3 are free.  X wins with c1.
    state: Any = get_game("tic_tac_toe").initial_state()
    for move in (0, 3, 1, 4, 5, 8):
        state = state.after(move)
    results = [state.playout(random.Random(seed)) for seed in range(6000)]
    exact = [uniform_returns(state, random.Random(seed)) for seed in range(6000)]
    assert share(results, 1.0) == pytest.approx(share(exact, 1.0), abs=0.04)
    assert share(results, 1.0) > 1 / 3
