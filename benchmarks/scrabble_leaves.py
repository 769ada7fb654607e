"""Fit what tiles kept on the rack are worth in Scrabble: ``python -m benchmarks.scrabble_leaves``.

Seats that play by points and leave play each other.  For each play while the bag holds tiles, the
tiles kept are noted, and what the same seat's next turn was worth: its points, and the leave after
it.  Least squares then say how many points each fact adds, and each two kinds of tiles together.
The next generation of games is played by these values.  The first one has those that are shipped.

    python -m benchmarks.scrabble_leaves --write games/hidden/scrabble/leaves.bin

``--against`` lets the values play the plays of most points, and prints the share of wins.
"""

from __future__ import annotations

import argparse
import math
import random
import struct
import time
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from plyhouse.games import CHANCE, TERMINAL, get_game
from plyhouse.games.hidden.scrabble.action_lists import LEAST_BAG, PASS, exchanges
from plyhouse.games.hidden.scrabble.leaves import facts_of, kept_after, ranked, read_leaves

KINDS = 27
FACTS = 2 * KINDS + 2
PAIRS = list(combinations(range(KINDS), 2))
SHIPPED = Path(__file__).parent.parent / "games" / "hidden" / "scrabble" / "leaves.bin"
RIDGE = 5.0
PAIR_RIDGE = 60.0
"""Pairs are rare, and most tell nothing."""


class Values:
    """Worth of leaves, by numbers for each fact and each two kinds."""

    def __init__(self, points: Any, pairs: Any) -> None:
        self.points, self.pairs = np.asarray(points), np.asarray(pairs)
        self.known: dict[bytes, float] = {}

    def of(self, kept: bytes) -> float:
        """Return what these tiles are worth."""
        tiles = bytes(sorted(kept))
        found = self.known.get(tiles)
        if found is None:
            found = float(self.points @ facts_of(tiles))
            for one, other in combinations(sorted(set(tiles)), 2):
                found += float(self.pairs[KINDS * one + other])
            self.known[tiles] = found
        return found

    def choice(self, state: Any) -> tuple[str, int, bytes]:
        """Return the best action by points and leave, its points, and the tiles kept."""
        rack, bag = state.racks[state.turn], state.bag_size()
        if bag == 0:
            _, score, text = ranked(state, 1)[0]
            return text, score, kept_after(state, text)
        most = max(
            self.of(bytes(some))
            for count in range(len(rack))
            for some in combinations(sorted(rack), count)
        )
        best, found = self.of(rack), (PASS, 0, rack)
        if bag >= LEAST_BAG:
            for text in exchanges(rack):
                kept = kept_after(state, text)
                if self.of(kept) > best:
                    best, found = self.of(kept), (text, 0, kept)
        plays = state.plays(False)
        for place in sorted(range(len(plays.texts)), key=plays.scores.__getitem__, reverse=True):
            text, score = plays.texts[place], plays.scores[place]
            if score + most < best:
                break
            kept = kept_after(state, text)
            if score + self.of(kept) > best:
                best, found = score + self.of(kept), (text, score, kept)
        return found


def greedy(state: Any) -> tuple[str, int, bytes]:
    """Return the play of most points."""
    plays = state.plays(True)
    if not plays.texts:
        return PASS, 0, b""
    return plays.texts[-1], plays.scores[-1], b""


def turns(values: Values, games: int, seed: int) -> tuple[list[bytes], list[float]]:
    """Play games; return the tiles kept, and the worth of the turn after."""
    rng = random.Random(seed)
    leaves: list[bytes] = []
    worth: list[float] = []
    for _ in range(games):
        state: Any = get_game("scrabble").initial_state()
        kept: dict[int, bytes] = {}
        while state.to_move != TERMINAL:
            if state.to_move == CHANCE:
                state = state.after(state.drawn(rng.random()))
                continue
            seat, bag = state.to_move, state.bag_size()
            text, score, left = values.choice(state)
            if seat in kept:
                leaves.append(kept.pop(seat))
                worth.append(score + (values.of(left) if bag > 0 else 0.0))
            if bag >= LEAST_BAG and text != PASS:
                kept[seat] = left
            state = state.after(text)
    return leaves, worth


def fitted(leaves: list[bytes], worth: list[float]) -> Values:
    """Return the values that explain the turns best."""
    number = {pair: 1 + FACTS + place for place, pair in enumerate(PAIRS)}
    rows = np.zeros((len(leaves), 1 + FACTS + len(PAIRS)))
    for row, tiles in zip(rows, leaves, strict=True):
        row[0] = 1.0
        row[1 : 1 + FACTS] = facts_of(tiles)
        for pair in combinations(sorted(set(tiles)), 2):
            row[number[pair]] = 1.0
    ridge = np.full(rows.shape[1], RIDGE)
    ridge[0] = 0.0
    ridge[1 + FACTS :] = PAIR_RIDGE
    found = np.linalg.solve(rows.T @ rows + np.diag(ridge), rows.T @ np.array(worth))
    pairs = np.zeros(KINDS * KINDS)
    for (one, other), place in number.items():
        pairs[KINDS * one + other] = found[place]
    return Values(found[1 : 1 + FACTS], pairs)


def written(values: Values) -> bytes:
    """Return the file of the package: hundredths of a point."""
    pairs = [values.pairs[KINDS * one + other] for one, other in PAIRS]
    numbers = np.rint(100 * np.concatenate([values.points, pairs])).astype(int)
    return struct.pack(f"<{len(numbers)}h", *numbers)


def duel(values: Values, games: int, seed: int) -> str:
    """Let the values play against the plays of most points, from either seat."""
    rng = random.Random(seed)
    wins: list[float] = []
    gains: list[int] = []
    for number in range(games):
        state: Any = get_game("scrabble").initial_state()
        while state.to_move != TERMINAL:
            if state.to_move == CHANCE:
                state = state.after(state.drawn(rng.random()))
            elif state.to_move == number % 2:
                state = state.after(values.choice(state)[0])
            else:
                state = state.after(greedy(state)[0])
        gain = state.scores[number % 2] - state.scores[1 - number % 2]
        wins.append(1.0 if gain > 0 else 0.5 if gain == 0 else 0.0)
        gains.append(gain)
    share, margin = np.mean(wins), 1.96 * np.std(wins) / math.sqrt(games)
    spread = 1.96 * np.std(gains) / math.sqrt(games)
    points = f"{np.mean(gains):+.1f} ± {spread:.1f} points"
    return f"{games} games: {share:.3f} ± {margin:.3f} won, {points}"


def main() -> None:
    """Fit the values, generation by generation."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=1000, help="of a generation")
    parser.add_argument("--generations", type=int, default=4, help="the last has three times more")
    parser.add_argument("--against", type=int, default=0, help="games against plays of most points")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", type=Path, help="file for the values")
    options = parser.parse_args()
    values = Values(*read_leaves(SHIPPED.read_bytes()))
    began = time.monotonic()
    for generation in range(options.generations):
        games = options.games * (3 if generation == options.generations - 1 else 1)
        leaves, worth = turns(values, games, 100 * options.seed + generation)
        values = fitted(leaves, worth)
        print(
            f"generation {generation + 1}: {len(leaves)} turns, mean {np.mean(worth):.1f}; blank "
            f"{values.points[0]:.1f}, S {values.points[19]:.1f}, Q {values.points[17]:.1f}; "
            f"{time.monotonic() - began:.0f} s",
            flush=True,
        )
        if options.write:
            options.write.write_bytes(written(values))
    if options.against:
        print(duel(values, options.against, options.seed))


if __name__ == "__main__":
    main()
