"""Training of backgammon's network by self-play, in steps that can be interrupted.

The network plays both sides of some matches, always the turn after which it likes the position best
(`plyhouse.search.kernels.backgammon_learning`).  Then its weights take one step that brings the
chances of all positions of these matches nearer to their targets.  The steps are those of Adam (D.
Kingma and J. Ba, ICLR 2015), whose rate falls with the number of matches.

Match n of a seed always has the same dice.  So a training that continues from a checkpoint gives
the same weights as one that was never interrupted, on the same machine.
"""

from __future__ import annotations

import functools
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from plyhouse.games.stochastic.backgammon.estimate import (
    CHANCES,
    COUNTS,
    FORMAT,
    INPUTS,
    PLACES,
    UNIT,
    Network,
    points_of,
    read_network,
)
from plyhouse.games.stochastic.backgammon.rules import CHECKERS, START
from plyhouse.games.stochastic.backgammon.turns import apply_turn, turns_of
from plyhouse.learning.checkpoints import Training
from plyhouse.learning.weights import adam_step
from plyhouse.search.files import InvalidFile
from plyhouse.search.kernels.backgammon_learning import BackgammonLearningKernel, row_scale

Floats = NDArray[np.float64]
SHIPPED: Final = Path(__file__).with_name("backgammon_network.toml")
"""A network that a training of this module has made; docs/search/td-gammon.md has its curve."""
ROWS: Final = 2 * PLACES * INPUTS


@dataclass(frozen=True)
class Settings:
    """Settings that, with the number of matches, determine the result of a training."""

    seed: int = 0
    hidden: int = 64
    """Hidden units of the network."""
    trace: float = 0.5
    """Lambda: 0 learns from the next position only, 1 from the end of the match only."""
    rate: float = 0.004
    """Adam's first rate."""
    halving: int = 10_000
    """Matches after which the rate is a half of the first; after twice as many, a third."""
    batch: int = 8
    """Matches played between two steps."""
    pairs: int = 200
    """Pairs of matches that measure each point of the curve; 0 measures none."""

    def rate_after(self, played: int) -> float:
        """Return the rate of a step after so many matches."""
        return self.rate * self.halving / (self.halving + played)


def _table() -> Floats:
    """Inputs of each place and count."""
    found = np.zeros((PLACES, COUNTS, INPUTS))
    for place in range(PLACES):
        for count in range(COUNTS):
            for checker in range(count):
                row = 0 if place in (0, PLACES - 1) else min(checker, INPUTS - 1)
                found[place, count, row] += row_scale(place, row)
    return found


