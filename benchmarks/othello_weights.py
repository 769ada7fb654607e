r"""Fit the weights of othello's estimate to scores of matches, and write their file.

    python benchmarks/othello_weights.py --seconds 600 \
        --write games/deterministic/othello/weights.bin

A match has a random opening. Then both sides play by the present estimate, looking two plies ahead,
until 14 squares are empty. The solver gives the score of that position, which labels all positions
since the opening. Each phase has weights of its own. The fit is a ridge regression by conjugate
gradients: first one for all phases, then for each phase the differences to it.  ``--save`` keeps
the positions and ``--positions`` adds those of earlier runs.  ``--keep 3`` leaves the last three
phases of the file as they are, on which the solver of endings depends (NOTES.md).
"""

from __future__ import annotations

import argparse
import random
import time
from pathlib import Path
from typing import Any

import numpy as np

from plyhouse.games.bits import BIT
from plyhouse.games.deterministic.othello.board import placeable, turned
from plyhouse.games.deterministic.othello.endgames import ENDLESS, OthelloEndings
from plyhouse.games.deterministic.othello.evaluation import (
    LENGTH,
    PHASES,
    POINTS,
    SIZES,
    ZERO,
    phase_of,
)
from plyhouse.games.endgames import Meter

STARTS = np.concatenate([[0], np.cumsum([3**size for size in SIZES])])
SOLVED = 14
"""Empty squares at which a match is scored."""
RIDGE = 30.0


def positions(seconds: float, seed: int) -> Any:
    """Return rows of the mover's discs, the other's, and the score of the match for the mover."""
    rng = random.Random(seed)
    solver = OthelloEndings(Meter())
    rows: list[tuple[int, int, int]] = []
    began = time.monotonic()
    while time.monotonic() - began < seconds:
        rows += match(solver, rng)
    return np.array(rows, dtype=np.int64)


def match(solver: Any, rng: random.Random) -> list[tuple[int, int, int]]:
    """Play a match; return its positions after the random opening."""
    opening = 60 - rng.randint(3, 47)
    mine, theirs, left, side = BIT[28] | BIT[35], BIT[27] | BIT[36], 60, 1
    passed: list[tuple[int, int, int]] = []
    while left >= SOLVED:
        cells = placeable(mine, theirs)
        if cells == 0:
            if placeable(theirs, mine) == 0:
                return []
            mine, theirs, side = theirs, mine, -side
            continue
        if left <= opening:
            passed.append((mine, theirs, side))
            if left == SOLVED:
                score = side * solver.solved(mine, theirs, left, -65, 65)
                return [(own, other, score * sign) for own, other, sign in passed]
        choices = [bit for bit in BIT if cells & bit]
        bit = rng.choice(choices)
        if left <= opening:
            bit = min(choices, key=lambda each: reply(solver, mine, theirs, left, each, rng))
        flips = turned(bit, mine, theirs)
        mine, theirs, left, side = theirs ^ flips, mine | bit | flips, left - 1, -side
    return []


def reply(solver: Any, mine: int, theirs: int, left: int, bit: int, rng: random.Random) -> float:
    """Return the opponent's estimate after a disc on ``bit``, with a disc of noise."""
    flips = turned(bit, mine, theirs)
    found = solver.guess(theirs ^ flips, mine | bit | flips, left - 1, 1, -ENDLESS, ENDLESS)
    return float(found) + POINTS * rng.random()


def lines() -> list[tuple[int, list[int]]]:
    """Return by instance the number of its pattern and its squares, see `evaluation`."""
    found = []
    for each in range(8):
        table = min(each, 7 - each)
        found.append((table, [8 * each + n for n in range(8)]))
        found.append((table, [8 * n + each for n in range(8)]))
    for table, size in enumerate((8, 7, 6, 5, 4), 4):
        gap = 8 - size
        diagonals = [[9 * n + gap for n in range(size)], [7 * n + 7 - gap for n in range(size)]]
        if gap:
            diagonals.append([9 * n + 8 * gap for n in range(size)])
            diagonals.append([7 * n + 7 + 8 * gap for n in range(size)])
        found += [(table, sorted(squares, key=lambda s: s % 8)) for squares in diagonals]
    for row, column in ((0, 0), (0, 7), (7, 0), (7, 7)):
        block = [(abs(row - r), abs(column - c)) for r in range(3) for c in range(3)]
        found.append((9, [8 * r + c for r, c in block]))
    return found


