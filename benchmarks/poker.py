"""Texas hold'em: the evaluator beside PokerKit's, playouts, and hands compared with PokerKit.

Rates are for one core, in processor time.  All seven-card hands are counted in compiled code.

    python -m benchmarks.poker
    python -m benchmarks.poker --compare 1000000 --seed 1
"""

from __future__ import annotations

import argparse
import random
import time
from typing import Any

from pokerkit import StandardHighHand
from tests.harness.pokerkit_hands import Tally, compare_match

from plyhouse.games import get_game
from plyhouse.games.hidden.texas_holdem.equity import equity
from plyhouse.games.hidden.texas_holdem.ranking import hand_frequencies, ranked_hands
from plyhouse.games.native import COMPILED
from plyhouse.games.playing_cards import CARDS, hand_bits


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compare", type=int, default=0, help="hands to compare with PokerKit")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="most time for them")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.compare:
        compare(options.compare, options.seconds, options.seed)
    else:
        rates()


def rates() -> None:
    """Print hands, equities and playouts a second."""
    print("compiled" if COMPILED else "interpreted")
    rng = random.Random(1)
    start = time.process_time()
    size = 7 if COMPILED else 5
    count = sum(hand_frequencies(size))
    rate(f"all {count:,} hands of {size} cards", count, start)
    deals = [tuple(rng.sample(range(52), 7)) for _ in range(20_000)]
    hands = [hand_bits(deal) for deal in deals]
    rounds = 200 if COMPILED else 1
    start = time.process_time()
    ranked_hands(hands, rounds)
    rate("hands of 7 cards in random order", rounds * len(hands), start)
    texts = [("".join(CARDS[card] for card in deal[:2]), "".join(CARDS[card] for card in deal[2:]))
             for deal in deals[:500]]  # fmt: skip
    start = time.process_time()
    for hole, board in texts:
        StandardHighHand.from_game(hole, board)
    rate("hands of 7 cards by PokerKit", len(texts), start)
    trials = 1_000_000 if COMPILED else 5_000
    start = time.process_time()
    equity(deals[0][:2], (), 1, trials, seed=1)
    rate("deals of an equity against one", trials, start)
    game = get_game("texas_holdem(hands=1)")
    start = time.process_time()
    plays = 3_000 if COMPILED else 300
    for _ in range(plays):
        state = game.initial_state()
        while state.to_move != -2:
            if state.to_move == -1:
                outcomes = state.chance_outcomes()
                state = state.after(outcomes[int(rng.random() * len(outcomes))][0])
            else:
                actions = state.actions()
                state = state.after(actions[int(rng.random() * len(actions))])
    rate("random hands through the states", plays, start)
    start_state: Any = game.initial_state()
    plays = 100_000 if COMPILED else 2_000
    start = time.process_time()
    for _ in range(plays):
        start_state.playout(rng)
    rate("playouts", plays, start)


def rate(what: str, count: int, start: float) -> None:
    """Print a rate, given the processor time at the start."""
    print(f"{what}: {count / (time.process_time() - start):,.0f} a second", flush=True)


def compare(hands: int, seconds: float, seed: int) -> None:
    """Play hands on our rules and PokerKit's, and print the differences."""
    rng = random.Random(seed)
    tally = Tally()
    start = time.monotonic()
    while tally.hands < hands and time.monotonic() - start < seconds:
        compare_match(rng, tally)
    print(f"{tally.hands:,} hands, {tally.decisions:,} decisions, {tally.showdowns:,} showdowns")
    print(f"{tally.side_pots:,} hands with side pots; {len(tally.mismatches)} mismatches")
    for reason, count in tally.known.items():
        print(f"{count:,} decisions: {reason}")
    for difference in tally.mismatches[:20]:
        print(difference)
    print(f"{time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
