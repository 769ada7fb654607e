"""Texas hold'em for two to six seats: two cards each, five on the table, four rounds of betting.

The rules are those of "Robert's Rules of Poker" (R. Ciaffone, version 11), sections 3, 4, 5 and 14.
Every hand has a button, which is seat 0's in the first hand and then passes to the next seat.  All
pay the ante.  The seat left of the button pays the small blind, the next one the big blind.  If
there are two seats, the button pays the small blind and acts first in the first round.  Each seat
is dealt two cards, and a round of betting follows.  Then come three cards on the table (the flop),
a round, one card (the turn), a round, one card (the river), and the last round.  The seat left of
the big blind acts first in the first round, and the first seat left of the button in the others.

In its turn a seat may ``check``, or ``bet 6`` if nobody has bet; after a bet it may ``fold``,
``call``, or ``raise 12``.  Amounts are all chips of the seat in this round, as in "raise to 12".  A
bet is at least the big blind.  A raise goes up by at least the last bet or raise.  A seat may
always bet all its chips.  An all-in of less than a full raise does not let a seat raise that has
acted already, unless several of them together are a full raise for it.  With ``betting=fixed``,
bets and raises are the big blind in the first two rounds and twice that later.  A round then has at
most four of them, and the big blind is the first one.  An all-in of half a bet or more is a full
bet or raise (section 3, rule 6).  One of less is none: it does not reopen the betting, and a seat
that has not acted may complete it.  No bet may be called with chips that a seat lacks: it is all in
for its stack, and side pots hold the rest.  A bet that nobody calls returns.  When at most one seat
has chips to bet, the other cards are dealt at once.

In the end, all who have not folded show their cards, and the best five of seven cards win.  Equal
hands share; odd chips of a pot go to the first of them left of the button.  If all others fold, a
seat wins without showing its cards.  Cards are not burned, because that changes no chances.

A match is a number of hands.  Each begins with the same stacks, as in the Annual Computer Poker
Competition ("Doyle's game"), so that all hands count the same and none depends on luck before it.
Without limit, hands times seats times the largest stack in big blinds is at most 200,000.  Returns
are big blinds won per hundred hands.  The cards of a hand do not depend on the betting in earlier
hands.  So all matches of a pairing in ``plyhouse match`` have the same deals, and every bot plays
them from every seat.

Cards are rank and suit: ``Ah``, ``Tc``, ``2d``.  They are dealt one at a time at chance nodes, two
rounds around the table from the seat left of the button, and then those on the table.
"""

from __future__ import annotations

import random
from collections.abc import Hashable, Sequence
from typing import Any, ClassVar, Final

from mypy_extensions import mypyc_attr

from plyhouse.games.base import (
    CHANCE,
    TERMINAL,
    ChanceKind,
    Game,
    GameInfo,
    Information,
    Observation,
    Parameter,
    Scoring,
    Utility,
)
from plyhouse.games.errors import InvalidParameter
from plyhouse.games.hidden.texas_holdem.stakes import Rules, rules_of
from plyhouse.games.hidden.texas_holdem.state import (
    FOLD,
    PASSIVE,
    TexasHoldemState,
    start_of_hand,
)
from plyhouse.games.hidden.texas_holdem.views import (
    TexasHoldemObservation,
    holdem_scene,
    observed,
    words,
)
from plyhouse.games.playing_cards import CARDS, PACK, card_number
from plyhouse.games.scene import Scene

__all__ = ["FewSizes", "TexasHoldem", "broken_rule"]

_MOST_CHIPS: Final = 1000
_MOST_HANDS: Final = 1000
_LEAST_BLIND: Final = 2
_MOST_RAISED: Final = 200_000
"""Big blinds of the largest stack, times seats, times hands: what a match without limit may have.
Somebody may raise by one each time, and servers keep every action."""
_MOST_OTHERS: Final = 6 * 4 * 5 + 17
"""Other actions and cards of a hand, and all with a limit: in each of four rounds, six seats act
five times at most."""


