"""Tuning: known weights come back, results are repeatable, tuned beats untuned."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest

from plyhouse.games.base import TERMINAL, Game
from plyhouse.games.errors import GameMismatch
from plyhouse.games.registry import get_game
from plyhouse.learning.tuning import (
    Sample,
    fit_logistic,
    logistic_regression,
    samples_of,
    td_lambda,
)
from plyhouse.search import Limit, alpha_beta, solve
from plyhouse.search.evaluation.linear_evaluation import LinearEvaluation
from plyhouse.search.evaluation.played_matches import InvalidMatch, PlayedMatch, replay


def opening(game: Game, rng: random.Random, plies: int) -> tuple[Any, list[str]]:
    """A position after random plies, in which a seat is to move."""
    while True:
        state: Any = game.initial_state()
        texts: list[str] = []
        while state.to_move >= 0 and len(texts) < plies:
            action = rng.choice(state.actions())
            texts.append(game.format(state, action))
            state = state.after(action)
        if state.to_move >= 0:
            return state, texts


def play(
    game: Game, evaluations: Any, state: Any, depth: int, seed: int = 0
) -> tuple[Any, list[str]]:
    """Play on by alpha-beta, each seat with its evaluation: the end, and the actions."""
    texts = []
    while state.to_move != TERMINAL:
        evaluate = evaluations[state.to_move]
        action = alpha_beta(game, state, Limit(depth=depth), evaluate=evaluate, seed=seed).action
        texts.append(game.format(state, action))
        state = state.after(action)
    return state, texts


def duel(game: Game, first: Any, second: Any, pairs: int, depth: int) -> tuple[float, float]:
    """Mean return of the first in mirrored pairs, and half the width of its 95 % interval."""
    rng = random.Random(1)
    scores = []
    for _ in range(pairs):
        state, _ = opening(game, rng, 6)
        one, _ = play(game, (first, second), state, depth)
        two, _ = play(game, (second, first), state, depth)
        scores.append((one.returns()[0] + two.returns()[1]) / 2)
    return float(np.mean(scores)), 1.96 * float(np.std(scores, ddof=1)) / math.sqrt(pairs)


@pytest.fixture(scope="module")
def othello_matches() -> list[PlayedMatch]:
    game = get_game("othello")
    evaluation = LinearEvaluation(game)
    rng = random.Random(5)
    matches = []
    for number in range(100):
        state, texts = opening(game, rng, 8)
        end, more = play(game, (evaluation, evaluation), state, 1, number + 1)
        matches.append(PlayedMatch(texts + more, end.returns(), f"match {number}"))
    return matches


def test_known_weights_come_back() -> None:
    rng = np.random.default_rng(4)
    truth = np.array([2.0, -1.0, 0.5, 0.0])
    features = rng.normal(size=(40_000, 4))
    chances = 1 / (1 + np.exp(-features @ truth))
    exact, converged, _ = logistic_regression(features, chances, ridge=0.0)
    assert converged
    assert exact == pytest.approx(truth, abs=1e-9)
    results = (rng.random(40_000) < chances).astype(float)
    noisy, converged, steps = logistic_regression(features, results)
    assert converged
    assert steps < 20
    assert noisy == pytest.approx(truth, abs=0.06)


def test_the_solution_has_no_slope() -> None:
    rng = np.random.default_rng(1)
    features = rng.normal(size=(200, 3))
    results = rng.choice([0.0, 0.5, 1.0], 200)
    weights, _, _ = logistic_regression(features, results, ridge=2.0)
    chances = 1 / (1 + np.exp(-features @ weights))
    assert features.T @ (chances - results) + 2.0 * weights == pytest.approx(np.zeros(3), abs=1e-8)


def test_a_ridge_keeps_weights_finite_where_results_can_be_told_apart() -> None:
    features = np.array([[1.0], [2.0], [-1.0], [-3.0]])
    results = np.array([1.0, 1.0, 0.0, 0.0])
    weights, converged, _ = logistic_regression(features, results, ridge=1.0)
    assert converged
    assert 0 < weights[0] < 3


def test_tuning_on_results_is_repeatable_and_better_on_matches_held_out(
    othello_matches: list[PlayedMatch],
) -> None:
    base = LinearEvaluation(get_game("othello"))
    samples = samples_of(base, othello_matches, skip=8)
    tuned, fit = fit_logistic(base, samples, seed=2)
    again, _ = fit_logistic(base, samples, seed=2)
    assert tuned.weights == again.weights
    assert fit.converged
    assert fit.held_out_loss is not None
    assert fit.untuned_loss is not None
    assert fit.held_out_loss < fit.untuned_loss
    assert fit.loss < math.log(2)
    assert fit.fitted + fit.held_out == len(samples)
    named = dict(zip(tuned.features.names, tuned.weights, strict=True))
    assert named["corners"] > 0 > named["slanting"]
    assert "logistic regression on 100 matches" in tuned.tuned
    assert "converged after" in str(fit)


def test_self_play_is_repeatable_and_learns_what_corners_are_worth() -> None:
    game = get_game("othello")
    blank = LinearEvaluation(game, weights=[0.0] * 7)
    told: list[int] = []
    tuned = td_lambda(
        blank, 100, rate=0.3, seed=3, progress=lambda played, evaluation: told.append(played)
    )
    assert told == list(range(1, 101))
    few = [td_lambda(blank, 10, seed=number).weights for number in (3, 3, 4)]
    assert few[0] == few[1] != few[2]
    named = dict(zip(tuned.features.names, tuned.weights, strict=True))
    assert named["corners"] > 0.5
    assert named["slanting"] < 0
    assert "TD(lambda) on 100 matches" in tuned.tuned


def test_weights_from_self_play_beat_the_untuned_ones() -> None:
    game = get_game("breakthrough(size=5)")
    blank = LinearEvaluation(game, weights=[0.0] * 5)
    tuned = td_lambda(blank, 100, rate=0.3, seed=3)
    score, margin = duel(game, tuned, blank, pairs=25, depth=2)
    assert score - margin > 0


def test_weights_from_results_beat_those_they_come_from(
    othello_matches: list[PlayedMatch],
) -> None:
    game = get_game("othello")
    base = LinearEvaluation(game)
    tuned, _ = fit_logistic(base, samples_of(base, othello_matches, skip=8))
    score, margin = duel(game, tuned, base, pairs=60, depth=2)
    assert score - margin > 0


def test_td_finds_the_theory_of_coins() -> None:
    # The coins modulo three, told apart by indicators: it must find out which one loses.
    game = get_game("coins(coins=30)")

    def left(rest: int) -> Any:
        def feature(state: Any, seat: int) -> float:
            if state.coins % 3 != rest:
                return 0.0
            return 1.0 if state.to_move == seat else -1.0

        return feature

    blank = LinearEvaluation(game, {f"rest {rest}": left(rest) for rest in range(3)})
    tuned = td_lambda(blank, 300, rate=0.3, explore=0.3, seed=1)
    zero, one, two = tuned.weights
    assert one < -1
    assert zero > 1
    assert two > 1
    table = solve(game)
    state: Any = game.initial_state()
    while state.to_move != TERMINAL:
        best = table.probe(state)
        result = alpha_beta(game, state, Limit(depth=1), evaluate=tuned)
        assert table.values(state)[result.action].value == best.value
        state = state.after(result.action)


def test_td_plays_games_with_dice() -> None:
    game = get_game("pig(target=20)")

    def lead(state: Any, seat: int) -> float:
        return float(state.scores[seat] - state.scores[1 - seat]) / 20

    def risk(state: Any, seat: int) -> float:
        return float(state.total) / 20 * (1 if state.turn == seat else -1)

    tuned = td_lambda(LinearEvaluation(game, {"lead": lead, "risk": risk}), 500, rate=0.5, seed=2)
    assert tuned.weights[0] > 0.3
    assert tuned.weights[1] > 0


def test_a_limit_ends_self_play_early(ticking_clock: Any) -> None:
    game = get_game("tic_tac_toe")
    base = LinearEvaluation(game)
    limit = Limit(time=1.0, clock=ticking_clock(100_000_000))
    tuned = td_lambda(base, 1000, limit=limit)
    assert "TD(lambda) on 9 matches" in tuned.tuned


def test_matches_that_break_the_rules_are_refused() -> None:
    game = get_game("tic_tac_toe")
    good = PlayedMatch(["b2", "a1", "b1", "b3", "c3"], (0.0, 0.0), "m1")
    assert len(list(replay(game, good))) == 5
    with pytest.raises(InvalidMatch, match=r"m2, action 1: .*b2"):
        list(replay(game, PlayedMatch(["b2", "b2"], (0.0, 0.0), "m2")))
    with pytest.raises(InvalidMatch, match="m3 has 1 returns, but tic_tac_toe has 2 seats"):
        list(replay(game, PlayedMatch(["b2"], (0.0,), "m3")))
    won = ["a1", "b1", "a2", "b2", "a3", "c3"]
    with pytest.raises(InvalidMatch, match="goes on with 'c3' after its end, at action 5"):
        list(replay(game, PlayedMatch(won, (1.0, -1.0))))
    rolled = PlayedMatch(["roll", "7"], (1.0, -1.0), "m4")
    with pytest.raises(InvalidMatch, match="m4, action 1"):
        list(replay(get_game("pig"), rolled))


def test_bad_options_are_told() -> None:
    base = LinearEvaluation(get_game("tic_tac_toe"))
    samples = [Sample((0.0, 0.0, 0.0, 1.0), 1.0, 0)]
    with pytest.raises(ValueError, match="there are no positions to tune on"):
        fit_logistic(base, [])
    with pytest.raises(ValueError, match=r"held_out=1: expected a share from 0 up to 1"):
        fit_logistic(base, samples, held_out=1)
    with pytest.raises(ValueError, match="ridge=-1"):
        fit_logistic(base, samples, ridge=-1)
    with pytest.raises(ValueError, match="trace=2: expected a number from 0 to 1"):
        td_lambda(base, 10, trace=2)
    with pytest.raises(ValueError, match="matches=0: expected at least 1"):
        td_lambda(base, 0)
    three = LinearEvaluation(get_game("pig(seats=3)"), {"a": lambda state, seat: 0.0})
    with pytest.raises(GameMismatch, match="it has 3 seats"):
        td_lambda(three, 10)
