"""Notation of actions, and the rule that an illegal one breaks.

An action is a word, and what it is done to: ``build boardwalk``, ``bid 120``, ``trade 2``.
"""

from __future__ import annotations

from typing import Final

from plyhouse.games.errors import shortened
from plyhouse.games.stochastic.monopoly.board import (
    CODES,
    COST,
    GROUP,
    GROUP_NAMES,
    GROUPS,
    INTEREST,
    MORTGAGE,
    RAILROADS,
)
from plyhouse.games.stochastic.monopoly.legal import (
    ACTIONS,
    ASK,
    BID,
    BIDS,
    BUILD,
    CLEAR,
    GIVE,
    MORTGAGE_IT,
    MOST_CHANGES,
    PRICES,
    REDEEM,
    SELL,
    TRADE,
)
from plyhouse.games.stochastic.monopoly.offers import PRICE_STEPS, interest_on
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
    Position,
)

__all__ = ["NUMBERS", "PATTERN", "WORDS", "broken_rule", "unreadable"]

_ITEMS: Final[tuple[str, ...]] = (*CODES, "card", "nothing")


def _words() -> tuple[str, ...]:
    """Return the text of each number of an action; "" for numbers that mean none."""
    words = [""] * ACTIONS
    words[:9] = ("roll", "fine", "card", "buy", "auction", "pass", "accept", "reject", "cancel")
    for seat in range(6):
        words[TRADE + seat] = f"trade {seat + 1}"
    for group in range(RAILROADS):
        words[CLEAR + group] = f"clear {GROUP_NAMES[group]}"
    for item, code in enumerate(CODES):
        words[MORTGAGE_IT + item] = f"mortgage {code}"
        words[REDEEM + item] = f"redeem {code}"
        if GROUP[item] < RAILROADS:
            words[BUILD + item] = f"build {code}"
            words[SELL + item] = f"sell {code}"
    for item, code in enumerate(_ITEMS):
        words[ASK + item] = f"ask {code}"
        words[GIVE + item] = f"give {code}"
    for index, amount in enumerate(PRICE_STEPS):
        words[PRICES + index] = f"pay {amount}" if amount >= 0 else f"get {-amount}"
    for step, amount in enumerate(BIDS):
        words[BID + step] = f"bid {amount}"
    return tuple(words)


WORDS: Final[tuple[str, ...]] = _words()
"""Text of each action by its number."""
NUMBERS: Final[dict[str, int]] = {text: number for number, text in enumerate(WORDS) if text}
"""Number of each action by its text."""
_STREETS: Final[str] = "|".join(
    [code for item, code in enumerate(CODES) if GROUP[item] < RAILROADS]
)
PATTERN: Final[str] = (
    "roll|fine|card|buy|auction|pass|accept|reject|cancel|trade [1-6]"
    f"|clear ({'|'.join(GROUP_NAMES[:RAILROADS])})|(build|sell) ({_STREETS})"
    f"|(mortgage|redeem) ({'|'.join(CODES)})|(ask|give) ({'|'.join(_ITEMS)})"
    "|(pay|get|bid) [0-9]{1,5}"
)
"""Regular expression of all actions; some amounts are none in any position."""


def unreadable(text: str) -> str:
    """Return why a text names no action in any position; "" if there is nothing to say."""
    word, _, operand = text.partition(" ")
    if not operand:
        return ""
    if word == "clear":
        if operand in GROUP_NAMES[RAILROADS:]:
            return f"{operand} has no buildings"
        return "" if operand in GROUP_NAMES else f"there is no colour group {shortened(operand)}"
    if word in ("build", "sell") and operand in CODES and GROUP[CODES.index(operand)] >= RAILROADS:
        return f"{operand} is no street"
    offered = word in ("ask", "give")
    if not offered and word not in ("build", "sell", "mortgage", "redeem"):
        return ""
    known = operand in (_ITEMS if offered else CODES)
    return "" if known else f"there is no property {shortened(operand)}"


_DUE: Final[dict[int, str]] = {
    MANAGING: "the seat manages its property and rolls",
    BUYING: "the seat buys the property or has it auctioned",
    AUCTION: "a property is auctioned: the seat bids or passes",
    RAISING: "the seat owes money and has to sell or mortgage first",
    ASKING: "the offer is being made: say what it asks for",
    GIVING: "the offer is being made: say what it gives",
    PRICING: "the offer is being made: say what it pays or gets",
    REPLYING: "an offer is to be answered",
}


def broken_rule(position: Position, text: str) -> str:
    """Return the rule that an illegal action breaks; ``text`` has the form of an action."""
    if position.to_move < 0:
        return "no seat is to move"
    word, _, operand = text.partition(" ")
    phase: int = position.phase
    if not _fits(word, phase):
        return _DUE[phase]
    if word in ("fine", "card"):
        return _jail_rule(position, word)
    if word == "trade":
        return _trade_rule(position, int(operand) - 1)
    if word in ("build", "sell", "mortgage", "redeem", "clear"):
        if phase == MANAGING and position.changes >= MOST_CHANGES:
            return f"a seat makes at most {MOST_CHANGES} changes of its property in a turn"
        if word == "clear":
            return "only a group with a hotel of the seat is sold back at once"
        return _estate_rule(position, word, CODES.index(operand))
    if word in ("ask", "give"):
        return _item_rule(position, word, _ITEMS.index(operand))
    return _amount_rule(position, word, int(operand))