@mypyc_attr(allow_interpreted_subclasses=True)
class TexasHoldem(Game[TexasHoldemState, int, TexasHoldemObservation]):
    """Texas hold'em.

    >>> poker = TexasHoldem(hands=1)
    >>> state = poker.initial_state()
    >>> for card in ("As", "2c", "Ah", "7d"):
    ...     state = state.after(poker.parse_chance(state, card))
    >>> state = state.after(poker.parse(state, "raise 6"))
    >>> poker.observe(state, 1).cards, poker.observe(state, 1).to_call
    (('As', 'Ah'), 4)
    >>> broken_rule(state, "raise 8")
    'the least raise is to 10: it goes up by at least the last bet or raise, 4'
    """

    info: ClassVar[GameInfo] = GameInfo(
        name="texas_holdem",
        title="Texas hold'em",
        summary="Two cards in the hand, five on the table, four rounds of betting.",
        min_seats=2,
        max_seats=6,
        chance=ChanceKind.STOCHASTIC,
        information=Information.IMPERFECT,
        utility=Utility.ZERO_SUM,
        min_return=-100.0 * _MOST_CHIPS / _LEAST_BLIND,
        max_return=500.0 * _MOST_CHIPS / _LEAST_BLIND,
        max_plies=_MOST_RAISED + _MOST_OTHERS * _MOST_HANDS,
        parameters=(
            Parameter("seats", 2, "number of seats", 2, 6),
            Parameter("betting", "no_limit", "sizes of bets", choices=("no_limit", "fixed")),
            Parameter("hands", 12, "hands of a match", 1, _MOST_HANDS),
            Parameter("stack", 200, "chips of each seat", _LEAST_BLIND, _MOST_CHIPS),
            Parameter("stacks", "", 'chips by seat where they differ, as in "40,200,90"'),
            Parameter("small_blind", 1, "small blind in chips", 1, 100),
            Parameter("big_blind", 2, "big blind in chips", _LEAST_BLIND, 100),
            Parameter("ante", 0, "ante of each seat in chips", 0, 100),
        ),
        scoring=Scoring.RETURNS,
        returns_unit="bb/100",
    )
    observation_type: ClassVar[type[Observation]] = TexasHoldemObservation
    action_pattern: ClassVar[str] = "fold|check|call|(bet|raise) [0-9]{1,9}"
    action_notation: str = "fold, check, call, bet 6 or raise 12"
    few_sizes: ClassVar[bool] = False

    def check_parameters(self) -> None:
        """Raise `InvalidParameter` unless the stacks fit the seats and can pay the blinds."""
        self._seen: tuple[Any, TexasHoldemState] | None = None
        """The last observation that was sampled from, and a state that fits it."""
        name = self.info.name
        small, big = self.int_parameter("small_blind"), self.int_parameter("big_blind")
        if small > big:
            expected = f"it is at most the big blind, {big}"
            raise InvalidParameter(name, "small_blind", small, expected)
        self._check_stacks(big + self.int_parameter("ante"))
        self._check_length()

    def _check_stacks(self, needed: int) -> None:
        """Raise `InvalidParameter` unless the stacks fit the seats and have ``needed`` chips."""
        name = self.info.name
        text = self.text_parameter("stacks")
        if not text:
            stack = self.int_parameter("stack")
            if stack < needed:
                expected = f"it is at least big blind and ante, {needed}"
                raise InvalidParameter(name, "stack", stack, expected)
            return
        parts = text.split(",")
        seats = self.int_parameter("seats")
        fits = len(parts) == seats
        for part in parts:
            digits = part.strip()
            fits = fits and digits.isdecimal() and digits.isascii() and len(digits) <= 4
            fits = fits and needed <= int(digits) <= _MOST_CHIPS
        if not fits:
            expected = f"it must be {seats} whole numbers from {needed} to {_MOST_CHIPS}"
            raise InvalidParameter(name, "stacks", text, expected)

    def _check_length(self) -> None:
        """Raise `InvalidParameter` if a match without limit could have too many raises."""
        if self.text_parameter("betting") == "fixed":
            return
        hands, seats = self.int_parameter("hands"), self.int_parameter("seats")
        depth = max(self.stacks) // self.int_parameter("big_blind")
        most = _MOST_RAISED // (seats * depth)
        if hands > most:
            expected = f"it is at most {most} for {seats} seats with {depth} big blinds"
            raise InvalidParameter(self.info.name, "hands", hands, expected)

    @property
    def stacks(self) -> tuple[int, ...]:
        """Chips by seat at the beginning of each hand."""
        text = self.text_parameter("stacks")
        if text:
            return tuple([int(part) for part in text.split(",")])
        return (self.int_parameter("stack"),) * self.int_parameter("seats")

    @property
    def rules(self) -> Rules:
        """Tables of a match with these parameters."""
        return rules_of(
            self.stacks,
            self.int_parameter("small_blind"),
            self.int_parameter("big_blind"),
            self.int_parameter("ante"),
            self.text_parameter("betting") == "fixed",
            self.int_parameter("hands"),
            self.few_sizes,
        )

    @property
    def return_bounds(self) -> tuple[float, float]:
        """Big blinds per hundred hands if a seat loses all its chips, or wins all, every time."""
        stacks = self.stacks
        unit = 100.0 / self.int_parameter("big_blind")
        most = 0
        for seat, own in enumerate(stacks):
            gain = sum([min(own, chips) for other, chips in enumerate(stacks) if other != seat])
            most = max(most, gain)
        return -max(stacks) * unit, most * unit

    def initial_state(self) -> TexasHoldemState:
        """Return the state before the first card."""
        rules = self.rules
        return start_of_hand(rules, 0, (0,) * rules.seats, ())

    def chance_number(self, state: TexasHoldemState, drawn: int) -> int:
        """Return the number of a card in its match; a hand has as many with or without betting."""
        rules = state.rules
        return state.hand * (2 * rules.seats + 5) + len(state.cards)

    # Notation

    def format(self, state: TexasHoldemState, action: int) -> str:
        """Return ``fold``, ``check``, ``call``, ``bet 6`` or ``raise 12``."""
        if action == FOLD:
            return "fold"
        if action == PASSIVE:
            return "call" if state.to_call() > 0 else "check"
        return f"raise {action - 1}" if state.top > state.base else f"bet {action - 1}"

    def likely(self, state: TexasHoldemState, text: str, actions: tuple[Any, ...]) -> Sequence[int]:
        """Return the action that a text names, if it is legal."""
        word, _, amount = text.lower().partition(" ")
        choice = PASSIVE
        if word == "fold":
            choice = FOLD
        elif word in ("bet", "raise"):
            if not (amount.isascii() and amount.isdecimal() and len(amount) < 6):
                return actions
            choice = int(amount) + 1
        return (choice,) if choice in actions else ()

    def broken_rule(self, state: TexasHoldemState, text: str) -> str:
        """Return the rule that an illegal action breaks."""
        return broken_rule(state, text.lower())

    def format_chance(self, state: TexasHoldemState, outcome: int) -> str:
        """Return the card that is dealt."""
        return CARDS[outcome]

    # Views

    def observe(self, state: TexasHoldemState, seat: int | None) -> TexasHoldemObservation:
        """Return the seat's own cards, all that is public, and the last showdown."""
        return observed(state, seat, self.legal_text(state, seat))

    def information_state(self, state: TexasHoldemState, seat: int) -> Hashable:
        """Return own cards, the table and the betting of this hand, and results before it.

        Earlier hands count by their results, and the last one by what it showed: the next hands
        do not depend on them.
        """
        dealt = min(len(state.cards), 2 * state.rules.seats)
        return (
            seat,
            state.hand,
            state.won,
            state.hole(seat),
            dealt,
            state.board(),
            state.history,
            state.last,
        )

    def visible(self, state: TexasHoldemState, action: Any, viewer: int | None) -> str | None:
        """Return bets and the table to all, and a card to the seat that is dealt it."""
        if state.to_move != CHANCE:
            return self.format(state, action)
        seats = state.rules.seats
        count = len(state.cards)
        if count < 2 * seats and viewer != (state.button() + 1 + count) % seats:
            return None
        return self.format_chance(state, action)

    def sample_state(
        self, observation: TexasHoldemObservation, rng: random.Random
    ) -> TexasHoldemState:
        """Return a state with the unknown cards dealt at random from those left."""
        cards, known = _known(observation)
        state: TexasHoldemState
        if self._seen is not None and self._seen[0] is observation:
            state = self._seen[1]
        else:
            state = _rebuilt(self.rules, observation, cards)
            self._seen = (observation, state)
        dealt = list(cards)
        used = set(known)
        for place, card in enumerate(cards):
            if card not in known:
                drawn = int(rng.random() * PACK)
                while drawn in used:
                    drawn = int(rng.random() * PACK)
                used.add(drawn)
                dealt[place] = drawn
        return state.redealt(tuple(dealt))

    def scene(self, observation: TexasHoldemObservation) -> Scene:
        """Return the table with cards, bets, stacks and the pot, and the actions."""
        return holdem_scene(observation, self.int_parameter("hands"), self.seat_name)

    def describe(self, state: TexasHoldemState) -> str:
        """Return all cards, also hidden ones, the betting of the hand, and chips won."""
        seats = range(state.rules.seats)
        holes = [" ".join([CARDS[card] for card in state.hole(seat)]) or "-" for seat in seats]
        board = " ".join([CARDS[card] for card in state.board()]) or "-"
        bets = " ".join([words(code) for code in state.history]) or "-"
        return (
            f"hand {state.hand}, cards: {' / '.join(holes)}, table: {board}, bets: {bets}, "
            f"paid: {state.paid}, won: {state.won}"
        )

    def abstraction(self) -> Game:
        """Return one hand of the same game with fewer sizes of bets, for searches."""
        parameters = {**self.parameters, "hands": 1}
        return FewSizes(**parameters)


