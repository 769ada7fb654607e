"""Playing cards: numbers, names, and bits.

A card is a number from 0 to 51: four times its rank (0 for a deuce, 12 for an ace) plus its suit.
Its bit lies in a word with 16 bits for each suit, of which 13 are ranks.

>>> card_number("Ah"), CARDS[50], hand_bits((50,)) == 1 << 44
(50, 'Ah', True)
"""

from __future__ import annotations

import random
from typing import Final

from mypy_extensions import i64

from plyhouse.games.bits import bit_number

__all__ = [
    "BET_PLACES",
    "CARDS",
    "CARD_BITS",
    "PACK",
    "RANKS",
    "RANK_NAMES",
    "SUITS",
    "SUIT_BITS",
    "SUIT_NAMES",
    "card_number",
    "cards_by_suit",
    "deal_at_random",
    "hand_bits",
]

BET_PLACES: Final[dict[str, int]] = {"fold": 1, "check": 2, "call": 2, "bet": 3, "raise": 3}
"""Place of the button of each action of betting games, by its first word: see `scene.Button`."""

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

SUIT_BITS: Final[tuple[int, ...]] = tuple(
    [sum([1 << (4 * rank + suit) for rank in range(13)]) for suit in range(4)]
)
"""The cards of each suit as a word in which bit n is card n."""

TRIES: Final = 50
"""Random deals before one is searched for."""

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


def cards_by_suit(cards: i64) -> tuple[int, ...]:
    """Return the cards of a word, in which bit n is card n: clubs, diamonds, spades, hearts."""
    found: list[int] = []
    for suit in (0, 1, 3, 2):
        left: i64 = cards & SUIT_BITS[suit]
        while left != 0:
            number: int = int(bit_number(left & -left))
            found.append(number)
            left = left & (left - 1)
    return tuple(found)


def deal_at_random(
    unknown: list[int],
    counts: list[int],
    barred: list[set[int]],
    hands: list[set[int]],
    rng: random.Random,
) -> None:
    """Fill hands up to their counts with unknown cards, at random.

    ``barred`` are by hand the cards that it cannot hold.  Cards that fewer hands may hold come
    first, so that a deal seldom fails; after `TRIES` failures any deal that fits is taken.
    """
    seats = range(len(hands))
    fits = {card: [seat for seat in seats if card not in barred[seat]] for card in unknown}
    free = [counts[seat] - len(hands[seat]) for seat in seats]
    rest = sum(free)
    for _ in range(TRIES):
        order = list(unknown)
        rng.shuffle(order)
        if rest == len(order):
            order.sort(key=lambda card: len(fits[card]))
        left = list(free)
        made: list[tuple[int, int]] = []
        for card in order[:rest]:
            open_to = [seat for seat in fits[card] if left[seat] > 0]
            if not open_to:
                break
            seat = rng.choices(open_to, [left[each] for each in open_to])[0]
            left[seat] -= 1
            made.append((card, seat))
        if len(made) == rest:
            for card, seat in made:
                hands[seat].add(card)
            return
    _search(sorted(unknown, key=lambda card: len(fits[card])), 0, fits, free, hands)


def _search(
    order: list[int], place: int, fits: dict[int, list[int]], free: list[int], hands: list[set[int]]
) -> bool:
    """Find any deal of the cards from ``place`` on; return whether there is one."""
    if place == len(order):
        return True
    card = order[place]
    for seat in fits[card]:
        if free[seat] > 0:
            free[seat] -= 1
            hands[seat].add(card)
            if _search(order, place + 1, fits, free, hands):
                return True
            hands[seat].remove(card)
            free[seat] += 1
    return False
