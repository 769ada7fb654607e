"""Training of the network for Leduc poker, in steps that can be interrupted.

In a step some second rounds are solved: with random ranges, and with ranges met while the network
serves as leaf values of the first round.  The latter are
disturbed a little.  Then the network learns from all that was solved so far by steps of Adam (D.
Kingma and J. Ba, ICLR 2015).  DeepStack learned from random ranges, ReBeL from those it met.

Step n of a seed always draws the same random numbers.  So a training that continues from a
checkpoint gives the same weights as one that was never interrupted, on the same machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from plyhouse.games.registry import get_game
from plyhouse.learning.checkpoints import Training
from plyhouse.learning.leduc_continual import LINE_PAID, FirstRound, continual_policy
from plyhouse.learning.leduc_network import LeducNetwork, write_leduc_network
from plyhouse.learning.leduc_subgames import PAID, SecondRounds, deal_ranges
from plyhouse.learning.weights import adam_step
from plyhouse.search.equilibria.best_response import nash_conv

Floats = NDArray[Any]

BATCH: Final = 144
"""Subgames of each number of chips in a step of Adam from those met; a sixth as many random."""
OLDEST: Final = 0.4
"""Share of the subgames met, the oldest, that are not learned from any more."""
LONG: Final = 600
"""Iterations of a first round that begins as one of a match, in a step."""
SHORT: Final = 150
"""Iterations of one that begins with a random policy."""
EVERY: Final = 15
"""Iterations after which ranges are taken, on average."""
AVERAGES: Final = 5
"""Copies of the ranges of the average policy that are disturbed, for each of the two."""
HELD_OUT: Final = 600
"""Random subgames that measure a point of the curve."""
FIRST: Final = 1000
"""Iterations of the first round, and of each second round, for the NashConv of the curve."""


@dataclass(frozen=True)
class LeducSettings:
    """Settings that, with the number of subgames, determine the result of a training."""

    seed: int = 0
    hidden: int = 64
    """Units that see the range of a seat."""
    features: int = 160
    """Features of a range, made of these."""
    rate: float = 0.015
    """Adam's first rate."""
    halving: int = 6_000
    """Subgames after which the rate is a half; after twice as many, a quarter."""
    iterations: int = 1200
    """Iterations of CFR+ for each subgame."""
    steps: int = 1500
    """Steps of Adam after each batch of subgames."""


