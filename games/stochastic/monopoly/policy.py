"""A player by simple rules: it buys, builds, bids and leaves jail as people do who know the game.

`chosen` is quick, as playouts call it for every action, and makes no offers; `best_offer` looks for
one that serves both seats.
"""

from __future__ import annotations

from typing import Final

from plyhouse.games.stochastic.monopoly.board import (
    COST,
    GROUP,
    GROUPS,
    INTEREST,
    MORTGAGE,
    PRICE,
    PROPERTIES,
    PROPERTY_AT,
    RAILROADS,
)
from plyhouse.games.stochastic.monopoly.legal import (
    ACCEPT,
    BID,
    BIDS,
    BUILD,
    BUY,
    CANCEL,
    CLEAR,
    DECLINE,
    FINE,
    MORTGAGE_IT,
    MOST_CHANGES,
    PASS,
    REDEEM,
    REJECT,
    ROLL,
    SELL,
    USE_CARD,
    bids,
    can_build,
    can_mortgage,
    can_redeem,
    can_sell,
)
from plyhouse.games.stochastic.monopoly.offers import exchanged, prices, tradable
from plyhouse.games.stochastic.monopoly.position import (
    AUCTION,
    BANK,
    BUYING,
    HOTEL,
    MANAGING,
    NOTHING,
    RAISING,
    REPLYING,
    THE_CARD,
    Position,
)
from plyhouse.games.stochastic.monopoly.valuation import (
    HORIZON,
    VISITS,
    estimate,
    estimate_of,
    income_lost,
    street_rent,
    threat,
)

__all__ = ["Offer", "best_offer", "chosen"]

Offer = tuple[int, int, int, int]
"""Partner, item asked for, item given, and dollars that the maker pays."""

_LEAST_CASH: Final = 50
_MOST_RESERVE: Final = 500
_GAIN: Final = 0.02
"""By how much an offer has to raise the estimate of its maker."""
_PARTNERS_GAIN: Final = 0.005


def chosen(position: Position) -> int:
    """Return the action of the seat to move."""
    phase: int = position.phase
    seat: int = position.to_move
    if phase == MANAGING:
        return managed(position, seat)
    if phase == BUYING:
        item: int = PROPERTY_AT[position.places[seat]]
        spare: int = position.cash[seat] - PRICE[item]
        if spare >= _LEAST_CASH or worth_to(position, seat, item) > float(PRICE[item]):
            return BUY
        return DECLINE
    if phase == AUCTION:
        return offered(position, seat)
    if phase == RAISING:
        return raised(position, seat)
    if phase == REPLYING:
        owners, _, cash = exchanged(
            position, position.partner, position.asked, position.given, position.price
        )
        after = estimate_of(position, owners, position.levels, cash)[seat]
        return ACCEPT if after > estimate(position)[seat] else REJECT
    return CANCEL


