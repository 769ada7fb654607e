"""Tunes the weights of an othello evaluation in two ways, and shows what that brings.

The script plays matches with the default weights and fits weights to their results by logistic
regression. It learns other weights from zero by TD(lambda) in self-play. Then the sets of weights
play mirrored pairs of matches from the same random openings, with alpha-beta to depth 2.

    python examples/tune_othello.py --matches 400 --pairs 150
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
import sys
from collections.abc import Callable
from typing import Any

from plyhouse.games.base import TERMINAL, Game
from plyhouse.games.registry import get_game
from plyhouse.learning.tuning import fit_logistic, samples_of, td_lambda
from plyhouse.search import Limit, LinearEvaluation, PlayedMatch, alpha_beta

Evaluation = Callable[[Any, int], float]
OPENING = 8
"""Random plies before each match."""


def opening(game: Game, rng: random.Random) -> list[Any]:
    """Random actions that leave a seat to move."""
    while True:
        state: Any = game.initial_state()
        actions = []
        while state.to_move >= 0 and len(actions) < OPENING:
            actions.append(rng.choice(state.actions()))
            state = state.after(actions[-1])
        if state.to_move >= 0:
            return actions


def play(
    game: Game, seats: tuple[Evaluation, Evaluation], actions: list[Any], depth: int, seed: int = 0
) -> PlayedMatch:
    """One match by alpha-beta, after an opening."""
    state: Any = game.initial_state()
    texts: list[str] = []
    while state.to_move != TERMINAL:
        if len(texts) < len(actions):
            action = actions[len(texts)]
        else:
            evaluate = seats[state.to_move]
            action = alpha_beta(
                game, state, Limit(depth=depth), evaluate=evaluate, seed=seed
            ).action
        texts.append(game.format(state, action))
        state = state.after(action)
    return PlayedMatch(texts, state.returns())


def duel(
    game: Game, one: Evaluation, other: Evaluation, pairs: int, depth: int
) -> tuple[float, float]:
    """Mean return of ``one``, and half its 95 % interval, over mirrored pairs."""
    rng = random.Random(1)
    scores = []
    for _ in range(pairs):
        actions = opening(game, rng)
        first = play(game, (one, other), actions, depth).returns[0]
        second = play(game, (other, one), actions, depth).returns[1]
        scores.append((first + second) / 2)
    margin = 1.96 * statistics.stdev(scores) / math.sqrt(pairs)
    return statistics.mean(scores), margin


def main(arguments: list[str] | None = None) -> None:
    """Tune, play and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--matches", type=int, default=400, help="matches to learn from")
    parser.add_argument("--pairs", type=int, default=150, help="mirrored pairs of the comparison")
    parser.add_argument("--depth", type=int, default=2, help="plies that alpha-beta looks ahead")
    options = parser.parse_args(arguments)
    out = sys.stdout.write

    game = get_game("othello")
    plain = LinearEvaluation(game)
    rng = random.Random(5)
    matches = [
        play(game, (plain, plain), opening(game, rng), 1, seed=number + 1)
        for number in range(options.matches)
    ]
    fitted, fit = fit_logistic(plain, samples_of(plain, matches, skip=OPENING))
    out(f"logistic regression {fit}\n")
    blank = plain.with_weights([0.0] * len(plain.weights))
    learned = td_lambda(blank, options.matches, rate=0.3, seed=3)

    out(f"\n{'feature':<10}{'plain':>8}{'fitted':>8}{'learned':>8}\n")
    for row in zip(
        plain.features.names, plain.weights, fitted.weights, learned.weights, strict=True
    ):
        out(f"{row[0]:<10}{row[1]:>8.2f}{row[2]:>8.2f}{row[3]:>8.2f}\n")

    out("\nmean return per match, with its 95 % interval\n")
    for name, one, other in (
        ("fitted against plain", fitted, plain),
        ("learned against plain", learned, plain),
        ("learned against none", learned, blank),
        ("fitted against learned", fitted, learned),
    ):
        score, margin = duel(game, one, other, options.pairs, options.depth)
        out(f"{name:<24}{score:+.3f}  [{score - margin:+.3f}, {score + margin:+.3f}]\n")


if __name__ == "__main__":
    main()
