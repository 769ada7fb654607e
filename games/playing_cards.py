"""Playing cards: numbers, names, and bits.

A card is a number from 0 to 51: four times its rank (0 for a deuce, 12 for an ace) plus its suit.
Its bit lies in a word with 16 bits for each suit, of which 13 are ranks.

>>> card_number("Ah"), CARDS[50], hand_bits((50,)) == 1 << 44
(50, 'Ah', True)
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

__all__ = [
    "CARDS",
    "CARD_BITS",
    "PACK",
    "RANKS",
    "RANK_NAMES",
    "SUITS",
    "SUIT_NAMES",
    "card_number",
    "hand_bits",
]

PACK: Final = 52

RANKS: Final = "23456789TJQKA"
SUITS: Final = "cdhs"

RANK_NAMES: Final[tuple[str, ...]] = (
    "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "jack", "queen",
    "king", "ace",
)  # fmt: skip
SUIT_NAMES: Final[tuple[str, ...]] = ("clubs", "diamonds", "hearts", "spades")

CARDS: Final[tuple[str, ...]] = tuple([rank + suit for rank in RANKS for suit in SUITS])
"""Names of the cards, rank and suit as in "Ah"."""

CARD_BITS: Final[tuple[int, ...]] = tuple(
    [1 << (16 * suit + rank) for rank in range(13) for suit in range(4)]
)
"""The bit of each card; the highest is bit 60, so that every hand is a small number."""

_NUMBERS: Final[dict[str, int]] = {name: number for number, name in enumerate(CARDS)}


def card_number(name: str) -> int:
    """Return the number of a card such as "Ah"."""
    return _NUMBERS[name]


def hand_bits(cards: tuple[int, ...]) -> i64:
    """Return the bits of some cards in one word."""
    bits: i64 = 0
    for card in cards:
        bit: i64 = CARD_BITS[card]
        bits = bits | bit
    return bits
