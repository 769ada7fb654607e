"""Events after an action or a roll: each function changes a fresh copy of a position.

`settle` goes on until a seat or chance has to act: it pays debts, or lets the debtor raise money,
declares bankruptcies, holds auctions, moves on, and passes the turn.
"""

from __future__ import annotations

from typing import Final

from plyhouse.games.base import CHANCE, TERMINAL
from plyhouse.games.stochastic.monopoly.auctions import next_bidder, opened
from plyhouse.games.stochastic.monopoly.board import (
    CHANCE_SPACE,
    CHEST_SPACE,
    COST,
    GO_TO_JAIL,
    GROUP,
    GROUPS,
    INTEREST,
    JAIL,
    KINDS,
    MORTGAGE,
    PRICE,
    PROPERTIES,
    PROPERTY_AT,
    RAILROADS,
    SPACES,
    TAX,
    UTILITIES,
)
from plyhouse.games.stochastic.monopoly.cards import (
    ADVANCE,
    BACK,
    COLLECT,
    DECK,
    EACH,
    EFFECTS,
    FREE,
    PAY,
    PAY_EACH,
    RAILROAD,
    REPAIRS,
    UTILITY,
)
from plyhouse.games.stochastic.monopoly.legal import (
    ACCEPT,
    ASK,
    BID,
    BUILD,
    BUY,
    CLEAR,
    FINE,
    GIVE,
    MORTGAGE_IT,
    PASS,
    PRICES,
    REDEEM,
    SELL,
    TRADE,
    USE_CARD,
)
from plyhouse.games.stochastic.monopoly.offers import PRICE_STEPS, exchanged
from plyhouse.games.stochastic.monopoly.position import (
    ALL_CARDS,
    ASKING,
    AUCTION,
    BANK,
    BUYING,
    CHANCE_CARD,
    CHEST_CARD,
    DICE,
    GIVING,
    HOTEL,
    JAIL_CARDS,
    MANAGING,
    MORTGAGED,
    NOTHING,
    PRICING,
    RAISING,
    REPLYING,
    THE_CARD,
    UTILITY_DICE,
    Position,
    owe,
    pay,
    replaced,
    wait_for,
)

__all__ = ["act", "draw", "land", "rolled", "settle", "utility_rolled"]

SALARY: Final = 200
FINE_AMOUNT: Final = 50


# Rolls and landings


def rolled(position: Position, larger: int, smaller: int) -> None:
    """Move the seat on turn by a roll, or try to leave jail with it."""
    seat: int = position.turn
    position.dice = (larger, smaller)
    double: bool = larger == smaller
    jailed: int = position.jailed[seat]
    if jailed > 0:
        position.again = False
        if double:
            position.jailed = replaced(position.jailed, seat, 0)
            move(position, larger + smaller)
        elif jailed < 3:
            position.jailed = replaced(position.jailed, seat, jailed + 1)
        else:
            position.jailed = replaced(position.jailed, seat, 0)
            owe(position, seat, BANK, FINE_AMOUNT)
            position.ahead = larger + smaller
    else:
        position.again = double
        if double:
            position.doubles += 1
        if position.doubles == 3:
            go_to_jail(position)
        else:
            move(position, larger + smaller)


def move(position: Position, spaces: int) -> None:
    """Move the seat on turn ahead, past Go for a salary, and land."""
    place: int = position.places[position.turn] + spaces
    if place >= SPACES:
        place -= SPACES
        pay(position, BANK, position.turn, SALARY)
    land(position, place, 1)


def go_to_jail(position: Position) -> None:
    """Put the seat on turn into jail; it does not roll again."""
    seat: int = position.turn
    position.places = replaced(position.places, seat, JAIL)
    position.jailed = replaced(position.jailed, seat, 1)
    position.again = False
    position.doubles = 0


def land(position: Position, place: int, rents: int) -> None:
    """Put the seat on turn on a space, for so many rents; ``rents`` of 0 rolls dice for a utility.

    Leaves the position with somebody to act, or with debts and more for `settle`.
    """
    seat: int = position.turn
    position.places = replaced(position.places, seat, place)
    kind: int = KINDS[place]
    if kind == GO_TO_JAIL:
        go_to_jail(position)
        return
    if kind == CHANCE_SPACE:
        wait_for(position, CHANCE, CHANCE_CARD)
        return
    if kind == CHEST_SPACE:
        wait_for(position, CHANCE, CHEST_CARD)
        return
    owe(position, seat, BANK, TAX[place])
    item: int = PROPERTY_AT[place]
    if item < 0:
        return
    owner: int = position.owners[item]
    if owner == BANK:
        if position.cash[seat] >= PRICE[item]:
            wait_for(position, seat, BUYING)
        else:
            position.lots = (item,)
    elif owner != seat and position.levels[item] != MORTGAGED:
        if rents == 0:
            wait_for(position, CHANCE, UTILITY_DICE)
        else:
            total: int = position.dice[0] + position.dice[1]
            owe(position, seat, owner, rents * position.rent(item, total))


