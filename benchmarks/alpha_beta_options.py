"""The savings of each option of alpha-beta: nodes to the same depth, from the same positions.

Every row has the options of the rows above it as well.  Values are equal in all rows but the
last two, so that the nodes compare; a line warns if they are not.  Prints the table of
benchmarks/NOTES.md.

    python benchmarks/alpha_beta_options.py
    python benchmarks/alpha_beta_options.py --games connect_four --deeper -3 --positions 1
"""

from __future__ import annotations

import argparse
import random
import time
from typing import Any

from plyhouse.games.registry import get_game
from plyhouse.search import Limit, alpha_beta

GAMES = {"connect_four": 10, "othello": 9, "checkers": 11, "breakthrough": 6, "chess": 5}
"""The depth to search, chosen so that the plain search takes some seconds."""

OFF = {
    "deepen": False,
    "table": False,
    "ordering": False,
    "null_windows": False,
    "aspiration": False,
    "quiescence": False,
}
ROWS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("plain alpha-beta", {}),
    ("`deepen`", {"deepen": True}),
    ("`table`", {"table": True}),
    ("`ordering`", {"ordering": True}),
    ("`null_windows`", {"null_windows": True}),
    ("`aspiration`", {"aspiration": True}),
    ("`quiescence`", {"quiescence": True}),
    ("`reductions`", {"reductions": True}),
)
SAME_VALUES = 6
"""So many rows give the value of the plain search."""


def positions(spec: str, count: int) -> list[Any]:
    """Positions after eight random plies, the same every time."""
    found = []
    for seed in range(count):
        rng = random.Random(seed)
        state: Any = get_game(spec).initial_state()
        for _ in range(8):
            state = state.after(rng.choice(state.actions()))
        found.append(state)
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--games", nargs="+", default=list(GAMES), choices=list(GAMES))
    parser.add_argument("--positions", type=int, default=3)
    parser.add_argument("--deeper", type=int, default=0, help="plies to add to every depth")
    chosen = parser.parse_args()
    columns = [f"{spec}, depth {GAMES[spec] + chosen.deeper}" for spec in chosen.games]
    print(f"| option added | {' | '.join(columns)} |")
    print("|---|" + "---:|" * len(columns))
    starts = {spec: positions(spec, chosen.positions) for spec in chosen.games}
    plain: dict[str, list[float]] = {}
    options: dict[str, Any] = {**OFF}
    for number, (name, added) in enumerate(ROWS):
        options |= added
        cells = []
        for spec in chosen.games:
            limit = Limit(depth=GAMES[spec] + chosen.deeper)
            begun = time.perf_counter()
            results = [
                alpha_beta(get_game(spec), state, limit, **options) for state in starts[spec]
            ]
            seconds = time.perf_counter() - begun
            values = [result.value for result in results]
            if values != plain.setdefault(spec, values) and number < SAME_VALUES:
                print(f"<!-- {spec} {name}: another value, from the table's deeper look -->")
            nodes = sum(result.nodes for result in results)
            cells.append(f"{nodes:,} ({seconds:.2f} s)")
        print(f"| {'' if number == 0 else '+ '}{name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