def reserve(position: Position, seat: int) -> int:
    """Return the cash that a seat keeps: most of the highest rent that it may have to pay."""
    return max(_LEAST_CASH, min(_MOST_RESERVE, (2 * threat(position, seat)) // 3))


def managed(position: Position, seat: int) -> int:
    """Leave jail while there is something to buy, build where it earns most, then roll."""
    if position.jailed[seat] > 0:
        free: int = position.owners.count(BANK)
        if threat(position, seat) <= 100 and free > 4:
            if position.holds_card(seat):
                return USE_CARD
            if position.jailed[seat] < 3 and position.cash[seat] >= 50 + _LEAST_CASH:
                return FINE
    if position.changes >= MOST_CHANGES:
        return ROLL
    left: int = position.rules.rounds - position.round
    cash: int = position.cash[seat]
    kept: int = reserve(position, seat)
    others: float = float(position.alive() - 1)
    best: int = ROLL
    most: float = 0.0
    owners = position.owners
    for each in range(PROPERTIES):
        if owners[each] != seat:
            continue
        earned: float
        if cash - COST[each] >= kept and can_build(position, seat, each):
            level: int = position.levels[each]
            rents: float = street_rent(each, level + 1) - street_rent(each, level)
            if level < 2:
                # The third house is what pays; the first two lead to it.
                rents = (street_rent(each, 3) - street_rent(each, level)) / float(3 - level)
            earned = VISITS[GROUP[each]] * rents * others / float(COST[each])
            # At the end a building counts at its cost, so that it pays until the last round.
            if earned > most and left > 1:
                most = earned
                best = BUILD + each
        elif position.levels[each] < 0 and can_redeem(position, seat, each):
            price: int = MORTGAGE[each] + INTEREST[each]
            earned = VISITS[GROUP[each]] * float(PRICE[each]) * 0.2 * others / float(price)
            if cash - price >= kept + 100 and earned > most and left > 2:
                most = earned
                best = REDEEM + each
    return best


def worth_to(position: Position, seat: int, item: int) -> float:
    """Return the dollars that a property without an owner is worth to a seat."""
    price: float = float(PRICE[item])
    left: int = position.rules.rounds - position.round
    if left <= 2:
        return price - 5.0
    group: int = GROUP[item]
    mine: int = 0
    rival: int = -1
    rivals: int = 0
    free: int = 0
    for each in GROUPS[group]:
        owner: int = position.owners[each]
        if each == item:
            continue
        if owner == seat:
            mine += 1
        elif owner == BANK:
            free += 1
        else:
            if owner != rival:
                rivals += 1
            rival = owner
    if group >= RAILROADS:
        return price * (1.0 + 0.15 * float(mine))
    if mine > 0 and rivals == 0 and free == 0:
        return price * 2.0 + 2.0 * float(COST[item])
    if rivals == 1 and mine == 0 and free == 0:
        return price * 1.5 + float(COST[item])
    if mine > 0 and rivals == 0:
        return price * 1.3
    return price if rivals < 2 else price * 0.8


def offered(position: Position, seat: int) -> int:
    """Bid up to what the property is worth, in large steps while it is cheap."""
    item: int = position.lots[0]
    limit: float = min(
        worth_to(position, seat, item), float(position.cash[seat] - _LEAST_CASH // 2)
    )
    best: int = PASS
    for step in bids(position, seat):
        amount: float = float(BIDS[step])
        if amount <= 0.6 * limit or (best == PASS and amount <= limit):
            best = BID + step
    return best


def raised(position: Position, seat: int) -> int:
    """Raise money where it costs least income for each dollar."""
    best: int = -1
    least: float = 1e9
    horizon: float = float(min(HORIZON, position.rules.rounds - position.round))
    others: float = float(position.alive() - 1)
    for each in range(PROPERTIES):
        if position.owners[each] != seat:
            continue
        lost: float = income_lost(position, each) * others * horizon
        cost: float
        if can_sell(position, seat, each):
            half: float = float(COST[each] // 2)
            cost = (lost + half) / half
            if cost < least:
                least = cost
                best = SELL + each
        elif can_mortgage(position, seat, each):
            money: float = float(MORTGAGE[each])
            cost = (lost + float(INTEREST[each])) / money
            if cost < least:
                least = cost
                best = MORTGAGE_IT + each
    if best >= 0:
        return best
    # Only hotels are left, and the bank has no houses to break them into.
    for each in range(PROPERTIES):
        if position.owners[each] == seat and position.levels[each] == HOTEL:
            return CLEAR + GROUP[each]
    return best


def completes(position: Position, seat: int, item: int) -> bool:
    """Return whether a street would complete a colour group of a seat."""
    group: int = GROUP[item]
    if group >= RAILROADS:
        return False
    owners = position.owners
    return all(each == item or owners[each] == seat for each in GROUPS[group])


def best_offer(position: Position, partner: int, asked: int, given: int) -> Offer | None:
    """Return the offer that raises the seat's estimate most without lowering its partner's.

    Only streets that complete a colour group are asked for.  ``partner``, ``asked`` and ``given``
    bind what is chosen already; -2 leaves it open.  None if no offer serves both.
    """
    seat: int = position.turn
    before = estimate(position)
    best: Offer | None = None
    most: float = before[seat] + _GAIN
    own = [*tradable(position, seat), NOTHING]
    for other in range(position.rules.seats):
        if other == seat or position.fallen[other] != 0 or partner not in (-2, other):
            continue
        needed: float = before[other] + _PARTNERS_GAIN
        for item in tradable(position, other):
            if asked not in (-2, item) or item == THE_CARD or not completes(position, seat, item):
                continue
            for gift in own:
                if given not in (-2, gift):
                    continue
                if 0 <= gift < PROPERTIES and GROUP[gift] == GROUP[item]:
                    continue
                for price in prices(position, other, item, gift):
                    owners, _, cash = exchanged(position, other, item, gift, price)
                    after = estimate_of(position, owners, position.levels, cash)
                    if after[seat] > most and after[other] >= needed:
                        most = after[seat]
                        best = (other, item, gift, price)
    return best
