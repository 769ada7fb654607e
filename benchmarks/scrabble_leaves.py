"""Fit what tiles kept on the rack are worth in Scrabble: ``python -m benchmarks.scrabble_leaves``.

Seats that make the play of most points play each other.  For each play while the bag holds tiles,
the tiles kept and the points of the same seat's next turn are noted.  Least squares then say how
many points each tile, each second tile of a kind, and an excess of vowels or consonants add.  The
output is the table of `plyhouse.games.hidden.scrabble.leaves`.
"""

from __future__ import annotations

import argparse
import random
from typing import Any

import numpy as np

from plyhouse.games import CHANCE, TERMINAL, get_game
from plyhouse.games.hidden.scrabble.leaves import facts_of


def turns(games: int, seed: int) -> tuple[list[list[int]], list[int]]:
    """Play games; return the facts of the tiles kept, and points of the turn after."""
    rng = random.Random(seed)
    rows: list[list[int]] = []
    points: list[int] = []
    game = get_game("scrabble")
    for _ in range(games):
        state: Any = game.initial_state()
        kept: dict[int, list[int]] = {}
        while state.to_move != TERMINAL:
            if state.to_move == CHANCE:
                state = state.after(state.drawn(rng.random()))
                continue
            seat = state.to_move
            plays = state.plays(True)
            text, score = (plays.texts[-1], plays.scores[-1]) if plays.texts else ("-", 0)
            if seat in kept:
                rows.append(kept.pop(seat))
                points.append(score)
            bag = state.bag_size()
            state = state.after(text)
            if bag >= 7 and text != "-":
                kept[seat] = facts_of(state.racks[seat])
    return rows, points


def main() -> None:
    """Fit the values and print them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rows, points = turns(options.games, options.seed)
    facts = np.array([[1, *row] for row in rows], dtype=float)
    ridge = np.eye(facts.shape[1])
    ridge[0, 0] = 0.0
    values = np.linalg.solve(facts.T @ facts + 5.0 * ridge, facts.T @ np.array(points, dtype=float))
    print(f"# {len(rows)} turns of {options.games} games, seed {options.seed}")
    print("(" + ", ".join(f"{value:.1f}" for value in values[1:]) + ")")


if __name__ == "__main__":
    main()
