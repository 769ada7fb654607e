"""Expected strength of every pair of cards on a board, exact, over all further cards.

A *share* is the part of the pot that a hand wins in a showdown with one opponent of whom nothing is
known, a tie counting half.  On the flop and the turn the cards to come decide it.  Its mean is the
hand strength E[HS]; its mean square E[HS^2] also favours hands that may become strong (M. Johanson,
"Robust strategies and counter-strategies", University of Alberta, 2007, section 2.5).

Pairs of cards are numbered from 0 to 1325.

>>> from plyhouse.games.playing_cards import card_number
>>> board = tuple([card_number(name) for name in ("Ts", "Js", "Qs", "2c", "2d")])
>>> royal = tuple([card_number(name) for name in ("As", "Ks")])
>>> pair_strength(royal, board)
(1.0, 1.0)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from mypy_extensions import i64

from plyhouse.games.hidden.texas_holdem.ranking import hand_strength
from plyhouse.games.playing_cards import CARD_BITS, PACK, hand_bits

__all__ = ["PAIRS", "pair_strength", "pair_strengths", "showdown_order"]

PAIRS: Final[tuple[tuple[int, int], ...]] = tuple(
    [(first, second) for second in range(PACK) for first in range(second)]
)
"""All pairs of cards by number, each with its lower card first."""

_BITS: Final[list[int]] = [CARD_BITS[first] | CARD_BITS[second] for first, second in PAIRS]
_FIRST: Final[list[int]] = [first for first, _ in PAIRS]
_SECOND: Final[list[int]] = [second for _, second in PAIRS]
_RIVALS: Final = 990
"""Pairs of cards that an opponent may have on a full board."""
_STRIDE: Final = 617
"""A prime that divides no number of full boards: 1, 46 or 1081."""
_CODE: Final = 2048
"""Greater than the number of every pair."""


def showdown_order(board: tuple[int, ...]) -> list[int]:
    """Return the strength of each pair of cards on five cards; -1 where a card is on the board."""
    shown: i64 = hand_bits(board)
    found: list[int] = []
    for each in _BITS:
        pair: i64 = each
        found.append(-1 if (pair & shown) != 0 else hand_strength(pair | shown, 2))
    return found


def pair_strengths(board: tuple[int, ...]) -> tuple[list[float], list[float]]:
    """Return the mean share and the mean square of shares of each pair of cards.

    ``board`` has three to five cards.  Pairs with a card of the board have -1.
    """
    sums: list[int] = [0] * len(PAIRS)
    squares: list[int] = [0] * len(PAIRS)
    _add_boards(hand_bits(board), 0, 5 - len(board), sums, squares)
    left: int = 45 + 5 - len(board)
    ends: int = 1
    if len(board) == 4:
        ends = left
    elif len(board) == 3:
        ends = left * (left - 1) // 2
    shown: i64 = hand_bits(board)
    scale: float = 1.0 / float(2 * _RIVALS)
    even: float = 1.0 / float(ends)
    means: list[float] = []
    mean_squares: list[float] = []
    for number, each in enumerate(_BITS):
        pair: i64 = each
        if (pair & shown) != 0:
            means.append(-1.0)
            mean_squares.append(-1.0)
        else:
            means.append(float(sums[number]) * scale * even)
            mean_squares.append(float(squares[number]) * scale * scale * even)
    return means, mean_squares


def _add_boards(shown: i64, first: int, missing: int, sums: list[int], squares: list[int]) -> None:
    """Add the shares on every full board, with ``missing`` cards from card ``first`` on."""
    if missing == 0:
        _add_shares(shown, sums, squares)
        return
    for card in range(first, PACK):
        bit: i64 = CARD_BITS[card]
        if (shown & bit) == 0:
            _add_boards(shown | bit, card + 1, missing - 1, sums, squares)


def _add_shares(shown: i64, sums: list[int], squares: list[int]) -> None:
    """Add twice the number of opponents that each pair beats on a full board, a tie being one."""
    codes: list[int] = []
    number: int = 0
    for number, each in enumerate(_BITS):
        pair: i64 = each
        if (pair & shown) == 0:
            codes.append(int(hand_strength(pair | shown, 2)) * _CODE + number)
    codes.sort()
    below: int = 0
    below_with: list[int] = [0] * PACK
    equal_with: list[int] = [0] * PACK
    place: int = 0
    count: int = len(codes)
    while place < count:
        strength: int = codes[place] // _CODE
        end: int = place
        while end < count and codes[end] // _CODE == strength:
            number = codes[end] % _CODE
            equal_with[_FIRST[number]] += 1
            equal_with[_SECOND[number]] += 1
            end += 1
        equal: int = end - place
        at: int = place
        while at < end:
            number = codes[at] % _CODE
            first: int = _FIRST[number]
            second: int = _SECOND[number]
            beaten: int = below - below_with[first] - below_with[second]
            # The pair itself is among those that share its first and its second card.
            ties: int = equal - equal_with[first] - equal_with[second] + 1
            points: int = 2 * beaten + ties
            sums[number] += points
            squares[number] += points * points
            at += 1
        at = place
        while at < end:
            number = codes[at] % _CODE
            below_with[_FIRST[number]] += 1
            below_with[_SECOND[number]] += 1
            equal_with[_FIRST[number]] = 0
            equal_with[_SECOND[number]] = 0
            at += 1
        below += equal
        place = end


def pair_strength(
    own: tuple[int, ...], board: tuple[int, ...], stop: Callable[[], bool] | None = None
) -> tuple[float, float]:
    """Return the mean share and the mean square of shares of one pair of cards.

    ``board`` has three to five cards.  On the flop this takes a million showdowns.  Once ``stop``
    is true, the means are those over the full boards looked at, at least one.
    """
    mine: i64 = hand_bits(own)
    shown: i64 = hand_bits(board)
    ends: list[int] = [0]
    for _ in range(5 - len(board)):
        longer: dict[int, None] = {}
        for end in ends:
            dealt: i64 = end
            for card in range(PACK):
                bit: i64 = CARD_BITS[card]
                if ((shown | mine | dealt) & bit) == 0:
                    longer[int(dealt | bit)] = None
        ends = list(longer)
    totals: list[float] = [0.0, 0.0, 0.0]
    place: int = 0
    for _ in range(len(ends)):
        full: i64 = ends[place]
        _add_end(mine, shown | full, totals)
        if stop is not None and stop():
            break
        # Any part of this order has cards of all ranks.
        place = (place + _STRIDE) % len(ends)
    return totals[0] / totals[2], totals[1] / totals[2]


def _add_end(mine: i64, shown: i64, totals: list[float]) -> None:
    """Add share, square and one for a full board."""
    used: i64 = mine | shown
    own: i64 = hand_strength(used, 2)
    points: i64 = 0
    for each in _BITS:
        pair: i64 = each
        if (pair & used) == 0:
            other: i64 = hand_strength(pair | shown, 2)
            if other < own:
                points += 2
            elif other == own:
                points += 1
    share: float = float(points) / float(2 * _RIVALS)
    totals[0] += share
    totals[1] += share * share
    totals[2] += 1.0
