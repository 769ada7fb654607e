"""PUCT with exact, uniform and wrong evaluators; flat Monte Carlo beside it."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from plyhouse.games.base import CHANCE, TERMINAL, Game
from plyhouse.games.registry import get_game
from plyhouse.search import Limit, SearchResult, flat_monte_carlo, minimax, puct

Tree = Callable[..., tuple[Game, Any]]


def exact_value(state: Any) -> float:
    """Minimax, from seat 0."""
    if state.to_move == TERMINAL:
        return float(state.returns()[0])
    values = [exact_value(state.after(action)) for action in state.actions()]
    return max(values) if state.to_move == 0 else min(values)


def exact_evaluator(state: Any) -> tuple[list[float], tuple[float, float]]:
    value = exact_value(state)
    seat = state.to_move
    best = [float(exact_value(state.after(a)) == value) for a in state.actions()]
    assert seat >= 0
    return best, (value, -value)


def test_with_the_truth_as_evaluator_the_best_action_gets_all_visits(
    random_tree: Any, tree: Tree
) -> None:
    for seed in range(25):
        game, state = tree(random_tree(seed))
        exact = minimax(game, state)
        result = puct(game, state, Limit(simulations=40), evaluator=exact_evaluator)
        assert exact.values[result.action] == exact.value
        assert result.value == exact.value
        assert all(exact.values[action] == exact.value for action in result.visits)


def test_true_values_with_uniform_priors(random_tree: Any, tree: Tree) -> None:
    for seed in range(25):
        game, state = tree(random_tree(seed))
        exact = minimax(game, state)
        result = puct(
            game,
            state,
            Limit(simulations=1500),
            evaluator=lambda s: ([1.0] * len(s.actions()), exact_evaluator(s)[1]),
            exploration=0.05,
        )
        assert exact.values[result.action] == exact.value


def test_it_overcomes_an_evaluator_that_knows_nothing(random_tree: Any, tree: Tree) -> None:
    for seed in range(10):
        game, state = tree(random_tree(seed))
        exact = minimax(game, state)
        result = puct(
            game,
            state,
            Limit(simulations=6000),
            evaluator=lambda s: ([1.0] * len(s.actions()), (0.0, 0.0)),
            exploration=0.15,
        )
        assert exact.values[result.action] == exact.value
        assert result.value == pytest.approx(exact.value, abs=0.8)


def test_priors_lead_in_proportion() -> None:
    game = get_game("connect_four")
    priors = [1.0, 1.0, 2.0, 8.0, 2.0, 1.0, 1.0]

    def evaluator(state: Any) -> tuple[list[float], tuple[float, float]]:
        return [priors[action - 1] for action in state.actions()], (0.0, 0.0)

    result = puct(game, game.initial_state(), Limit(simulations=320), evaluator=evaluator)
    for action, prior in enumerate(priors, start=1):
        assert result.visits[action] == pytest.approx(320 * prior / 16, rel=0.15)
    assert result.pv[:2] == (4, 4)


def test_tactics_with_the_heuristic() -> None:
    game = get_game("connect_four")
    state: Any = game.initial_state()
    for action in (1, 4, 2, 4, 7, 4):
        state = state.after(action)
    assert puct(game, state, Limit(simulations=2000)).action == 4


def after(game: Game, actions: tuple[int, ...]) -> Any:
    """Return the position after some actions."""
    state: Any = game.initial_state()
    for action in actions:
        state = state.after(action)
    return state


def even(state: Any) -> tuple[list[float], tuple[float, float]]:
    """Evaluate a position as even, with equal priors."""
    return [1.0] * len(state.actions()), (0.0, 0.0)


def test_replies_that_win_prove_actions_without_simulations() -> None:
    game = get_game("connect_four")
    state = after(game, (1, 4, 1, 4, 2, 4))  # the second seat threatens d4
    result = puct(game, state, Limit(simulations=1), evaluator=even)
    assert result.action == 4
    assert {action: result.values[action] for action in (1, 2, 3, 5, 6, 7)} == dict.fromkeys(
        (1, 2, 3, 5, 6, 7), -1.0
    )
    assert result.visits == {4: 1}
    # A heuristic takes less time than the look-ahead, so there is none.
    assert len(puct(game, state, Limit(simulations=1)).values) == 1
    near = Limit(simulations=1, depth=1)
    assert len(puct(game, state, near, evaluator=even).values) == 1


def test_two_replies_that_win_lose_at_once() -> None:
    game = get_game("connect_four")
    state = after(game, (4, 4, 3, 3, 5))  # the first seat threatens b1 and f1
    asked = []

    def evaluator(position: Any) -> tuple[list[float], tuple[float, float]]:
        asked.append(position)
        return even(position)

    result = puct(game, state, Limit(simulations=100), evaluator=evaluator)
    assert (result.value, result.simulations, asked) == (-1.0, 0, [])
    assert result.action in state.actions()


def test_evaluator_is_not_asked_where_one_reply_is_left() -> None:
    game = get_game("connect_four")
    asked = []

    def evaluator(position: Any) -> tuple[list[float], tuple[float, float]]:
        asked.append(position)
        return even(position)

    state = after(game, (1, 4, 1, 4))
    puct(game, state, Limit(simulations=60), evaluator=evaluator)
    below = [position for position in asked if position.key() != state.key()]
    assert len(below) > 40
    for position in below:
        safe = [
            action
            for action in position.actions()
            if not any(
                position.after(action).after(reply).to_move == TERMINAL
                for reply in position.after(action).actions()
            )
        ]
        assert len(safe) > 1


def test_chance_nodes_are_sampled() -> None:
    game = get_game("pig(target=20)")
    state: Any = game.initial_state()
    result = puct(game, state, Limit(simulations=3000), seed=2)
    assert result.pv == (0,)
    assert -1.0 < result.value < 1.0
    again = puct(game, state, Limit(simulations=3000), seed=2)
    assert (again.value, again.visits) == (result.value, result.visits)
    assert puct(game, state, Limit(simulations=3000), seed=3).value != result.value


def test_limits_and_reports() -> None:
    game = get_game("connect_four")
    state: Any = game.initial_state()
    heard: list[SearchResult] = []
    result = puct(game, state, Limit(simulations=500, report=heard.append))
    assert result.simulations == sum(result.visits.values()) == 500
    assert (heard[-1].action, heard[-1].visits) == (result.action, result.visits)
    assert puct(game, state, Limit(time=0)).action in state.actions()
    assert puct(game, state, Limit(simulations=500, depth=2)).depth == 2
    nodes = puct(game, state, Limit(nodes=300))
    assert 300 <= nodes.nodes <= 300 + nodes.depth
    assert puct(game, state, Limit(simulations=100), max_nodes=10).simulations == 100
    assert puct(game, state).simulations == 1000


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (([1.0] * 6, (0.0, 0.0)), "gave 6 priors for 7 actions"),
        (([1.0] * 7, (0.0,)), "gave 1 values for 2 seats"),
        (([1.0] * 7, (0.0, 2.0)), "outside of the game's returns"),
        (([1.0] * 7, (float("nan"), 0.0)), "outside of the game's returns"),
        (([1.0] * 6 + [-1.0], (0.0, 0.0)), "priors below 0"),
        (([1.0] * 6 + [float("nan")], (0.0, 0.0)), "priors below 0 or not finite"),
    ],
)
def test_senseless_evaluators_are_refused(answer: Any, message: str) -> None:
    game = get_game("connect_four")
    with pytest.raises(ValueError, match=message):
        puct(game, game.initial_state(), evaluator=lambda state: answer)


def test_without_evaluator_and_heuristic_it_says_what_is_missing(tree: Tree) -> None:
    with pytest.raises(ValueError, match=r"have no heuristic\(\); give an evaluator"):
        puct(*tree(((1.0,), (2.0,))))


# Flat Monte Carlo


def test_flat_values_are_those_of_random_play(tree: Tree) -> None:
    node = ((4.0, 8.0), ((0.0, 2.0), 3.0), 5.0)
    game, state = tree(node)
    result = flat_monte_carlo(game, state, Limit(simulations=9000), allocation="uniform")
    assert result.visits == {0: 3000, 1: 3000, 2: 3000}
    assert result.values[0] == pytest.approx(6.0, abs=0.2)
    assert result.values[1] == pytest.approx(2.0, abs=0.2)
    assert result.values[2] == 5.0
    # It does not see that seat 1 would choose 4.0: that is what a tree is for.
    assert result.action == 0
    assert minimax(game, state).action == 2


def test_ucb1_gives_the_better_actions_more_playouts() -> None:
    game = get_game("connect_four")
    state: Any = game.initial_state()
    result = flat_monte_carlo(game, state, Limit(simulations=2000), exploration=0.5)
    assert result.action in (3, 4, 5)
    assert result.visits[4] > 2 * min(result.visits.values())
    assert result.simulations == sum(result.visits.values()) == 2000


def test_flat_limits_seeds_and_options() -> None:
    game = get_game("pig")
    state: Any = game.initial_state().after(0)
    state = state.after(random.Random(1).choice(state.chance_outcomes()[1:])[0])
    assert state.to_move != CHANCE
    heard: list[SearchResult] = []
    first = flat_monte_carlo(game, state, Limit(simulations=300, report=heard.append), seed=1)
    assert heard[-1].values == first.values
    assert first.values == flat_monte_carlo(game, state, Limit(simulations=300), seed=1).values
    assert first.values != flat_monte_carlo(game, state, Limit(simulations=300), seed=2).values
    assert flat_monte_carlo(game, state, Limit(nodes=51)).simulations == 50
    assert flat_monte_carlo(game, state, Limit(time=0)).simulations == 0
    assert flat_monte_carlo(game, state).simulations == 1000
    with pytest.raises(ValueError, match="expected 'uniform' or 'ucb1'"):
        flat_monte_carlo(game, state, allocation="best")  # type: ignore[arg-type]
