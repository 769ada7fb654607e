"""Choose and solve the test positions of connect four for learning curves, and write their file.

    python benchmarks/connect_four_positions.py --each 100 -o positions.toml

A third of the plies on the way to a position are random; the others are the choice of alpha-beta
with depth 4.  In every position some action is a mistake: it does not keep the exact value (a win,
a draw or a loss), which the solver of the last plies finds for the position after every action.
"""

from __future__ import annotations

import argparse
import random
import time
from pathlib import Path
from typing import Any, Final

from plyhouse.games import get_game
from plyhouse.games.endgames import Meter
from plyhouse.search import Limit, alpha_beta

GAME: Final = get_game("connect_four")
START: Final[Any] = GAME.initial_state()
SOLVER: Final = START.endings(Meter())
RANGES: Final = ((12, 17), (18, 23), (24, 31))
"""First and last number of discs of each group of positions."""


def played(plies: int, rng: random.Random) -> tuple[str, Any] | None:
    """Return the actions and the position of a match after some plies; None if it ended."""
    state: Any = GAME.initial_state()
    text = ""
    for _ in range(plies):
        if rng.random() < 1 / 3:
            action = rng.choice(state.actions())
        else:
            found = alpha_beta(GAME, state, Limit(depth=4), seed=rng.getrandbits(32) | 1)
            action = found.action
        state = state.after(action)
        text += str(action)
        if state.to_move < 0:
            return None
    return text, state


def solved(state: Any) -> float:
    """Return the exact value for seat 0: 1, 0 or -1."""
    if state.to_move < 0:
        return float(state.returns()[0])
    value: float | None = SOLVER.value(state, 42, -1.0, 1.0)
    assert value is not None
    return value if state.to_move == 0 else -value


def best_actions(state: Any) -> tuple[int, ...]:
    """Return the actions that keep the exact value of the position."""
    values = {action: solved(state.after(action)) for action in state.actions()}
    best = max(values.values()) if state.to_move == 0 else min(values.values())
    return tuple([action for action, value in values.items() if value == best])


def main() -> None:
    """Write the file and print the time of each group."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--each", type=int, default=100, help="positions in a group")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-o", "--output", type=Path, required=True)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    rows: list[tuple[str, str]] = []
    for first, last in RANGES:
        start = time.monotonic()
        group: dict[int, tuple[str, str]] = {}
        while len(group) < options.each:
            match = played(rng.randint(first, last), rng)
            if match is None or match[1].key() in group:
                continue
            text, state = match
            best = best_actions(state)
            if len(best) < len(state.actions()):
                group[state.key()] = (text, "".join(map(str, best)))
        rows += sorted(group.values(), key=lambda row: (len(row[0]), row[0]))
        print(f"{first} to {last} discs: {time.monotonic() - start:.1f} s", flush=True)
    lines = [
        "# Test positions of connect four with a mistake: the actions from the start, and the best",
        f"# actions, exact. Made by benchmarks/connect_four_positions.py --seed {options.seed} "
        f"--each {options.each}.",
        "positions = [",
        *[f'    ["{text}", "{best}"],' for text, best in rows],
        "]",
    ]
    options.output.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