def utility_rolled(position: Position, larger: int, smaller: int) -> None:
    """Owe ten times the new dice to the owner of the utility."""
    position.dice = (larger, smaller)
    seat: int = position.turn
    owner: int = position.owners[PROPERTY_AT[position.places[seat]]]
    owe(position, seat, owner, 10 * (larger + smaller))


def draw(position: Position, card: int) -> None:
    """Do what a card says that the seat on turn draws."""
    seat: int = position.turn
    deck: int = card // DECK
    position.drawn = card
    kind, first, second = EFFECTS[card]
    if kind == FREE:
        position.card_owners = replaced(position.card_owners, deck, seat)
    left: int = position.decks[deck] & ~(1 << card % DECK)
    if left == 0:
        # All drawn cards are shuffled, except one that a seat keeps.
        left = ALL_CARDS
        if position.card_owners[deck] != BANK:
            left &= ~(1 << JAIL_CARDS[deck] % DECK)
    position.decks = replaced(position.decks, deck, left)
    place: int = position.places[seat]
    if kind == ADVANCE:
        move(position, (first - place) % SPACES)
    elif kind == BACK:
        land(position, place - first, 1)
    elif kind == RAILROAD:
        ahead(position, RAILROADS, 2)
    elif kind == UTILITY:
        ahead(position, UTILITIES, 0)
    elif kind == COLLECT:
        pay(position, BANK, seat, first)
    elif kind == PAY:
        owe(position, seat, BANK, first)
    elif kind in (EACH, PAY_EACH):
        for other in range(position.rules.seats):
            if other == seat or position.fallen[other] != 0:
                continue
            if kind == EACH:
                owe(position, other, seat, first)
            else:
                owe(position, seat, other, first)
    elif kind == REPAIRS:
        owe(position, seat, BANK, repairs(position, seat, first, second))
    elif kind != FREE:
        go_to_jail(position)


def ahead(position: Position, group: int, rents: int) -> None:
    """Move the seat on turn to the next property of a group."""
    place: int = position.places[position.turn]
    spaces: int = 1
    while True:
        item: int = PROPERTY_AT[(place + spaces) % SPACES]
        if item >= 0 and GROUP[item] == group:
            break
        spaces += 1
    if place + spaces >= SPACES:
        pay(position, BANK, position.turn, SALARY)
    land(position, (place + spaces) % SPACES, rents)


def repairs(position: Position, seat: int, house: int, hotel: int) -> int:
    """Return what a seat pays for the repair of its buildings."""
    total: int = 0
    for each in range(PROPERTIES):
        level: int = position.levels[each]
        if position.owners[each] == seat and level > 0:
            total += hotel if level == HOTEL else level * house
    return total


# Debts and bankruptcy


def settle(position: Position) -> None:
    """Go on until a seat or chance has to act; call it unless one has to already."""
    while True:
        if position.debts:
            debtor, creditor, amount = position.debts[0]
            if position.cash[debtor] >= amount:
                position.debts = position.debts[1:]
                pay(position, debtor, creditor, amount)
            elif position.cash[debtor] + position.liquid(debtor) >= amount:
                wait_for(position, debtor, RAISING)
                return
            else:
                go_bankrupt(position, debtor, creditor)
                if position.alive() == 1:
                    finish(position)
                    return
        elif position.lots:
            if opened(position):
                return
        elif position.ahead > 0:
            spaces: int = position.ahead
            position.ahead = 0
            position.to_move = TERMINAL
            move(position, spaces)
            if position.to_move != TERMINAL:
                return
        else:
            pass_turn(position)
            return


