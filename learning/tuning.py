"""Weights of a linear evaluation, from results or from self-play.

* `fit_logistic`: logistic regression on positions labelled by how their match ended (in chess
  programming known as Texel tuning), D. Cox, "The regression analysis of binary sequences", JRSS B
  20 (1958); Newton's method with a ridge, so the answer does not depend on a step size or a seed;
* `td_lambda`: temporal differences, R. Sutton, "Learning to predict by the methods of temporal
  differences", Machine Learning 3 (1988); in self-play as G. Tesauro's TD-Gammon (1995).

>>> features = np.array([[1.0], [1.0], [1.0], [-1.0]])
>>> weights, converged, _ = logistic_regression(features, np.array([1.0, 1.0, 0.0, 0.0]))
>>> round(float(weights[0]), 3), converged
(0.505, True)
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plyhouse.games.base import CHANCE, TERMINAL, Game
from plyhouse.search.evaluation.linear_evaluation import LinearEvaluation
from plyhouse.search.evaluation.played_matches import PlayedMatch, replay
from plyhouse.search.game_requirements import Needs, mismatch
from plyhouse.search.limit import Limit
from plyhouse.search.poll import Poll, SearchStopped

UNLIMITED = Limit()
Floats = NDArray[np.float64]
NEEDS = Needs("tuning", deterministic=False)


@dataclass(frozen=True)
class Sample:
    """A position as the evaluation sees it, for seat 0, and how its match ended."""

    features: tuple[float, ...]
    result: float
    """Score of seat 0: 1 for a win, 1/2 for a draw, 0 for a loss, other returns in between."""
    match: int
    """Which match it is from: the positions of one are not independent of each other."""


@dataclass(frozen=True)
class Fit:
    """Result of the logistic regression."""

    weights: tuple[float, ...]
    converged: bool
    iterations: int
    loss: float
    """Mean log-loss on what was fitted, in nats; a coin toss has 0.693."""
    held_out_loss: float | None
    """The same on matches that were not looked at; None if there were none."""
    untuned_loss: float | None
    """Loss of the previous weights on those, or on the fitted positions if there are none."""
    fitted: int
    held_out: int

    def __str__(self) -> str:
        state = "converged" if self.converged else "NOT converged"
        text = f"{state} after {self.iterations} iterations on {self.fitted} positions; "
        text += f"log-loss {self.loss:.4f}"
        if self.held_out_loss is not None:
            text += f", on {self.held_out} positions held out {self.held_out_loss:.4f}"
        if self.untuned_loss is not None:
            text += f" (before: {self.untuned_loss:.4f})"
        return text


def samples_of(
    evaluation: LinearEvaluation, matches: Iterable[PlayedMatch], *, skip: int = 0
) -> list[Sample]:
    """Return the positions of the matches in which a seat was to move, without the first ``skip``.

    Raises `plyhouse.search.evaluation.played_matches.InvalidMatch`.
    """
    game = evaluation.game
    low, high = game.return_bounds
    samples = []
    for number, match in enumerate(matches):
        for ply, (state, _) in enumerate(replay(game, match)):
            if state.to_move < 0 or ply < skip:
                continue
            values = tuple([float(value) for value in evaluation.features.values(state, 0)])
            result = min(max((match.returns[0] - low) / (high - low), 0.0), 1.0)
            samples.append(Sample(values, result, number))
    return samples


def logistic_regression(
    features: Floats,
    results: Floats,
    *,
    ridge: float = 1.0,
    iterations: int = 100,
    tolerance: float = 1e-10,
) -> tuple[Floats, bool, int]:
    """Weights w that minimise the log-loss of 1 / (1 + exp(-features @ w)), and a ridge.

    ``results`` lie between 0 and 1; ``ridge`` is how many positions' worth of loss a weight
    of 1.41 costs.  Newton's method, with a step halved for as long as it does not help.
    Returns the weights, whether the last step was smaller than ``tolerance``, and the steps.
    """
    if ridge < 0:
        raise ValueError(f"ridge={ridge!r}: expected a number of at least 0")
    count = features.shape[1]
    weights = np.zeros(count)
    loss = _penalised(features, results, weights, ridge)
    for step in range(1, iterations + 1):
        chances = _chances(features @ weights)
        gradient = features.T @ (chances - results) + ridge * weights
        curvature = (features * (chances * (1 - chances))[:, None]).T @ features
        curvature += (ridge + 1e-12) * np.eye(count)
        move = np.linalg.solve(curvature, gradient)
        share = 1.0
        while True:
            new = weights - share * move
            new_loss = _penalised(features, results, new, ridge)
            if new_loss <= loss + 1e-12 * abs(loss) or share < 1e-6:
                break
            share /= 2
        change = float(np.abs(new - weights).max())
        weights, loss = new, new_loss
        if change < tolerance * (1 + float(np.abs(weights).max())):
            return weights, True, step
    return weights, False, iterations


def fit_logistic(
    evaluation: LinearEvaluation,
    samples: Sequence[Sample],
    *,
    ridge: float = 1.0,
    held_out: float = 0.2,
    seed: int = 0,
) -> tuple[LinearEvaluation, Fit]:
    """Tune the weights of an evaluation to results; the features stay.

    ``held_out`` is the share of the matches that is kept aside to see what the weights are
    worth on others; which ones, is drawn by ``seed``.  Raises `ValueError` without samples
    or for a bad option.
    """
    if not 0 <= held_out < 1:
        raise ValueError(f"held_out={held_out!r}: expected a share from 0 up to 1")
    if not samples:
        raise ValueError("there are no positions to tune on: give it finished matches")
    numbers = sorted({sample.match for sample in samples})
    random.Random(seed).shuffle(numbers)
    aside = set(numbers[: int(held_out * len(numbers))])
    fitted = [sample for sample in samples if sample.match not in aside]
    others = [sample for sample in samples if sample.match in aside]
    features, results = _arrays(fitted)
    weights, converged, steps = logistic_regression(features, results, ridge=ridge)
    compared = _arrays(others or fitted)
    fit = Fit(
        weights=tuple(float(weight) for weight in weights),
        converged=converged,
        iterations=steps,
        loss=_loss(features, results, weights),
        held_out_loss=_loss(*compared, weights) if others else None,
        untuned_loss=_loss(*compared, np.array(evaluation.weights)),
        fitted=len(fitted),
        held_out=len(others),
    )
    how = f"logistic regression on {len(numbers)} matches, ridge {ridge:g}: {fit}"
    return evaluation.with_weights(fit.weights, how), fit


def td_lambda(
    evaluation: LinearEvaluation,
    matches: int = 1000,
    *,
    rate: float = 0.1,
    trace: float = 0.7,
    explore: float = 0.1,
    seed: int = 0,
    limit: Limit = UNLIMITED,
    progress: Callable[[int, LinearEvaluation], None] | None = None,
) -> LinearEvaluation:
    """Tune the weights in so many matches of self-play, beginning with those there are.

    Each seat takes the action after which the evaluation is best for it, or a random one with
    the probability ``explore``.  After each ply the value of the previous position moves towards
    that of the new one, at the learning ``rate``, which falls as 1 / sqrt(match).  After a random
    action it does not move, as that says nothing about good play. ``trace`` is lambda, which says
    how far back the difference reaches, from 0 (one ply) to 1 (all of the match).

    The same ``seed`` gives the same weights.  Ends early at the limit's time.
    ``progress(played, evaluation)`` is called after about every hundredth of the matches.
    Raises `GameMismatch` for a game that is not two-seat, zero-sum and open, and `ValueError`
    for options out of range.
    """
    game = evaluation.game
    reasons = tuple(NEEDS.misfits(game))
    if reasons:
        raise mismatch(NEEDS, game, reasons)
    for name, value, low, high in (
        ("rate", rate, 0.0, 10.0),
        ("trace", trace, 0.0, 1.0),
        ("explore", explore, 0.0, 1.0),
    ):
        if not low <= value <= high:
            raise ValueError(f"{name}={value!r}: expected a number from {low:g} to {high:g}")
    if matches < 1:
        raise ValueError(f"matches={matches!r}: expected at least 1")
    rng = random.Random(seed)
    weights = list(evaluation.weights)
    scale = max(abs(bound) for bound in game.return_bounds)
    poll = Poll(limit)
    every = max(1, matches // 100)
    played = 0
    try:
        for played in range(1, matches + 1):
            poll(played)
            step = rate / math.sqrt(1 + 10 * (played - 1) / matches)
            _learn(game, evaluation.features.values, weights, scale, step, trace, explore, rng)
            if progress is not None and played % every == 0:
                progress(played, evaluation.with_weights(weights))
    except SearchStopped:
        played -= 1
    how = (
        f"TD(lambda) on {played} matches of self-play, rate {rate:g}, lambda {trace:g}, "
        f"explore {explore:g}, seed {seed}"
    )
    return evaluation.with_weights(weights, how)


def _learn(
    game: Game,
    values: Callable[[Any, int], Sequence[float]],
    weights: list[float],
    scale: float,
    rate: float,
    trace: float,
    explore: float,
    rng: random.Random,
) -> None:
    """Play one match and move the weights; everything is valued for seat 0, from -1 to 1."""
    size = range(len(weights))
    traces = [0.0 for _ in size]
    state: Any = game.initial_state()
    before: tuple[float, list[float]] | None = None
    while True:
        while state.to_move == CHANCE:
            outcomes = state.chance_outcomes()
            chosen = rng.choices(outcomes, [weight for _, weight in outcomes])[0]
            state = state.after(chosen[0])
        over = state.to_move == TERMINAL
        if over:
            value, slope = float(state.returns()[0]) / scale, [0.0 for _ in size]
        else:
            value, slope = _value(values(state, 0), weights)
        if before is not None:
            for index in size:
                traces[index] = trace * traces[index] + before[1][index]
            error = value - before[0]
            for index in size:
                weights[index] += rate * error * traces[index]
        if over:
            return
        actions = state.actions()
        if rng.random() < explore:
            action = actions[int(rng.random() * len(actions))]
            # Positions after a random action are not typical of good play: start again.
            before, traces = None, [0.0 for _ in size]
        else:
            action = _best(state, actions, values, weights, scale, rng)
            before = value, slope
        state = state.after(action)


def _best(
    state: Any,
    actions: Sequence[Any],
    values: Callable[[Any, int], Sequence[float]],
    weights: list[float],
    scale: float,
    rng: random.Random,
) -> Any:
    """Return the action after which the position is best for the mover; ties by chance."""
    sign = 1.0 if state.to_move == 0 else -1.0
    best, found = -math.inf, []
    for action in actions:
        child = state.after(action)
        if child.to_move == TERMINAL:
            worth = 1e6 * sign * float(child.returns()[0]) / scale
        else:
            worth = sign * sum(w * v for w, v in zip(weights, values(child, 0), strict=True))
        if worth > best:
            best, found = worth, [action]
        elif worth == best:
            found.append(action)
    return found[int(rng.random() * len(found))]


def _value(numbers: Sequence[float], weights: list[float]) -> tuple[float, list[float]]:
    """tanh(z / 2) and its slope in each weight."""
    total = 0.0
    for weight, number in zip(weights, numbers, strict=True):
        total += weight * number
    value = math.tanh(total / 2)
    share = (1 - value * value) / 2
    return value, [share * number for number in numbers]


def _arrays(samples: Sequence[Sample]) -> tuple[Floats, Floats]:
    features = np.array([sample.features for sample in samples], np.float64)
    return features, np.array([sample.result for sample in samples], np.float64)


def _chances(odds: Floats) -> Floats:
    """1 / (1 + exp(-odds)) without overflow."""
    chances: Floats = 0.5 * (1.0 + np.tanh(0.5 * odds))
    return chances


def _loss(features: Floats, results: Floats, weights: Floats) -> float:
    """Mean log-loss."""
    odds = features @ weights
    return float((np.logaddexp(0.0, odds) - results * odds).mean())


def _penalised(features: Floats, results: Floats, weights: Floats, ridge: float) -> float:
    odds = features @ weights
    loss = float((np.logaddexp(0.0, odds) - results * odds).sum())
    return loss + ridge * float(weights @ weights) / 2
