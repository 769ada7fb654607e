"""Kuhn poker for two to four seats: one card each, one bet, the smallest real poker.

The pack has one card more than there are seats: J Q K for two, J Q K A for three and T J Q K A
for four, ranked in this order.  Every seat puts one chip into the pot and is dealt one card; the
deals are chance nodes, beginning with the first player.  In turn the seats ``check`` or ``bet``
one chip.  If all check, the highest card takes the pot.  After a bet, every other seat answers
once in turn with ``call`` (one chip) or ``fold``.  Then the highest card among the bettor and the
callers takes the pot.  Returns are chips won.

Chance outcomes are written as the card.  With two seats: 12 information sets, 30 terminal
histories, value -1/18 for the first player (H. W. Kuhn, "A simplified two-person poker", 1950).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, ClassVar, Final, final

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
from plyhouse.games.native import NativeState
from plyhouse.games.playing_cards import BET_PLACES
from plyhouse.games.scene import Button, Card, Counter, Element, Hand, Scene, Text

if TYPE_CHECKING:
    import random

__all__ = ["BET", "CALL", "CHECK", "FOLD", "KuhnPoker", "KuhnPokerObservation", "KuhnPokerState"]

CHECK: Final = 0
BET: Final = 1
FOLD: Final = 2
CALL: Final = 3

NAMES: Final[tuple[str, ...]] = ("check", "bet", "fold", "call")

RANKS: Final[tuple[str, ...]] = ("JQK", "JQKA", "TJQKA")
"""Cards from the lowest, for two, three and four seats; in states a card is its index."""

_RANK: Final[dict[str, str]] = {"T": "ten", "J": "jack", "Q": "queen", "K": "king", "A": "ace"}
_SUIT: Final[dict[str, str]] = {
    "T": "clubs",
    "J": "diamonds",
    "Q": "clubs",
    "K": "hearts",
    "A": "spades",
}
"""Suits in which the cards are drawn; the game has none."""

_UNOPENED: Final[tuple[int, ...]] = (CHECK, BET)
_OPENED: Final[tuple[int, ...]] = (FOLD, CALL)

_ONE_FIRST: Final[tuple[float, ...]] = (1.0, -1.0)
_ONE_SECOND: Final[tuple[float, ...]] = (-1.0, 1.0)
_TWO_FIRST: Final[tuple[float, ...]] = (2.0, -2.0)
_TWO_SECOND: Final[tuple[float, ...]] = (-2.0, 2.0)


@final
@mypyc_attr(free_list_len=1)
class KuhnPokerState(NativeState):
    """Cards dealt so far by seat, and the actions so far in order."""

    __slots__ = ("bets", "cards", "seats")

    seats: int
    cards: tuple[int, ...]
    bets: tuple[int, ...]

    def __init__(
        self,
        to_move: int = CHANCE,
        seats: int = 2,
        cards: tuple[int, ...] = (),
        bets: tuple[int, ...] = (),
    ) -> None:
        self.to_move = to_move
        self.seats = seats
        self.cards = cards
        self.bets = bets

    def __reduce__(self) -> tuple[Any, ...]:
        return KuhnPokerState, (self.to_move, self.seats, self.cards, self.bets)

    def bettor(self) -> int:
        """Return the seat that bet, -1 if none has."""
        for place in range(len(self.bets)):
            if self.bets[place] == BET:
                return place
        return -1

    def actions(self) -> tuple[Any, ...]:
        """Check or bet; after a bet fold or call."""
        if self.to_move < 0:
            return ()
        if self.bettor() < 0:
            return _UNOPENED
        return _OPENED

    def after(self, action: Any) -> KuhnPokerState:
        """Return the state after a card is dealt or a seat acts."""
        choice: int = action
        seats: int = self.seats
        if self.to_move == CHANCE:
            cards: tuple[int, ...] = (*self.cards, choice)
            mover: int = 0 if len(cards) == seats else CHANCE
            return KuhnPokerState(mover, seats, cards, ())
        bettor: int = self.bettor()
        bets: tuple[int, ...] = (*self.bets, choice)
        count: int = len(bets)
        # The bettor is the seat whose number is the count of checks before the bet; after
        # it come as many answers as there are other seats.
        if choice == BET:
            bettor = count - 1
        over: bool = count == seats if bettor < 0 else count == bettor + seats
        to_move: int = TERMINAL if over else count % seats
        return KuhnPokerState(to_move, seats, self.cards, bets)

    def chance_outcomes(self) -> tuple[tuple[Any, float], ...]:
        """Return the cards still in the pack, equally likely."""
        if self.to_move != CHANCE:
            return ()
        cards = self.cards
        left: int = self.seats + 1 - len(cards)
        share: float = 1.0 / float(left)
        return tuple([(card, share) for card in range(self.seats + 1) if card not in cards])

    def playout(self, rng: random.Random) -> tuple[float, ...]:
        """Returns after uniformly random play to the end."""
        seats: int = self.seats
        cards: tuple[int, ...] = self.cards
        if self.to_move == CHANCE:
            pack: list[int] = [card for card in range(seats + 1) if card not in cards]
            dealt: list[int] = list(cards)
            while len(dealt) < seats:
                dealt.append(pack.pop(int(rng.random() * float(len(pack)))))
            cards = tuple(dealt)
        bettor: int = self.bettor()
        if seats == 2 and len(self.bets) == 0:  # the usual case, without lists
            draw: int = int(rng.random() * 8.0)
            higher: bool = cards[0] > cards[1]
            if draw < 2:  # check, check
                return _ONE_FIRST if higher else _ONE_SECOND
            if draw == 2:  # check, bet, fold
                return _ONE_SECOND
            if draw == 3:  # check, bet, call
                return _TWO_FIRST if higher else _TWO_SECOND
            if draw < 6:  # bet, fold
                return _ONE_FIRST
            return _TWO_FIRST if higher else _TWO_SECOND
        bets: list[int] = list(self.bets)
        while len(bets) < (seats if bettor < 0 else bettor + seats):
            second: bool = rng.random() < 0.5
            if bettor >= 0:
                bets.append(CALL if second else FOLD)
            elif second:
                bettor = len(bets)
                bets.append(BET)
            else:
                bets.append(CHECK)
        return KuhnPokerState(TERMINAL, seats, cards, tuple(bets)).returns()

    def paid(self) -> tuple[int, ...]:
        """Chips each seat has put into the pot."""
        chips: list[int] = [1] * self.seats
        for place in range(len(self.bets)):
            if self.bets[place] in (BET, CALL):
                chips[place % self.seats] += 1
        return tuple(chips)

    def winner(self) -> int:
        """At the end, the seat that takes the pot."""
        paid = self.paid()
        most: int = max(paid)
        best: int = -1
        for seat in range(self.seats):
            if paid[seat] == most and (best < 0 or self.cards[seat] > self.cards[best]):
                best = seat
        return best

    def returns(self) -> tuple[float, ...]:
        """Chips won, the own stake deducted."""
        paid = self.paid()
        winner: int = self.winner()
        pot: int = sum(paid)
        result: list[float] = []
        for seat in range(self.seats):
            chips: int = paid[seat]
            result.append(float(pot - chips) if seat == winner else -float(chips))
        return tuple(result)


@mypyc_attr(native_class=False)
@dataclasses.dataclass(frozen=True)
class KuhnPokerObservation(Observation):
    """One seat's view: its card, the betting, and shown cards after a showdown."""

    card: str | None
    """The observer's own card, "J" for example; None for spectators and before it is dealt."""
    dealt: int
    """How many cards have been dealt."""
    bets: tuple[str, ...]
    """Actions so far, in order; seat 0 begins and the seats follow in turn."""
    paid: tuple[int, ...]
    """By seat the chips it has put into the pot."""
    shown: tuple[str | None, ...]
    """Cards all may see, by seat: after the end those of the seats that did not fold,
    if there were at least two; otherwise None."""
    winner: int | None
    """The seat that took the pot; None while it is open."""