def _fits(word: str, phase: int) -> bool:
    """Return whether a word is among those of a phase."""
    estate = ("sell", "mortgage", "clear")
    words: dict[int, tuple[str, ...]] = {
        MANAGING: ("roll", "fine", "card", "trade", "build", "redeem", *estate),
        BUYING: ("buy", "auction"),
        AUCTION: ("bid", "pass"),
        RAISING: estate,
        ASKING: ("ask", "cancel"),
        GIVING: ("give", "cancel"),
        PRICING: ("pay", "get", "cancel"),
        REPLYING: ("accept", "reject"),
    }
    return word in words[phase]


def _jail_rule(position: Position, word: str) -> str:
    seat: int = position.to_move
    if position.jailed[seat] == 0:
        return "the seat is not in jail"
    if word == "card":
        return "the seat has no card to leave jail"
    if position.jailed[seat] == 3:
        return "the fine is paid before one of the first two rolls, or after the third"
    return f"the fine is 50, and the seat has {position.cash[seat]}"


def _trade_rule(position: Position, other: int) -> str:
    if other >= position.rules.seats:
        return f"the match has {position.rules.seats} seats"
    if other == position.to_move:
        return "a seat trades with another one"
    if position.fallen[other] != 0:
        return "that seat is bankrupt"
    if position.offers >= position.rules.offers:
        return f"a seat makes at most {position.rules.offers} offers in a turn"
    return "neither seat has anything that may be traded"


def _estate_rule(position: Position, word: str, item: int) -> str:
    seat: int = position.to_move
    group: int = GROUP[item]
    level: int = position.levels[item]
    cash: int = position.cash[seat]
    if position.owners[item] != seat:
        return "the property is not the seat's own"
    if word == "redeem":
        if level != MORTGAGED:
            return "the property is not mortgaged"
        price: int = MORTGAGE[item] + INTEREST[item]
        return f"mortgage and interest are {price}, and the seat has {cash}"
    if word == "mortgage":
        if level == MORTGAGED:
            return "the property is mortgaged already"
        return "the buildings of the whole group are sold before one of it is mortgaged"
    if word == "sell":
        if level <= 0:
            return "there is no building on it"
        if level == HOTEL and position.houses_left() < HOTEL - 1:
            return "the bank has not the four houses that replace a hotel"
        return "buildings are sold evenly: another street of the group has more"
    return _building_rule(position, seat, item, group, level, cash)


def _building_rule(
    position: Position, seat: int, item: int, group: int, level: int, cash: int
) -> str:
    if not position.owns_group(seat, group):
        return "the seat does not own the whole colour group"
    for each in GROUPS[group]:
        if position.levels[each] == MORTGAGED:
            return "a property of the group is mortgaged"
    if level == HOTEL:
        return "there is a hotel already"
    if cash < COST[item]:
        return f"a building costs {COST[item]}, and the seat has {cash}"
    for each in GROUPS[group]:
        if position.levels[each] < level:
            return "building is even: another street of the group has fewer houses"
    return f"the bank has no more {'hotels' if level == HOTEL - 1 else 'houses'}"


def _item_rule(position: Position, word: str, item: int) -> str:
    name = _ITEMS[item]
    whose = "partner" if word == "ask" else "seat"
    if name == "nothing":
        return "an offer asks for something or gives something beside money"
    if name == "card":
        return f"the {whose} has no card to leave jail"
    owner = position.partner if word == "ask" else position.to_move
    if position.owners[item] != owner:
        return f"the property is not the {whose}'s"
    return "a property is traded only if no building stands on its group"


def _amount_rule(position: Position, word: str, amount: int) -> str:
    if word == "bid":
        if amount not in BIDS:
            return f"bids are steps from {BIDS[0]} to {BIDS[-1]}, and this is none of them"
        if amount > position.cash[position.to_move]:
            return f"the seat has {position.cash[position.to_move]} to bid"
        if position.bid >= 0 and amount <= BIDS[position.bid]:
            return f"a bid is higher than the last one, {BIDS[position.bid]}"
        return "a bid is one, three or ten steps above the last one"
    seat: int = position.to_move
    for payer, item, who in (
        (seat, position.asked, "seat"),
        (position.partner, position.given, "partner"),
    ):
        interest: int = interest_on(position, item)
        if interest > position.cash[payer]:
            return f"the {who} cannot pay the interest of {interest} on {_ITEMS[item]}"
    signed: int = amount if word == "pay" else -amount
    if signed not in PRICE_STEPS or (word == "get" and amount == 0):
        steps = [str(each) for each in PRICE_STEPS if each > 0]
        return f"the amounts of offers are {', '.join(steps[:-1])} and {steps[-1]}, or pay 0"
    if position.given == NOTHING and signed <= 0:
        return "each seat gives something: an offer without a property given pays"
    if position.asked == NOTHING and signed >= 0:
        return "each seat gives something: an offer that asks for no property gets money"
    if signed > 0:
        most: int = position.cash[seat] - interest_on(position, position.asked)
        return f"the seat can pay {most} at most"
    most = position.cash[position.partner] - interest_on(position, position.given)
    return f"the partner can pay {most} at most"