def go_bankrupt(position: Position, seat: int, creditor: int) -> None:
    """Take a seat out of the match; all it has goes to the creditor, or to the bank.

    Buildings are sold for half their cost.  A seat that receives mortgaged properties owes their
    interest.  The bank auctions properties free of mortgages.
    """
    cash: int = position.cash[seat]
    interest: int = 0
    owners: list[int] = list(position.owners)
    levels: list[int] = list(position.levels)
    lots: list[int] = list(position.lots)
    for each in range(PROPERTIES):
        if owners[each] != seat:
            continue
        level: int = levels[each]
        if level > 0:
            cash += level * (COST[each] // 2)
            levels[each] = 0
        owners[each] = creditor
        if creditor == BANK:
            levels[each] = 0
            lots.append(each)
        elif level == MORTGAGED:
            interest += INTEREST[each]
    position.owners = tuple(owners)
    position.levels = tuple(levels)
    position.lots = tuple(lots)
    position.card_owners = tuple(
        [creditor if owner == seat else owner for owner in position.card_owners]
    )
    position.fallen = replaced(position.fallen, seat, 1 + position.rules.seats - position.alive())
    position.cash = replaced(position.cash, seat, 0)
    pay(position, BANK, creditor, cash)
    position.debts = tuple([debt for debt in position.debts if seat not in debt[:2]])
    if interest > 0:
        position.debts = ((creditor, BANK, interest), *position.debts)
    position.jailed = replaced(position.jailed, seat, 0)
    if seat == position.turn:
        position.again = False
        position.ahead = 0


def finish(position: Position) -> None:
    """End the match."""
    position.to_move = TERMINAL
    position.phase = MANAGING
    position.debts = ()
    position.lots = ()
    position.ahead = 0
    position.again = False


def pass_turn(position: Position) -> None:
    """Let the seat on turn roll again after a double, or begin the next turn or the end."""
    seat: int = position.turn
    if position.again:
        position.again = False
        wait_for(position, seat, MANAGING)
        return
    position.doubles = 0
    position.changes = 0
    position.offers = 0
    following: int = position.next_alive(seat)
    if following <= seat:
        position.round += 1
        if position.round == position.rules.rounds:
            finish(position)
            return
    position.turn = following
    wait_for(position, following, MANAGING)


# Actions of seats


def act(position: Position, action: int) -> None:
    """Change a position by an action of the seat to move."""
    seat: int = position.to_move
    phase: int = position.phase
    if phase in (MANAGING, RAISING):
        manage(position, seat, action)
        if phase == RAISING and position.cash[seat] >= position.debts[0][2]:
            settle(position)
    elif phase == BUYING:
        item: int = PROPERTY_AT[position.places[seat]]
        if action == BUY:
            pay(position, seat, BANK, PRICE[item])
            position.owners = replaced(position.owners, item, seat)
        else:
            position.lots = (item,)
        settle(position)
    elif phase == AUCTION:
        if action == PASS:
            position.bidders &= ~(1 << seat)
        else:
            position.bid = action - BID
            position.bidder = seat
        if not next_bidder(position, seat):
            settle(position)
    else:
        trade(position, action)


def manage(position: Position, seat: int, action: int) -> None:
    """Roll, leave jail, begin an offer, or change a building or a mortgage."""
    if action < TRADE:
        if action == FINE:
            pay(position, seat, BANK, FINE_AMOUNT)
            position.jailed = replaced(position.jailed, seat, 0)
        elif action == USE_CARD:
            deck: int = position.card_owners.index(seat)
            position.card_owners = replaced(position.card_owners, deck, BANK)
            position.jailed = replaced(position.jailed, seat, 0)
        else:
            position.drawn = -1
            wait_for(position, CHANCE, DICE)
        return
    if action < CLEAR:
        position.offers += 1
        position.partner = action - TRADE
        position.phase = ASKING
        return
    if position.phase == MANAGING:
        position.changes += 1
    if action < BUILD:
        for each in GROUPS[action - CLEAR]:
            pay(position, BANK, seat, position.levels[each] * (COST[each] // 2))
            position.levels = replaced(position.levels, each, 0)
    elif action < SELL:
        change_level(position, seat, action - BUILD, 1, -COST[action - BUILD])
    elif action < MORTGAGE_IT:
        change_level(position, seat, action - SELL, -1, COST[action - SELL] // 2)
    elif action < REDEEM:
        change_level(position, seat, action - MORTGAGE_IT, -1, MORTGAGE[action - MORTGAGE_IT])
    else:
        item: int = action - REDEEM
        change_level(position, seat, item, 1, -MORTGAGE[item] - INTEREST[item])


def change_level(position: Position, seat: int, item: int, by: int, money: int) -> None:
    """Raise or lower the level of a property, for money that the seat gets."""
    position.levels = replaced(position.levels, item, position.levels[item] + by)
    pay(position, BANK, seat, money)


def trade(position: Position, action: int) -> None:
    """Go on with an offer, or answer it."""
    phase: int = position.phase
    if phase == ASKING and ASK <= action < GIVE:
        position.asked = side(action - ASK)
        position.phase = GIVING
        return
    if phase == GIVING and GIVE <= action < PRICES:
        position.given = side(action - GIVE)
        position.phase = PRICING
        return
    if phase == PRICING and PRICES <= action < BID:
        position.price = PRICE_STEPS[action - PRICES]
        wait_for(position, position.partner, REPLYING)
        return
    if action == ACCEPT:
        position.owners, position.card_owners, position.cash = exchanged(
            position, position.partner, position.asked, position.given, position.price
        )
    position.partner = BANK
    position.asked = NOTHING
    position.given = NOTHING
    position.price = 0
    wait_for(position, position.turn, MANAGING)


def side(number: int) -> int:
    """Return one side of an offer: a property, `THE_CARD` or `NOTHING`."""
    return NOTHING if number > THE_CARD else number
