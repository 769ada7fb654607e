"""The strength ladder: each better algorithm against the simpler one, by `plyhouse match`.

Every rung is a series of mirrored pairings with random openings, alike from every seat.  It
holds if the 95 % interval of the better one's mean return, over pairings, is clear of zero, or
for an equilibrium, if it is not below the value of the game.

    python benchmarks/ladder.py
    python benchmarks/ladder.py --rungs 1 3 --scale 2
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Rung:
    """A series that the first bot should win."""

    better: str
    simpler: str
    game: str
    games: int
    opening: int = 0
    time_control: str = "move:20"
    """Time is no bound here: the bots are bounded by their options, so that the result does not
    depend on the machine."""
    equal: bool = False
    """True if not to lose is enough."""


RUNGS = (
    Rung("minimax(depth=2)", "random", "tic_tac_toe", 100),
    Rung("alpha_beta(depth=6)", "alpha_beta(depth=2)", "connect_four", 100, 4),
    Rung("alpha_beta(depth=4)", "alpha_beta(depth=2)", "othello", 60, 4),
    Rung("alpha_beta(depth=3)", "alpha_beta(depth=1)", "chess", 40, 4),
    Rung("alpha_beta(nodes=20000)", "minimax(nodes=20000)", "connect_four", 60, 4),
    Rung("flat_monte_carlo(simulations=1000)", "random", "connect_four", 40),
    Rung("mcts(simulations=1000)", "flat_monte_carlo(simulations=1000)", "connect_four", 100, 2),
    Rung("mcts(simulations=1000)", "mcts(simulations=100)", "connect_four", 60, 2),
    Rung("mcts(simulations=1000)", "mcts(simulations=100)", "othello", 40, 2),
    Rung("expectiminimax(depth=3)", "expectiminimax(depth=1)", "backgammon", 200),
    Rung("expectiminimax(depth=5)", "expectiminimax(depth=1)", "einstein", 200),
    Rung("pig_optimal", "expectiminimax(depth=2)", "pig", 400),
    Rung("ismcts(simulations=1000)", "random", "leduc_poker", 400),
    Rung("ismcts(simulations=1000)", "random", "liars_dice", 200),
    Rung("policy", "random", "leduc_poker", 400),
    Rung("policy", "random", "kuhn_poker", 1000),
    Rung("policy", "ismcts(simulations=1000)", "kuhn_poker", 1000, equal=True),
    Rung("policy", "kuhn_optimal", "kuhn_poker", 1000, equal=True),
    Rung("policy", "ismcts(simulations=1000)", "leduc_poker", 400, equal=True),
)


def play(rung: Rung, scale: float, seed: int) -> dict[str, Any]:
    """Play the series; what `plyhouse match --json` says."""
    command = [
        str(Path(sys.executable).with_name("plyhouse")),
        *("match", rung.better, rung.simpler, "--game", rung.game, "--json"),
        *("--games", str(max(2, round(rung.games * scale))), "--seed", str(seed)),
        *("--time-control", rung.time_control, "--opening-plies", str(rung.opening)),
    ]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main() -> None:
    """Print the ladder; exits with 1 if a rung does not hold."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--rungs", type=int, nargs="+", default=range(1, len(RUNGS) + 1))
    parser.add_argument("--scale", type=float, default=1.0, help="times the games of a rung")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print(f"{'':>2} {'better':<36} {'simpler':<36} {'game':<13} {'W-D-L':>12} mean, 95 %")
    holds = True
    for number in options.rungs:
        rung = RUNGS[number - 1]
        first = play(rung, options.scale, options.seed)["bots"][0]
        mean = first["mean"]
        # Mirrored, both have each seat as often: the value of the game cancels out.
        good = mean["high"] >= 0 if rung.equal else mean["low"] > 0
        holds &= good
        line = f"{first['wins']}-{first['draws']}-{first['losses']}"
        print(
            f"{number:>2} {rung.better:<36} {rung.simpler:<36} {rung.game:<13} {line:>12} "
            f"{mean['value']:+.3f} [{mean['low']:+.3f}, {mean['high']:+.3f}] "
            f"{'holds' if good else 'DOES NOT HOLD'}",
            flush=True,
        )
    sys.exit(0 if holds else 1)


if __name__ == "__main__":
    main()
