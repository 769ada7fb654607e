"""Monopoly: random matches, and playouts of twelve rounds by simple rules, a second.

Rates are for one core, in processor time.

    python benchmarks/monopoly.py --seconds 5
"""

from __future__ import annotations

import argparse
import random
import time
from typing import Any

from plyhouse.games import TERMINAL, get_game
from plyhouse.games.counting import branches
from plyhouse.games.native import COMPILED


def main() -> None:
    """Print the rates for two, four and six seats."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0, help="processor time of each rate")
    options = parser.parse_args()
    print(f"compiled: {COMPILED}")
    for seats in (2, 4, 6):
        start: Any = get_game(f"monopoly(seats={seats})").initial_state()
        rng = random.Random(1)
        matches = plies = 0
        begun = time.process_time()
        while time.process_time() - begun < options.seconds:
            state = start
            while state.to_move != TERMINAL:
                state = state.after(rng.choice(branches(state)))
                plies += 1
            matches += 1
        spent = time.process_time() - begun
        playouts = 0
        begun = time.process_time()
        while time.process_time() - begun < options.seconds:
            start.playout(rng)
            playouts += 1
        rate = playouts / (time.process_time() - begun)
        print(
            f"{seats} seats: {matches / spent:,.0f} random matches a second, "
            f"{plies / spent:,.0f} plies a second, {rate:,.0f} playouts a second"
        )


if __name__ == "__main__":
    main()