@mypyc_attr(allow_interpreted_subclasses=True)
class FewSizes(TexasHoldem):
    """Texas hold'em with bets of half the pot, the pot and all chips, one hand long.

    Searches look for actions in this game (`Game.abstraction`), as nobody can try two hundred
    sizes.  It reads observations of the whole game and takes every hand for the only one.
    """

    few_sizes: ClassVar[bool] = True
    exploration_scale: ClassVar[float] = 0.1


def broken_rule(state: TexasHoldemState, text: str) -> str:
    """Return the rule that an illegal action breaks; it tells public facts only."""
    word, _, amount = text.partition(" ")
    owed = state.to_call()
    if word in ("fold", "check", "call"):
        if word == "check":
            return f"there is a bet to answer, {owed} to call"
        return "there is no bet to answer"
    if refusal := state.refusal():
        return refusal
    opened = state.top > state.base
    if word == "bet" and opened:
        return "there is a bet already, which can be raised"
    if word == "raise" and not opened:
        return "there is no bet to raise"
    least, most = state.raise_bounds()
    chips = int(amount)
    if state.rules.fixed:
        return f"the limit of this round makes it {word} {least}"
    if chips > most:
        return f"the seat has chips to {word} {most} at most"
    if opened:
        return (
            f"the least raise is to {least}: it goes up by at least the last bet or raise, "
            f"{state.size}"
        )
    return f"the least bet is the big blind, {least}"


