"""Contents of a position of Monopoly, and what follows from it without an action.

Money, places, deeds and buildings are tuples by seat or by property.  The bank is `BANK`.  The
phase says what the seat to move decides, or what chance does.
"""

from __future__ import annotations

import functools
from typing import Any, Final, final

from plyhouse.games.native import BoardState
from plyhouse.games.stochastic.monopoly.board import (
    COST,
    GROUP,
    GROUPS,
    MORTGAGE,
    PRICE,
    PROPERTIES,
    RAILROADS,
    RENT,
    UTILITIES,
)
from plyhouse.games.stochastic.monopoly.cards import DECK

__all__ = [
    "ALL_CARDS",
    "ALL_HOTELS",
    "ALL_HOUSES",
    "ASKING",
    "AUCTION",
    "BANK",
    "BUYING",
    "CHANCE_CARD",
    "CHEST_CARD",
    "DICE",
    "GIVING",
    "HOTEL",
    "JAIL_CARDS",
    "MANAGING",
    "MORTGAGED",
    "NOTHING",
    "PHASES",
    "PRICING",
    "RAISING",
    "REPLYING",
    "START_MONEY",
    "THE_CARD",
    "UTILITY_DICE",
    "Position",
    "Rules",
    "deed_worth",
    "owe",
    "pay",
    "replaced",
    "rules_of",
    "wait_for",
]

BANK: Final = -1
MORTGAGED: Final = -1
"""Level of a mortgaged property; other levels count houses."""
HOTEL: Final = 5
ALL_HOUSES: Final = 32
ALL_HOTELS: Final = 12
START_MONEY: Final = 1500

NOTHING: Final = -1
THE_CARD: Final = PROPERTIES
"""Sides of an offer beside properties: nothing, or a card to leave jail."""

MANAGING: Final = 0
BUYING: Final = 1
AUCTION: Final = 2
RAISING: Final = 3
ASKING: Final = 4
GIVING: Final = 5
PRICING: Final = 6
REPLYING: Final = 7
DICE: Final = 8
UTILITY_DICE: Final = 9
CHANCE_CARD: Final = 10
CHEST_CARD: Final = 11
PHASES: Final[tuple[str, ...]] = (
    "manage", "buy", "auction", "raise", "ask", "give", "price", "reply", "dice", "utility_dice",
    "chance", "chest",
)  # fmt: skip
"""Names of the phases: before the roll, offered a property, bidding, raising money for a debt, the
three steps of an offer, its answer, and four kinds of chance."""

ALL_CARDS: Final = (1 << DECK) - 1
JAIL_CARDS: Final[tuple[int, ...]] = (10, 18)
"""The card of each deck that lets a seat leave jail."""


@final
class Rules:
    """Parameters of a match, shared by all its positions; made by `rules_of` only."""

    def __init__(self, seats: int, rounds: int, offers: int) -> None:
        self.seats: int = seats
        self.rounds: int = rounds
        self.offers: int = offers
        """Offers that a seat may begin in a turn."""

    def __reduce__(self) -> tuple[Any, ...]:
        return rules_of, (self.seats, self.rounds, self.offers)


@functools.cache
def rules_of(seats: int, rounds: int, offers: int) -> Rules:
    """Return the one `Rules` of these parameters."""
    return Rules(seats, rounds, offers)


_STANDARD: Final = rules_of(2, 30, 2)


def replaced(values: tuple[int, ...], index: int, value: int) -> tuple[int, ...]:
    """Return the values with another one at an index."""
    changed: list[int] = list(values)
    changed[index] = value
    return tuple(changed)


