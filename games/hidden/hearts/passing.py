"""Cards to pass in hearts, by rules of the books.

The rules are those on which J. Andrews, "Win at Hearts" (1999), and the strategy pages linked by
pagat.com agree:

* Keep low spades.  Keep the queen with four lower spades, and ace and king with three; otherwise
  pass them.
* Then pass the cards that will take tricks: high ones with few lower cards of their suit.
* Prefer clubs and diamonds of which the suit becomes empty, because later discards get rid of
  hearts and the queen.

>>> from plyhouse.games.playing_cards import CARDS, card_number
>>> hand = "2s 3s 5s 9s Qs 4h 6h 8h 2d 5d Kd 3c Tc"
>>> [CARDS[card] for card in cards_to_pass([card_number(name) for name in hand.split()])]
['Kd', 'Tc', '8h']
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from plyhouse.games.hidden.hearts.state import HEARTS, PASSED, QUEEN

__all__ = ["cards_to_pass", "pass_values"]

CLUBS: Final = 0
SPADES: Final = 3
QUEEN_GUARDS: Final = 4
"""Lower spades with which the queen is kept."""
HIGH_GUARDS: Final = 3
"""Lower spades with which ace and king are kept."""
COVER: Final = 1.5
"""Ranks by which each lower card of the suit makes a card safer.  This number and the next two were
measured on 4,000 deals (`benchmarks/NOTES.md`, "Hearts")."""
EMPTY: Final = 2.0
"""Ranks that an empty suit is worth, for each card that leaves it."""
HEART: Final = 2.0
"""Ranks that a heart is worse than a club or diamond."""


def cards_to_pass(hand: Sequence[int]) -> tuple[int, ...]:
    """Return the three cards to pass from a hand of 13, the most urgent first."""
    values = pass_values(hand)
    order = sorted(hand, key=lambda card: (-values[card], -card))
    return tuple(order[:PASSED])


def pass_values(hand: Sequence[int]) -> dict[int, float]:
    """Return how urgent it is to pass each card; lower ranks of its suit make a card safer."""
    values: dict[int, float] = {}
    for suit in range(4):
        cards = sorted([card for card in hand if card % 4 == suit])
        for lower, card in enumerate(cards):
            if suit == SPADES:
                values[card] = _spade(card, len([each for each in cards if each < QUEEN]))
                continue
            values[card] = card // 4 - COVER * lower
            if suit == HEARTS:
                values[card] += HEART
            elif len(cards) <= PASSED:
                values[card] += EMPTY
    return values


def _spade(card: int, low: int) -> float:
    """Return how urgent it is to pass a spade with ``low`` spades below the queen."""
    if card == QUEEN:
        return 100.0 if low < QUEEN_GUARDS else -100.0
    if card > QUEEN:
        return 50.0 + card // 4 if low < HIGH_GUARDS else -50.0
    return -100.0