def _known(seen: TexasHoldemObservation) -> tuple[tuple[int, ...], frozenset[int]]:
    """Return cards in the order of the deal, unknown ones filled up, and those that are known."""
    seats = len(seen.paid)
    places = [-1] * seen.dealt
    shown = seen.last_shown if seen.to_move == TERMINAL else ()
    for seat in range(seats):
        names = shown[seat] if shown else ()
        if not names and seat == seen.seat:
            names = seen.cards
        place = (seat - seen.button - 1) % seats
        for name in names:
            places[place] = card_number(name)
            place += seats
    board = [card_number(name) for name in seen.board]
    known = frozenset([card for card in places if card >= 0] + board)
    free = 0
    for place, card in enumerate(places):
        if card < 0:
            while free in known:
                free += 1
            places[place] = free
            free += 1
    return (*places, *board), known


def _rebuilt(
    rules: Rules, seen: TexasHoldemObservation, cards: tuple[int, ...]
) -> TexasHoldemState:
    """Return the state of an observation with these cards, by playing the hand again."""
    last: tuple[Any, ...] = ()
    won = seen.won
    over = seen.to_move == TERMINAL
    if over:
        won = tuple([chips - net for chips, net in zip(won, seen.last_won, strict=True)])
    elif seen.last_hand is not None:
        shown = [tuple([card_number(name) for name in names]) for names in seen.last_shown]
        board = tuple([card_number(name) for name in seen.last_board])
        last = (seen.last_hand, board, tuple(shown), seen.last_won)
    state = start_of_hand(rules, seen.hand, won, last)
    actions = [text for each in seen.rounds for _, text in each]
    played = 0
    while state.to_move != TERMINAL:
        if state.to_move == CHANCE:
            if len(state.cards) == len(cards):
                break
            state = state.dealt(cards[len(state.cards)])
            continue
        if played == len(actions):
            break
        word, _, amount = actions[played].partition(" ")
        played += 1
        choice = FOLD if word == "fold" else int(amount) + 1 if amount else PASSIVE
        state = state.after(choice)
    return state
