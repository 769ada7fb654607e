"""Two bots of a card game compared by duplicate deals.

Each set of deals is played once for every seat, with the same cards.  The candidate has another
seat each time, and the other bot has the rest.  So the luck of the deal is the same for both.

    python benchmarks/card_duels.py hearts ismcts --game "hearts(deals=3)" --sets 100
    python benchmarks/card_duels.py holdem_rules equity --game "texas_holdem(hands=20)" --sets 100

With ``--passing`` only the cards that are passed in hearts come from the bots.  The rest of a deal
is played out by the rules of the game's playouts, which is a hundred times faster:

    python benchmarks/card_duels.py hearts ismcts --passing 200 --sets 200
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from plyhouse.bots import Bot
from plyhouse.bots.loading import bot_options, load_bot
from plyhouse.games import get_game
from plyhouse.games.base import CHANCE, Game
from plyhouse.search.limit import Limit

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.harness.bot_turns import turn_at


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("candidate")
    parser.add_argument("other")
    parser.add_argument("--game", default="hearts(deals=1)")
    parser.add_argument("--sets", type=int, default=20)
    parser.add_argument("--simulations", type=int, default=300, help="for each turn")
    parser.add_argument("--passing", type=int, default=0, help="playouts after the pass in hearts")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    game = get_game(options.game)
    candidate, other = [
        load_bot(spec)(**bot_options(spec, load_bot(spec)))
        for spec in (options.candidate, options.other)
    ]
    gains: list[float] = []
    for number in range(options.sets):
        scores = []
        for own in range(game.seats):
            bots = [candidate if seat == own else other for seat in range(game.seats)]
            seed = options.seed * 1_000_003 + number
            scores.append(played(game, bots, seed, options.simulations, options.passing)[own])
        # Returns sum to 0, so the mean of the others is the opposite, divided among them.
        gains.append(game.seats / (game.seats - 1) * statistics.fmean(scores))
        if (number + 1) % 10 == 0:
            report(gains, options.candidate, options.other)


def report(gains: Sequence[float], candidate: str, other: str) -> None:
    """Print the mean return of the candidate over the others', with a 95 % interval."""
    mean = statistics.fmean(gains)
    half = 1.96 * statistics.stdev(gains) / math.sqrt(len(gains))
    print(
        f"{len(gains)} sets: {candidate} against {other} "
        f"{mean:+.2f} [{mean - half:+.2f}, {mean + half:+.2f}]",
        flush=True,
    )


def played(
    game: Game, seats: Sequence[Bot], seed: int, simulations: int, passing: int
) -> tuple[float, ...]:
    """Return the returns of a match whose cards depend on the seed alone."""
    cards = random.Random(seed)
    rng = random.Random(seed + 1)
    state: Any = game.initial_state()
    while state.to_move >= 0 or state.to_move == CHANCE:
        if state.to_move == CHANCE:
            outcomes = state.chance_outcomes()
            state = state.after(outcomes[int(cards.random() * len(outcomes))][0])
            continue
        if passing and not state.passing():
            ends = [state.playout(rng) for _ in range(passing)]
            return tuple([statistics.fmean(each) for each in zip(*ends, strict=True)])
        turn = turn_at(game, state, rng=rng)
        turn.narrow(Limit(simulations=simulations))
        action: Any = seats[state.to_move].choose(turn)
        state = state.after(game.parse(state, action) if isinstance(action, str) else action)
    found: tuple[float, ...] = state.returns()
    return found


if __name__ == "__main__":
    main()
