"""Equity: the share of the pot that a hand wins on average in a showdown against random hands.

>>> from plyhouse.games.playing_cards import card_number
>>> aces = (card_number("As"), card_number("Ah"))
>>> 0.83 < equity(aces, (), 1, 20_000, seed=1) < 0.87
True
"""

from __future__ import annotations

from random import Random
from typing import Final

from mypy_extensions import i64

from plyhouse.games.hidden.texas_holdem.pots import divided
from plyhouse.games.hidden.texas_holdem.ranking import hand_strength
from plyhouse.games.playing_cards import CARD_BITS, PACK, hand_bits

__all__ = ["called_down", "duel_ends", "equity"]

TRIALS: Final = 4000
"""Random boards whose mean is the expectation of two hands before the flop."""
RING_TRIALS: Final = 500
"""Random boards whose mean is the expectation of more hands."""


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


def called_down(
    holes: tuple[tuple[int, ...], ...],
    board: tuple[int, ...],
    paid: tuple[int, ...],
    folded: int,
    button: int,
) -> list[float]:
    """Return the chips that each seat wins on average if nobody bets or folds any more.

    ``holes`` are the cards of all seats, and ``paid`` their chips in the pots.
    """
    seats: int = len(paid)
    dead: list[int] = []
    seed: int = 0
    for hole in holes:
        for card in hole:
            dead.append(card)
            seed = (seed * 53 + card + 1) & 0x7FFF_FFFF
    alive: list[int] = [seat for seat in range(seats) if not folded >> seat & 1]
    sums: list[float] = [0.0] * seats
    marks: list[int] = [0] * seats
    if len(alive) == 2:
        one: int = alive[0]
        two: int = alive[1]
        ends = duel_ends(holes[one], holes[two], board, tuple(dead), TRIALS, seed)
        count: float = float(ends[0] + ends[1] + ends[2])
        for end in range(3):
            marks[one] = 3 - end
            marks[two] = 1 + end
            share: float = float(ends[end]) / count
            taken = divided(paid, folded, tuple(marks), button)
            for seat in range(seats):
                sums[seat] += float(taken[seat] - paid[seat]) * share
        return sums
    rng = Random(seed)
    left: list[int] = [card for card in range(PACK) if card not in dead and card not in board]
    missing: int = 5 - len(board)
    boards: int = RING_TRIALS if missing > 0 else 1
    for _ in range(boards):
        table: i64 = hand_bits((*board, *rng.sample(left, missing)))
        for seat in alive:
            marks[seat] = hand_strength(table | hand_bits(holes[seat]), 2)
        taken = divided(paid, folded, tuple(marks), button)
        for seat in range(seats):
            sums[seat] += float(taken[seat] - paid[seat]) / float(boards)
    return sums


def duel_ends(
    one: tuple[int, ...],
    two: tuple[int, ...],
    board: tuple[int, ...],
    dead: tuple[int, ...],
    trials: int,
    seed: int,
) -> tuple[int, int, int]:
    """Return how many full boards the first of two hands wins, shares and loses.

    ``dead`` are cards that cannot come.  With three or more cards on the board all ends are
    counted; with fewer, ``trials`` random ones.
    """
    mine: i64 = hand_bits(one)
    theirs: i64 = hand_bits(two)
    shown: i64 = hand_bits(board)
    used: i64 = mine | theirs | shown | hand_bits(dead)
    counts: list[int] = [0, 0, 0]
    if len(board) < 3:
        random: i64 = (seed & 0x7FFF_FFFF) | 1
        left: i64 = trials
        while left > 0:
            left -= 1
            taken: i64 = used
            table: i64 = shown
            need: i64 = 5 - len(board)
            while need > 0:
                random = _drawn(random)
                card: i64 = CARD_BITS[(random >> 8) % PACK]
                if (taken & card) == 0:
                    taken |= card
                    table |= card
                    need -= 1
            _count_end(mine | table, theirs | table, counts)
    else:
        _count_ends(mine, theirs, shown, used, 0, 5 - len(board), counts)
    return counts[0], counts[1], counts[2]


def _count_ends(
    mine: i64, theirs: i64, table: i64, used: i64, first: int, need: int, counts: list[int]
) -> None:
    """Count the ends of all boards with ``need`` more cards, from card ``first`` on."""
    if need == 0:
        _count_end(mine | table, theirs | table, counts)
        return
    for place in range(first, PACK):
        card: i64 = CARD_BITS[place]
        if (used & card) == 0:
            _count_ends(mine, theirs, table | card, used | card, place + 1, need - 1, counts)


def _count_end(mine: i64, theirs: i64, counts: list[int]) -> None:
    """Count one showdown: won, shared or lost."""
    own: i64 = hand_strength(mine, 2)
    other: i64 = hand_strength(theirs, 2)
    if own > other:
        counts[0] += 1
    elif own == other:
        counts[1] += 1
    else:
        counts[2] += 1


def _drawn(state: i64) -> i64:
    """Return the next state of the generator."""
    x: i64 = state
    x ^= (x << 13) & 0xFFFF_FFFF
    x ^= x >> 17
    x ^= (x << 5) & 0xFFFF_FFFF
    return x
