"""Accidents of an auction of bridge that a partner of the bot would complain about.

They are judged from the hands and the calls alone, without the tables of the system.
"""

from __future__ import annotations

from typing import Final

from plyhouse.games.hidden.bridge.cards import FIRST_BID, NO_TRUMP, PASS, SUIT_BITS
from plyhouse.games.hidden.bridge.state import BridgeState

__all__ = ["accidents_of"]

VALUES: Final = 24
"""High-card points of both hands for 3NT without a suit of six cards: SAYC invites to 25."""
TWO_LEVEL: Final = 12
"""High-card points with which an answer to an opening of one shows its longest suit first."""
TWO_NO_TRUMP: Final = 9
THREE_NO_TRUMP: Final = 14
TRUMPS: Final = 7


def lengths(hand: int) -> list[int]:
    """Return the number of cards of each suit, from clubs."""
    return [(hand & bits).bit_count() for bits in SUIT_BITS]


def high_cards(hand: int) -> int:
    """Return the points of high cards."""
    return sum(
        [value for suit in range(4) for value in range(1, 5) if hand >> 13 * suit + 8 + value & 1]
    )


def accidents_of(state: BridgeState) -> list[str]:
    """Return the names of the accidents in the auction of a board."""
    if state.declarer < 0:
        return []
    found = []
    pair = [state.hands[state.declarer], state.hands[(state.declarer + 2) % 4]]
    size = [lengths(hand) for hand in pair]
    together = [one + other for one, other in zip(*size, strict=True)]
    points = sum(high_cards(hand) for hand in pair)
    longest = max(max(each) for each in size)
    strain = state.bid % 5
    if shorter_first(state):
        found.append("shorter suit first")
    partners = state.calls[(state.declarer - state.dealer()) % 2 :: 2]
    # A seat that bids 3NT over a preempt before partner has called has to guess.
    answered = len([call for call in partners if call >= FIRST_BID]) > 1
    if state.bid == THREE_NO_TRUMP and points < VALUES and longest < 6 and answered:
        found.append(f"3NT with less than {VALUES} points")
    if state.bid in (9, 19, 24) and points < VALUES - 3 and max(together) < 8:
        found.append("length counted without a fit")
    if strain < NO_TRUMP and together[strain] < TRUMPS:
        found.append(f"fewer than {TRUMPS} trumps")
    return found


def shorter_first(state: BridgeState) -> bool:
    """Return whether a seat opened, or answered in, a suit while it had a longer one.

    Majors of four cards are not opened, and an answer counts only if the longer suit could be bid
    as cheaply, or the hand is worth the two level.
    """
    for at, call in enumerate(state.calls):
        before = state.calls[:at]
        opened = [each for each in before if each >= FIRST_BID]
        bid = call - FIRST_BID
        if bid < 0 or bid >= TWO_NO_TRUMP or bid % 5 == NO_TRUMP or len(opened) > 1:
            continue
        hand = state.hands[(state.dealer() + at) % 4]
        size = lengths(hand)
        suit = bid % 5
        longer = [
            other
            for other in range(4)
            if size[other] > size[suit] and (size[other] > 4 or other < 2 or bid < NO_TRUMP)
        ]
        if not opened:
            if bid < NO_TRUMP and any(size[other] > 4 or other < 2 for other in longer):
                return True
        elif before[-2:] == (opened[0], PASS) and opened[0] < FIRST_BID + NO_TRUMP:
            strong = high_cards(hand) >= TWO_LEVEL
            theirs = opened[0] - FIRST_BID
            if any(other != theirs and (strong or theirs < other) for other in longer):
                return suit != theirs
    return False
