"""Equity: the share of the pot that a hand wins on average in a showdown against random hands.

>>> from plyhouse.games.playing_cards import card_number
>>> aces = (card_number("As"), card_number("Ah"))
>>> 0.83 < equity(aces, (), 1, 20_000, seed=1) < 0.87
True
"""

from __future__ import annotations

from mypy_extensions import i64

from plyhouse.games.hidden.texas_holdem.ranking import hand_strength
from plyhouse.games.playing_cards import CARD_BITS, PACK, hand_bits

__all__ = ["equity"]


def equity(
    own: tuple[int, ...], board: tuple[int, ...], opponents: int, trials: int, seed: int
) -> float:
    """Return the mean share of the pot, from 0 to 1, over ``trials`` random deals.

    ``own`` are two cards, ``board`` up to five, and every opponent is dealt two of the others.
    """
    mine: i64 = hand_bits(own)
    shown: i64 = hand_bits(board)
    missing: i64 = 5 - len(board)
    others: i64 = opponents
    left: i64 = trials
    # The xorshift of G. Marsaglia (2003) with 32 bits; its state must not be 0.
    random: i64 = (seed & 0x7FFF_FFFF) | 1
    won: float = 0.0
    while left > 0:
        left -= 1
        used: i64 = mine | shown
        table: i64 = shown
        need: i64 = missing
        while need > 0:
            random = _drawn(random)
            card: i64 = CARD_BITS[(random >> 8) % PACK]
            if (used & card) == 0:
                used |= card
                table |= card
                need -= 1
        best: i64 = hand_strength(mine | table, 2)
        shares: i64 = 1
        rival: i64 = 0
        while rival < others:
            rival += 1
            hand: i64 = table
            need = 2
            while need > 0:
                random = _drawn(random)
                held: i64 = CARD_BITS[(random >> 8) % PACK]
                if (used & held) == 0:
                    used |= held
                    hand |= held
                    need -= 1
            strength: i64 = hand_strength(hand, 2)
            if strength > best:
                shares = 0
                break
            if strength == best:
                shares += 1
        if shares > 0:
            won += 1.0 / float(shares)
    return won / float(trials)


def _drawn(state: i64) -> i64:
    """Return the next state of the generator."""
    x: i64 = state
    x ^= (x << 13) & 0xFFFF_FFFF
    x ^= x >> 17
    x ^= (x << 5) & 0xFFFF_FFFF
    return x
