"""Tricks: their winners, and play to the end by rules of thumb.

The rules are those of any primer: second hand low, third hand high, win as cheaply as possible, and
leave a trick that partner wins.  Ruff a trick that the opponents win, and discard low.  The leader
takes a trick that is certain in every other case and otherwise leads a low card of a random suit.

>>> from plyhouse.games.hidden.bridge.cards import card_number
>>> trick_winner((card_number("H5"), card_number("HK"), card_number("S2"), card_number("HA")), 3)
2
"""

from __future__ import annotations

from mypy_extensions import i64

from plyhouse.games.hidden.bridge.cards import BITS, SUIT_BITS

__all__ = ["finished_tricks", "highest_card", "lowest_card", "trick_winner"]


def trick_winner(cards: tuple[int, ...], strain: int) -> int:
    """Return the place in a trick, from the leader, of the card that wins it.

    ``strain`` is the number of the trump suit, or 4 without trumps.  Fewer than four cards give
    the card that is winning.
    """
    best: int = 0
    for place in range(1, len(cards)):
        if _beats(cards[place], cards[best], strain):
            best = place
    return best


def _beats(card: i64, other: i64, strain: i64) -> bool:
    """Return whether a card beats the best card before it."""
    suit: i64 = card // 13
    other_suit: i64 = other // 13
    if suit == other_suit:
        return card > other
    return suit == strain


def lowest_card(hand: i64) -> i64:
    """Return the lowest card of a hand, clubs below the other suits; it must not be empty."""
    return highest_card(hand & -hand)


def highest_card(hand: i64) -> i64:
    """Return the highest card of a hand, spades above the other suits; it must not be empty."""
    card: i64 = 0
    left: i64 = hand
    if (left >> 26) != 0:
        left = left >> 26
        card = 26
    if (left >> 13) != 0:
        left = left >> 13
        card += 13
    if (left >> 8) != 0:
        left = left >> 8
        card += 8
    if (left >> 4) != 0:
        left = left >> 4
        card += 4
    if (left >> 2) != 0:
        left = left >> 2
        card += 2
    return card + (left >> 1)


def finished_tricks(
    hands: tuple[int, ...],
    trick: tuple[int, ...],
    leader: int,
    declarer: int,
    strain: int,
    seed: int,
) -> int:
    """Return the tricks that the declarer's side takes when all play by the rules above.

    ``hands`` are the cards that the seats hold, and ``trick`` those on the table from the leader's.
    The current trick counts.
    """
    held: list[int] = [hands[0], hands[1], hands[2], hands[3]]
    table: list[int] = [0, 0, 0, 0]
    random: i64 = (seed & 0x3FFF_FFFF) | 1
    first: i64 = leader
    trumps: i64 = strain
    place: i64 = len(trick)
    best: i64 = 0
    at: i64 = 0
    while at < place:
        table[at] = trick[at]
        if at > 0 and _beats(table[at], table[best], trumps):
            best = at
        at += 1
    won: i64 = 0
    while True:
        seat: i64 = (first + place) % 4
        hand: i64 = held[seat]
        if hand == 0 and place == 0:
            return won
        # The xorshift of G. Marsaglia (2003) with 32 bits.
        random ^= (random << 13) & 0xFFFF_FFFF
        random ^= random >> 17
        random ^= (random << 5) & 0xFFFF_FFFF
        card: i64
        if place == 0:
            card = _lead(hand, held[0] | held[1] | held[2] | held[3], random)
            best = 0
        else:
            card = _follow(hand, table[0], table[best], place, place - best == 2, trumps, random)
        bit: i64 = BITS[card]
        held[seat] = hand ^ bit
        table[place] = card
        if place > 0 and _beats(card, table[best], trumps):
            best = place
        place += 1
        if place == 4:
            first = (first + best) % 4
            if (first + declarer) % 2 == 0:
                won += 1
            place = 0


def _lead(hand: i64, all_left: i64, random: i64) -> i64:
    """Return the card to lead."""
    low: i64 = -1
    start: i64 = random >> 8
    step: i64 = 0
    while step < 4:
        suit: i64 = (start + step) % 4
        bits: i64 = SUIT_BITS[suit]
        mine: i64 = hand & bits
        if mine != 0:
            top: i64 = highest_card(mine)
            if (random & 1) != 0 and top == highest_card(all_left & bits):
                return top
            if low < 0:
                low = lowest_card(mine)
        step += 1
    return low


def _follow(
    hand: i64, led: i64, winning: i64, place: i64, ours: bool, trumps: i64, random: i64
) -> i64:
    """Return the card to play to a trick in which ``winning`` is the best card so far."""
    suit_bits: i64 = SUIT_BITS[led // 13]
    same: i64 = hand & suit_bits
    if same != 0:
        if winning // 13 != led // 13:
            return lowest_card(same)
        bit: i64 = BITS[winning]
        # Cards above the winning one: all bits of the suit from twice its bit.
        better: i64 = same & -(bit << 1)
        if better == 0 or (ours and (place == 3 or winning % 13 >= 8)):
            return lowest_card(same)
        if place == 1 and (better & BITS[led // 13 * 13 + 12]) == 0:
            return lowest_card(same)
        return lowest_card(better)
    if trumps < 4 and not ours:
        trump_bits: i64 = SUIT_BITS[trumps]
        ruffs: i64 = hand & trump_bits
        if winning // 13 == trumps:
            over: i64 = BITS[winning]
            ruffs = ruffs & -(over << 1)
        if ruffs != 0:
            return lowest_card(ruffs)
    start: i64 = random >> 8
    step: i64 = 0
    trump_left: i64 = -1
    while step < 4:
        suit: i64 = (start + step) % 4
        bits: i64 = SUIT_BITS[suit]
        mine: i64 = hand & bits
        if mine != 0:
            if suit != trumps:
                return lowest_card(mine)
            trump_left = lowest_card(mine)
        step += 1
    return trump_left
