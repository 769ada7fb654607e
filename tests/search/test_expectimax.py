"""Expectimax and policies: exact values, models of opponents, and what a right model wins."""

from __future__ import annotations

import functools
import math
import random
import re
from collections.abc import Callable
from typing import Any, cast

import pytest
from tests.harness.positions import reachable

from plyhouse.games.base import CHANCE, TERMINAL, Game
from plyhouse.games.registry import get_game
from plyhouse.search import Limit, best_response, expectimax, minimax
from plyhouse.search.policies import (
    Policy,
    choose,
    distribution,
    greedy_policy,
    mixed_policy,
    remembered,
    search_policy,
    softmax_policy,
    uniform_policy,
)

Tree = Callable[..., tuple[Game, Any]]

COURSE_TREE = (
    ((4.0, 2.0, 7.0), (3.0, 1.0)),
    ((5.0, 8.0), (2.0, 9.0), (5.0, 6.0)),
    ((1.0, 2.0), (3.0, 5.0)),
)


def test_the_chance_node_of_the_course_is_worth_ten(tree: Tree, roll: Any) -> None:
    node = roll((1 / 2, 8.0), (1 / 3, 24.0), (1 / 6, -12.0))
    result = expectimax(*tree((9.0, node), chance=True))
    assert result.value == pytest.approx(10.0, abs=1e-12)
    assert (result.action, result.pv, result.exact) == (1, (1,), True)


def test_against_random_play_the_opponents_nodes_are_means(tree: Tree) -> None:
    result = expectimax(*tree(COURSE_TREE))
    # Max values below: 7 and 3, 8 9 6, 2 and 5.
    assert result.values == pytest.approx({0: 5.0, 1: 23 / 3, 2: 3.5})
    assert result.action == 1


def test_against_a_perfect_opponent_it_is_minimax(
    tree: Tree, random_tree: Callable[[int], Any]
) -> None:
    for seed in range(20):
        game, state = tree(random_tree(seed))
        model = search_policy(minimax, game, Limit())
        result = expectimax(game, state, opponents=model)
        assert result.value == minimax(game, state).value


def test_other_seats_want_what_they_want(seats_tree: Tree, turn: Any) -> None:
    # Seat 1 likes its left branch, which is good for seat 0 as well: no zero sum.
    node = turn(0, turn(1, (5.0, 5.0), (0.0, 1.0)), (3.0, 0.0))
    root = seats_tree(node, 2)
    assert expectimax(*root, opponents=greedy_policy()).value == 5.0
    assert expectimax(*root).value == 3.0


def value_of(state: Any, policy: Policy, seat: int, depth: int) -> float:
    """Return the value that expectimax should find, by definition."""
    if state.to_move == TERMINAL:
        return float(state.returns()[seat])
    if depth == 0:
        return float(state.heuristic()[seat])
    if state.to_move == seat:
        return max(
            value_of(state.after(action), policy, seat, depth - 1) for action in state.actions()
        )
    edges = state.chance_outcomes() if state.to_move == CHANCE else policy(state)
    return sum(
        weight * value_of(state.after(move), policy, seat, depth - 1) for move, weight in edges
    )


@pytest.mark.parametrize(
    ("spec", "depth"),
    [
        ("pig(seats=3,target=20)", 6),
        ("pacman(ghosts=random,layout=trapped)", 4),
        ("pacman(layout=small)", 4),
        ("connect_four", 4),
        ("einstein", 3),
    ],
)
@pytest.mark.parametrize("policy", [uniform_policy, greedy_policy(), softmax_policy(0.3)])
def test_values_are_those_of_the_definition(spec: str, depth: int, policy: Policy) -> None:
    game = get_game(spec)
    state: Any = game.initial_state()
    while state.to_move == CHANCE:
        state = state.after(state.chance_outcomes()[0][0])
    result = expectimax(game, state, Limit(depth=depth), opponents=policy)
    assert result.value == pytest.approx(value_of(state, policy, state.to_move, depth), abs=1e-9)


def test_solitaire_pacman_at_any_depth_finds_the_only_way() -> None:
    game = get_game('pacman(ghosts=random,layout="%%%%%%/%P. .%/%%%%%%")')
    result = expectimax(game, game.initial_state(), Limit(nodes=100_000))
    assert (result.value, result.pv) == (3 * -1 + 2 * 10 + 500, (2, 2, 2))


