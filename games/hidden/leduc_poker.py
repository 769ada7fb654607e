"""Leduc hold'em for two seats: two rounds of betting, one card in the hand, one on the table.

The pack has six cards: jack, queen and king in two suits.  Both seats put one chip into the pot
and are dealt one card each.  After a round of betting one card is turned up for both, and a
second round follows.  The first player begins both rounds.  In its turn a seat may ``check`` or
``raise``, and after a raise ``call``, ``raise`` or ``fold``.  A raise is 2 chips in the first
round and 4 in the second, and both seats together raise at most twice a round.  In the end a card
of the rank on the table wins, then the higher rank; equal ranks share the pot.  Returns are chips
won.

Cards, all of them chance outcomes, are written with rank and suit: ``Js Jh Qs Qh Ks Kh``.
There are 936 information states; the value for the first player is -0.0856 (F. Southey and others,
"Bayes' Bluff: Opponent Modelling in Poker", 2005, gives the rules).
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
    Scoring,
    Utility,
)
from plyhouse.games.native import NativeState
from plyhouse.games.playing_cards import BET_PLACES
from plyhouse.games.scene import Button, Card, Counter, Element, Hand, Scene, Text

if TYPE_CHECKING:
    import random

__all__ = [
    "CALL",
    "CARDS",
    "FOLD",
    "RAISE",
    "LeducPoker",
    "LeducPokerObservation",
    "LeducPokerState",
]

FOLD: Final = 0
CALL: Final = 1
RAISE: Final = 2

CARDS: Final[tuple[str, ...]] = ("Js", "Jh", "Qs", "Qh", "Ks", "Kh")
"""Names of the cards; in states a card is its index, and half of that its rank."""

RAISE_CAP: Final = 2
"""Raises in one round, by both seats together."""

STAKES: Final[tuple[int, ...]] = (2, 4)
"""Chips that a raise costs in the first and in the second round."""

_OPEN: Final[tuple[int, ...]] = (CALL, RAISE)
_RAISED: Final[tuple[int, ...]] = (FOLD, CALL, RAISE)
_CAPPED: Final[tuple[int, ...]] = (FOLD, CALL)
_PACK: Final = 6


@final
@mypyc_attr(free_list_len=1)
class LeducPokerState(NativeState):
    """The cards, -1 where none lies, the actions of both rounds, and chips paid."""

    __slots__ = ("board", "first", "folded", "one", "paid0", "paid1", "raises", "second", "two")

    first: int
    second: int
    board: int
    one: tuple[int, ...]
    two: tuple[int, ...]
    paid0: int
    paid1: int
    raises: int
    folded: int

    def __init__(
        self,
        to_move: int = CHANCE,
        first: int = -1,
        second: int = -1,
        board: int = -1,
        one: tuple[int, ...] = (),
        two: tuple[int, ...] = (),
        paid0: int = 1,
        paid1: int = 1,
        raises: int = 0,
        folded: int = -1,
    ) -> None:
        self.to_move = to_move
        self.first = first
        self.second = second
        self.board = board
        self.one = one
        self.two = two
        self.paid0 = paid0
        self.paid1 = paid1
        # Raises in the running round.
        self.raises = raises
        self.folded = folded

    def __reduce__(self) -> tuple[Any, ...]:
        return LeducPokerState, (
            self.to_move,
            self.first,
            self.second,
            self.board,
            self.one,
            self.two,
            self.paid0,
            self.paid1,
            self.raises,
            self.folded,
        )

    def actions(self) -> tuple[Any, ...]:
        """Fold (after a raise), call or check, raise (below the cap)."""
        if self.to_move < 0:
            return ()
        if self.raises == 0:
            return _OPEN
        if self.raises < RAISE_CAP:
            return _RAISED
        return _CAPPED

    def after(self, action: Any) -> LeducPokerState:
        """Return the state after a card is dealt or a seat acts."""
        choice: int = action
        first: int = self.first
        second: int = self.second
        board: int = self.board
        if self.to_move == CHANCE:
            if first < 0:
                return LeducPokerState(CHANCE, choice)
            if second < 0:
                return LeducPokerState(0, first, choice)
            return LeducPokerState(
                0, first, second, choice, self.one, (), self.paid0, self.paid1, 0
            )
        mover: int = self.to_move
        one: tuple[int, ...] = self.one
        two: tuple[int, ...] = self.two
        stake: int = 2
        earlier: int = len(one)
        if board < 0:
            one = (*one, choice)
        else:
            earlier = len(two)
            two = (*two, choice)
            stake = 4
        paid0: int = self.paid0
        paid1: int = self.paid1
        raises: int = self.raises
        following: int = 1 - mover
        folded: int = -1
        if choice == FOLD:
            following = TERMINAL
            folded = mover
        elif choice == CALL:
            if mover == 0:
                paid0 = paid1
            else:
                paid1 = paid0
            # Only a check that opens the round leaves it open.
            if earlier > 0:
                following = CHANCE if board < 0 else TERMINAL
        else:
            if mover == 0:
                paid0 = paid1 + stake
            else:
                paid1 = paid0 + stake
            raises += 1
        return LeducPokerState(
            following, first, second, board, one, two, paid0, paid1, raises, folded
        )

    def chance_outcomes(self) -> tuple[tuple[Any, float], ...]:
        """Return the cards still in the pack, equally likely."""
        if self.to_move != CHANCE:
            return ()
        first: int = self.first
        second: int = self.second
        left: int = _PACK
        if first >= 0:
            left -= 1
        if second >= 0:
            left -= 1
        share: float = 1.0 / float(left)
        return tuple([(card, share) for card in range(_PACK) if card not in (first, second)])

    def winner(self) -> int:
        """At the end, the seat that takes the pot; -1 if it is shared."""
        if self.folded >= 0:
            return 1 - self.folded
        return better(self.first, self.second, self.board)

    def returns(self) -> tuple[float, ...]:
        """Chips won."""
        return _result(self.winner(), self.paid0, self.paid1)

    def playout(self, rng: random.Random) -> tuple[float, ...]:
        """Returns after uniformly random play to the end."""
        mover: int = self.to_move
        first: int = self.first
        second: int = self.second
        board: int = self.board
        paid0: int = self.paid0
        paid1: int = self.paid1
        raises: int = self.raises
        folded: int = self.folded
        earlier: int = len(self.one) if board < 0 else len(self.two)
        while mover != TERMINAL:
            if mover == CHANCE:
                card: int = int(rng.random() * _PACK)
                if card in (first, second):
                    continue
                if first < 0:
                    first = card
                elif second < 0:
                    second = card
                    mover = 0
                else:
                    board = card
                    raises = 0
                    earlier = 0
                    mover = 0
                continue
            choice: int = CALL
            if raises == 0:
                choice = CALL + int(rng.random() * 2)
            elif raises < RAISE_CAP:
                choice = int(rng.random() * 3)
            else:
                choice = int(rng.random() * 2)
            if choice == FOLD:
                folded = mover
                mover = TERMINAL
            elif choice == RAISE:
                stake: int = 2 if board < 0 else 4
                if mover == 0:
                    paid0 = paid1 + stake
                else:
                    paid1 = paid0 + stake
                raises += 1
                mover = 1 - mover
            else:
                if mover == 0:
                    paid0 = paid1
                else:
                    paid1 = paid0
                closing: int = CHANCE if board < 0 else TERMINAL
                mover = 1 - mover if earlier == 0 else closing
            earlier += 1
        winner: int = 1 - folded if folded >= 0 else better(first, second, board)
        return _result(winner, paid0, paid1)


def better(first: int, second: int, board: int) -> int:
    """Return the seat with the better card in a showdown; -1 for equal ranks."""
    one: int = first // 2
    two: int = second // 2
    table: int = board // 2
    if one == two:
        return -1
    if one == table:
        return 0
    if two == table:
        return 1
    return 0 if one > two else 1


def _result(winner: int, paid0: int, paid1: int) -> tuple[float, ...]:
    """Chips won by both seats."""
    if winner == 0:
        return (float(paid1), -float(paid1))
    if winner == 1:
        return (-float(paid0), float(paid0))
    return (0.0, 0.0)


@mypyc_attr(native_class=False)
@dataclasses.dataclass(frozen=True)
class LeducPokerObservation(Observation):
    """One seat's view: its card, the table, the betting, and shown cards."""

    card: str | None
    """The observer's own card, rank and suit as in "Js"; None for spectators and before it
    is dealt."""
    dealt: int
    """How many cards have been dealt to the seats."""
    board: str | None
    """The card on the table; None in the first round."""
    first_round: tuple[str, ...]
    """Actions of the first round, in order; seat 0 begins."""
    second_round: tuple[str, ...]
    """Actions of the second round, in order; seat 0 begins."""
    paid: tuple[int, int]
    """By seat the chips it has put into the pot."""
    shown: tuple[str | None, str | None]
    """Cards all may see, by seat: both after a showdown, otherwise None."""
    winner: int | None
    """The seat that took the pot; None while it is open or shared."""


