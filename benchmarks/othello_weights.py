r"""Fit the weights of othello's estimate to exact scores, and write their file.

    python benchmarks/othello_weights.py --seconds 600 \
        --write games/deterministic/othello/weights.bin

Positions come from random openings, then play by the present estimate with random actions among
it, down to 11 to 16 empty squares; the solver scores each.  The fit is a ridge regression by
conjugate gradients.  ``--save`` keeps the positions and ``--positions`` adds those of earlier runs.
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
from plyhouse.games.deterministic.othello.evaluation import POINTS, SIZES, ZERO
from plyhouse.games.endgames import Meter

STARTS = np.concatenate([[0], np.cumsum([3**size for size in SIZES])])
EMPTIES = (11, 12, 13, 14, 15, 16)
SHARES = (20, 35, 20, 15, 7, 3)
RIDGE = 30.0


def positions(seconds: float, seed: int) -> Any:
    """Return rows of the mover's discs, the other's, and the exact score for the mover."""
    rng = random.Random(seed)
    solver = OthelloEndings(Meter())
    rows: list[tuple[int, int, int]] = []
    began = time.monotonic()
    while time.monotonic() - began < seconds:
        opening, wild = rng.randint(44, 55), rng.choice((0.05, 0.3, 0.6))
        target = rng.choices(EMPTIES, SHARES)[0]
        mine, theirs, left = BIT[28] | BIT[35], BIT[27] | BIT[36], 60
        while left > target:
            cells = placeable(mine, theirs)
            if cells == 0:
                if placeable(theirs, mine) == 0:
                    break
                mine, theirs = theirs, mine
                continue
            choices = [bit for bit in BIT if cells & bit]
            bit = rng.choice(choices)
            if left <= opening and (left > 24 or rng.random() > wild):
                bit = min(choices, key=lambda each: reply(solver, mine, theirs, left, each, rng))
            flips = turned(bit, mine, theirs)
            mine, theirs, left = theirs ^ flips, mine | bit | flips, left - 1
        if left == target:
            rows.append((mine, theirs, solver.solved(mine, theirs, left, -65, 65)))
    return np.array(rows, dtype=np.int64)


def reply(solver: Any, mine: int, theirs: int, left: int, bit: int, rng: random.Random) -> float:
    """Return the opponent's estimate after a disc on ``bit``, with a disc of noise."""
    flips = turned(bit, mine, theirs)
    found = solver.guess(theirs ^ flips, mine | bit | flips, left - 1, 0, -ENDLESS, ENDLESS)
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


def fitted(rows: Any, rounds: int = 25) -> tuple[Any, Any]:
    """Return the weights of contents, and those of mobility, constant and parity, in discs."""
    chosen, extra = features(rows)
    scores = rows[:, 2].astype(np.float64)
    count = int(STARTS[-1])

    def forward(weights: Any) -> Any:
        return weights[chosen].sum(axis=0) + extra @ weights[count:]

    def backward(errors: Any) -> Any:
        sums = sum(np.bincount(each, errors, count) for each in chosen)
        return np.concatenate([sums, extra.T @ errors])

    seen = sum(np.bincount(each, minlength=count) for each in chosen)
    scale = 1.0 / (np.concatenate([seen, (extra**2).sum(axis=0)]) + RIDGE)
    weights = np.zeros(count + extra.shape[1])
    rest = backward(scores)
    step = scale * rest
    size = rest @ step
    for _ in range(rounds):
        image_of = backward(forward(step)) + RIDGE * step
        length = size / (step @ image_of)
        weights += length * step
        rest -= length * image_of
        following = scale * rest
        size, before = rest @ following, size
        step = following + size / before * step
    errors = scores - forward(weights)
    print(
        f"{len(rows):,} positions, root mean square error {np.sqrt((errors**2).mean()):.2f} discs"
    )
    return weights[:count], weights[count:]


def packed(weights: Any, extra: Any) -> bytes:
    """Return the file: a byte for each weight, see `Evaluation`."""
    values = [extra[:2] * 8 * POINTS, extra[2:] * POINTS]
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
    options = parser.parse_args()
    rows = np.concatenate(
        [positions(options.seconds, options.seed), *map(np.load, options.positions)]
    )
    if options.save:
        np.save(options.save, rows)
    data = packed(*fitted(rows))
    if options.write:
        options.write.write_bytes(data)


if __name__ == "__main__":
    main()