def pig_alone_against_holding(target: int, hold_at: int) -> float:
    """Chance to win of the first seat of pig at its best against one that rolls up to
    ``hold_at``: by value iteration, without the search.
    """

    def opponent_turn(mine: int, theirs: int) -> float:
        # Expectation over the one turn of the opponent.
        def roll(total: int) -> float:
            value = wins[(mine, theirs)]
            for face in range(2, 7):
                points = total + face
                if theirs + points >= target:
                    continue
                done = points >= hold_at
                value += wins[(mine, theirs + points)] if done else roll(points)
            return value / 6

        return roll(0)

    wins = {(mine, theirs): 0.5 for mine in range(target) for theirs in range(target)}
    change = 1.0
    while change > 1e-12:
        change = 0.0
        for mine in range(target - 1, -1, -1):
            for theirs in range(target - 1, -1, -1):
                lost_turn = opponent_turn(mine, theirs)
                best_from: dict[int, float] = {}
                for total in range(target - mine - 1, -1, -1):
                    rolled = lost_turn
                    for face in range(2, 7):
                        points = total + face
                        rolled += 1.0 if mine + points >= target else best_from[points]
                    rolled /= 6
                    held = opponent_turn(mine + total, theirs) if total else -1.0
                    best_from[total] = max(rolled, held)
                change = max(change, abs(best_from[0] - wins[(mine, theirs)]))
                wins[(mine, theirs)] = best_from[0]
    return wins[(0, 0)]


def test_against_a_cautious_player_of_pig_the_value_is_that_of_value_iteration() -> None:
    """The true values at the depth limit are a fixed point of the search, so that at every
    depth the value at the start is the one computed in another way.
    """
    target, hold_at = 8, 4
    game = get_game(f"pig(target={target})")

    def cautious(state: Any) -> tuple[tuple[Any, float], ...]:
        actions = state.actions()
        return ((1 if 1 in actions and state.total >= hold_at else actions[0], 1.0),)

    # Policy evaluation and improvement over all positions, by key.
    start: Any = game.initial_state()
    known = reachable(start)
    values = {
        key: float(state.returns()[0]) if state.to_move == TERMINAL else 0.0
        for key, state in known.items()
    }
    change = 1.0
    while change > 1e-13:
        change = 0.0
        for key, state in known.items():
            if state.to_move == TERMINAL:
                continue
            if state.to_move == 0:
                new = max(values[state.after(action).key()] for action in state.actions())
            else:
                edges = state.chance_outcomes() if state.to_move == CHANCE else cautious(state)
                new = sum(weight * values[state.after(move).key()] for move, weight in edges)
            change = max(change, abs(new - values[key]))
            values[key] = new
    chance_to_win = pig_alone_against_holding(target, hold_at)
    assert values[start.key()] == pytest.approx(2 * chance_to_win - 1, abs=1e-9)
    for depth in (1, 3, 6):
        result = expectimax(
            game,
            start,
            Limit(depth=depth),
            opponents=cautious,
            evaluate=lambda state, seat: values[state.key()],
        )
        assert result.value == pytest.approx(2 * chance_to_win - 1, abs=1e-9)


# Against the course's opponent: depth-2 minimax with 80 %, random otherwise.


@functools.cache
def course_tree(seed: int) -> Any:
    """A random tree of four plies and three branches, whose leaves differ widely."""
    rng = random.Random(seed)

    def grow(depth: int) -> Any:
        if depth == 0:
            return float(rng.choice((-90, -20, -5, 0, 5, 20, 90)))
        return tuple(grow(depth - 1) for _ in range(3))

    return grow(4)


def exact_against(first: Callable[[Any], Any], model: Policy, state: Any) -> float:
    """Expected return of seat 0 that plays by ``first`` against the policy, over all play."""
    if state.to_move == TERMINAL:
        return float(state.returns()[0])
    if state.to_move == 0:
        return exact_against(first, model, state.after(first(state)))
    return sum(
        weight * exact_against(first, model, state.after(action)) for action, weight in model(state)
    )


def test_a_right_model_beats_minimax_against_an_opponent_who_errs(tree: Tree) -> None:
    """Expectimax with the model never does worse than minimax against it, and better by a
    clear margin over many games: exactly, and in a statistical test over seeded matches.
    """
    gains: list[float] = []
    sampled: list[float] = []
    for seed in range(120):
        game, state = tree(course_tree(seed))
        model = remembered(mixed_policy(search_policy(minimax, game, Limit(depth=2)), 0.8))

        def by_model(state: Any, game: Game = game, model: Policy = model) -> Any:
            return expectimax(game, state, opponents=model).action

        def by_minimax(state: Any, game: Game = game) -> Any:
            return minimax(game, state).action

        better = exact_against(by_model, model, state)
        gains.append(better - exact_against(by_minimax, model, state))
        assert gains[-1] >= -1e-9
        assert better == pytest.approx(expectimax(game, state, opponents=model).value)
        for number, player in enumerate((by_model, by_minimax)):
            rng = random.Random(1000 + seed)
            position = state
            while position.to_move != TERMINAL:
                if position.to_move == 0:
                    position = position.after(player(position))
                else:
                    position = position.after(choose(model, position, rng))
            sampled.append(position.returns()[0] * (1 - 2 * number))
    assert sum(gains) / len(gains) > 3.0
    differences = [one + other for one, other in zip(sampled[::2], sampled[1::2], strict=True)]
    mean = sum(differences) / len(differences)
    variance = sum((difference - mean) ** 2 for difference in differences) / (len(differences) - 1)
    assert mean > 1.96 * math.sqrt(variance / len(differences)), "a 95 % interval clear of zero"


# Policies


