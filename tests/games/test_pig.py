from __future__ import annotations

import random
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from tests.harness.positions import position_after

from plyhouse.games import CHANCE, TERMINAL, IllegalAction, State, get_game
from plyhouse.games.stochastic.pig import PigState

TARGET, SIDES = 100, 6

Values = npt.NDArray[np.float64]


def play(spec: str, moves: str) -> State:
    return position_after(get_game(spec), moves)


@pytest.fixture(scope="module")
def solution() -> Values:
    """Chance of the mover to win by own score, other score and turn total.

    Value iteration, each sweep from the greatest turn total down.
    """
    wins = np.full((TARGET, TARGET, TARGET + SIDES), 0.5)
    own = np.arange(TARGET)
    for total in range(TARGET + SIDES):
        wins[own + total >= TARGET, :, total] = 1.0
    while True:
        start = wins[:, :, 0].copy()
        for total in range(TARGET - 1, -1, -1):
            open_ = TARGET - total
            roll = 1.0 - wins[:, :open_, 0].T
            for face in range(2, SIDES + 1):
                roll = roll + wins[:open_, :, total + face]
            value = roll / SIDES
            if total:
                value = np.maximum(value, 1.0 - wins[:, total:TARGET, 0].T)
            wins[:open_, :, total] = value
        if np.abs(wins[:, :, 0] - start).max() < 1e-10:
            return wins


def chance_of_seat_0(solution: Values, state: Any) -> float:
    """Return the solution's value of a state in which a seat is to move or has won."""
    if state.to_move == TERMINAL:
        return (float(state.returns()[0]) + 1.0) / 2.0
    own, other = state.scores[state.turn], state.scores[1 - state.turn]
    mover = float(solution[own, other, state.total])
    return mover if state.turn == 0 else 1.0 - mover


def expected(solution: Values, state: State) -> float:
    """Chance of seat 0 after an action, averaged over the die."""
    if state.to_move != CHANCE:
        return chance_of_seat_0(solution, state)
    return sum(
        probability * chance_of_seat_0(solution, state.after(face))
        for face, probability in state.chance_outcomes()
    )


def test_first_player_wins_with_the_published_chance(solution: Values) -> None:
    assert round(float(solution[0, 0, 0]), 4) == 0.5306


def test_the_rules_satisfy_the_solution_everywhere(solution: Values) -> None:
    # Bellman's equation through the game's own transitions ties the array to the rules.
    rng = random.Random(1)
    for _ in range(1000):
        own, other = rng.randrange(TARGET), rng.randrange(TARGET)
        total = rng.choice([0, rng.randrange(2, 40)])
        seat = rng.randrange(2)
        scores = (own, other) if seat == 0 else (other, own)
        state = PigState(seat, scores, seat, total)
        values = [expected(solution, state.after(action)) for action in state.actions()]
        best = max(values) if seat == 0 else min(values)
        assert best == pytest.approx(chance_of_seat_0(solution, state), abs=1e-6)


def test_heuristic_is_near_the_solution(solution: Values) -> None:
    rng = random.Random(2)
    errors = []
    for _ in range(2000):
        own, other = rng.randrange(TARGET), rng.randrange(TARGET)
        total = rng.choice([0, rng.randrange(2, 25)])
        state = PigState(0, (own, other), 0, total)
        exact = 2.0 * chance_of_seat_0(solution, state) - 1.0
        errors.append(state.heuristic()[0] - exact)
    assert float(np.sqrt(np.mean(np.square(errors)))) < 0.15


def test_a_one_loses_the_turn() -> None:
    state = play("pig", "roll 4 roll 6 roll 1")
    seen = get_game("pig").observe(state, 1).fields()
    assert (seen["scores"], seen["turn"], seen["turn_total"]) == ((0, 0), 1, 0)


def test_holding_keeps_the_points() -> None:
    state = play("pig", "roll 4 roll 6 hold")
    assert get_game("pig").observe(state, 1).fields()["scores"] == (10, 0)
    assert state.to_move == 1


def test_the_first_to_hold_the_target_wins() -> None:
    state = play("pig(target=10)", "roll 4 hold roll 1 roll 6")
    assert state.actions() == (1,), "enough to win: it can only hold"
    assert state.after(1).to_move == TERMINAL
    assert state.after(1).returns() == (1.0, -1.0)


def test_losers_share_the_loss() -> None:
    state = play("pig(seats=3,target=5)", "roll 1 roll 5 hold")
    assert state.returns() == (-0.5, 1.0, -0.5)


def test_a_seat_must_roll_first() -> None:
    game = get_game("pig")
    with pytest.raises(IllegalAction) as caught:
        game.parse(game.initial_state(), "hold")
    assert caught.value.legal == ("roll",)


def test_playouts_go_on_from_a_die_in_the_air() -> None:
    state = PigState(CHANCE, (0, 0), 1, 5)
    results = {state.playout(random.Random(seed)) for seed in range(50)}
    assert results == {(1.0, -1.0), (-1.0, 1.0)}
