"""Local best response against the bots of heads-up hold'em: what each loses at least.

Prints thousandths of a big blind a hand with 95 % intervals.  Always folding loses 750 to a best
response, and with fixed limit always calling 1,163.48 (M. Johanson and others, "Accelerating best
response calculation in large extensive games", IJCAI 2011), so these two check the method.
Without a limit, stacks are 100 big blinds, and the responder bets half the pot, the pot or all.

    python -m benchmarks.local_best_response
    python -m benchmarks.local_best_response --no-limit --tables 50
    python -m benchmarks.local_best_response --tables 1000 --policy policy.toml
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
from tests.harness.local_best_response import (
    HANDS,
    Floats,
    RaiseOf,
    Responder,
    VectorPolicy,
    always,
    of_policy,
    only_raise,
)

from plyhouse.bots.reference.equity_bot import equity_shares
from plyhouse.bots.reference.holdem_actions import RAISE, sized
from plyhouse.bots.reference.holdem_rule_bot import aimed_at, rule_shares
from plyhouse.clients.arena.tally import mean_interval
from plyhouse.games.hidden.texas_holdem.equity import equity
from plyhouse.games.hidden.texas_holdem.expected_strength import PAIRS
from plyhouse.games.hidden.texas_holdem.rules import TexasHoldem
from plyhouse.learning.limit_holdem import (
    SHIPPED,
    limit_game,
    load_limit_policy,
    preflop_class,
)
from plyhouse.learning.limit_holdem_training import FlopTable, Strengths

TRIALS = 20_000
"""Random deals for the equity of each class of hands before the flop."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=200, help=f"boards, {2 * HANDS} hands each")
    parser.add_argument("--policy", type=Path, default=SHIPPED, help="policy of cfr_holdem")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="bots to measure, separated by commas")
    parser.add_argument("--no-limit", action="store_true", help="free sizes of bets")
    options = parser.parse_args()
    policies: dict[str, VectorPolicy] = {"always fold": always(0), "always call": always(1)}
    raise_of: RaiseOf = only_raise
    if options.no_limit:
        game = TexasHoldem(hands=1)
        raise_of = raise_of_rules(game)
        policies["holdem_rules"] = rule_policy(game, no_limit=True)
    else:
        game = limit_game()
        policies["equity"] = equity_policy()
        policies["holdem_rules"] = rule_policy(game)
        policies["cfr_holdem"] = of_policy(load_limit_policy(options.policy))
    strengths = FlopTable().strengths
    for name, policy in policies.items():
        if options.only and name not in options.only.split(","):
            continue
        start = time.process_time()
        responder = Responder(policy, strengths, options.seed, game=game, raise_of=raise_of)
        found = mean_interval(responder.tables(options.tables))
        spent = time.process_time() - start
        print(
            f"{name:14} {found.value:8.0f}  [{found.low:.0f}, {found.high:.0f}] mbb/hand, "
            f"{2 * HANDS * options.tables} hands, {spent:.0f} s",
            flush=True,
        )


def equity_policy() -> VectorPolicy:
    """Return the policy of the bot `equity`, with exact chances instead of simulated ones."""
    by_class: dict[int, float] = {}
    for first, second in PAIRS:
        place = preflop_class(first, second)
        if place not in by_class:
            by_class[place] = equity((first, second), (), 1, TRIALS, seed=place)
    preflop = np.array([by_class[preflop_class(first, second)] for first, second in PAIRS])
    game = limit_game()

    def policy(state: Any, strengths: Strengths | None) -> Floats:
        seen = game.observe(state, None)
        chances = preflop if strengths is None else strengths[0]
        found = np.zeros((len(PAIRS), 3))
        for pair, chance in enumerate(chances.tolist()):
            for kind, share in equity_shares(seen, chance).items():
                found[pair, kind] += share
        return legal(state, found)

    return policy


def raise_of_rules(game: TexasHoldem) -> RaiseOf:
    """Return the function that chooses the bets and raises of the bot `holdem_rules`."""

    def raised(state: Any) -> int:
        seen: Any = game.observe(state, state.to_move)
        return int(game.parse(state, sized(seen.legal, RAISE, aimed_at(seen))))

    return raised


def rule_policy(game: TexasHoldem, *, no_limit: bool = False) -> VectorPolicy:
    """Return the policy of the bot `holdem_rules`."""

    def policy(state: Any, strengths: Strengths | None) -> Floats:
        seen = game.observe(state, state.to_move)
        board = state.board()
        found = np.zeros((len(PAIRS), 3))
        chances = [0.0] * len(PAIRS) if strengths is None else strengths[0].tolist()
        for pair, (own, chance) in enumerate(zip(PAIRS, chances, strict=True)):
            if chance >= 0.0:
                shares = rule_shares(seen, own, board, chance, no_limit=no_limit)
                for kind, share in shares.items():
                    found[pair, kind] += share
            else:
                found[pair, 1] = 1.0
        return legal(state, found)

    return policy


def legal(state: Any, shares: Floats) -> Floats:
    """Turn raises into calls where the limit forbids them, and folds into checks without a bet."""
    kinds = {min(action, 2) for action in state.actions()}
    for kind in (0, 2):
        if kind not in kinds:
            shares[:, 1] += shares[:, kind]
            shares[:, kind] = 0.0
    return shares


if __name__ == "__main__":
    main()
