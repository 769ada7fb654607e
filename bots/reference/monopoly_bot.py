"""``monopoly``: Monopoly by simple rules, and by offers that serve both seats.

It plays as `plyhouse.games.stochastic.monopoly.policy` says: it buys what it can, bids up to what a
property is worth to it, builds where that earns most, and keeps cash for the highest rent.  Before
it rolls it offers trades that complete a colour group for it and that the estimate calls good for
both.
"""

from __future__ import annotations

from typing import Any, Final

from plyhouse.bots import Bot, Turn
from plyhouse.games.stochastic.monopoly.legal import (
    ASK,
    CANCEL,
    GIVE,
    PRICES,
    ROLL,
    TRADE,
)
from plyhouse.games.stochastic.monopoly.offers import PRICE_STEPS
from plyhouse.games.stochastic.monopoly.policy import best_offer, chosen
from plyhouse.games.stochastic.monopoly.position import (
    ASKING,
    GIVING,
    MANAGING,
    NOTHING,
    PRICING,
    THE_CARD,
)

__all__ = ["MonopolyBot"]

OPEN: Final = -2
"""Stands for a part of an offer that is still to be chosen."""


class MonopolyBot(Bot):
    """Plays Monopoly; with ``trades=false`` it makes no offers."""

    name = "monopoly"
    games = ("monopoly",)

    def __init__(self, trades: bool = True) -> None:
        self.trades = trades

    def choose(self, turn: Turn) -> Any:
        """Return the action of the rules, or the next step of an offer."""
        state: Any = turn.state
        if state.phase in (ASKING, GIVING, PRICING):
            return next_step(state)
        action = chosen(state)
        if self.trades and action == ROLL and state.phase == MANAGING:
            offer = None
            if state.offers < min(1, state.rules.offers):  # it has no second best
                offer = best_offer(state, OPEN, OPEN, OPEN)
            if offer is not None:
                return TRADE + offer[0]
        return action


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
