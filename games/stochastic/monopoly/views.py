"""Observations of Monopoly."""

from __future__ import annotations

import dataclasses
from typing import Final

from mypy_extensions import mypyc_attr

from plyhouse.games.base import Observation
from plyhouse.games.stochastic.monopoly.board import CODES
from plyhouse.games.stochastic.monopoly.cards import DECK, TEXTS
from plyhouse.games.stochastic.monopoly.legal import BIDS
from plyhouse.games.stochastic.monopoly.position import NOTHING, PHASES, Position

__all__ = ["ITEMS", "PHASES", "MonopolyObservation", "observed"]

ITEMS: Final[tuple[str, ...]] = (*CODES, "card")
"""Names of what may be traded."""


@mypyc_attr(native_class=False)
@dataclasses.dataclass(frozen=True)
class MonopolyObservation(Observation):
    """Everything: the game has perfect information."""

    round: int
    """Number of the round, from 0."""
    turn: int
    """Seat whose turn it is, also while others bid, pay or answer."""
    phase: str
    """Phase of the turn.  Seats decide in "manage" before a roll, "buy", "auction", "raise" for a
    debt, and in "ask", "give", "price" and "reply" of an offer.  Chance acts in "dice",
    "utility_dice", "chance" and "chest"."""
    cash: tuple[int, ...]
    """By seat its dollars."""
    places: tuple[int, ...]
    """By seat its space, from 0 for Go to 39 for Boardwalk."""
    jailed: tuple[int, ...]
    """By seat 0, or in jail 1 more than its failed rolls there."""
    bankrupt: tuple[int, ...]
    """By seat 0, or 1 for the first that went bankrupt, 2 for the second and so on."""
    properties: tuple[tuple[str, int | None, int], ...]
    """Each property with its name, owner (None for the bank), and houses: 5 for a hotel, -1
    if it is mortgaged."""
    chance_left: tuple[int, ...]
    """Chance cards that may be drawn, as numbers from 0 to 15."""
    chest_left: tuple[int, ...]
    """Community Chest cards that may be drawn, as numbers from 0 to 15."""
    jail_cards: tuple[int | None, ...]
    """Seats that have the cards to leave jail, of Chance and of Community Chest."""
    dice: tuple[int, ...]
    """The dice rolled last, the larger first; empty before the first roll."""
    card: str
    """The card drawn last in this turn; "" if there is none."""
    deck: str
    """Deck of that card: "chance" or "chest"."""
    doubles: int
    """Doubles rolled in this turn."""
    again: bool
    """Whether the seat on turn rolls again after this landing."""
    ahead: int
    """Spaces that the seat on turn moves when its fine is paid."""
    changes: int
    """Changes of buildings and mortgages in this turn."""
    offers: int
    """Offers begun in this turn."""
    debts: tuple[tuple[int, int | None, int], ...]
    """Debts to settle, in order: debtor, creditor (None for the bank), dollars."""
    lots: tuple[str, ...]
    """Properties to auction, the current one first."""
    bid: int
    """The highest bid, 0 if there is none."""
    bidder: int | None
    """Seat that made it."""
    bidders: tuple[int, ...]
    """Seats that have not passed."""
    partner: int | None
    """Seat to which the current offer is made."""
    asked: str
    """Item that the offer asks for: a property, "card", or "" for nothing or not chosen yet."""
    given: str
    """Item that the offer gives, in the same words."""
    price: int
    """Dollars that the offer's maker pays in addition; negative if it gets them."""


def _seat(number: int) -> int | None:
    return number if number >= 0 else None


def _item(number: int) -> str:
    return "" if number == NOTHING else ITEMS[number]


def observed(state: Position, seat: int | None, legal: tuple[str, ...]) -> MonopolyObservation:
    """Return the whole position."""
    decks = [tuple([card for card in range(DECK) if deck >> card & 1]) for deck in state.decks]
    drawn = state.drawn
    return MonopolyObservation(
        seat=seat,
        to_move=state.to_move,
        legal=legal,
        round=state.round,
        turn=state.turn,
        phase=PHASES[state.phase],
        cash=state.cash,
        places=state.places,
        jailed=state.jailed,
        bankrupt=state.fallen,
        properties=tuple(
            [
                (CODES[item], _seat(owner), state.levels[item])
                for item, owner in enumerate(state.owners)
            ]
        ),
        chance_left=decks[0],
        chest_left=decks[1],
        jail_cards=tuple([_seat(owner) for owner in state.card_owners]),
        dice=state.dice,
        card="" if drawn < 0 else TEXTS[drawn],
        deck="" if drawn < 0 else "chance" if drawn < DECK else "chest",
        doubles=state.doubles,
        again=state.again,
        ahead=state.ahead,
        changes=state.changes,
        offers=state.offers,
        debts=tuple([(debtor, _seat(owed), amount) for debtor, owed, amount in state.debts]),
        lots=tuple([CODES[item] for item in state.lots]),
        bid=0 if state.bid < 0 else BIDS[state.bid],
        bidder=_seat(state.bidder),
        bidders=tuple([each for each in range(state.rules.seats) if state.bidders >> each & 1]),
        partner=_seat(state.partner),
        asked=_item(state.asked),
        given=_item(state.given),
        price=state.price,
    )
