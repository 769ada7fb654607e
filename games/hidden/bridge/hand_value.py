"""Values of a hand of bridge in an auction: high cards, suit lengths, shortness, stoppers.

High cards count 4, 3, 2 and 1 for ace, king, queen and jack (M. Work, 1923).  Length and shortness
count only with a fit: C. Goren's dummy points (1936) are 5, 3 and 1 for a void, a singleton and a
doubleton, or 3, 2 and 1 with three trumps.  In the hand with the longer trumps a void counts 3, a
singleton 2, and each trump beyond four one.

>>> from plyhouse.games.hidden.bridge.cards import hand_bits
>>> hand = Hand(hand_bits(tuple("SA SK S8 S5 S2 HK H7 DQ D9 D4 D3 D2 C8".split())))
>>> hand.high, hand.size, hand.even, hand.with_fit(3, False), hand.with_fit(2, False)
(12, [1, 5, 2, 5], False, 16, 12)
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64

from plyhouse.games.hidden.bridge.cards import BITS, SUIT_BITS, bit_count

__all__ = ["Hand", "high_cards"]

ACE: Final = 12
KING: Final = 11
QUEEN: Final = 10
_SHORT: Final[tuple[int, ...]] = (5, 3, 1)
_SHORT_OF_THREE: Final[tuple[int, ...]] = (3, 2, 1)
_SHORT_OF_OWN: Final[tuple[int, ...]] = (3, 2, 0)


def high_cards(hand: int) -> int:
    """Return the points of the high cards of a hand."""
    found: int = 0
    for suit in range(4):
        for rank in range(9, 13):
            if hand & BITS[13 * suit + rank]:
                found += rank - 8
    return found


def _length(hand: i64, suit: i64) -> int:
    bits: i64 = SUIT_BITS[suit]
    return bit_count(hand & bits)


@final
class Hand:
    """A hand as the rules of calls see it."""

    def __init__(self, cards: int) -> None:
        self.size: list[int] = [_length(cards, suit) for suit in range(4)]
        self.high: int = high_cards(cards)
        order: list[int] = sorted(self.size)
        self.even: bool = order[0] >= 2 and order[1] >= 3
        """Balanced: no singleton, and at most one doubleton."""
        self.longest: int = order[3]
        self.two_longest: int = order[3] + order[2]
        self.stops: list[bool] = [False] * 4
        """Suits in which the hand takes a trick against a lead: A, Kx, Qxx, Jxxx."""
        self.good: list[bool] = [False] * 4
        """Suits with two of the top three honours, or three of the top five."""
        for suit in range(4):
            top: int = 0
            five: int = 0
            for rank in range(8, 13):
                if cards & BITS[13 * suit + rank]:
                    five += 1
                    top += 1 if rank >= QUEEN else 0
                    if self.size[suit] > ACE - rank:
                        self.stops[suit] = self.stops[suit] or rank > 8
            self.good[suit] = top >= 2 or five >= 3

    def with_fit(self, suit: int, own: bool) -> int:
        """Return the points if a suit is trumps; ``own`` if partner has supported it."""
        trumps: int = self.size[suit]
        found: int = self.high
        if trumps < 3:
            return found
        scale = _SHORT_OF_OWN if own else _SHORT if trumps >= 4 else _SHORT_OF_THREE
        for other in range(4):
            if other != suit and self.size[other] < 3:
                found += scale[self.size[other]]
        if own and trumps > 4:
            found += trumps - 4
        return found
