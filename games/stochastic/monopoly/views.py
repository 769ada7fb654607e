"""Observations of Monopoly, and the scene: the ring of forty spaces, the seats, and the choices."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Final

from mypy_extensions import mypyc_attr

from plyhouse.games.base import CHANCE, TERMINAL, Observation
from plyhouse.games.scene import Button, Cell, Counter, Dice, Element, Grid, Scene, Text
from plyhouse.games.stochastic.monopoly.board import (
    CODES,
    COST,
    GROUP,
    GROUP_NAMES,
    INTEREST,
    MORTGAGE,
    NAMES,
    PRICE,
    PROPERTY_AT,
    SHORT,
    SPACE_AT,
    SPACES,
)
from plyhouse.games.stochastic.monopoly.cards import DECK, TEXTS
from plyhouse.games.stochastic.monopoly.legal import BIDS
from plyhouse.games.stochastic.monopoly.position import (
    HOTEL,
    MORTGAGED,
    NOTHING,
    PHASES,
    Position,
    deed_worth,
)

__all__ = ["ITEMS", "PHASES", "MonopolyObservation", "monopoly_scene", "observed"]

ITEMS: Final[tuple[str, ...]] = (*CODES, "card")
"""Names of what may be traded."""
_SIDE: Final = 11
"""Spaces along each side of the board."""
_TEXTS: Final[dict[str, str]] = {"VEN": "Vn", "GOTO": "Gj"}
"""Texts of spaces whose short names begin as others do."""
_GROUNDS: Final[tuple[str, ...]] = (
    "brown", "sky", "rose", "orange", "crimson", "yellow", "green", "azure", "", "",
)  # fmt: skip
"""Colour of each group."""


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


# The board


def _spot(space: int) -> tuple[int, int]:
    """Return row and column of a space: Go lies in the lower right corner."""
    side, along = divmod(space, _SIDE - 1)
    last = _SIDE - 1
    return [(last, last - along), (last - along, 0), (0, along), (along, last)][side]


def _level(level: int) -> str:
    """Return the mark of a property with an owner."""
    if level == MORTGAGED:
        return "m"
    return "H" if level == HOTEL else str(level) if level else "-"


def _built(level: int) -> str:
    """Return what stands on a property, in words."""
    if level == MORTGAGED:
        return "mortgaged"
    if level == HOTEL:
        return "a hotel"
    return f"{level} house{'' if level == 1 else 's'}" if level else ""


def _cell(seen: MonopolyObservation, space: int, name: Callable[[int], str]) -> Cell:
    """Return a space with its owner, its buildings and the tokens on it."""
    item = PROPERTY_AT[space]
    tokens = tuple(
        [
            seat
            for seat, place in enumerate(seen.places)
            if place == space and seen.bankrupt[seat] == 0
        ]
    )
    text = _TEXTS.get(SHORT[space], SHORT[space][:2].capitalize())
    face, ground, parts = "", "", [NAMES[space]]
    owner = None
    if item >= 0:
        _, owner, level = seen.properties[item]
        group = GROUP[item]
        ground = _GROUNDS[group]
        parts.append(GROUP_NAMES[group].replace("_", " "))
        if owner is None:
            parts.append(f"for {PRICE[item]}")
        else:
            face = _level(level)
            text = f"{owner + 1}{face}"
            parts += [part for part in (f"of {name(owner)}", _built(level)) if part]
    if tokens:
        text = f"@{tokens[0] + 1}" if len(tokens) == 1 else "@@"
        there = " and ".join([name(seat) for seat in tokens])
        parts.append(f"{there} {'is' if len(tokens) == 1 else 'are'} here")
    return Cell(
        text,
        owner,
        "deed",
        None,
        ", ".join(parts),
        highlight=seen.to_move != TERMINAL and item >= 0 and CODES[item] in seen.lots[:1],
        name=SHORT[space],
        face=face.replace("-", ""),
        ground=ground or "plain",
        corner=SHORT[space].rstrip("123"),
        tokens=tokens,
    )


def _board(seen: MonopolyObservation, name: Callable[[int], str]) -> Grid:
    blank = Cell(" ")
    rows = [[blank] * _SIDE for _ in range(_SIDE)]
    for space in range(SPACES):
        row, column = _spot(space)
        rows[row][column] = _cell(seen, space, name)
    label = "2- deed, 23 houses, 2H hotel, 2m mortgage, @@ tokens"
    return Grid(tuple([tuple(row) for row in rows]), (), (), label, "circuit", "felt")


# Choices


def _item_words(item: str) -> str:
    """Return what a side of an offer is, for people."""
    if item in ("", "nothing"):
        return "nothing"
    return "a card to leave jail" if item == "card" else NAMES[SPACE_AT[CODES.index(item)]]


def _label(seen: MonopolyObservation, action: str, name: Callable[[int], str]) -> str:
    """Return the words of a button."""
    word, _, operand = action.partition(" ")
    if word == "trade":
        return f"Offer {name(int(operand) - 1)} a trade"
    if word in ("ask", "give"):
        return f"{'Ask for' if word == 'ask' else 'Give'} {_item_words(operand)}"
    if word in ("pay", "get", "bid"):
        if operand == "0":
            return "No money"
        return f"{'Pay' if word == 'pay' else 'Get' if word == 'get' else 'Bid'} {operand}"
    if word == "clear":
        return f"Sell all buildings of {operand.replace('_', ' ')}"
    if operand:
        item = CODES.index(operand)
        called = NAMES[SPACE_AT[item]]
        if word == "build":
            what = "a hotel" if seen.properties[item][2] == HOTEL - 1 else "a house"
            return f"Build {what} on {called} for {COST[item]}"
        if word == "sell":
            what = "the hotel" if seen.properties[item][2] == HOTEL else "a house"
            return f"Sell {what} of {called} for {COST[item] // 2}"
        if word == "mortgage":
            return f"Mortgage {called} for {MORTGAGE[item]}"
        return f"Redeem {called} for {MORTGAGE[item] + INTEREST[item]}"
    here = PROPERTY_AT[seen.places[seen.turn]]
    return {
        "roll": "Roll the dice",
        "fine": "Pay 50 and leave jail",
        "card": "Use the card to leave jail",
        "buy": f"Buy {NAMES[SPACE_AT[here]]} for {PRICE[here]}" if here >= 0 else "Buy",
        "auction": "Have it auctioned",
        "cancel": "Cancel the offer",
    }.get(word, word.capitalize())


def _buttons(seen: MonopolyObservation, name: Callable[[int], str]) -> list[Element]:
    """Return a button for each action; those about a property are chosen on its space."""
    found: list[Element] = []
    for action in seen.legal:
        label = _label(seen, action, name)
        _, _, operand = action.partition(" ")
        key = "r" if action == "roll" else ""
        if operand in CODES:
            space = SPACE_AT[CODES.index(operand)]
            found.append(Button(label, action, (SHORT[space],)))
        else:
            found.append(Button(label, action, key=key, aside=action.startswith("clear")))
    return found


# The status


def _offer(seen: MonopolyObservation, name: Callable[[int], str]) -> str:
    """Return the offer that is to be answered."""
    gives, gets = [_item_words(seen.given)], [_item_words(seen.asked)]
    if seen.price > 0:
        gives.append(f"{seen.price} dollars")
    elif seen.price < 0:
        gets.append(f"{-seen.price} dollars")
    sides = [" and ".join([part for part in side if part != "nothing"]) for side in (gives, gets)]
    return f"{name(seen.turn)} gives {sides[0]} for {sides[1]}"


def _status(seen: MonopolyObservation, worth: list[int], name: Callable[[int], str]) -> str:
    """Return one line on what happens now."""
    if seen.to_move == TERMINAL:
        left = [seat for seat, order in enumerate(seen.bankrupt) if order == 0]
        if len(left) == 1:
            return f"{name(left[0])} wins, all others are bankrupt"
        best = [seat for seat in left if worth[seat] == max(worth)]
        verb = "is" if len(best) == 1 else "are"
        return f"{' and '.join([name(seat) for seat in best])} {verb} the richest with {max(worth)}"
    if seen.to_move == CHANCE:
        dice = seen.phase.endswith("dice")
        return f"{name(seen.turn)} {'rolls the dice' if dice else 'draws a card'}"
    mover = name(seen.to_move)
    here = NAMES[seen.places[seen.turn]]
    if seen.phase == "buy":
        return f"{mover} may buy {here}"
    if seen.phase == "auction":
        lot = _item_words(seen.lots[0])
        high = f"{name(seen.bidder)} bids {seen.bid}" if seen.bidder is not None else "no bid yet"
        return f"Auction of {lot}, {high}; {mover} to bid"
    if seen.phase == "raise":
        _, creditor, amount = seen.debts[0]
        whom = "the bank" if creditor is None else name(creditor)
        return f"{mover} owes {whom} {amount} and has {seen.cash[seen.to_move]}: sell or mortgage"
    if seen.phase == "reply":
        return f"{_offer(seen, name)}; {mover} to answer"
    if seen.phase == "ask":
        return f"{mover} offers {name(seen.partner or 0)} a trade: ask for what?"
    if seen.phase == "give":
        return f"{mover} asks for {_item_words(seen.asked)}: give what?"
    if seen.phase == "price":
        return f"{mover} gives {_item_words(seen.given)} for {_item_words(seen.asked)}: what money?"
    if seen.jailed[seen.to_move]:
        return f"{mover} is in jail, try {seen.jailed[seen.to_move]} of 3"
    return f"{mover} to roll{' again' if seen.doubles else ''}"


def _worth(seen: MonopolyObservation) -> list[int]:
    """Return by seat cash, properties and buildings, as they count at the end."""
    found = list(seen.cash)
    for item, (_, owner, level) in enumerate(seen.properties):
        if owner is not None:
            found[owner] += deed_worth(item, level)
    return found


def monopoly_scene(seen: MonopolyObservation, rounds: int, name: Callable[[int], str]) -> Scene:
    """Return the board, the dice, each seat's money and where it is, and the choices."""
    worth = _worth(seen)
    elements: list[Element] = [_board(seen, name), Dice("Dice", seen.dice)]
    if seen.card:
        deck = "Chance" if seen.deck == "chance" else "Community Chest"
        elements.append(Text(f"{deck}: {seen.card.removesuffix(' (1)').removesuffix(' (2)')}"))
    wealth = ", ".join([str(each) for each in worth])
    elements.append(Text(f"Round {min(seen.round + 1, rounds)} of {rounds}, worth {wealth}"))
    for seat, cash in enumerate(seen.cash):
        marks = ["bankrupt"] if seen.bankrupt[seat] else []
        if seen.jailed[seat]:
            marks.append("jail")
        if seat in seen.jail_cards:
            marks.append("card")
        called = f"{name(seat)} ({', '.join(marks)})" if marks else name(seat)
        elements.append(Counter(called, cash, None, seat))
    elements += _buttons(seen, name)
    return Scene(tuple(elements), _status(seen, worth, name), seen.seat_to_move)