class Position(BoardState):
    """All that is known: the game has perfect information.

    Sets of cards and of seats are bits.
    """

    __slots__ = (
        "again", "ahead", "asked", "bid", "bidder", "bidders", "card_owners", "cash", "changes",
        "debts", "decks", "dice", "doubles", "drawn", "fallen", "given", "jailed", "levels", "lots",
        "offers", "owners", "partner", "phase", "places", "price", "round", "rules", "turn",
    )  # fmt: skip

    rules: Rules
    phase: int
    turn: int
    round: int
    cash: tuple[int, ...]
    places: tuple[int, ...]
    jailed: tuple[int, ...]
    fallen: tuple[int, ...]
    owners: tuple[int, ...]
    levels: tuple[int, ...]
    decks: tuple[int, ...]
    card_owners: tuple[int, ...]
    dice: tuple[int, ...]
    drawn: int
    doubles: int
    again: bool
    ahead: int
    changes: int
    offers: int
    debts: tuple[tuple[int, int, int], ...]
    lots: tuple[int, ...]
    bid: int
    bidder: int
    bidders: int
    partner: int
    asked: int
    given: int
    price: int

    def __init__(
        self,
        to_move: int = 0,
        rules: Rules = _STANDARD,
        phase: int = MANAGING,
        turn: int = 0,
        round: int = 0,  # noqa: A002 - the word of the game
        cash: tuple[int, ...] = (START_MONEY, START_MONEY),
        places: tuple[int, ...] = (0, 0),
        jailed: tuple[int, ...] = (0, 0),
        fallen: tuple[int, ...] = (0, 0),
        owners: tuple[int, ...] = (BANK,) * PROPERTIES,
        levels: tuple[int, ...] = (0,) * PROPERTIES,
        decks: tuple[int, ...] = (ALL_CARDS, ALL_CARDS),
        card_owners: tuple[int, ...] = (BANK, BANK),
        dice: tuple[int, ...] = (),
        drawn: int = -1,
        doubles: int = 0,
        again: bool = False,
        ahead: int = 0,
        changes: int = 0,
        offers: int = 0,
        debts: tuple[tuple[int, int, int], ...] = (),
        lots: tuple[int, ...] = (),
        bid: int = -1,
        bidder: int = BANK,
        bidders: int = 0,
        partner: int = BANK,
        asked: int = NOTHING,
        given: int = NOTHING,
        price: int = 0,
    ) -> None:
        self.to_move = to_move
        self.rules = rules
        self.phase = phase
        self.turn = turn
        """Seat whose turn it is, also while others bid, pay or answer."""
        self.round = round
        self.cash = cash
        self.places = places
        self.jailed = jailed
        """By seat 0, or 1 more than the failed rolls in jail."""
        self.fallen = fallen
        """By seat 0, or 1 for the first one that went bankrupt, 2 for the second and so on."""
        self.owners = owners
        self.levels = levels
        """By property its houses, `HOTEL` or `MORTGAGED`."""
        self.decks = decks
        """Chance cards and Community Chest cards that have not been drawn."""
        self.card_owners = card_owners
        """Seats that have the cards of `JAIL_CARDS`, or the bank."""
        self.dice = dice
        """The dice rolled last, the larger first; shown to people."""
        self.drawn = drawn
        """The card drawn last in this turn, or -1; shown to people."""
        self.doubles = doubles
        self.again = again
        """Whether the seat on turn rolls again after this landing."""
        self.ahead = ahead
        """Spaces to move when the debts are paid, after a seat has failed to leave jail."""
        self.changes = changes
        """Buildings and mortgages changed in this turn before rolls."""
        self.offers = offers
        """Offers begun in this turn."""
        self.debts = debts
        """Debts to settle, in order: debtor, creditor, amount."""
        self.lots = lots
        """Properties to auction, the current one first."""
        self.bid = bid
        """Step of the highest bid; see `plyhouse.games.stochastic.monopoly.legal.BIDS`."""
        self.bidder = bidder
        self.bidders = bidders
        """Seats that have not passed."""
        self.partner = partner
        self.asked = asked
        self.given = given
        self.price = price
        """Dollars that the offer's maker pays in addition; negative if it gets them."""

    # Seats

    def alive(self) -> int:
        """Return the number of seats that are not bankrupt."""
        return self.fallen.count(0)

    def next_alive(self, seat: int) -> int:
        """Return the next seat in order that is not bankrupt."""
        seats: int = self.rules.seats
        following: int = (seat + 1) % seats
        while self.fallen[following] != 0:
            following = (following + 1) % seats
        return following

    def holds_card(self, seat: int) -> bool:
        """Return whether a seat has a card to leave jail."""
        return seat in self.card_owners

    # Deeds and buildings

    def owns_group(self, seat: int, group: int) -> bool:
        """Return whether a seat has all properties of a group."""
        owners = self.owners
        return all(owners[each] == seat for each in GROUPS[group])

    def built(self, group: int) -> bool:
        """Return whether there are buildings on a group."""
        levels = self.levels
        return any(levels[each] > 0 for each in GROUPS[group])

    def houses_left(self) -> int:
        """Return the number of houses in the bank."""
        left: int = ALL_HOUSES
        for level in self.levels:
            if 0 < level < HOTEL:
                left -= level
        return left

    def hotels_left(self) -> int:
        """Return the number of hotels in the bank."""
        return ALL_HOTELS - self.levels.count(HOTEL)

    def rent(self, place: int, dice: int) -> int:
        """Return the rent of a property that has an owner, after a roll of this sum; 0 if
        mortgaged.
        """
        level: int = self.levels[place]
        if level == MORTGAGED:
            return 0
        owner: int = self.owners[place]
        group: int = GROUP[place]
        if group >= RAILROADS:
            count: int = 0
            for each in GROUPS[group]:
                if self.owners[each] == owner:
                    count += 1
            rate: int = RENT[place][count - 1]
            return rate * dice if group == UTILITIES else rate
        amount: int = RENT[place][level]
        if level == 0 and self.owns_group(owner, group):
            amount *= 2
        return amount

    def liquid(self, seat: int) -> int:
        """Return what a seat can raise beside its cash: half of its buildings, and mortgages."""
        total: int = 0
        owners = self.owners
        levels = self.levels
        for each in range(PROPERTIES):
            if owners[each] == seat and levels[each] != MORTGAGED:
                total += MORTGAGE[each] + levels[each] * (COST[each] // 2)
        return total

    def worth(self, seat: int) -> int:
        """Return cash, properties at their price or mortgage, and buildings at cost."""
        total: int = self.cash[seat]
        owners = self.owners
        levels = self.levels
        for each in range(PROPERTIES):
            if owners[each] == seat:
                total += deed_worth(each, levels[each])
        return total

    # Results

    def returns(self) -> tuple[float, ...]:
        """Return by seat the share of the others that it is ahead of, less that ahead of it."""
        seats: int = self.rules.seats
        ranks: list[int] = []
        for seat in range(seats):
            order: int = self.fallen[seat]
            # Bankrupt seats are behind all others, the first of them last.
            ranks.append(order - seats if order > 0 else 1 + self.worth(seat))
        if self.alive() == 1:
            ranks = [rank if rank <= 0 else 1 for rank in ranks]
        values: list[float] = []
        for seat in range(seats):
            lead: int = 0
            for other in range(seats):
                if ranks[seat] > ranks[other]:
                    lead += 1
                elif ranks[seat] < ranks[other]:
                    lead -= 1
            values.append(float(lead) / float(seats - 1))
        return tuple(values)


def deed_worth(item: int, level: int) -> int:
    """Return what a property adds to its owner's worth: its price or mortgage, and buildings."""
    if level == MORTGAGED:
        return PRICE[item] - MORTGAGE[item]
    return PRICE[item] + level * COST[item]


def pay(position: Position, debtor: int, creditor: int, amount: int) -> None:
    """Move money between seats, or between a seat and the bank."""
    if debtor != BANK:
        position.cash = replaced(position.cash, debtor, position.cash[debtor] - amount)
    if creditor != BANK:
        position.cash = replaced(position.cash, creditor, position.cash[creditor] + amount)


def owe(position: Position, debtor: int, creditor: int, amount: int) -> None:
    """Add a debt, which `settle` pays."""
    if amount > 0:
        position.debts = (*position.debts, (debtor, creditor, amount))


def wait_for(position: Position, seat: int, phase: int) -> None:
    """Let a seat act next, or chance."""
    position.to_move = seat
    position.phase = phase
