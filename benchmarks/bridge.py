"""Bridge: random boards beside OpenSpiel's, playouts, double-dummy solving, and boards compared.

Rates are for one core, in processor time, ours and OpenSpiel's in turn in the same run.

    python benchmarks/bridge.py
    python benchmarks/bridge.py --compare 20000 --seed 1
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from typing import Any

import pyspiel
from tests.harness.openspiel_bridge import Tally, compare_board, compare_scores

from plyhouse.games import get_game
from plyhouse.games.hidden.bridge.cards import PACK
from plyhouse.games.hidden.bridge.double_dummy import DoubleDummy
from plyhouse.games.native import COMPILED


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compare", type=int, default=0, help="boards to compare with OpenSpiel")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.compare:
        compare(options.compare, options.seed)
    else:
        rates(random.Random(options.seed))


def our_board(rng: random.Random, start: Any) -> int:
    """Play a random board; return the number of actions and cards dealt."""
    state = start
    plies = 0
    while state.to_move != -2:
        if state.to_move == -1:
            outcomes = state.chance_outcomes()
            state = state.after(outcomes[int(rng.random() * len(outcomes))][0])
        else:
            actions = state.actions()
            state = state.after(actions[int(rng.random() * len(actions))])
        plies += 1
    return plies


def their_board(rng: random.Random, game: Any) -> int:
    """Play a random board of OpenSpiel; return the number of actions and cards dealt."""
    state = game.new_initial_state()
    plies = 0
    while not state.is_terminal():
        actions = state.legal_actions()
        state.apply_action(actions[int(rng.random() * len(actions))])
        plies += 1
    return plies


def rates(rng: random.Random) -> None:
    """Print the rates."""
    print("compiled" if COMPILED else "interpreted")
    start = get_game("bridge(boards=1)").initial_state()
    theirs = pyspiel.load_game("bridge", {"use_double_dummy_result": False})
    found: dict[str, list[float]] = {"ours": [], "OpenSpiel": []}
    for _ in range(9):
        for name, play, what in (("ours", our_board, start), ("OpenSpiel", their_board, theirs)):
            began = time.process_time()
            plies = sum(play(rng, what) for _ in range(200))
            found[name].append(plies / (time.process_time() - began))
    for name, values in found.items():
        print(f"plies of random boards, {name}: {statistics.median(values):,.0f} a second")
    state: Any = start
    while state.to_move == -1:
        state = state.after(rng.choice(state.chance_outcomes())[0])
    began = time.process_time()
    count = 5_000 if COMPILED else 200
    for _ in range(count):
        state.playout(rng)
    print(f"playouts from the deal: {count / (time.process_time() - began):,.0f} a second")
    for size in (6, 7, 8, 9, 10) if COMPILED else (5, 6):
        times = []
        for _ in range(30):
            cards = rng.sample(range(PACK), 4 * size)
            hands = tuple([sum(1 << card for card in cards[at::4]) for at in range(4)])
            began = time.process_time()
            DoubleDummy(hands, rng.randrange(5)).tricks(0)
            times.append(1000 * (time.process_time() - began))
        middle, most = statistics.median(times), max(times)
        print(f"double dummy, {size} cards each: median {middle:.1f} ms, at most {most:.0f} ms")


def compare(boards: int, seed: int) -> None:
    """Play boards here and there; a difference ends it with an AssertionError."""
    rng = random.Random(seed)
    tally = Tally()
    for number in range(boards):
        compare_board(number % 16 + 1, rng, tally)
    print(
        f"{tally.boards:,} boards, {tally.positions:,} positions, {tally.passed_out:,} passed out"
    )
    deals = min(boards, 50)
    for number in range(deals):
        cards = rng.sample(range(PACK), PACK)
        hands = tuple([sum(1 << card for card in cards[at::4]) for at in range(4)])
        compare_scores(hands, number % 16 + 1)
    print(f"{deals:,} deals with the points of 420 contracts each; no mismatch")


if __name__ == "__main__":
    main()