@mypyc_attr(allow_interpreted_subclasses=True)
class KuhnPoker(Game[KuhnPokerState, int, KuhnPokerObservation]):
    """Kuhn poker for two, three or four seats.

    >>> poker = KuhnPoker()
    >>> state = poker.initial_state()
    >>> for card in "KQ":
    ...     state = state.after(poker.parse_chance(state, card))
    >>> state = state.after(poker.parse(state, "bet"))
    >>> poker.observe(state, 1).card, poker.observe(state, 1).legal
    ('Q', ('fold', 'call'))
    >>> state.after(poker.parse(state, "call")).returns()
    (2.0, -2.0)
    """

    info: ClassVar[GameInfo] = GameInfo(
        name="kuhn_poker",
        title="Kuhn poker",
        summary="One card each and a single bet: the smallest poker with bluffing.",
        min_seats=2,
        max_seats=4,
        chance=ChanceKind.STOCHASTIC,
        information=Information.IMPERFECT,
        utility=Utility.ZERO_SUM,
        min_return=-2.0,
        max_return=6.0,
        max_plies=11,
        parameters=(Parameter("seats", 2, "number of seats", 2, 4),),
        scoring=Scoring.RETURNS,
    )
    observation_type: ClassVar[type[Observation]] = KuhnPokerObservation
    action_pattern: ClassVar[str] = "check|bet|fold|call"
    action_notation: str = "check, bet, fold or call"

    def check_parameters(self) -> None:
        """Keep the ranks in use."""
        self.ranks = RANKS[self.seats - 2]

    @property
    def return_bounds(self) -> tuple[float, float]:
        """A seat loses two chips at most, and wins two from each other seat."""
        return -2.0, 2.0 * (self.seats - 1)

    def initial_state(self) -> KuhnPokerState:
        """Nothing dealt."""
        return KuhnPokerState(CHANCE, self.seats)

    def format(self, state: KuhnPokerState, action: int) -> str:
        """``check``, ``bet``, ``fold`` or ``call``."""
        return NAMES[action]

    def format_chance(self, state: KuhnPokerState, outcome: int) -> str:
        """Return the card that is dealt."""
        return self.ranks[outcome]

    def _shown(self, position: KuhnPokerState) -> tuple[int | None, ...]:
        """Cards open to all, by seat: those of a showdown between two seats or more."""
        nobody = (None,) * position.seats
        if position.to_move != TERMINAL:
            return nobody
        paid = position.paid()
        most = max(paid)
        if paid.count(most) < 2:
            return nobody
        return tuple(
            position.cards[seat] if paid[seat] == most else None for seat in range(position.seats)
        )

    def observe(self, state: KuhnPokerState, seat: int | None) -> KuhnPokerObservation:
        """Return the seat's own card, the betting, and a showdown."""
        own = None
        if seat is not None and seat < len(state.cards):
            own = self.ranks[state.cards[seat]]
        return KuhnPokerObservation(
            seat=seat,
            to_move=state.to_move,
            legal=self.legal_text(state, seat),
            card=own,
            dealt=len(state.cards),
            bets=tuple(NAMES[bet] for bet in state.bets),
            paid=state.paid(),
            shown=tuple(None if card is None else self.ranks[card] for card in self._shown(state)),
            winner=state.winner() if state.to_move == TERMINAL else None,
        )

    def information_state(self, state: KuhnPokerState, seat: int) -> Hashable:
        """Own card, cards dealt, the betting, and a showdown."""
        own = state.cards[seat] if seat < len(state.cards) else -1
        winner = state.winner() if state.to_move == TERMINAL else -1
        return (seat, own, len(state.cards), state.bets, self._shown(state), winner)

    def visible(self, state: KuhnPokerState, action: Any, viewer: int | None) -> str | None:
        """Bets to all; a card to the seat that is dealt it."""
        if state.to_move != CHANCE:
            return self.format(state, action)
        receiver = len(state.cards)
        return self.format_chance(state, action) if viewer == receiver else None

    def sample_state(self, observation: KuhnPokerObservation, rng: random.Random) -> KuhnPokerState:
        """Return a state with the unknown cards dealt at random from those left."""
        bets = tuple([NAMES.index(bet) for bet in observation.bets])
        known: list[int] = [-1] * self.seats
        for seat, shown in enumerate(observation.shown):
            if shown is not None:
                known[seat] = self.ranks.index(shown)
        if observation.card is not None and observation.seat is not None:
            known[observation.seat] = self.ranks.index(observation.card)
        left = [card for card in range(self.seats + 1) if card not in known]
        rng.shuffle(left)
        cards = tuple([card if card >= 0 else left.pop() for card in known[: observation.dealt]])
        return KuhnPokerState(observation.to_move, self.seats, cards, bets)

    def scene(self, observation: KuhnPokerObservation) -> Scene:
        """Draw each seat's card, face down unless it may be seen; its bet; the pot; the buttons.

        Each seat's ante is in the pot at once, a bet when the hand is over.
        """
        elements: list[Element] = []
        over = observation.to_move == TERMINAL
        bets = [0 if over else chips - 1 for chips in observation.paid]
        for seat in range(self.seats):
            name = self.seat_name(seat)
            face = observation.shown[seat]
            if face is None and seat == observation.seat:
                face = observation.card
            if face is None:
                card = Card(None, None, "a card face down")
            else:
                won = over and seat == observation.winner
                card = Card(face, None, _RANK[face], face.replace("T", "10"), _SUIT[face], "", won)
            cards = (card,) if seat < observation.dealt else ()
            elements.append(Hand(f"Card of {name}", cards, seat))
            elements.append(Counter(f"Bet of {name}", bets[seat], None, seat, "chips"))
            own = observation.bets[seat :: self.seats]
            if own:
                elements.append(Text(f"{name}: {own[-1]}", seat))
        pot = sum(observation.paid) - sum(bets)
        elements.append(Counter("Pot", pot, None, observation.winner, "chips"))
        elements += [
            Button(action.capitalize(), action, place=BET_PLACES[action])
            for action in observation.legal
        ]
        if observation.winner is not None:
            status = (
                f"{self.seat_name(observation.winner)} takes the pot of {sum(observation.paid)}"
            )
        elif observation.to_move == CHANCE:
            status = "The cards are dealt"
        else:
            status = f"{self.seat_name(observation.to_move)} to act"
        return Scene(tuple(elements), status, observation.seat_to_move)

    def describe(self, state: KuhnPokerState) -> str:
        """Return one line with all cards, also hidden ones, and the betting."""
        cards = " ".join(self.ranks[card] for card in state.cards) or "none"
        bets = " ".join(NAMES[bet] for bet in state.bets) or "none"
        return f"cards: {cards}, bets: {bets}"
