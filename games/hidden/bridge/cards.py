"""Cards and calls of bridge: numbers and names.

A card is a number from 0 to 51: 13 times its suit (clubs, diamonds, hearts, spades) plus its rank,
0 for a deuce and 12 for an ace.  A hand is a word with one bit for each card, bit 0 for the deuce
of clubs.  Calls follow the cards: 52 is a pass, 53 a double, 54 a redouble, and 55 to 89 are the
bids from 1C to 7NT.  Names are those of PBN, the "Portable Bridge Notation" (T. Verhoeff, 1997).

>>> card_number("SA"), CARD_NAMES[0], CALL_NAMES[:5], names(0b11)
(51, 'C2', ('Pass', 'X', 'XX', '1C', '1D'), ('C3', 'C2'))
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

__all__ = [
    "BITS",
    "CALL_NAMES",
    "CARD_NAMES",
    "DOUBLE",
    "FIRST_BID",
    "LAST_CALL",
    "NO_TRUMP",
    "PACK",
    "PASS",
    "RANKS",
    "RANK_NAMES",
    "REDOUBLE",
    "STRAINS",
    "SUITS",
    "SUIT_BITS",
    "SUIT_NAMES",
    "bid_name",
    "bit_count",
    "call_number",
    "card_number",
    "hand_bits",
    "names",
]

PACK: Final = 52
RANKS: Final = "23456789TJQKA"
SUITS: Final = "CDHS"
SUIT_NAMES: Final[tuple[str, ...]] = ("clubs", "diamonds", "hearts", "spades")
RANK_NAMES: Final[tuple[str, ...]] = (
    "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "jack", "queen",
    "king", "ace",
)  # fmt: skip
STRAINS: Final[tuple[str, ...]] = ("C", "D", "H", "S", "NT")
NO_TRUMP: Final = 4

PASS: Final = 52
DOUBLE: Final = 53
REDOUBLE: Final = 54
FIRST_BID: Final = 55
"""The call 1C; bids go up from here, by strain within a level."""
LAST_CALL: Final = FIRST_BID + 34
"""The call 7NT."""

CARD_NAMES: Final[tuple[str, ...]] = tuple([suit + rank for suit in SUITS for rank in RANKS])
CALL_NAMES: Final[tuple[str, ...]] = (
    "Pass",
    "X",
    "XX",
    *[f"{level}{strain}" for level in range(1, 8) for strain in STRAINS],
)

BITS: Final[tuple[int, ...]] = tuple([1 << card for card in range(PACK)])
"""The bit of each card: shifts of a machine word by a variable would have 32 bits."""
SUIT_BITS: Final[tuple[int, ...]] = tuple([0x1FFF << (13 * suit) for suit in range(4)])

_CARDS: Final[dict[str, int]] = {name: card for card, name in enumerate(CARD_NAMES)}
_CALLS: Final[dict[str, int]] = {name: PASS + place for place, name in enumerate(CALL_NAMES)}


def card_number(name: str) -> int:
    """Return the number of a card such as "SA"."""
    return _CARDS[name]


def call_number(name: str) -> int:
    """Return the number of a call such as "1NT" or "Pass"."""
    return _CALLS[name]


def bid_name(bid: int) -> str:
    """Return the name of a bid counted from 0 for 1C."""
    return CALL_NAMES[bid + FIRST_BID - PASS]


def hand_bits(text: tuple[str, ...]) -> int:
    """Return the hand with the cards of these names."""
    found: int = 0
    for name in text:
        found |= BITS[_CARDS[name]]
    return found


def names(hand: int) -> tuple[str, ...]:
    """Return the names of the cards of a hand, spades first and high cards first."""
    return tuple([CARD_NAMES[card] for card in range(PACK - 1, -1, -1) if hand & BITS[card]])


def bit_count(hand: i64) -> i64:
    """Return the number of cards of a hand."""
    # Counts of neighbouring bits are added, pairs first, as in H. S. Warren's "Hacker's Delight".
    x: i64 = hand - ((hand >> 1) & 0x5_5555_5555_5555)
    x = (x & 0x3_3333_3333_3333) + ((x >> 2) & 0x3_3333_3333_3333)
    x = (x + (x >> 4)) & 0xF_0F0F_0F0F_0F0F
    x = x + (x >> 8)
    x = x + (x >> 16)
    return (x + (x >> 32)) & 0x3F