TABLE: Final = _table()
PLACE: Final = np.tile(np.arange(PLACES), 2)
SCALES: Final = np.array([row_scale(at // INPUTS % PLACES, at % INPUTS) for at in range(ROWS)])


def encode(positions: list[bytes]) -> Floats:
    """Return the inputs of positions, one row each: 208 numbers.

    A position is the 26 counts of the side that rolls next, and those of the other.  Each point
    has four inputs, as G. Tesauro's: whether it has at least one, two, three checkers, and half
    the number of those above three.  The checkers on the bar (halves) and those borne off
    (fifteenths) have one input each, so 12 inputs are always 0.
    """
    counts = np.frombuffer(b"".join(positions), np.uint8).reshape(-1, 2 * PLACES)
    inputs: Floats = TABLE[PLACE, counts].reshape(len(counts), ROWS)
    return inputs


@dataclass
class Weights:
    """The weights of a network, or of the same shapes their gradient or a mean of it."""

    rows: Floats
    """One row for each input, with a column for each hidden unit."""
    bias: Floats
    out: Floats
    """One row for each hidden unit, with five columns."""
    out_bias: Floats

    def arrays(self) -> list[Floats]:
        """Return the four arrays."""
        return [self.rows, self.bias, self.out, self.out_bias]

    @classmethod
    def zero(cls, hidden: int) -> Weights:
        """Return weights that are 0."""
        shapes: list[Any] = [(ROWS, hidden), hidden, (hidden, CHANCES), CHANCES]
        return cls(*[np.zeros(shape) for shape in shapes])

    @classmethod
    def random(cls, hidden: int, seed: int) -> Weights:
        """Return small random weights; gammons begin rarer than wins, backgammons rarest."""
        rng = np.random.default_rng(seed)
        found = cls.zero(hidden)
        found.rows[:] = rng.uniform(-0.1, 0.1, found.rows.shape)
        found.out[:] = rng.uniform(-0.1, 0.1, found.out.shape)
        found.out_bias[:] = (0.0, -1.5, -4.0, -1.5, -4.0)
        return found

    def chances(self, inputs: Floats) -> Floats:
        """Return the five chances of each row of inputs."""
        sums = inputs @ self.rows + self.bias
        odds = sums / (1 + np.abs(sums)) @ self.out + self.out_bias
        found: Floats = 1 / (1 + np.exp(-odds))
        return found


def gradient(weights: Weights, inputs: Floats, targets: Floats) -> Weights:
    """Return the gradient of the mean cross-entropy of the chances with their targets.

    The cross-entropies of the five chances are added, and the mean is over positions.
    """
    sums = inputs @ weights.rows + weights.bias
    steep = 1 / (1 + np.abs(sums))
    given = sums * steep
    odds = given @ weights.out + weights.out_bias
    error = (1 / (1 + np.exp(-odds)) - targets) / len(inputs)
    back = (error @ weights.out.T) * steep * steep
    return Weights(inputs.T @ back, back.sum(axis=0), given.T @ error, error.sum(axis=0))


class BackgammonTraining(Training):
    """A network in training.

    >>> training = BackgammonTraining(Settings(hidden=4, batch=2))
    >>> training.run(3)
    >>> training.played  # whole batches
    4
    """

    form = "plyhouse-backgammon-training-2"
    settings_type = Settings
    counters = ("played", "steps")

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.played = 0
        self.steps = 0
        self.weights = Weights.random(settings.hidden, settings.seed)
        self.mean = Weights.zero(settings.hidden)
        """Adam's mean of the gradients."""
        self.square = Weights.zero(settings.hidden)
        """Adam's mean of their squares."""
        self.curve: list[tuple[int, float, float]] = []
        """Matches played, points a match against the game's own network, and the margin at 95 %."""

    def step(self) -> None:
        """Play one batch of matches and learn from them."""
        weights = self.weights
        kernel = self.kernel()
        for match in range(self.played, self.played + self.settings.batch):
            kernel.play(random.Random(f"{self.settings.seed} {match}").random)
        self.played += self.settings.batch
        if not kernel.positions:
            return
        self.steps += 1
        found = gradient(weights, encode(kernel.positions), np.array(kernel.targets))
        rate = self.settings.rate_after(self.played)
        moments = self.mean.arrays(), self.square.arrays()
        adam_step(weights.arrays(), found.arrays(), *moments, self.steps, rate)

    def kernel(self) -> BackgammonLearningKernel:
        """Return a player that uses the weights as they are now."""
        return BackgammonLearningKernel(
            (self.weights.rows * SCALES[:, None]).tolist(),
            self.weights.bias.tolist(),
            self.weights.out.ravel().tolist(),
            self.weights.out_bias.tolist(),
            self.settings.trace,
        )

    def mark(self) -> None:
        """Add a point to the curve after 1000, 2000, 5000, 10,000 and so on matches."""
        due = self.next_point(1000)
        if self.played >= due and self.settings.pairs > 1:
            self.curve.append((due, *against_estimate(self.kernel(), self.settings.pairs)))

    def text(self) -> str:
        """Return the network as a file that `load_backgammon_network` reads, with the curve."""
        settings = self.settings
        weights = self.weights
        per_place = weights.rows.reshape(2 * PLACES, INPUTS, settings.hidden).copy()
        # In the file the first input is for a blot and the second for two or more checkers.
        points = (PLACE > 0) & (PLACE < PLACES - 1)
        per_place[points, 1] += per_place[points, 0]
        lines = [
            "# A network for backgammon, made by `plyhouse learn backgammon`.",
            f'format = "{FORMAT}"',
            f'trained = "TD(lambda) on {self.played} matches of self-play, seed {settings.seed}, '
            f"lambda {settings.trace:g}, Adam's rate {settings.rate:g}, halved after "
            f'{settings.halving} matches, {settings.batch} matches a step"',
            "# Matches of self-play, points a match against the game's own network, 95 % margin.",
            "curve = [",
            *[f"    [{played}, {mean:.3f}, {margin:.3f}]," for played, mean, margin in self.curve],
            "]",
            f"hidden = {settings.hidden}",
            f'hidden_bias = "{_line(weights.bias)}"',
            f'chances_bias = "{_line(weights.out_bias)}"',
            "# Of each hidden unit its weights in the five chances.",
            'chances = """',
            *map(_line, weights.out),
            '"""',
            "# Of each place (borne off, points 1 to 24, bar) of who rolls, then of the other,",
            "# four inputs (blot, point, spare, more) with their weights in the hidden units.",
            'inputs = """',
            *map(_line, per_place.reshape(ROWS, settings.hidden)),
            '"""',
        ]
        return "\n".join(lines) + "\n"

    def arrays(self) -> list[Floats]:
        """Return the weights and Adam's means."""
        return [*self.weights.arrays(), *self.mean.arrays(), *self.square.arrays()]


def load_backgammon_network(path: str | Path = SHIPPED) -> Network:
    """Read a network that a training has written, or the one that comes with Plyhouse.

    Raises `InvalidFile` and `OSError`.
    """
    try:
        return read_network(Path(path).read_text(encoding="utf-8"))
    except KeyError as error:
        raise InvalidFile(path, f"this is not a network for backgammon: no {error}") from error
    except (AttributeError, TypeError, ValueError) as error:
        reason = str(error).removeprefix("network.toml: ")  # the name of the game's own file
        raise InvalidFile(path, f"this is not a network for backgammon: {reason}") from error


def against_estimate(kernel: BackgammonLearningKernel, pairs: int) -> tuple[float, float]:
    """Return the points a match of a network against the game's own, and the margin at 95 %.

    Both take the turn after which they like their position best. The two matches of a pair have
    the same dice; each player begins one.  The dice are the same in every call.
    """
    points = []
    for pair in range(pairs):
        seed = f"estimate {pair}"
        points.append((_match(kernel, seed, 0) + _match(kernel, seed, 1)) / 2)
    return float(np.mean(points)), float(1.96 * np.std(points, ddof=1) / pairs**0.5)


def _match(kernel: BackgammonLearningKernel, seed: str, seat: int) -> float:
    """Return the points of the kernel's network, which plays a seat."""
    rng = random.Random(seed)
    sides = [list(START), list(START)]
    one, two = rng.sample(range(1, 7), 2)
    mover = 0 if one > two else 1
    while True:
        dice = 10 * max(one, two) + min(one, two)
        mine, theirs = sides[mover], sides[1 - mover]
        if mover == seat:
            turn = kernel.choose(mine, theirs, dice)
        else:
            turns = turns_of(mine, theirs, dice)
            turn = min(turns, key=functools.partial(_points_after, mine, theirs, dice))
        apply_turn(mine, theirs, dice, turn)
        if mine[0] == CHECKERS:
            points = 1.0 if theirs[0] else 3.0 if any(theirs[19:]) else 2.0
            return points if mover == seat else -points
        mover = 1 - mover
        one, two = rng.randint(1, 6), rng.randint(1, 6)


def _points_after(mine: list[int], theirs: list[int], dice: int, turn: int) -> float:
    """Return the points that the other seat may expect after a turn, by the game's estimate."""
    own, other = mine[:], theirs[:]
    apply_turn(own, other, dice, turn)
    return -3.0 if own[0] == CHECKERS else points_of(tuple(other), tuple(own))


def _line(numbers: Floats) -> str:
    """Return weights as they are stored: whole numbers."""
    return " ".join([str(int(number)) for number in np.rint(numbers * UNIT)])
