"""Hold'em without limit after the flop: how much of a range a bet leaves, and what to do about it.

A bet of ``b`` into a pot of ``p`` wins at once if the other side folds too often.  So that side
goes on with ``p / (p + b)`` of its hands, the best ones.  Each further bet is answered by that
share of what is left.  A bet for value needs a hand that is better than half of those that call.
Both rules are in B. Chen and J. Ankenman, "The Mathematics of Poker" (2006), parts II and III.

The strength of a hand is its chance against random cards, which on the river is the share of hands
that it beats.  So a large bet is not called because a hand is good on average, but because it is
good enough among the hands that would call.
"""

from __future__ import annotations

import math
from typing import Any, Final

from plyhouse.bots.reference.holdem_actions import FOLD, PASSIVE, RAISE

__all__ = ["AIM", "callers_left", "no_limit_shares", "range_left"]

AIM: Final = 2 / 3
"""Size of bets and raises, as a part of the pot."""
DRAW_CHANCES: Final = {1: 0.33, 2: 0.18}
"""Chance that a draw comes in, from the flop and from the turn."""
MOST_BLUFFS: Final = AIM / (1 + AIM)
"""Bluffs for each bet for value that make a bluff catcher indifferent: ``b / (p + b)``."""


def range_left(seen: Any, seat: int) -> float:
    """Return the share of its hands with which ``seat`` should be left after the bets of others.

    Counts the bets and raises of this hand after the flop.
    """
    made: list[tuple[int, int, int]] = []  # who bet, the chips after the flop before it, its chips
    total = 0
    before = _chips_before_flop(seen)
    pot: int = sum([min(before, chips) for chips in seen.paid])
    left = [paid + stack - before for paid, stack in zip(seen.paid, seen.stacks, strict=True)]
    for actions in seen.rounds[1:]:
        bets = [0] * len(left)
        for actor, text in actions:
            word, _, amount = text.partition(" ")
            if not amount and word != "call":
                continue
            # A call with all chips may be for less than the bet.
            reached = int(amount) if amount else min(max(bets), left[actor])
            if amount:
                made.append((actor, total, reached - bets[actor]))
            total += reached - bets[actor]
            bets[actor] = reached
        left = [chips - bet for chips, bet in zip(left, bets, strict=True)]
    shares = [(pot + chips) / (pot + chips + risk) for actor, chips, risk in made if actor != seat]
    return math.prod(shares)


def _chips_before_flop(seen: Any) -> int:
    """Return what each seat that is left had to pay before the flop.

    The observer has chips left, so that it has paid every round that is over in full.
    """
    paid: int = seen.paid[seen.seat] - seen.bets[seen.seat]
    for actions in seen.rounds[1:-1]:
        amounts = [text.partition(" ")[2] for _, text in actions]
        paid -= max([int(amount) for amount in amounts if amount], default=0)
    return paid


def callers_left(seen: Any) -> float:
    """Return the share of their hands with which opponents call a bet of `AIM` now."""
    others = [
        range_left(seen, seat)
        for seat, gone in enumerate(seen.folded)
        if not gone and seat != seen.seat
    ]
    return min(others) / (1 + AIM)


def no_limit_shares(seen: Any, chance: float, draw: bool, street: int) -> dict[int, float]:
    """Return the probabilities of fold, check or call, and bet or raise.

    ``chance`` is the mean share of the pot against one random hand, and ``street`` 1 for the flop.
    """
    rivals = seen.folded.count(False) - 1
    strength = chance**rivals
    callers = callers_left(seen)
    # The opponent's own bets show a better range, too: what is left of it after them.
    shown = range_left(seen, seen.seat)
    for_value = strength > 1.0 - min(callers, shown) / 2
    if seen.to_call == 0:
        if for_value:
            return {RAISE: 0.9, PASSIVE: 0.1}
        bluffs = 0.5 if draw else MOST_BLUFFS / rivals if strength < callers / 2 else 0.0
        return {RAISE: bluffs, PASSIVE: 1.0 - bluffs}
    price = seen.to_call / (sum(seen.paid) + seen.to_call)
    if for_value:
        return {RAISE: 0.8, PASSIVE: 0.2}
    if draw and DRAW_CHANCES[street] + 0.1 > price:
        return {PASSIVE: 1.0}
    return {PASSIVE if strength > 1.0 - shown else FOLD: 1.0}
