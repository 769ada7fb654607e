"""Drawings of Monopoly: the ring of forty spaces, what each seat has, trades, and the choices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from plyhouse.games.base import CHANCE, TERMINAL
from plyhouse.games.scene import Button, Cell, Counter, Dice, Element, Grid, Scene, Text, Tray
from plyhouse.games.stochastic.monopoly.board import (
    CODES,
    COST,
    GROUP,
    GROUP_NAMES,
    GROUPS,
    INTEREST,
    MORTGAGE,
    NAMES,
    PRICE,
    PROPERTY_AT,
    RAILROADS,
    RENT,
    SHORT,
    SPACE_AT,
    SPACES,
    TAX,
    UTILITIES,
)
from plyhouse.games.stochastic.monopoly.position import HOTEL, MORTGAGED, deed_worth
from plyhouse.games.stochastic.monopoly.views import MonopolyObservation

__all__ = ["action_words", "monopoly_scene"]

_SIDE: Final = 11
"""Spaces along each side of the board."""
_TEXTS: Final[dict[str, str]] = {"VEN": "Vn", "GOTO": "Gj"}
"""Texts of spaces whose short names begin as others do."""
_GROUNDS: Final[tuple[str, ...]] = (
    "brown", "sky", "rose", "orange", "crimson", "yellow", "green", "azure", "", "",
)  # fmt: skip
"""Colour of each group."""
_NOTES: Final[dict[str, str]] = {"GO": "collect $200"}
"""Texts below the names of spaces that are neither properties nor taxes."""


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


def _rent(seen: MonopolyObservation, item: int) -> str:
    """Return what a property with an owner costs those who land on it."""
    _, owner, level = seen.properties[item]
    if level == MORTGAGED:
        return "mortgaged"
    group = GROUP[item]
    owned = len([each for each in GROUPS[group] if seen.properties[each][1] == owner])
    if group == UTILITIES:
        return f"{RENT[item][owned - 1]} \u00d7 dice"
    if group == RAILROADS:
        return f"rent {RENT[item][owned - 1]}"
    whole = level == 0 and owned == len(GROUPS[group])
    return f"rent {RENT[item][level] * (2 if whole else 1)}"


def _note(seen: MonopolyObservation, space: int) -> str:
    """Return what is printed below the name of a space: its price, its rent or its tax."""
    item = PROPERTY_AT[space]
    if item < 0:
        return f"pay ${TAX[space]}" if TAX[space] else _NOTES.get(SHORT[space], "")
    return f"${PRICE[item]}" if seen.properties[item][1] is None else _rent(seen, item)


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
        lines=tuple([line for line in (NAMES[space], _note(seen, space)) if line]),
    )


def _portfolio(seen: MonopolyObservation, seat: int, called: str) -> Tray:
    """Return all that a seat has, by group."""
    owned = [item for item, (_, owner, _) in enumerate(seen.properties) if owner == seat]
    pieces: list[Cell] = []
    for item in sorted(owned, key=lambda each: (GROUP[each], each)):
        level = seen.properties[item][2]
        built = _built(level)
        label = f"{NAMES[SPACE_AT[item]]}{f' ({built})' if built else ''}"
        pieces.append(
            Cell(
                label,
                label=label,
                face=_level(level).replace("-", ""),
                faint=level == MORTGAGED,
                ground=_GROUNDS[GROUP[item]] or "plain",
                lines=(SHORT[SPACE_AT[item]],),
            )
        )
    cards = seen.jail_cards.count(seat)
    if cards:
        label = "card to leave jail"
        pieces.append(Cell(label, label=label, count=cards, ground="plain", lines=("card",)))
    return Tray(f"{called} owns", tuple(pieces), seat)


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


def action_words(seen: MonopolyObservation, action: str, name: Callable[[int], str]) -> str:
    """Return an action as people write it, with full names."""
    return "Roll" if action == "roll" else _label(seen, action, name)


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
        elif seen.phase not in ("ask", "give") or not operand:  # else it is in the lists
            several = action.startswith("trade") and len(seen.cash) > 2
            aside = several or action.startswith("clear")
            found.append(Button(label, action, key=key, aside=aside))
    return found


# Offers


def _tradable(seen: MonopolyObservation, seat: int) -> list[str]:
    """Return what a seat may trade: properties of groups without buildings, and its card."""
    built = {GROUP[item] for item, (_, _, level) in enumerate(seen.properties) if level > 0}
    found = [
        code
        for item, (code, owner, _) in enumerate(seen.properties)
        if owner == seat and GROUP[item] not in built
    ]
    return [*found, "card"] if seat in seen.jail_cards else found


def _side(
    seen: MonopolyObservation, seat: int, word: str, chosen: str, money: int, open_: bool
) -> list[Cell]:
    """Return one list of an offer: what a seat may give, what it gives, and the money."""
    cells: list[Cell] = []
    for item in [*_tradable(seen, seat), "nothing"]:
        action = f"{word} {item}"
        legal = action in seen.legal
        if item == "nothing" and not legal:
            continue
        ground = _GROUNDS[GROUP[CODES.index(item)]] if item in CODES else ""
        text = _item_words(item)
        cells.append(
            Cell(
                text[0].upper() + text[1:],
                action=action if legal else None,
                label=f"{'Ask for' if word == 'ask' else 'Give'} {text}" if legal else text,
                highlight=item == chosen,
                ground=ground or "plain",
            )
        )
    if money > 0:
        cells.append(Cell(f"${money}", label=f"{money} dollars", highlight=True))
    elif not cells:
        cells.append(Cell("Nothing", label="nothing", highlight=not open_))
    return cells


def _lists(seen: MonopolyObservation, name: Callable[[int], str]) -> list[Element]:
    """Return the two lists of the offer that is made now, side by side."""
    partner = seen.partner
    if partner is None:
        return []
    open_ = seen.phase in ("ask", "give")
    gives = _side(seen, seen.turn, "give", seen.given, seen.price, open_)
    gets = _side(seen, partner, "ask", seen.asked, -seen.price, open_)
    rows = [
        (gives[at] if at < len(gives) else Cell(), gets[at] if at < len(gets) else Cell())
        for at in range(max(len(gives), len(gets)))
    ]
    heads = (f"{name(seen.turn)} gives", f"{name(partner)} gives")
    return [Grid(tuple(rows), (), heads, "Offer", "table")]


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
        return f"{mover} to bid for {lot}, {high}"
    if seen.phase == "raise":
        _, creditor, amount = seen.debts[0]
        whom = "the bank" if creditor is None else name(creditor)
        cash = seen.cash[seen.to_move]
        return f"{mover} to sell or mortgage: {amount} are due to {whom}, cash is {cash}"
    if seen.phase == "reply":
        return f"{mover} to answer: {_offer(seen, name)}"
    if seen.phase == "ask":
        return f"{mover} offers {name(seen.partner or 0)} a trade: ask for what?"
    if seen.phase == "give":
        return f"{mover} asks for {_item_words(seen.asked)}: give what?"
    if seen.phase == "price":
        return f"{mover} gives {_item_words(seen.given)} for {_item_words(seen.asked)}: what money?"
    if seen.jailed[seen.to_move]:
        return f"{mover} to leave jail, try {seen.jailed[seen.to_move]} of 3"
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
    wealth = ", ".join([f"{name(seat)} {each}" for seat, each in enumerate(worth)])
    elements.append(Text(f"Round {min(seen.round + 1, rounds)} of {rounds}. Worth: {wealth}"))
    for seat, cash in enumerate(seen.cash):
        marks = ["bankrupt"] if seen.bankrupt[seat] else []
        if seen.jailed[seat]:
            marks.append("jail")
        called = f"{name(seat)} ({', '.join(marks)})" if marks else name(seat)
        elements.append(Counter(called, cash, None, seat, "score", "$"))
    elements += [_portfolio(seen, seat, name(seat)) for seat in range(len(seen.cash))]
    elements += _lists(seen, name)
    elements += _buttons(seen, name)
    return Scene(tuple(elements), _status(seen, worth, name), seen.seat_to_move)
