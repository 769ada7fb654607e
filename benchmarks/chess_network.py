r"""Train the network that corrects chess's estimate, and write its file.

    python benchmarks/chess_weights.py --seconds 1300 --nodes 250 --seed 11 --save one.npz
    python benchmarks/chess_network.py one.npz --write games/deterministic/chess/network.bin

The network learns what the fitted estimate lacks of the engine's scores, as winning chances.  The
error is that of a mean square, by Adam (Kingma and Ba, ICLR 2015), with a rate that falls as a
cosine.  ``--begin`` goes on from the weights of a file, perhaps of fewer units, with a smaller
``--rate``.  A twelfth of the positions, in blocks of many matches, is not learned and shows how
well the network does where it has not been.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
from chess_weights import NO_WEIGHTS, PHASES, SCALE

from plyhouse.games.deterministic.chess.network import HIDDEN, INPUTS, STAGES, UNIT
from plyhouse.games.deterministic.chess.network import SCALE as SUM_SCALE
from plyhouse.games.deterministic.chess.tuned_evaluation import (
    MOST_CENTIPAWNS,
    fitted,
    phase_of,
    stage_of,
    term_sum,
)

FINE = SUM_SCALE // UNIT**2
"""Parts of a centipawn in which the last weights are stored."""
LARGEST = 1.85
"""Bound of a weight, so that 32 of them stay within a lane."""
LARGEST_LAST = 32767 / (SCALE * FINE)
"""Bound of a last weight, as the file has 16 bits for it."""
BATCH = 2048
RATE = 0.008
DECAY = 0.2
"""Share of the rate by which weights shrink at each step."""


def inputs(position: Any, black: int) -> Any:
    """Return the numbers of the inputs as a side sees them, up to 32, the rest `INPUTS`."""
    board = position[[21 + n % 8 + 10 * (n // 8) for n in range(64)]].astype(int)
    squares = np.nonzero(board)[0]
    kinds, own = (board[squares] & 7) - 1, board[squares] >> 3 == black
    squares ^= 56 * black
    if squares[(kinds == 5) & own][0] & 7 >= 4:
        squares ^= 7
    found = np.full(32, INPUTS, np.int16)
    found[: len(squares)] = 64 * (kinds + 6 * ~own) + squares
    return found


def beside(outputs: Any) -> Any:
    """Return rows of outputs for the movers beside those for the other sides, given below them."""
    return np.concatenate(np.split(outputs, 2), axis=1)


class Network:
    """Weights, and the means of their gradients that Adam keeps."""

    def __init__(self, rng: Any) -> None:
        self.parts = [
            (rng.normal(size=(INPUTS + 1, HIDDEN)) * 0.08).astype(np.float32),
            np.full(HIDDEN, 0.3, np.float32),
            np.tile((rng.normal(size=2 * HIDDEN) * 0.05).astype(np.float32), (STAGES, 1)),
            np.zeros(STAGES, np.float32),
        ]
        self.firsts = [np.zeros_like(part) for part in self.parts]
        self.seconds = [np.zeros_like(part) for part in self.parts]
        self.steps = 0

    def forward(self, rows: Any, stages: Any) -> tuple[Any, ...]:
        """Return the inputs as ones and zeros, the sums, the clipped ones, and the result.

        ``rows`` are the inputs as the movers see them, and below as the other sides do.
        """
        weights, thresholds, last, constants = self.parts
        both = rows.reshape(-1, 32)
        ones = np.zeros((len(both), INPUTS + 1), np.float32)
        ones[np.arange(len(both))[:, None], both] = 1
        ones[:, INPUTS] = 0
        sums = ones @ weights + thresholds
        clipped = np.clip(sums, 0, 1)
        found = (beside(clipped * clipped) * last[stages]).sum(1) + constants[stages]
        return ones, sums, clipped, found

    def learn(self, rows: Any, stages: Any, known: Any, wanted: Any, rate: float) -> None:
        """Make a step towards chances ``wanted``, where ``known`` is the fitted estimate."""
        ones, sums, clipped, found = self.forward(rows, stages)
        chances = 1 / (1 + np.exp(-(known + found)))
        slope = ((chances - wanted) * chances * (1 - chances) * (4 / len(wanted))).astype(
            np.float32
        )
        of_units = slope[:, None] * self.parts[2][stages]
        inner = np.concatenate([of_units[:, :HIDDEN], of_units[:, HIDDEN:]])
        inner *= 2 * clipped * ((sums > 0) & (sums < 1))
        of_stage = (np.arange(STAGES)[:, None] == stages) * slope
        gradients = (
            ones.T @ inner,
            inner.sum(0),
            of_stage @ beside(clipped * clipped),
            of_stage.sum(1),
        )
        self.steps += 1
        for part, gradient, first, second in zip(
            self.parts, gradients, self.firsts, self.seconds, strict=True
        ):
            first += 0.1 * (gradient - first)
            second += 0.001 * (gradient * gradient - second)
            mean = first / (1 - 0.9**self.steps)
            part -= rate * mean / (np.sqrt(second / (1 - 0.999**self.steps)) + 1e-8)
        self.parts[0] *= 1 - DECAY * rate
        np.clip(self.parts[0], -LARGEST, LARGEST, out=self.parts[0])
        np.clip(self.parts[1], -3, 3, out=self.parts[1])
        np.clip(self.parts[2], -LARGEST_LAST, LARGEST_LAST, out=self.parts[2])

    def error(self, rows: Any, stages: Any, known: Any, wanted: Any) -> float:
        """Return the root mean square error of chances."""
        total = 0.0
        for start in range(0, len(wanted), 8192):
            part = slice(start, start + 8192)
            found = self.forward(rows[:, part], stages[part])[-1]
            chances = 1 / (1 + np.exp(-(known[part] + found)))
            total += float(((chances - wanted[part]) ** 2).sum())
        return float((total / len(wanted)) ** 0.5)

    def take(self, numbers: Any) -> None:
        """Begin with the numbers of a file; units that it has not add nothing at first."""
        weights, thresholds, last, constants = self.parts
        units = (len(numbers) - STAGES) // (INPUTS + 1 + 2 * STAGES)
        inputs = INPUTS * units
        weights[:INPUTS, :units] = numbers[:inputs].reshape(INPUTS, units) / UNIT
        thresholds[:units] = numbers[inputs : inputs + units] / UNIT
        ends = numbers[inputs + units :].reshape(STAGES, 2 * units + 1) / (SCALE * FINE)
        last[:] = 0
        last[:, :units], constants[:] = ends[:, :units], ends[:, 2 * units]
        last[:, HIDDEN : HIDDEN + units] = ends[:, units : 2 * units]

    def data(self) -> bytes:
        """Return the file: 16 bits for each number."""
        weights, thresholds, last, constants = self.parts
        ends = np.concatenate([last, constants[:, None]], axis=1) * SCALE * FINE
        numbers = np.concatenate([weights[:INPUTS].ravel() * UNIT, thresholds * UNIT, ends.ravel()])
        return bytes(np.clip(np.rint(numbers), -32768, 32767).astype("<i2").tobytes())


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("positions", nargs="+", help="files of chess_weights.py --save")
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--rate", type=float, default=RATE, help="of the first steps")
    parser.add_argument("--begin", type=Path, help="file of the network to go on from")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", type=Path, help="file for the network")
    options = parser.parse_args()
    loaded = [np.load(name) for name in options.positions]
    positions = np.concatenate([each["positions"] for each in loaded])
    signs = 1 - 2 * positions[:, 120].astype(int)
    known = np.array([fitted(each.tobytes()) for each in positions])
    known = (known * signs * MOST_CENTIPAWNS / SCALE).astype(np.float32)
    scores = np.concatenate([each["scores"] for each in loaded])
    wanted = (1 / (1 + np.exp(-scores / SCALE))).astype(np.float32)
    rows = np.stack(
        [[inputs(each, (int(each[120]) + other) % 2) for each in positions] for other in range(2)]
    )
    stages = np.array(
        [stage_of(phase_of(term_sum(each.tobytes(), PHASES, NO_WEIGHTS))) for each in positions]
    )
    kept = np.arange(len(positions)) // 2000 % 12 == 0
    learned = np.nonzero(~kept)[0]
    alone = [
        float(np.sqrt(((1 / (1 + np.exp(-known)) - wanted)[each] ** 2).mean()))
        for each in (learned, kept)
    ]
    print(f"{len(positions):,} positions; errors without a network {alone[0]:.4f}, {alone[1]:.4f}")
    rng = np.random.default_rng(options.seed)
    network = Network(rng)
    if options.begin:
        network.take(np.frombuffer(options.begin.read_bytes(), "<i2").astype(float))
    batches = len(learned) // BATCH
    for epoch in range(options.epochs):
        mixed = rng.permutation(learned)
        for batch in range(batches):
            share = (epoch * batches + batch) / (options.epochs * batches)
            rate = options.rate * max(0.02, 0.5 * (1 + np.cos(np.pi * share)))
            some = mixed[batch * BATCH : (batch + 1) * BATCH]
            network.learn(rows[:, some], stages[some], known[some], wanted[some], rate)
        errors = [
            network.error(rows[:, each], stages[each], known[each], wanted[each])
            for each in (mixed[:20000], kept)
        ]
        print(
            f"epoch {epoch + 1}: error {errors[0]:.4f}, where not learned {errors[1]:.4f}, "
            f"{time.process_time():.0f} s",
            flush=True,
        )
        if options.write:
            options.write.write_bytes(network.data())


if __name__ == "__main__":
    main()