def test_a_mixture_shares_the_rest_among_all_actions(tree: Tree) -> None:
    game, state = tree((3.0, 1.0, 2.0, 1.0), 1)
    clever = search_policy(minimax, game, Limit(depth=2))
    assert dict(mixed_policy(clever, 0.8)(state)) == pytest.approx(
        {0: 0.05, 1: 0.85, 2: 0.05, 3: 0.05}
    )
    tied = search_policy(minimax, game, Limit(depth=2), share_ties=True)
    assert dict(mixed_policy(tied, 0.8)(state)) == pytest.approx(
        {0: 0.05, 1: 0.45, 2: 0.05, 3: 0.45}
    )
    assert dict(mixed_policy(clever, 1.0)(state)) == {1: 1.0}
    with pytest.raises(ValueError, match="from 0 to 1"):
        mixed_policy(clever, 1.2)


def test_greedy_and_softmax_follow_an_evaluation(tree: Tree) -> None:
    _, state = tree(((1.0,), 2.0, (1.0, 3.0)))
    assert dict(greedy_policy()(state)) == {1: 1.0}
    assert dict(greedy_policy(lambda child, seat: 7.0)(state)) == {0: 0.5, 2: 0.5}
    soft = dict(softmax_policy(2.0)(state))
    assert soft[1] / soft[0] == pytest.approx(math.exp(2.0 / 2.0))
    assert math.fsum(soft.values()) == pytest.approx(1.0)
    cold = dict(softmax_policy(1e-3)(state))
    assert cold[1] == pytest.approx(1.0)
    with pytest.raises(ValueError, match="above 0"):
        softmax_policy(0.0)


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        (((7, 1.0),), "plays 7, which is not legal; legal are 0, 1"),
        (((0, 0.5),), "sum to 0.5, not to 1"),
        (((0, -0.5), (1, 1.5)), "with probability -0.5"),
        (((0, float("nan")), (1, 1.0)), "with probability nan"),
    ],
)
def test_a_policy_that_is_no_distribution_is_refused(tree: Tree, pairs: Any, said: str) -> None:
    game, state = tree(((1.0, 2.0), (3.0, 4.0)))
    with pytest.raises(ValueError, match=said):
        expectimax(game, state, opponents=lambda state: pairs)
    with pytest.raises(ValueError, match=said):
        distribution(lambda state: pairs, state)


@pytest.mark.parametrize("given", [None, 0, [0, 1], [(0, 0.5, 1)], ["ab"]])
def test_a_policy_that_gives_no_pairs_is_refused(tree: Tree, given: Any) -> None:
    game, state = tree(((1.0, 2.0), (3.0, 4.0)))
    said = re.escape(f"the policy gave {given!r}: expected (action, probability) pairs, as in [(0")
    with pytest.raises(TypeError, match=said):
        expectimax(game, state, opponents=lambda state: given)
    with pytest.raises(TypeError, match="'uniform' is no policy: expected a function"):
        expectimax(game, state, opponents=cast(Any, "uniform"))
    kuhn = get_game("kuhn_poker")
    with pytest.raises(TypeError, match=r"expected \(action, probability\) pairs"):
        best_response(kuhn, lambda state: given, 0)
    with pytest.raises(TypeError, match="'uniform' is no policy: expected a function"):
        best_response(kuhn, cast(Any, "uniform"), 0)


@pytest.mark.parametrize("given", [None, "high"])
def test_an_evaluation_that_gives_no_number_is_refused(tree: Tree, given: Any) -> None:
    game, state = tree((((1.0, 2.0), 0.0), (3.0, 4.0)))
    said = f"the evaluation gave {given!r}: expected a number"
    for search in (minimax, expectimax):
        with pytest.raises(TypeError, match=said):
            search(game, state, Limit(depth=1), evaluate=lambda state, seat: given)
    with pytest.raises(TypeError, match=said):
        greedy_policy(lambda state, seat: given)(state)


def test_choosing_follows_the_probabilities(tree: Tree) -> None:
    _, state = tree((1.0, 2.0, 3.0))
    rng = random.Random(2)
    policy = mixed_policy(lambda state: ((2, 1.0),), 0.7)
    drawn = [choose(policy, state, rng) for _ in range(3000)]
    assert drawn.count(2) / 3000 == pytest.approx(0.8, abs=0.03)
    assert drawn.count(0) / 3000 == pytest.approx(0.1, abs=0.03)


def test_a_remembered_policy_is_asked_once_per_position() -> None:
    asked: list[Any] = []

    def policy(state: Any) -> Any:
        asked.append(state.key())
        return uniform_policy(state)

    game = get_game("tic_tac_toe")
    state = game.initial_state()
    plain = expectimax(game, state, Limit(depth=4), opponents=policy)
    assert len(asked) > len(set(asked))
    asked.clear()
    again = expectimax(game, state, Limit(depth=4), opponents=remembered(policy))
    assert len(asked) == len(set(asked))
    assert again.values == plain.values
    asked.clear()
    expectimax(game, state, Limit(depth=4), opponents=remembered(policy, size=3))
    assert len(asked) > len(set(asked)), "forgotten when there are too many"
