"""Monopoly for two to six seats: buy, trade and build, and let the others pay rent.

The rules are those of the sheet "Monopoly: Property Trading Game from Parker Brothers" (Hasbro),
with its US board and cards.  Each seat begins on Go with 1500 dollars.  In its turn it rolls two
dice, moves, and does what the space says; each time it passes Go it gets 200.  After a double it
rolls again, and a third double leads to jail.  A seat that lands on a property of the bank may
``buy`` it for its price, from its cash.  Otherwise there is an ``auction``.  Income Tax costs 200
and Luxury Tax 100, and Free Parking does nothing.

The owner of a property gets rent, unless it is mortgaged.  A whole colour group doubles the rent of
streets without houses.  Before a roll a seat manages its property.  ``build boardwalk`` builds a
house, or a hotel after four of them, on a whole group, evenly; the bank has 32 houses and 12
hotels.  ``sell boardwalk`` returns one for half its cost, and ``clear dark_blue`` all buildings of
a group with a hotel.  ``mortgage boardwalk`` brings half the price, and ``redeem boardwalk`` costs
that and ten per cent, rounded up.  A seat makes at most 30 such changes in a turn.

In jail a seat pays the ``fine`` of 50, uses a ``card``, or tries to roll a double.  A double leaves
jail and moves the seat, but gives no further roll.  A seat may pay only before its first and second
roll in jail.  Before the third one it rolls or uses a card.  If that roll is no double either, the
seat pays and moves.  Seats in jail manage their property, trade, bid and collect rent.

In an auction the seats bid in turn, from the one after the seat whose turn it is, until all others
have passed.  Bids rise by 1, 3 or 10 steps of a ladder: by tens to 200, by twenties to 500, by
fifties to 1000, by hundreds to 2000.  The first bid is 10, 30 or 100.  ``pass`` is final.  A seat
that cannot raise has passed.  If nobody bids, the bank keeps the property.

Before its roll a seat may begin a number of offers (``offers``).  ``trade 2`` begins one to seat 2,
where seats count from 1.  Three steps follow: ``ask`` for a property, a ``card`` or ``nothing``;
``give`` such an item; and ``pay`` or ``get`` money: 10, 20, 50, 100, 150, 200, 300, 400, 500, 750
or 1000, or ``pay 0``.  The other seat says ``accept`` or ``reject``.  ``cancel`` ends the offer,
which still counts.  Both sides give something, and no building may stand on a traded group.  The
new owner of a mortgaged property pays its interest to the bank.  If its cash before the trade does
not cover that, no amount is legal, and the offer can only be cancelled.

A seat that cannot pay a debt sells and mortgages, until it can.  If that is not enough it is
bankrupt, and its creditor gets all it has, with buildings at half their cost.  The bank as creditor
auctions the properties, free of mortgages.  The last seat wins.  After a number of ``rounds`` the
richest seat wins: cash, properties at their price, or half of it if mortgaged, and buildings at
cost.  The return of a seat is the share of the others that it is ahead of, less the share that is
ahead of it.  Seats that went bankrupt later are ahead of those that did so earlier.

Simplifications: seats trade and build only before their own rolls, and nobody bids for the last
houses.  Debts of one card are settled in the order of the seats.  A new owner of a mortgaged
property pays the interest again when it lifts the mortgage.  Cards are not stacked in an order.
Each draw is one of the cards left in its deck, with equal chances.  After the last card all are
shuffled, except those to leave jail that seats keep.  So nothing is hidden.

A turn has several plies.  The time control ``total:300+5`` gives a match of people five minutes a
seat and five seconds for each ply; ``move:1`` is enough for bots.

Dice are written ``6-5``, the larger first, and cards by what they say.  The board in text shows
``@1`` for the token of seat 1, and ``@@`` for several.  ``2-`` is a deed of seat 2, ``23`` one with
three houses, ``2H`` one with a hotel, and ``2m`` a mortgaged one.  Other spaces show two letters of
their names: ``Ch`` is Chance, ``Cc`` Community Chest, ``Ve`` Vermont Avenue, ``Vn`` Ventnor Avenue,
``Gj`` Go to Jail.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, ClassVar

from mypy_extensions import mypyc_attr

from plyhouse.games.base import (
    CHANCE,
    ChanceKind,
    Game,
    GameInfo,
    Information,
    Observation,
    Parameter,
    Utility,
)
from plyhouse.games.dice import die_faces
from plyhouse.games.errors import InvalidAction
from plyhouse.games.scene import Scene
from plyhouse.games.stochastic.monopoly.board import CODES
from plyhouse.games.stochastic.monopoly.cards import TEXTS
from plyhouse.games.stochastic.monopoly.legal import BIDS
from plyhouse.games.stochastic.monopoly.legality import (
    NUMBERS,
    PATTERN,
    WORDS,
    broken_rule,
    unreadable,
)
from plyhouse.games.stochastic.monopoly.position import (
    DICE,
    NOTHING,
    START_MONEY,
    THE_CARD,
    UTILITY_DICE,
    Rules,
    rules_of,
)
from plyhouse.games.stochastic.monopoly.scenes import action_words, monopoly_scene
from plyhouse.games.stochastic.monopoly.state import MonopolyState
from plyhouse.games.stochastic.monopoly.views import (
    ITEMS,
    PHASES,
    MonopolyObservation,
    observed,
)

__all__ = ["Monopoly"]

_MOST_ROUNDS = 200
_MOST_SEATS = 6
_MOST_OFFERS = 5
_TURN = 3_000
"""Plies and chance outcomes of a turn at most.  Each of three rolls can lead to an auction of 61
plies, and to seven debts, for each of which a seat sells at most 92 buildings and 28 mortgages."""
_BANKRUPTCY = 28 * 61
"""Plies of the auctions after a bankruptcy at most."""


@mypyc_attr(allow_interpreted_subclasses=True)
class Monopoly(Game[MonopolyState, int, MonopolyObservation]):
    """Monopoly.

    >>> game = Monopoly(seats=3)
    >>> state = game.initial_state()
    >>> state = state.after(game.parse(state, "roll"))
    >>> state = state.after(game.parse_chance(state, "2-1"))
    >>> [game.format(state, action) for action in state.actions()]
    ['buy', 'auction']
    >>> state = state.after(game.parse(state, "buy"))
    >>> state.to_move, state.cash
    (1, (1440, 1500, 1500))
    >>> game.broken_rule(state, "build baltic")
    "the property is not the seat's own"
    """

    info: ClassVar[GameInfo] = GameInfo(
        name="monopoly",
        title="Monopoly",
        summary="Buy, trade and build on streets, and let the others pay rent.",
        min_seats=2,
        max_seats=_MOST_SEATS,
        chance=ChanceKind.STOCHASTIC,
        information=Information.PERFECT,
        utility=Utility.ZERO_SUM,
        min_return=-1.0,
        max_return=1.0,
        max_plies=_MOST_ROUNDS * _MOST_SEATS * _TURN + _MOST_SEATS * _BANKRUPTCY,
        parameters=(
            Parameter("seats", 2, "number of seats", 2, _MOST_SEATS),
            Parameter("rounds", 30, "rounds after which the richest seat wins", 1, _MOST_ROUNDS),
            Parameter("offers", 2, "offers that a seat may begin in a turn", 0, _MOST_OFFERS),
        ),
    )
    observation_type: ClassVar[type[Observation]] = MonopolyObservation
    action_pattern: ClassVar[str] = PATTERN
    action_notation: str = "an action like roll, build boardwalk, bid 120 or trade 2"
    action_count: ClassVar[int] = len(WORDS)

    @property
    def rules(self) -> Rules:
        """Tables of a match with these parameters."""
        return rules_of(
            self.int_parameter("seats"), self.int_parameter("rounds"), self.int_parameter("offers")
        )

    def initial_state(self) -> MonopolyState:
        """All seats on Go, seat 0 to roll."""
        rules = self.rules
        none = (0,) * rules.seats
        money = (START_MONEY,) * rules.seats
        return MonopolyState(rules=rules, cash=money, places=none, jailed=none, fallen=none)

    # Notation

    def format(self, state: MonopolyState, action: int) -> str:
        """Return the words of an action."""
        return WORDS[action]

    def likely(self, state: MonopolyState, text: str, actions: tuple[Any, ...]) -> Sequence[int]:
        """Return the action that a text names, if it is legal."""
        choice = NUMBERS.get(text.lower(), -1)
        return (choice,) if choice in actions else ()

    def parse(self, state: MonopolyState, text: str) -> Any:
        """Return the legal action that ``text`` means; errors name a property that is none."""
        try:
            return super().parse(state, text)
        except InvalidAction:
            reason = unreadable(text.strip().lower())
            if not reason:
                raise
            raise InvalidAction(text, reason, self.action_notation) from None

    def broken_rule(self, state: MonopolyState, text: str) -> str:
        """Return the rule that an illegal action breaks."""
        return broken_rule(state, text.lower())

    def format_chance(self, state: MonopolyState, outcome: int) -> str:
        """Return the dice as ``6-5``, or what the card says."""
        if state.phase == DICE or state.phase == UTILITY_DICE:
            return f"{outcome // 10}-{outcome % 10}"
        return TEXTS[outcome]

    def display(self, state: MonopolyState, action: int) -> str:
        """Return the dice by their faces, and actions with full names and prices."""
        if state.to_move != CHANCE:
            return action_words(observed(state, None, ()), WORDS[action], self.seat_name)
        if state.phase == DICE or state.phase == UTILITY_DICE:
            return die_faces(action // 10, action % 10)
        return TEXTS[action].removesuffix(" (1)").removesuffix(" (2)")

    # Views

    def observe(self, state: MonopolyState, seat: int | None) -> MonopolyObservation:
        """Return everything."""
        return observed(state, seat, self.legal_text(state, seat))

    def sample_state(self, observation: MonopolyObservation, rng: random.Random) -> MonopolyState:
        """Return the position that was observed."""
        seen = observation
        asked, given = [
            ITEMS.index(text) if text in ITEMS[: THE_CARD + 1] else NOTHING
            for text in (seen.asked, seen.given)
        ]
        return MonopolyState(
            to_move=seen.to_move,
            rules=self.rules,
            phase=PHASES.index(seen.phase),
            turn=seen.turn,
            round=seen.round,
            cash=seen.cash,
            places=seen.places,
            jailed=seen.jailed,
            fallen=seen.bankrupt,
            owners=tuple([-1 if owner is None else owner for _, owner, _ in seen.properties]),
            levels=tuple([level for _, _, level in seen.properties]),
            decks=(
                sum([1 << card for card in seen.chance_left]),
                sum([1 << card for card in seen.chest_left]),
            ),
            card_owners=tuple([-1 if owner is None else owner for owner in seen.jail_cards]),
            dice=seen.dice,
            drawn=TEXTS.index(seen.card, 0 if seen.deck == "chance" else 16) if seen.card else -1,
            doubles=seen.doubles,
            again=seen.again,
            ahead=seen.ahead,
            changes=seen.changes,
            offers=seen.offers,
            debts=tuple(
                [(debtor, -1 if owed is None else owed, sum_) for debtor, owed, sum_ in seen.debts]
            ),
            lots=tuple([CODES.index(code) for code in seen.lots]),
            bid=BIDS.index(seen.bid) if seen.bid else -1,
            bidder=-1 if seen.bidder is None else seen.bidder,
            bidders=sum([1 << seat for seat in seen.bidders]),
            partner=-1 if seen.partner is None else seen.partner,
            asked=asked,
            given=given,
            price=seen.price,
        )

    def scene(self, observation: MonopolyObservation) -> Scene:
        """Return the board, the seats with what they own, and the choices."""
        return monopoly_scene(observation, self.int_parameter("rounds"), self.seat_name)

    def describe(self, state: MonopolyState) -> str:
        """Return the fields of the position; the second line has the properties and their owners.

        Zeros are left out; items of an offer, its partner and the card count from 1.
        """
        deeds = [
            f"{CODES[item]} {owner}" + (f":{state.levels[item]}" if state.levels[item] else "")
            for item, owner in enumerate(state.owners)
            if owner >= 0
        ]
        more = {
            "jailed": state.jailed if any(state.jailed) else 0,
            "bankrupt": state.fallen if any(state.fallen) else 0,
            "jail cards": state.card_owners if max(state.card_owners) >= 0 else 0,
            "card": state.drawn + 1,
            "doubles": state.doubles,
            "again": int(state.again),
            "ahead": state.ahead,
            "changes": state.changes,
            "offers": state.offers,
            "debts": state.debts,
            "lots": state.lots,
            "bid": f"{BIDS[state.bid]} by {state.bidder}" if state.bid >= 0 else "",
            "bidders": state.bidders,
            "offer to": state.partner + 1,
            "asked": state.asked + 1,
            "given": state.given + 1,
            "price": state.price,
        }
        return (
            f"round {state.round}, turn {state.turn}, {PHASES[state.phase]} {state.to_move}, "
            f"cash {state.cash}, places {state.places}, dice {state.dice}, decks {state.decks}"
            f"{''.join([f', {name} {value}' for name, value in more.items() if value])}\n"
            f"deeds: {', '.join(deeds) or 'none'}"
        )