class LeducTraining(Training):
    """A network in training.

    >>> training = LeducTraining(LeducSettings(hidden=4, features=4, iterations=20, steps=2))
    >>> training.run(1)
    >>> training.played  # whole batches
    720
    """

    form = "plyhouse-leduc-training-2"
    settings_type = LeducSettings
    counters = ("played", "steps", "batches", "error")

    def __init__(self, settings: LeducSettings) -> None:
        self.settings = settings
        self.played = 0
        """Subgames solved."""
        self.steps = 0
        """Steps of Adam."""
        self.batches = 0
        self.network = LeducNetwork(settings.hidden, settings.features)
        self.network.randomize(settings.seed)
        self.mean = [np.zeros_like(weight) for weight in self.network.weights]
        self.square = [np.zeros_like(weight) for weight in self.network.weights]
        self.random = _none()
        """Solved subgames with random ranges: shape (2, 3, n, 2, 3), ranges and values by chips."""
        self.met = _none()
        """The same with ranges met, the oldest first."""
        self.error = 0.0
        """Mean error in chips in the last ranges met, before anything was learned from them."""
        self.curve: list[tuple[int, float, float, float]] = []
        """Subgames solved, mean errors in chips in random ranges and in those met, NashConv."""

    def step(self) -> None:
        """Solve one batch of subgames, and learn."""
        settings = self.settings
        rng = np.random.default_rng((settings.seed, self.batches))
        ranges = self.meet(rng)
        count = ranges.shape[1]
        dealt = deal_ranges(rng, len(PAID) * (count // 3)).reshape(len(PAID), -1, 2, 3)
        mixed = np.concatenate([ranges, dealt], axis=1)
        solved = solve(mixed, settings.iterations)
        self.error = self.mean_error(solved[:, :, :count])
        self.met = np.concatenate([self.met, solved[:, :, :count]], axis=2)
        self.random = np.concatenate([self.random, solved[:, :, count:]], axis=2)
        self.played += mixed.shape[0] * mixed.shape[1]
        self.batches += 1
        rate = settings.rate * 0.5 ** (self.played / settings.halving)
        for _ in range(settings.steps):
            self.learn(rng, rate)

    def meet(self, rng: np.random.Generator) -> Floats:
        """Return ranges met in first rounds by the network, shape (3, n, 2, 3)."""
        found = []
        for begin, end in ((None, LONG), (rng, SHORT)):
            first = FirstRound(self.network, begin)
            for mark in sorted(rng.integers(5, end, end // EVERY).tolist()):
                first.run(max(0, mark - first.iterations))
                found.append(first.met_ranges(first.chances))
            found += [first.met_ranges(first.averages())] * AVERAGES
        ranges = np.stack(found)
        disturbed = rng.choice([0.0, 0.02, 0.1], (*ranges.shape[:2], 1, 1))
        ranges *= np.exp(rng.standard_normal(ranges.shape) * disturbed)
        ranges /= ranges.sum(axis=3, keepdims=True)
        by_pot = [ranges[:, chips == LINE_PAID].reshape(-1, 2, 3) for chips in PAID]
        least = min(map(len, by_pot))
        return np.stack([rng.permutation(each)[:least] for each in by_pot])

    def learn(self, rng: np.random.Generator, rate: float) -> None:
        """Do one step of Adam."""
        met, dealt = self.met.shape[2], self.random.shape[2]
        rows = rng.integers(int(OLDEST * met), met, BATCH)
        others = rng.integers(0, dealt, BATCH // 6)
        ranges, values = np.concatenate([self.met[:, :, rows], self.random[:, :, others]], axis=2)
        slopes = self.network.gradient(ranges, values)
        self.steps += 1
        adam_step(self.network.weights, slopes, self.mean, self.square, self.steps, rate)

    def mean_error(self, solved: Floats) -> float:
        """Return the mean absolute error of the network in solved subgames, in chips."""
        ranges, values = solved
        found = [
            self.network(np.full(len(own), chips), own.astype(float))
            for own, chips in zip(ranges, PAID, strict=True)
        ]
        return float(np.abs(np.stack(found) - values).mean())

    def mark(self) -> None:
        """Add a point to the curve after 1000, 2000, 5000, 10,000 and so on subgames."""
        due = self.next_point(1000)
        if self.played >= due:
            self.curve.append((due, *self.measure()))

    def measure(self) -> tuple[float, float, float]:
        """Return the mean errors in random ranges and in those met, and NashConv."""
        settings = self.settings
        rng = np.random.default_rng((settings.seed, 0, 1))
        held_out = solve(deal_ranges(rng, HELD_OUT).reshape(3, -1, 2, 3), settings.iterations)
        policy = continual_policy(get_game("leduc_poker"), self.network, iterations=FIRST)
        return self.mean_error(held_out), self.error, nash_conv(policy.game, policy)

    def text(self) -> str:
        """Return the network as a file that `load_leduc_network` reads, with the curve."""
        settings = self.settings
        trained = (
            f"{self.played} subgames, {self.steps} steps, seed {settings.seed}, Adam's rate "
            f"{settings.rate:g}, halved after {settings.halving} subgames, {settings.iterations} "
            "iterations of CFR+ each"
        )
        return write_leduc_network(self.network, trained, self.curve)

    def arrays(self) -> list[Floats]:
        """Return all arrays of the checkpoint."""
        return [self.random, self.met, *self.network.weights, *self.mean, *self.square]

    def restore(self, arrays: Sequence[Floats]) -> None:
        """Continue with the arrays of a checkpoint; the subgames are as many as it has."""
        self.random, self.met = arrays[:2]
        super().restore(arrays)


def solve(ranges: Floats, iterations: int) -> Floats:
    """Return ranges of the shape (3, n, 2, 3), chips first, and the values of their hands."""
    paid = np.repeat(PAID, ranges.shape[1])
    rounds = SecondRounds(paid, ranges.reshape(-1, 2, 3))
    rounds.run(iterations)
    values = rounds.values()[0].reshape(ranges.shape)
    return np.stack([ranges, values]).astype(np.float32)


def _none() -> Floats:
    return np.zeros((2, len(PAID), 0, 2, 3), np.float32)
