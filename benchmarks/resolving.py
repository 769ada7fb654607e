"""NashConv of blueprints, and of the same with every subgame resolved.

Run ``python benchmarks/resolving.py``: it prints the table of ``docs/search/resolving.md``.
"""

from __future__ import annotations

from typing import Any

from plyhouse.games import get_game
from plyhouse.search import cfr, cfr_plus, nash_conv, resolved_policy

GAMES = {
    "leduc_poker": lambda seen: seen.board is not None,
    "liars_dice(faces=4)": lambda seen: len(seen.bids) == 2,
}
BLUEPRINTS: list[tuple[Any, int]] = [(cfr, 5), (cfr, 20), (cfr, 100), (cfr, 300), (cfr_plus, 10000)]


def main() -> None:
    """Print a row for each game and blueprint."""
    print(
        "| game | iterations for the blueprint | blueprint | resolved with the gadget | without |"
    )
    print("|---|---|---|---|---|")
    for spec, begins in GAMES.items():
        game = get_game(spec)
        for solver, iterations in BLUEPRINTS:
            blueprint = solver(game, iterations=iterations).policy
            policies = [
                blueprint,
                resolved_policy(game, blueprint, begins),
                resolved_policy(game, blueprint, begins, gadget=False),
            ]
            figures = " | ".join(f"{nash_conv(game, policy):.5f}" for policy in policies)
            print(f"| {spec} | {iterations:,} of `{solver.__name__}` | {figures} |", flush=True)


if __name__ == "__main__":
    main()
