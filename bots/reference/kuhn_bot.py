"""``kuhn_optimal``: the equilibrium of two-seat Kuhn poker, exactly.

H. W. Kuhn, "A simplified two-person poker" (1950).  Seat 0 has a family of optimal strategies, one
for every probability a from 0 to 1/3 of betting (bluffing) with the jack; seat 1 has one only.
Against it nobody wins more than 1/18 per match from seat 1, nor loses less than that from seat 0.
"""

from __future__ import annotations

from typing import Final

from plyhouse.bots import Bot, Turn

__all__ = ["KuhnOptimal"]

BLUFF: Final = 1 / 3
"""a: how often seat 0 bets with the jack."""

OPENING: Final = {"J": BLUFF, "Q": 0.0, "K": 3 * BLUFF}
"""Seat 0, first action: how often it bets."""
AFTER_CHECK_AND_BET: Final = {"J": 0.0, "Q": BLUFF + 1 / 3, "K": 1.0}
"""Seat 0, after its check was answered by a bet: how often it calls."""
AFTER_CHECK: Final = {"J": 1 / 3, "Q": 0.0, "K": 1.0}
"""Seat 1, after a check: how often it bets."""
AFTER_BET: Final = {"J": 0.0, "Q": 1 / 3, "K": 1.0}
"""Seat 1, after a bet: how often it calls."""

STRATEGY: Final = {
    (): ("bet", "check", OPENING),
    ("check",): ("bet", "check", AFTER_CHECK),
    ("bet",): ("call", "fold", AFTER_BET),
    ("check", "bet"): ("call", "fold", AFTER_CHECK_AND_BET),
}
"""Betting so far: the action with the tabled probability, the other one, the table by card."""


class KuhnOptimal(Bot):
    """Draws every action from the equilibrium."""

    name = "kuhn_optimal"
    games = ("kuhn_poker",)

    def choose(self, turn: Turn) -> str:
        """Return the action drawn for this card and this betting."""
        seen = turn.observation.fields()
        often, else_, table = STRATEGY[seen["bets"]]
        return often if turn.rng.random() < table[seen["card"]] else else_