def _words(choices: tuple[int, ...]) -> tuple[str, ...]:
    """Return the actions of one round as text: without a raise before it, a call is a check."""
    words: list[str] = []
    raised = False
    for choice in choices:
        words.append(_word(choice, raised))
        raised = raised or choice == RAISE
    return tuple(words)


def _word(choice: int, raised: bool) -> str:
    """One action as text."""
    if choice == CALL:
        return "call" if raised else "check"
    return "fold" if choice == FOLD else "raise"


def _choices(words: tuple[str, ...]) -> tuple[int, ...]:
    """Return the inverse of `_words`."""
    return tuple([FOLD if word == "fold" else RAISE if word == "raise" else CALL for word in words])


@mypyc_attr(allow_interpreted_subclasses=True)
class LeducPoker(Game[LeducPokerState, int, LeducPokerObservation]):
    """Leduc hold'em.

    >>> poker = LeducPoker()
    >>> state = poker.initial_state()
    >>> for card in ("Js", "Kh"):
    ...     state = state.after(poker.parse_chance(state, card))
    >>> poker.describe(state), poker.observe(state, 0).card
    ('cards: Js Kh, table: -, bets: - / -', 'Js')
    """

    info: ClassVar[GameInfo] = GameInfo(
        name="leduc_poker",
        title="Leduc poker",
        summary="Six cards, one in the hand and one on the table, two rounds of betting.",
        min_seats=2,
        max_seats=2,
        chance=ChanceKind.STOCHASTIC,
        information=Information.IMPERFECT,
        utility=Utility.ZERO_SUM,
        min_return=-13.0,
        max_return=13.0,
        max_plies=11,
        scoring=Scoring.RETURNS,
    )
    observation_type: ClassVar[type[Observation]] = LeducPokerObservation
    action_pattern: ClassVar[str] = "check|call|raise|fold"
    action_notation: str = "check, call, raise or fold"

    def initial_state(self) -> LeducPokerState:
        """Nothing dealt."""
        return LeducPokerState()

    def format(self, state: LeducPokerState, action: int) -> str:
        """``check``, ``call``, ``raise`` or ``fold``."""
        return _word(action, state.raises > 0)

    def format_chance(self, state: LeducPokerState, outcome: int) -> str:
        """Return the card that is dealt."""
        return CARDS[outcome]

    def observe(self, state: LeducPokerState, seat: int | None) -> LeducPokerObservation:
        """Return the seat's own card, the table, the betting, and a showdown."""
        cards = (state.first, state.second)
        own = None
        if seat is not None and cards[seat] >= 0:
            own = CARDS[cards[seat]]
        over = state.to_move == TERMINAL
        showdown = over and state.folded < 0
        winner = state.winner() if over else -1
        return LeducPokerObservation(
            seat=seat,
            to_move=state.to_move,
            legal=self.legal_text(state, seat),
            card=own,
            dealt=int(cards[0] >= 0) + int(cards[1] >= 0),
            board=CARDS[state.board] if state.board >= 0 else None,
            first_round=_words(state.one),
            second_round=_words(state.two),
            paid=(state.paid0, state.paid1),
            shown=(CARDS[cards[0]], CARDS[cards[1]]) if showdown else (None, None),
            winner=winner if winner >= 0 else None,
        )

    def information_state(self, state: LeducPokerState, seat: int) -> Hashable:
        """Own card, cards dealt, the table, the betting, and a showdown."""
        cards = (state.first, state.second)
        showdown = state.to_move == TERMINAL and state.folded < 0
        return (
            seat,
            cards[seat],
            int(cards[0] >= 0) + int(cards[1] >= 0),
            state.board,
            state.one,
            state.two,
            cards if showdown else None,
        )

    def visible(self, state: LeducPokerState, action: Any, viewer: int | None) -> str | None:
        """Bets and the table to all; a card to the seat that is dealt it."""
        if state.to_move != CHANCE:
            return self.format(state, action)
        if state.second < 0:
            receiver = 0 if state.first < 0 else 1
            if viewer != receiver:
                return None
        return self.format_chance(state, action)

    def sample_state(
        self, observation: LeducPokerObservation, rng: random.Random
    ) -> LeducPokerState:
        """Return a state with the unknown cards dealt at random from those left."""
        known = [-1, -1]
        for seat, shown in enumerate(observation.shown):
            if shown is not None:
                known[seat] = CARDS.index(shown)
        if observation.card is not None and observation.seat is not None:
            known[observation.seat] = CARDS.index(observation.card)
        board = -1 if observation.board is None else CARDS.index(observation.board)
        left = [card for card in range(_PACK) if card != board and card not in known]
        rng.shuffle(left)
        for seat in range(observation.dealt):
            if known[seat] < 0:
                known[seat] = left.pop()
        one, two = _choices(observation.first_round), _choices(observation.second_round)
        running = one if board < 0 else two
        folded = -1
        if FOLD in running:
            # The rounds alternate from seat 0, so that the place of the fold tells the seat.
            folded = (len(running) - 1) % 2
        return LeducPokerState(
            observation.to_move,
            known[0],
            known[1],
            board,
            one,
            two,
            observation.paid[0],
            observation.paid[1],
            running.count(RAISE),
            folded,
        )

    def scene(self, observation: LeducPokerObservation) -> Scene:
        """Return the hands, face down unless they may be seen; bets, table, pot and buttons.

        Bets of a round lie before the seats until the round is over.
        """
        elements: list[Element] = []
        over = observation.to_move == TERMINAL
        rounds = (observation.first_round, observation.second_round)
        running = rounds[0] if observation.board is None else rounds[1]
        before = 1 if observation.board is None else 1 + 2 * rounds[0].count("raise")
        bets = [0 if over else chips - before for chips in observation.paid]
        for seat in range(2):
            name = self.seat_name(seat)
            face = observation.shown[seat]
            if face is None and seat == observation.seat:
                face = observation.card
            won = over and seat == observation.winner
            card = Card(None, None, "a card face down") if face is None else _card(face, won)
            cards = (card,) if seat < observation.dealt else ()
            elements.append(Hand(f"Card of {name}", cards, seat))
            elements.append(Counter(f"Bet of {name}", bets[seat], None, seat, "chips"))
            own = running[seat::2]
            if own:
                elements.append(Text(f"{name}: {own[-1]}", seat))
        board = observation.board
        table = () if board is None else (_card(board),)
        elements.append(Hand("Table", table))
        pot_now = sum(observation.paid) - sum(bets)
        elements.append(Counter("Pot", pot_now, None, observation.winner, "chips"))
        elements += [
            Button(action.capitalize(), action, place=BET_PLACES[action])
            for action in observation.legal
        ]
        if over:
            pot = f"the pot of {sum(observation.paid)}"
            if observation.winner is None:
                status = f"Equal ranks share {pot}"
            else:
                status = f"{self.seat_name(observation.winner)} takes {pot}"
        elif observation.to_move == CHANCE:
            status = "The cards are dealt"
        else:
            status = f"{self.seat_name(observation.to_move)} to act"
        return Scene(tuple(elements), status, observation.seat_to_move)

    def describe(self, state: LeducPokerState) -> str:
        """Return one line with all cards, also hidden ones, and the betting."""
        names = [
            CARDS[card] if card >= 0 else "-" for card in (state.first, state.second, state.board)
        ]
        rounds = " / ".join(" ".join(_words(part)) or "-" for part in (state.one, state.two))
        return f"cards: {names[0]} {names[1]}, table: {names[2]}, bets: {rounds}"


def _card(name: str, won: bool = False) -> Card:
    """Return an open card: ``Qh`` is the queen of hearts."""
    suit = {"h": "hearts", "s": "spades"}.get(name[-1], "")
    rank = {"J": "jack", "Q": "queen", "K": "king"}.get(name[0], name[0])
    return Card(name, None, f"{rank} of {suit}", name[0], suit, "", won)
