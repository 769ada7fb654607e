"""Offers: what may be traded for what, and what changes hands.

An item is a property, `THE_CARD` to leave jail, or `NOTHING`.
"""

from __future__ import annotations

from typing import Final

from plyhouse.games.stochastic.monopoly.board import GROUP, INTEREST, PROPERTIES
from plyhouse.games.stochastic.monopoly.position import (
    MORTGAGED,
    NOTHING,
    THE_CARD,
    Position,
    replaced,
)

__all__ = ["PRICE_STEPS", "Exchange", "exchanged", "interest_on", "prices", "tradable"]

_AMOUNTS: Final[tuple[int, ...]] = (10, 20, 50, 100, 150, 200, 300, 400, 500, 750, 1000)
PRICE_STEPS: Final[tuple[int, ...]] = (
    *[-amount for amount in reversed(_AMOUNTS)],
    0,
    *_AMOUNTS,
)
"""Dollars that the maker of an offer may pay in addition; negative ones it gets."""

Exchange = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]
"""Owners of properties, owners of the cards to leave jail, and cash."""


def tradable(position: Position, seat: int) -> list[int]:
    """Return what a seat may trade: properties of groups without buildings, and `THE_CARD`."""
    owners = position.owners
    found: list[int] = [
        each
        for each in range(PROPERTIES)
        if owners[each] == seat and not position.built(GROUP[each])
    ]
    if position.holds_card(seat):
        found.append(THE_CARD)
    return found


def interest_on(position: Position, item: int) -> int:
    """Return the interest that the new owner of an item pays to the bank."""
    if 0 <= item < PROPERTIES and position.levels[item] == MORTGAGED:
        return INTEREST[item]
    return 0


def prices(position: Position, partner: int, asked: int, given: int) -> list[int]:
    """Return the amounts that both seats can pay; none if one cannot pay interest it takes over."""
    mine: int = position.cash[position.turn] - interest_on(position, asked)
    theirs: int = position.cash[partner] - interest_on(position, given)
    found: list[int] = []
    if mine < 0 or theirs < 0:
        return found
    for amount in PRICE_STEPS:
        # Each side gives something.
        if given == NOTHING and amount <= 0:
            continue
        if asked == NOTHING and amount >= 0:
            continue
        if -theirs <= amount <= mine:
            found.append(amount)
    return found


def exchanged(position: Position, partner: int, asked: int, given: int, price: int) -> Exchange:
    """Return what an accepted offer of the seat on turn leads to.

    New owners of mortgaged properties pay the interest to the bank.
    """
    maker: int = position.turn
    owners: list[int] = list(position.owners)
    cards: list[int] = list(position.card_owners)
    # Find both cards first, as both sides may be cards.
    to_maker: int = cards.index(partner) if asked == THE_CARD else -1
    to_partner: int = cards.index(maker) if given == THE_CARD else -1
    if to_maker >= 0:
        cards[to_maker] = maker
    elif asked != NOTHING:
        owners[asked] = maker
    if to_partner >= 0:
        cards[to_partner] = partner
    elif given != NOTHING:
        owners[given] = partner
    mine: int = position.cash[maker] - price - interest_on(position, asked)
    theirs: int = position.cash[partner] + price - interest_on(position, given)
    cash = replaced(replaced(position.cash, maker, mine), partner, theirs)
    return tuple(owners), tuple(cards), cash