def image(size: int) -> Any:
    """Return by contents the smaller of them and of their mirror image."""
    order = [0, 3, 6, 1, 4, 7, 2, 5, 8] if size == 9 else list(reversed(range(size)))
    numbers = np.arange(3**size)
    other = sum((numbers // 3**n % 3) * 3 ** order[n] for n in range(size))
    return np.minimum(numbers, other)


def features(rows: Any) -> tuple[Any, Any]:
    """Return the weights that count for each position, and its mobility, a constant and parity."""
    marks = np.zeros((64, len(rows)), dtype=np.int32)
    for square in range(64):
        marks[square] = (rows[:, 0] >> square & 1) + 2 * (rows[:, 1] >> square & 1)
    images = [image(size) for size in SIZES]
    chosen = []
    for table, squares in lines():
        contents = sum(marks[square] * 3**n for n, square in enumerate(squares))
        chosen.append(STARTS[table] + images[table][contents])
    more = [
        (
            int(placeable(m, t)) % 2**64,
            int(placeable(t, m)) % 2**64,
            64 - ((m | t) % 2**64).bit_count(),
        )
        for m, t in rows[:, :2].tolist()
    ]
    extra = [(own.bit_count(), other.bit_count(), 1, left % 2) for own, other, left in more]
    return np.stack(chosen), np.array(extra, dtype=np.float64)


def fitted(rows: Any) -> list[Any]:
    """Return the weights of each phase in discs: those of contents, then the four others."""
    chosen, extra = features(rows)
    scores = rows[:, 2].astype(np.float64)
    empties = 64 - np.bitwise_count(rows[:, 0].view(np.uint64) | rows[:, 1].view(np.uint64))
    shared = regression(chosen, extra, scores, np.zeros(int(STARTS[-1]) + extra.shape[1]))
    found = []
    for phase in range(PHASES):
        near = [n for n in range(61) if any(phase_of(n + d) == phase for d in (-2, 0, 2))]
        own = np.isin(empties, near)
        weights = regression(chosen[:, own], extra[own], scores[own], shared)
        exact = np.isin(empties, [n for n in range(61) if phase_of(n) == phase])
        errors = scores[exact] - estimates(chosen[:, exact], extra[exact], weights)
        spread = scores[exact].std()
        print(
            f"phase {phase}: {exact.sum():,} positions, root mean square error "
            f"{np.sqrt((errors**2).mean()):.2f} discs, of scores themselves {spread:.2f}"
        )
        found.append(weights)
    return found


def estimates(chosen: Any, extra: Any, weights: Any) -> Any:
    """Return the estimated scores of positions."""
    total = extra @ weights[int(STARTS[-1]) :]
    for each in chosen:
        total += weights[each]
    return total


def regression(chosen: Any, extra: Any, scores: Any, near: Any, rounds: int = 25) -> Any:
    """Return weights that minimise the squared errors and a ridge around the weights ``near``."""
    count = int(STARTS[-1])

    def backward(errors: Any) -> Any:
        sums = sum(np.bincount(each, errors, count) for each in chosen)
        return np.concatenate([sums, extra.T @ errors])

    seen = sum(np.bincount(each, minlength=count) for each in chosen)
    scale = 1.0 / (np.concatenate([seen, (extra**2).sum(axis=0)]) + RIDGE)
    weights = near.copy()
    rest = backward(scores - estimates(chosen, extra, weights))
    step = scale * rest
    size = rest @ step
    for _ in range(rounds):
        image_of = backward(estimates(chosen, extra, step)) + RIDGE * step
        length = size / (step @ image_of)
        weights += length * step
        rest -= length * image_of
        following = scale * rest
        size, before = rest @ following, size
        step = following + size / before * step
    return weights


def packed(phases: list[Any]) -> bytes:
    """Return the file: a byte for each weight of each phase, see `PhaseWeights`."""
    values = []
    for weights in phases:
        extra = weights[int(STARTS[-1]) :]
        values += [extra[:2] * 8 * POINTS, extra[2:] * POINTS]
        for table, size in enumerate(SIZES):
            values.append(weights[STARTS[table] : STARTS[table + 1]][image(size)] * POINTS)
    whole = np.clip(np.rint(np.concatenate(values)), -127, 127) + ZERO
    return bytes(whole.astype(np.uint8))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=600.0, help="to make positions")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--positions", nargs="*", default=[], help="files of earlier runs")
    parser.add_argument("--save", help="file for the positions, ending in .npy")
    parser.add_argument("--write", type=Path, help="file for the weights")
    parser.add_argument("--keep", type=int, default=0, help="last phases of that file to keep")
    options = parser.parse_args()
    made = [positions(options.seconds, options.seed)] if options.seconds else []
    rows = np.concatenate([*made, *map(np.load, options.positions)])
    if options.save:
        np.save(options.save, rows)
    data = packed(fitted(rows))
    if options.write:
        kept = options.write.read_bytes()[: options.keep * LENGTH] if options.keep else b""
        options.write.write_bytes(kept + data[len(kept) :])


if __name__ == "__main__":
    main()
