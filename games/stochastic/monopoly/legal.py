"""Legal actions by phase, and their numbers.

Actions are numbers below `ACTIONS`; each kind has a range, such as `BUILD` plus a property.
"""

from __future__ import annotations

from typing import Final

from plyhouse.games.stochastic.monopoly.board import (
    COST,
    GROUP,
    GROUPS,
    INTEREST,
    MORTGAGE,
    PROPERTIES,
    RAILROADS,
)
from plyhouse.games.stochastic.monopoly.offers import PRICE_STEPS, prices, tradable
from plyhouse.games.stochastic.monopoly.position import (
    ASKING,
    AUCTION,
    BUYING,
    GIVING,
    HOTEL,
    MANAGING,
    MORTGAGED,
    NOTHING,
    PRICING,
    RAISING,
    REPLYING,
    THE_CARD,
    Position,
)

__all__ = [
    "ACCEPT",
    "ACTIONS",
    "ASK",
    "BID",
    "BIDS",
    "BUILD",
    "BUY",
    "CANCEL",
    "CLEAR",
    "DECLINE",
    "FINE",
    "GIVE",
    "MORTGAGE_IT",
    "MOST_CHANGES",
    "PASS",
    "PRICES",
    "REDEEM",
    "REJECT",
    "ROLL",
    "SELL",
    "TRADE",
    "USE_CARD",
    "bids",
    "can_build",
    "can_clear",
    "can_mortgage",
    "can_redeem",
    "can_sell",
    "legal_actions",
]

ROLL: Final = 0
FINE: Final = 1
USE_CARD: Final = 2
BUY: Final = 3
DECLINE: Final = 4
PASS: Final = 5
ACCEPT: Final = 6
REJECT: Final = 7
CANCEL: Final = 8
TRADE: Final = 10
"""Plus the seat to trade with."""
CLEAR: Final = 16
"""Plus the group that is sold back at once."""
BUILD: Final = 24
SELL: Final = 52
MORTGAGE_IT: Final = 80
REDEEM: Final = 108
"""Plus a property."""
ASK: Final = 136
GIVE: Final = 166
"""Plus a property, `THE_CARD`, or one more for nothing."""
PRICES: Final = 196
"""Plus an index of `PRICE_STEPS`."""
BID: Final = 219
"""Plus a step of `BIDS`."""

BIDS: Final[tuple[int, ...]] = (
    *range(10, 201, 10),
    *range(220, 501, 20),
    *range(550, 1001, 50),
    *range(1100, 2001, 100),
)
"""Bids of an auction in dollars."""
_RAISES: Final[tuple[int, ...]] = (1, 3, 10)
"""Steps of `BIDS` by which a bid may be raised."""
ACTIONS: Final = BID + len(BIDS)
MOST_CHANGES: Final = 30
"""Changes of buildings and mortgages in a turn, before rolls."""


def can_build(position: Position, seat: int, place: int) -> bool:
    """Return whether a seat may build on a property now."""
    group: int = GROUP[place]
    if group >= RAILROADS or position.cash[seat] < COST[place]:
        return False
    levels = position.levels
    level: int = levels[place]
    if level < 0 or level >= HOTEL or not position.owns_group(seat, group):
        return False
    for each in GROUPS[group]:
        if levels[each] < level:  # also if one is mortgaged
            return False
    if level == HOTEL - 1:
        return position.hotels_left() > 0
    return position.houses_left() > 0


def can_sell(position: Position, seat: int, place: int) -> bool:
    """Return whether a seat may sell one building of a property back to the bank."""
    levels = position.levels
    level: int = levels[place]
    if level <= 0 or position.owners[place] != seat:
        return False
    for each in GROUPS[GROUP[place]]:
        if levels[each] > level:
            return False
    return level < HOTEL or position.houses_left() >= HOTEL - 1


def can_clear(position: Position, seat: int, group: int) -> bool:
    """Return whether a seat may sell all buildings of a group at once: if it has a hotel there."""
    for each in GROUPS[group]:
        if position.owners[each] == seat and position.levels[each] == HOTEL:
            return True
    return False


def can_mortgage(position: Position, seat: int, place: int) -> bool:
    """Return whether a seat may mortgage a property."""
    if position.owners[place] != seat or position.levels[place] != 0:
        return False
    return not position.built(GROUP[place])


def can_redeem(position: Position, seat: int, place: int) -> bool:
    """Return whether a seat may lift a mortgage."""
    if position.owners[place] != seat or position.levels[place] != MORTGAGED:
        return False
    return position.cash[seat] >= MORTGAGE[place] + INTEREST[place]


def bids(position: Position, seat: int) -> list[int]:
    """Return the steps of `BIDS` that a seat may bid."""
    found: list[int] = []
    for raised in _RAISES:
        step: int = position.bid + raised
        if step < len(BIDS) and BIDS[step] <= position.cash[seat]:
            found.append(step)
    return found


def _estate(position: Position, seat: int, found: list[int], raising: bool) -> None:
    """Add changes of buildings and mortgages; those that cost money only before a roll."""
    owners = position.owners
    own: list[int] = [each for each in range(PROPERTIES) if owners[each] == seat]
    if not raising:
        found += [BUILD + each for each in own if can_build(position, seat, each)]
    found += [SELL + each for each in own if can_sell(position, seat, each)]
    found += [CLEAR + group for group in range(RAILROADS) if can_clear(position, seat, group)]
    found += [MORTGAGE_IT + each for each in own if can_mortgage(position, seat, each)]
    if not raising:
        found += [REDEEM + each for each in own if can_redeem(position, seat, each)]


def legal_actions(position: Position) -> tuple[int, ...]:
    """Return the legal actions of the seat to move."""
    seat: int = position.to_move
    if seat < 0:
        return ()
    phase: int = position.phase
    found: list[int] = []
    if phase == MANAGING:
        found.append(ROLL)
        jailed: int = position.jailed[seat]
        if 0 < jailed < 3 and position.cash[seat] >= 50:
            found.append(FINE)
        if jailed > 0 and position.holds_card(seat):
            found.append(USE_CARD)
        if position.changes < MOST_CHANGES:
            _estate(position, seat, found, False)
        if position.offers < position.rules.offers:
            own = len(tradable(position, seat))
            for other in range(position.rules.seats):
                if other == seat or position.fallen[other] != 0:
                    continue
                if own + len(tradable(position, other)) > 0:
                    found.append(TRADE + other)
    elif phase == BUYING:
        found += [BUY, DECLINE]
    elif phase == AUCTION:
        found.append(PASS)
        found += [BID + step for step in bids(position, seat)]
    elif phase == RAISING:
        _estate(position, seat, found, True)
    elif phase == ASKING:
        found += [ASK + item for item in tradable(position, position.partner)]
        if tradable(position, seat):
            found.append(ASK + THE_CARD + 1)
        found.append(CANCEL)
    elif phase == GIVING:
        found += [GIVE + item for item in tradable(position, seat)]
        if position.asked != NOTHING:
            found.append(GIVE + THE_CARD + 1)
        found.append(CANCEL)
    elif phase == PRICING:
        amounts = prices(position, position.partner, position.asked, position.given)
        found += [PRICES + PRICE_STEPS.index(amount) for amount in amounts]
        found.append(CANCEL)
    elif phase == REPLYING:
        found += [ACCEPT, REJECT]
    return tuple(found)
