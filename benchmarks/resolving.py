"""NashConv of blueprints, of the same with every subgame resolved, and of continual resolving.

Run ``python benchmarks/resolving.py``: it prints the tables of ``docs/search/resolving.md`` and
``docs/search/continual-resolving.md``.  The second table has a blueprint alone, and continual
resolving by the network that comes with Plyhouse, or by another file (``--network``).  Its last row
has leaf values of subgames that are solved anew in each iteration of the first round, which takes
minutes; ``--solved 0`` leaves it out.  ``--continual`` prints the second table only.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from plyhouse.games import get_game
from plyhouse.learning.leduc_continual import FirstRound, with_second_rounds
from plyhouse.learning.leduc_network import SHIPPED, load_leduc_network
from plyhouse.learning.leduc_subgames import SecondRounds
from plyhouse.search import cfr, cfr_plus, nash_conv, resolved_policy

GAMES = {
    "leduc_poker": lambda seen: seen.board is not None,
    "liars_dice(faces=4)": lambda seen: len(seen.bids) == 2,
}
BLUEPRINTS: list[tuple[Any, int]] = [(cfr, 5), (cfr, 20), (cfr, 100), (cfr, 300), (cfr_plus, 10000)]


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--continual", action="store_true", help="Print the second table only")
    parser.add_argument("--network", type=Path, default=SHIPPED, help="Network for the leaves")
    parser.add_argument("--first", type=int, default=1000, help="Iterations of the first round")
    parser.add_argument("--long", type=int, default=16000, help="The same, by the network again")
    parser.add_argument("--second", type=int, default=2000, help="Iterations of second rounds")
    parser.add_argument("--solved", type=int, default=400, help="Iterations for a solved leaf")
    given = parser.parse_args()
    if not given.continual:
        resolve_blueprints()
        print()
    resolve_continually(given)


def resolve_blueprints() -> None:
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


def resolve_continually(given: argparse.Namespace) -> None:
    """Print a row for each source of leaf values in Leduc poker."""
    game = get_game("leduc_poker")
    print("| leaf values | first round | with the gadget | without | processor time |")
    print("|---|---|---|---|---|")
    blueprint = cfr(game, iterations=300).policy
    alone = nash_conv(game, blueprint)
    print(f"| none: blueprint alone | 300 of `cfr` | {alone:.5f} | {alone:.5f} | |", flush=True)

    def solved(paid: Any, ranges: Any) -> Any:
        rounds = SecondRounds(paid, ranges)
        rounds.run(given.solved)
        return rounds.values()[0]

    network = load_leduc_network(given.network)
    leaves: list[tuple[str, Any, int]] = [
        ("network", network, given.first),
        ("network", network, given.long),
    ]
    if given.solved:
        leaves.append((f"solved by {given.solved} iterations", solved, given.first))
    for name, leaf_values, iterations in leaves:
        begun = time.process_time()
        first = FirstRound(leaf_values)
        first.run(iterations)
        found = [
            nash_conv(game, with_second_rounds(game, first, given.second, gadget=gadget))
            for gadget in (True, False)
        ]
        spent = time.process_time() - begun
        figures = " | ".join(f"{each:.5f}" for each in found)
        print(f"| {name} | {iterations:,} | {figures} | {spent:.0f} s |", flush=True)


if __name__ == "__main__":
    main()
