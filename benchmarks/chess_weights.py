r"""Fit the weights of chess's estimate to scores of an engine, and write their file.

    python benchmarks/chess_weights.py --seconds 1000 \
        --write games/deterministic/chess/weights.bin

Matches begin with random plies. Then the engine chooses the plies after ``--nodes`` each, some of
which are replaced by random ones. A position counts if no king is in check and the engine's choice
neither captures nor promotes. The fit is a logistic regression on the scores as winning chances.
``--save`` keeps the positions and ``--positions`` adds those of earlier runs. With ``--save`` and
without ``--write``, nothing is fitted. The shipped file is
from 350,000 positions of Stockfish 15.1, a sample of those of ``--seconds 1500 --seed 1``. The fit
needs 20 kB of memory for each position.
"""

from __future__ import annotations

import argparse
import random
import shutil
import struct
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from plyhouse.games.deterministic.chess.tuned_evaluation import (
    FULL,
    SQUARES,
    WEIGHTS,
    phase_of,
    square_table,
    term_sum,
)
from plyhouse.games.registry import get_game
from plyhouse.learning.tuning import logistic_regression

MOST = 2000
"""Centipawns beyond which scores are cut, as those of mates."""
DECIDED = 1200
"""Centipawns from which on a match is soon given up."""
SCALE = 250.0
"""Centipawns that make a chance of 73 %."""
DIGIT = 1 << 12
"""Weights of this and its powers let one sum hold the counts of five terms."""
RIDGE = 2.0


class Engine:
    """A UCI engine that scores positions after a fixed number of nodes."""

    def __init__(self, command: str, nodes: int) -> None:
        self.process = subprocess.Popen(
            [command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.nodes = nodes
        self.send("uci", "setoption name Hash value 64")

    def send(self, *lines: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("\n".join(lines) + "\n")
        self.process.stdin.flush()

    def ask(self, fen: str) -> tuple[str, int]:
        """Return the best action and the score in centipawns for the side to move."""
        assert self.process.stdout is not None
        self.send(f"position fen {fen}", f"go nodes {self.nodes}")
        score = 0
        for line in self.process.stdout:
            words = line.split()
            if "score" in words:
                at = words.index("score")
                number = int(words[at + 2])
                score = number if words[at + 1] == "cp" else MOST if number > 0 else -MOST
            elif words[:1] == ["bestmove"]:
                return words[1], max(min(score, MOST), -MOST)
        raise SystemExit("the engine stopped")


def scored(engine: Engine, rng: random.Random) -> Iterator[tuple[bytes, int]]:
    """Play a match with some random actions; yield its quiet positions and their scores."""
    game: Any = get_game("chess")
    state = game.initial_state()
    for _ in range(rng.randint(4, 16)):
        state = state.after(rng.choice(state.actions()))
        if state.to_move < 0:
            return
    wild = rng.choice((0.0, 0.1, 0.2, 0.3))
    beyond = 0
    while state.to_move >= 0 and state.number < 120 and beyond < 4:
        best, score = engine.ask(game.observe(state, None).fen)
        action = game.parse(state, best)
        if action not in state.noisy_actions() and not state.forced() and abs(score) < MOST:
            yield state.position, score
        beyond = beyond + 1 if abs(score) >= DECIDED else 0
        if rng.random() < wild:
            action = rng.choice(state.actions())
        state = state.after(action)


NO_WEIGHTS = [0] * WEIGHTS
NO_TABLE = [0] * (16 * 128)
PHASES = square_table(NO_WEIGHTS)
"""A table of squares that counts the phase only."""


def term_counts(position: bytes) -> Any:
    """Return how often each weight counts for white, less how often for black."""
    found = np.zeros(WEIGHTS, np.float32)
    for number in range(64):
        code = position[21 + number % 8 + 10 * (number // 8)]
        if code:
            square = number if code < 8 else number ^ 56
            found[64 * ((code & 7) - 1) + square] += 1 if code < 8 else -1
    for first in range(SQUARES, WEIGHTS, 5):
        probe = [0] * WEIGHTS
        for digit in range(min(5, WEIGHTS - first)):
            probe[first + digit] = DIGIT**digit
        total = term_sum(position, NO_TABLE, probe)
        for digit in range(min(5, WEIGHTS - first)):
            count = (total + DIGIT // 2) % DIGIT - DIGIT // 2
            found[first + digit] = count
            total = (total - count) // DIGIT
    return found


def fitted(rows: list[tuple[bytes, int]]) -> Any:
    """Return the weights in centipawns: rows of middlegame and endgame."""
    counts = np.stack([term_counts(position) for position, _ in rows])
    totals = [term_sum(position, PHASES, NO_WEIGHTS) for position, _ in rows]
    shares = np.array([phase_of(total) / FULL for total in totals], np.float32)
    signs = np.array([1 - 2 * position[120] for position, _ in rows])
    scores = np.array([score for _, score in rows]) * signs
    chances = 1 / (1 + np.exp(-scores / SCALE))
    both = np.concatenate([counts * shares[:, None], counts * (1 - shares)[:, None]], axis=1)
    found, converged, steps = logistic_regression(both, chances, ridge=RIDGE, iterations=12)
    errors = chances - 1 / (1 + np.exp(-both @ found))
    print(
        f"{len(rows):,} positions, {steps} steps, converged: {converged}; "
        f"root mean square error of chances {np.sqrt((errors**2).mean()):.4f}"
    )
    return (found * SCALE).reshape(2, WEIGHTS)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--engine", default="stockfish", help="a UCI engine")
    parser.add_argument("--seconds", type=float, default=1000.0, help="to make positions")
    parser.add_argument("--nodes", type=int, default=1000, help="of the engine, for each position")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--positions", nargs="*", default=[], help="files of earlier runs")
    parser.add_argument("--save", help="file for the positions, ending in .npz")
    parser.add_argument("--write", type=Path, help="file for the weights")
    options = parser.parse_args()
    rows: list[tuple[bytes, int]] = []
    if options.seconds:
        command = shutil.which(options.engine) or shutil.which(f"/usr/games/{options.engine}")
        if command is None:
            raise SystemExit(f"{options.engine} is not installed")
        engine = Engine(command, options.nodes)
        rng = random.Random(options.seed)
        began = time.monotonic()
        while time.monotonic() - began < options.seconds:
            rows += scored(engine, rng)
    for name in options.positions:
        kept = np.load(name)
        rows += zip(map(bytes, kept["positions"]), kept["scores"].tolist(), strict=True)
    if options.save:
        positions = np.array([list(position) for position, _ in rows], np.uint8)
        np.savez(options.save, positions=positions, scores=[score for _, score in rows])
        if not options.write:
            return
    weights = np.clip(np.rint(fitted(rows)), -32768, 32767).astype(int)
    if options.write:
        options.write.write_bytes(struct.pack(f"<{2 * WEIGHTS}h", *weights.T.ravel()))


if __name__ == "__main__":
    main()
