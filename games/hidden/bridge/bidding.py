"""Calls by a natural system, Standard American: what a seat's calls show, and what to call next.

The rules are in `system_tables` and `later_calls`.  `Auction` keeps what each seat has shown.

>>> from plyhouse.games.hidden.bridge.cards import call_number, hand_bits
>>> hand = "SA SK S8 S5 S2 HK H7 DQ D9 D4 C8 C6 C3"
>>> best_call(hand_bits(tuple(hand.split())), (call_number("Pass"),)) == call_number("1S")
True
"""

from __future__ import annotations

from plyhouse.games.hidden.bridge.auction import Auction
from plyhouse.games.hidden.bridge.hand_value import Hand
from plyhouse.games.hidden.bridge.shown import Shown

__all__ = ["auction_of", "best_call", "shortfall", "shown_by"]


def auction_of(calls: tuple[int, ...]) -> Auction:
    """Return an auction after some calls."""
    found = Auction()
    for call in calls:
        found.add(call)
    return found


def shown_by(calls: tuple[int, ...]) -> list[Shown]:
    """Return what each place has shown, from the dealer's."""
    return auction_of(calls).shown


def best_call(hand: int, calls: tuple[int, ...]) -> int:
    """Return the call of the seat to move, which holds ``hand``, after ``calls``."""
    return auction_of(calls).call_of(hand)


def shortfall(hand: int, shown: Shown) -> int:
    """Return by how much a hand misses what its seat's calls have shown; 0 if it fits."""
    return shown.shortfall(Hand(hand))
