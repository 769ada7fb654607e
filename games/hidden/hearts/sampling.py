"""Deals of hearts that fit what a seat knows.

A seat that did not follow suit has no card of the suit.  A seat that led a heart before hearts were
broken had hearts only.  One that threw a heart or the queen of spades into the first trick had
nothing else.  Passed cards are where they were passed to until they are played.
"""

from __future__ import annotations

import random

from plyhouse.games.base import TERMINAL
from plyhouse.games.hidden.hearts.state import (
    HEARTS,
    PASSED,
    QUEEN,
    SEATS,
    HeartsState,
    direction_of,
)
from plyhouse.games.hidden.hearts.views import HeartsObservation
from plyhouse.games.playing_cards import PACK, card_number, deal_at_random

__all__ = ["sampled_state"]


def sampled_state(
    seen: HeartsObservation, deals: int, rng: random.Random, *, alone: bool = False
) -> HeartsState:
    """Return a state that fits the observation, with the unknown cards at random.

    With ``alone`` the deal of the observation is the only one that counts.
    """
    played: list[int] = []
    counts = [(seen.dealt - seat + SEATS - 1) // SEATS for seat in range(SEATS)]
    barred: list[set[int]] = [set() for _ in range(SEATS)]
    for number, (lead, cards) in enumerate(seen.tricks):
        trick = [card_number(card) for card in cards]
        for place, card in enumerate(trick):
            seat = (lead + place) % SEATS
            _learn(barred[seat], card, trick[0], place == 0, number == 0, played)
            played.append(64 * seat + card)
            counts[seat] -= 1
    hands: list[set[int]] = [set() for _ in range(SEATS)]
    own = [card_number(card) for card in seen.hand]
    gone = {code & 63 for code in played}
    by = direction_of(seen.deal)
    if seen.seat is not None:
        hands[seen.seat].update(own)
        if seen.chosen == SEATS * PASSED:
            taker = (seen.seat + by) % SEATS
            hands[taker].update({card_number(card) for card in seen.passed} - gone)
    known = set().union(*hands)
    unknown = [card for card in range(PACK) if card not in gone and card not in known]
    deal_at_random(unknown, counts, barred, hands, rng)
    words = tuple([sum([1 << card for card in hand]) for hand in hands])
    return HeartsState(
        seen.to_move,
        seen.deal + 1 if alone else deals,
        seen.deal,
        words,
        seen.dealt,
        _passed(seen, hands, played, rng),
        tuple(played),
        seen.points,
        (0, 0, 0, 0) if alone and seen.to_move != TERMINAL else seen.won,
        seen.deal if alone else 0,
    )


def _learn(
    barred: set[int], card: int, lead: int, leads: bool, first: bool, before: list[int]
) -> None:
    """Add the cards that a seat cannot hold, because it played ``card``."""
    suit = card % 4
    out: list[int] = []
    if leads:
        if suit == HEARTS and all(code % 4 != HEARTS for code in before):
            out = [one for one in range(PACK) if one % 4 != HEARTS]
    elif suit != lead % 4:
        out = [one for one in range(PACK) if one % 4 == lead % 4]
        if first and (suit == HEARTS or card == QUEEN):
            out = [one for one in range(PACK) if one % 4 != HEARTS and one != QUEEN]
    barred.update(out)


def _passed(
    seen: HeartsObservation, hands: list[set[int]], played: list[int], rng: random.Random
) -> tuple[int, ...]:
    """Return cards that the seats may have chosen to pass."""
    by = direction_of(seen.deal)
    found: list[int] = []
    for seat in range(SEATS):
        count = min(max(seen.chosen - PASSED * seat, 0), PASSED)
        if seat == seen.seat:
            found += [card_number(card) for card in seen.passed]
            continue
        if seen.chosen < SEATS * PASSED:
            found += rng.sample(sorted(hands[seat]), count)
            continue
        taker = (seat + by) % SEATS
        if taker == seen.seat:
            found += [card_number(card) for card in seen.received]
        else:
            after = hands[taker].union([code & 63 for code in played if code >> 6 == taker])
            # The cards that this seat could not have had itself were dealt to the taker.
            own: set[int] = set()
            if seen.seat is not None and (taker - by) % SEATS == seen.seat:
                own = {card_number(card) for card in seen.passed}
            found += rng.sample(sorted(after - own), count)
    return tuple(found)
