"""Strength of a poker hand of five, six or seven cards, without tables.

A hand is a word with 16 bits for each suit, as in the library poker-eval (C. Matthews, M. Maurer
and others, 1993 to 2007).  Its suits, laid over each other by AND and OR, give the ranks that are
held at least once, twice and three times.  The strength has the category above bit 26, the ranks
that make it above bit 13, and the kickers below.  Ranks stay one bit each.  The number with the
higher top bit is greater, so strengths compare as hands do, and equal hands have equal strengths.

>>> from plyhouse.games.playing_cards import card_number, hand_bits
>>> names = ("Ah Kh Qh Jh Th 2c 2d", "As Ad Kc Kd Kh 2s 3s")
>>> held = [hand_bits(tuple([card_number(name) for name in each.split()])) for each in names]
>>> [category_name(hand_strength(cards, 2)) for cards in held]
['straight flush', 'full house']
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

__all__ = ["CATEGORIES", "category_name", "hand_frequencies", "hand_strength", "ranked_hands"]

CATEGORIES: Final[tuple[str, ...]] = (
    "high card",
    "pair",
    "two pair",
    "three of a kind",
    "straight",
    "flush",
    "full house",
    "four of a kind",
    "straight flush",
)
"""Categories from the weakest; a royal flush is the highest straight flush."""

_RANKS: Final = 0x1FFF
_PAIR: Final = 1 << 26
_TWO_PAIR: Final = 2 << 26
_THREE: Final = 3 << 26
_STRAIGHT: Final = 4 << 26
_FLUSH: Final = 5 << 26
_FULL_HOUSE: Final = 6 << 26
_FOUR: Final = 7 << 26
_STRAIGHT_FLUSH: Final = 8 << 26

_GAPS: Final = 0x2000_2000_2000
"""Bits above the ace of the first three suits."""
_END: Final = 1 << 61
"""The bit above the last ace."""
_UNITS: Final[tuple[int, ...]] = tuple([1 << (6 * category) for category in range(9)])


def category_name(strength: int) -> str:
    """Return the category of a strength, such as "two pair"."""
    return CATEGORIES[strength >> 26]


def _straight(ranks: i64) -> i64:
    """Return the ranks with which a straight begins, the highest alone; 0 without a straight.

    The ace counts below the deuce, too.  Bit 0 stands for the straight from ace to five.
    """
    low: i64 = (ranks << 1) | (ranks >> 12)
    found: i64 = low & (low >> 1) & (low >> 2) & (low >> 3) & (low >> 4)
    while (found & (found - 1)) != 0:
        found = found & (found - 1)
    return found


def hand_strength(cards: i64, extra: i64) -> i64:
    """Return the strength of a hand; greater is better.

    ``cards`` are the bits of ``hand_bits``, and ``extra`` counts the cards beyond five, 0 to 2.
    """
    # Count the cards of each suit, all four at once.  No word here exceeds 62 bits, so that the
    # constants are machine numbers.
    x: i64 = cards - ((cards >> 1) & 0x1555_5555_5555_5555)
    x = (x & 0x3333_3333_3333_3333) + ((x >> 2) & 0x3333_3333_3333_3333)
    x = (x + (x >> 4)) & 0x0F0F_0F0F_0F0F_0F0F
    x = (x + (x >> 8)) & 0x001F_001F_001F_001F
    # A suit of five or more carries into bit 4 when 11 is added.
    x = x + 0x000B_000B_000B_000B
    if (x & 0x0010_0010_0010_0010) != 0:
        return _flush(cards, x)
    a: i64 = cards & _RANKS
    b: i64 = (cards >> 16) & _RANKS
    c: i64 = (cards >> 32) & _RANKS
    d: i64 = cards >> 48
    ab: i64 = a | b
    cd: i64 = c | d
    ranks: i64 = ab | cd
    low: i64 = (ranks << 1) | (ranks >> 12)
    if (low & (low >> 1) & (low >> 2) & (low >> 3) & (low >> 4)) != 0:
        # Seven cards with five ranks in a row leave no room for a full house.
        return _STRAIGHT | _straight(ranks)
    twice: i64 = (a & b) | (c & d) | (ab & cd)
    kickers: i64 = ranks ^ twice
    if twice == 0:
        if extra > 0:
            kickers = kickers & (kickers - 1)
            if extra > 1:
                kickers = kickers & (kickers - 1)
        return kickers
    thrice: i64 = (a & b & cd) | (c & d & ab)
    if thrice == 0:
        upper: i64 = twice & (twice - 1)
        if upper == 0:
            if extra > 0:
                kickers = kickers & (kickers - 1)
                if extra > 1:
                    kickers = kickers & (kickers - 1)
            return _PAIR | (twice << 13) | kickers
        if (upper & (upper - 1)) != 0:
            # Of three pairs the lowest only gives a kicker.
            kickers = ranks ^ upper
            twice = upper
        kickers = _highest(kickers)
        return _TWO_PAIR | (twice << 13) | kickers
    four: i64 = a & b & c & d
    if four != 0:
        return _FOUR | (four << 13) | _highest(ranks ^ four)
    high: i64 = thrice & (thrice - 1)
    if high != 0:
        return _FULL_HOUSE | (high << 13) | (thrice ^ high)
    pair: i64 = twice ^ thrice
    if pair != 0:
        return _FULL_HOUSE | (thrice << 13) | _highest(pair)
    if extra > 0:
        kickers = kickers & (kickers - 1)
        if extra > 1:
            kickers = kickers & (kickers - 1)
    return _THREE | (thrice << 13) | kickers


def _highest(ranks: i64) -> i64:
    """Return the highest of some ranks."""
    left: i64 = ranks
    while (left & (left - 1)) != 0:
        left = left & (left - 1)
    return left


def _flush(cards: i64, counts: i64) -> i64:
    """Return the strength of a hand with five or more cards of a suit."""
    suit: i64 = cards & _RANKS
    many: i64 = counts & 0x1F
    if (counts & 0x0010_0000) != 0:
        suit = (cards >> 16) & _RANKS
        many = (counts >> 16) & 0x1F
    elif (counts & 0x0010_0000_0000) != 0:
        suit = (cards >> 32) & _RANKS
        many = (counts >> 32) & 0x1F
    elif (counts & 0x0010_0000_0000_0000) != 0:
        suit = cards >> 48
        many = counts >> 48
    straight: i64 = _straight(suit)
    if straight != 0:
        return _STRAIGHT_FLUSH | straight
    while many > 16:
        suit = suit & (suit - 1)
        many -= 1
    return _FLUSH | suit


def hand_frequencies(size: int) -> list[int]:
    """Count all hands of five to seven cards by category, from the weakest.

    >>> hand_frequencies(5)[8]
    40
    """
    counts = [0] * len(CATEGORIES)
    extra: i64 = size - 5
    _count(counts, 0, 1, size, extra)
    return counts


def _count(counts: list[int], held: i64, first: i64, left: i64, extra: i64) -> None:
    """Count the hands with the cards ``held`` and ``left`` more, from the bit ``first`` on."""
    bit: i64 = first
    if left > 1:
        while bit < _END:
            following: i64 = bit << 1
            if (following & _GAPS) != 0:
                following = following << 3
            _count(counts, held | bit, following, left - 1, extra)
            bit = following
        return
    # Fewer than 64 hands follow: six bits for each category are enough.
    sums: i64 = 0
    while bit < _END:
        unit: i64 = _UNITS[hand_strength(held | bit, extra) >> 26]
        sums += unit
        bit = bit << 1
        if (bit & _GAPS) != 0:
            bit = bit << 3
    category: i64 = 0
    while sums != 0:
        found: i64 = sums & 63
        if found != 0:
            counts[category] += found
        sums = sums >> 6
        category += 1


def ranked_hands(hands: list[int], rounds: int) -> int:
    """Rank every hand of seven cards ``rounds`` times; return the sum of the strengths.

    For `benchmarks/poker.py`: the loop is compiled with the evaluator.
    """
    total: i64 = 0
    times: i64 = rounds
    while times > 0:
        for hand in hands:
            bits: i64 = hand
            total += hand_strength(bits, 2) & 0xFFFF
        times -= 1
    return total
