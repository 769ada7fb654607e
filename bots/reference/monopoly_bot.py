"""``monopoly``: Monopoly by simulation, or by simple rules.

``monopoly(method=rules)`` plays as `plyhouse.games.stochastic.monopoly.policy` says.  It buys what
it can, bids up to what a property is worth to it, and builds where that earns most.  It keeps cash
for the highest rent.  Without an option the bot simulates what to build, buy, bid and accept.
After each candidate all seats play by these rules for some rounds, with the same dice for all
candidates.  Either way it offers trades that complete a colour group for it and that the estimate
calls good for both seats.
"""

from __future__ import annotations

import random
from typing import Any, Final

from plyhouse.bots import Bot, Turn
from plyhouse.games.stochastic.monopoly.legal import (
    ASK,
    BUILD,
    CANCEL,
    FINE,
    GIVE,
    PRICES,
    REDEEM,
    ROLL,
    SELL,
    TRADE,
    USE_CARD,
)
from plyhouse.games.stochastic.monopoly.offers import PRICE_STEPS
from plyhouse.games.stochastic.monopoly.policy import best_offer, chosen
from plyhouse.games.stochastic.monopoly.position import (
    ASKING,
    GIVING,
    MANAGING,
    NOTHING,
    PRICING,
    RAISING,
    THE_CARD,
)

__all__ = ["MonopolyBot"]

METHODS: Final = ("simulation", "rules")
OPEN: Final = -2
"""Stands for a part of an offer that is still to be chosen."""
LEAST: Final = 32
"""Simulations of each candidate after which the worse half is dropped."""
MOST: Final = 400
"""Simulations of a candidate at most."""


class MonopolyBot(Bot):
    """Plays Monopoly; ``simulations`` bounds the simulations of each candidate.

    With ``trades=false`` it makes no offers.
    """

    name = "monopoly"
    games = ("monopoly",)

    def __init__(
        self, method: str = "simulation", trades: bool = True, simulations: int = MOST
    ) -> None:
        if method not in METHODS:
            raise ValueError(f"method={method} is unknown: choose one of {', '.join(METHODS)}.")
        if simulations < 1:
            raise ValueError(f"simulations={simulations} is not positive.")
        self.method = method
        self.trades = trades
        self.simulations = simulations

    def choose(self, turn: Turn) -> Any:
        """Return the action of the method, or the next step of an offer."""
        state: Any = turn.state
        if state.phase in (ASKING, GIVING, PRICING):
            return next_step(state)
        action = chosen(state)
        tried = candidates(state, action)
        if self.method == "simulation" and len(tried) > 1:
            turn.report(action)
            action = self.simulate(turn, tried)
        if self.trades and action == ROLL and state.offers < min(1, state.rules.offers):
            offer = best_offer(state, OPEN, OPEN, OPEN)
            if offer is not None:
                return TRADE + offer[0]
        return action

    def simulate(self, turn: Turn, tried: list[int]) -> int:
        """Return the candidate with the best mean; half of them go on after each stage."""
        state: Any = turn.state
        stop = turn.stopper()
        most = min(self.simulations, turn.limit.simulations or self.simulations)
        sums = dict.fromkeys(tried, 0.0)
        after = {action: state.after(action) for action in tried}
        done = 0
        stage = LEAST
        while len(sums) > 1 and done < most:
            seed = turn.rng.getrandbits(32)
            gains: dict[int, float] = {}
            for action in sums:
                if stop():
                    return max(sums, key=sums.__getitem__)
                gains[action] = after[action].playout(random.Random(seed))[state.to_move]
            for action, gain in gains.items():
                sums[action] += gain
            done += 1
            if done == stage:
                stage *= 2
                order = sorted(sums, key=sums.__getitem__, reverse=True)
                for action in order[max(2, (len(order) + 1) // 2) :]:
                    del sums[action]
                turn.report(order[0])
        return max(sums, key=sums.__getitem__)


def candidates(state: Any, rule: int) -> list[int]:
    """Return the actions worth a simulation, that of the rules first.

    Before a roll these are to roll, leave jail, build, and lift mortgages; to raise money they are
    what the rules say.
    """
    if state.phase == RAISING:
        return [rule]
    actions = state.actions()
    if state.phase == MANAGING:
        actions = [
            action
            for action in actions
            if action in (ROLL, FINE, USE_CARD) or BUILD <= action < SELL or REDEEM <= action < ASK
        ]
    return [rule, *[action for action in actions if action != rule]]


def next_step(state: Any) -> int:
    """Return the step of the best offer with what is chosen already."""
    asked = state.asked if state.phase != ASKING else OPEN
    given = state.given if state.phase == PRICING else OPEN
    offer = best_offer(state, state.partner, asked, given)
    if offer is None:
        return CANCEL
    _, item, gift, price = offer
    if state.phase == ASKING:
        return ASK + item
    if state.phase == GIVING:
        return GIVE + (THE_CARD + 1 if gift == NOTHING else gift)
    return PRICES + PRICE_STEPS.index(price)
