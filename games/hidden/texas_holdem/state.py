"""A position of Texas hold'em: the cards, the betting of the hand, and the hands before it.

A match is a number of hands.  Every hand begins with the same stacks and the next button, so hands
do not depend on each other.  Blinds and antes are paid before the first card.  Then cards are
dealt one at a time, each at a chance node.  The seats get two rounds of cards, beginning left of
the button; the flop, the turn and the river follow.  When a hand ends, its result is kept as
`last`, and the next hand begins at once.
"""

from __future__ import annotations

from random import Random
from typing import Any, Final, final

from mypy_extensions import i64, mypyc_attr

from plyhouse.games.base import CHANCE, TERMINAL
from plyhouse.games.hidden.texas_holdem.equity import called_down
from plyhouse.games.hidden.texas_holdem.pots import divided
from plyhouse.games.hidden.texas_holdem.ranking import hand_strength
from plyhouse.games.hidden.texas_holdem.stakes import Rules, rules_of
from plyhouse.games.native import NativeState
from plyhouse.games.playing_cards import PACK, hand_bits

__all__ = [
    "BET",
    "CALL",
    "CHECK",
    "FOLD",
    "FOLDED",
    "PASSIVE",
    "RAISED",
    "TexasHoldemState",
]

FOLD: Final = 0
PASSIVE: Final = 1
"""The action of a check or a call; greater actions bet or raise to one chip less."""

FOLDED: Final = 0
CHECK: Final = 1
CALL: Final = 2
BET: Final = 3
RAISED: Final = 4
"""Kinds of the actions in a history."""

_BITS: Final[tuple[int, ...]] = tuple([1 << card for card in range(PACK)])

CAP: Final = 4
"""Bets and raises of a round with fixed limit; the big blind is the first bet of its round."""

_STANDARD: Final = rules_of((200, 200), 1, 2, 0, False, 1, False)


@final
@mypyc_attr(free_list_len=1)
class TexasHoldemState(NativeState):
    """Cards, chips and betting of one hand, and the results of the hands before it.

    Sets of seats are bits.  ``cards`` are in the order of the deal.  ``history`` has the actions
    of the hand as numbers, which `action_parts` takes apart.
    """

    __slots__ = (
        "acted", "base", "cards", "folded", "full", "hand", "history", "last", "paid", "pending",
        "raises", "rules", "size", "street", "top", "won",
    )  # fmt: skip

    rules: Rules
    hand: int
    won: tuple[int, ...]
    last: tuple[Any, ...]
    cards: tuple[int, ...]
    history: tuple[int, ...]
    paid: tuple[int, ...]
    top: int
    base: int
    size: int
    raises: int
    folded: int
    pending: int
    acted: int
    street: int
    full: int

    def __init__(
        self,
        to_move: int = CHANCE,
        rules: Rules = _STANDARD,
        hand: int = 0,
        won: tuple[int, ...] = (0, 0),
        last: tuple[Any, ...] = (),
        cards: tuple[int, ...] = (),
        history: tuple[int, ...] = (),
        paid: tuple[int, ...] = (1, 2),
        top: int = 2,
        base: int = 0,
        size: int = 2,
        raises: int = 1,
        folded: int = 0,
        pending: int = 0,
        acted: int = 0,
        street: int = 0,
        full: int = 2,
    ) -> None:
        self.to_move = to_move
        self.rules = rules
        self.hand = hand
        self.won = won
        """Chips won by seat in the hands that are over."""
        self.last = last
        """The hand that ended last: number, board, cards shown by seat, chips won by seat."""
        self.cards = cards
        self.history = history
        self.paid = paid
        """Chips in the pots by seat."""
        self.top = top
        """Most chips that a seat has paid: what the others have to call."""
        self.base = base
        """Chips that every seat paid before this round; bets count from here."""
        self.size = size
        """The last full bet or raise: the least by which the next one must go up."""
        self.raises = raises
        """Bets and raises of this round."""
        self.folded = folded
        self.pending = pending
        """Seats that have to act in this round."""
        self.acted = acted
        """Seats that have acted since the last full bet or raise."""
        self.street = street
        self.full = full
        """Chips of the last full bet or raise; with fixed limit, `top` may be up to half a bet
        more after an all-in."""

    def __reduce__(self) -> tuple[Any, ...]:
        return TexasHoldemState, (
            self.to_move, self.rules, self.hand, self.won, self.last, self.cards, self.history,
            self.paid, self.top, self.base, self.size, self.raises, self.folded, self.pending,
            self.acted, self.street, self.full,
        )  # fmt: skip

    # What a seat may do

    def button(self) -> int:
        """Return the seat of the button: seat 0 in the first hand, then the next seat."""
        return self.hand % self.rules.seats

    def to_call(self) -> int:
        """Return the chips that the seat to move needs to call, at most its stack."""
        seat: int = self.to_move
        return min(self.top, self.rules.stacks[seat]) - self.paid[seat]

    def raise_bounds(self) -> tuple[int, int]:
        """Return the least and the greatest chips to bet or raise to; (0, -1) if neither is legal.

        Chips count from the beginning of the round, as in "raise to 6".
        """
        if self.refusal():
            return (0, -1)
        rules = self.rules
        whole: int = rules.stacks[self.to_move]
        least: int = min((self.full if rules.fixed else self.top) + self.size, whole)
        most: int = least if rules.fixed else whole
        return (least - self.base, most - self.base)

    def refusal(self) -> str:
        """Return the rule that forbids the seat to move to bet or raise; "" if it may."""
        rules = self.rules
        seat: int = self.to_move
        stack: int = rules.stacks[seat]
        if rules.fixed and self.raises >= CAP:
            return "a round has at most four bets and raises"
        if stack <= self.top:
            return "no chips are left beyond a call"
        if self.acted >> seat & 1:
            if rules.fixed:
                return "an all-in of less than half a bet does not reopen the betting"
            if self.top - self.paid[seat] < self.size:
                return "an all-in of less than a full raise does not reopen the betting"
        for other, chips in enumerate(rules.stacks):
            if other != seat and chips > self.top and not self.folded >> other & 1:
                return ""
        return "every other seat has folded or is all in"

    def actions(self) -> tuple[Any, ...]:
        """Return fold, check or call, then bets or raises from the smallest."""
        if self.to_move < 0:
            return ()
        found: list[int] = [FOLD, PASSIVE] if self.to_call() > 0 else [PASSIVE]
        least, most = self.raise_bounds()
        if least > most:
            return tuple(found)
        if not self.rules.few_sizes:
            amount: int = least
            while amount <= most:
                found.append(amount + 1)
                amount += 1
            return tuple(found)
        found += [amount + 1 for amount in self.common_sizes(least, most)]
        return tuple(found)

    def common_sizes(self, least: int, most: int) -> list[int]:
        """Return the legal ones of half the pot, the pot and all in, or the least bet."""
        pot: int = 0
        for chips in self.paid:
            pot += chips
        called: int = self.top - self.base
        pot += self.top - self.paid[self.to_move]
        found: list[int] = []
        for amount in (called + (pot + 1) // 2, called + pot, most):
            legal: int = max(least, min(amount, most))
            if legal not in found:
                found.append(legal)
        return found

    # What follows

    def after(self, action: Any) -> TexasHoldemState:
        """Return the state after a card is dealt or a seat acts."""
        choice: int = action
        if self.to_move == CHANCE:
            return self.dealt(choice)
        rules = self.rules
        seat: int = self.to_move
        bit: int = 1 << seat
        paid: tuple[int, ...] = self.paid
        top: int = self.top
        size: int = self.size
        raises: int = self.raises
        full: int = self.full
        folded: int = self.folded
        pending: int = self.pending & ~bit
        acted: int = self.acted | bit
        kind: int = FOLDED
        amount: int = 0
        if choice == FOLD:
            folded |= bit
        elif choice == PASSIVE:
            amount = self.to_call()
            kind = CALL if amount > 0 else CHECK
            if amount > 0:
                paid = _with(paid, seat, paid[seat] + amount)
        else:
            amount = choice - 1
            kind = RAISED if top > self.base else BET
            level: int = self.base + amount
            paid = _with(paid, seat, level)
            pending = _able(rules, paid, folded) & ~bit
            whole: bool = level - top >= size
            if rules.fixed:
                whole = 2 * (level - full) >= size
            elif whole:
                size = level - top
            if whole:
                acted = bit
                full = level
                raises += 1
            top = level
        code: int = ((amount * 8 + kind) * 8 + seat) * 4 + self.street
        changed = TexasHoldemState(
            TERMINAL, rules, self.hand, self.won, self.last, self.cards, (*self.history, code),
            paid, top, self.base, size, raises, folded, pending, acted, self.street, full,
        )  # fmt: skip
        changed.pass_on(seat)
        return changed.ended() if changed.to_move == TERMINAL else changed

    def dealt(self, card: int) -> TexasHoldemState:
        """Return the state after a card is dealt."""
        rules = self.rules
        cards: tuple[int, ...] = (*self.cards, card)
        count: int = len(cards)
        board: int = count - 2 * rules.seats
        if board < 0 or board == 1 or board == 2:
            return TexasHoldemState(
                CHANCE, rules, self.hand, self.won, self.last, cards, self.history, self.paid,
                self.top, self.base, self.size, self.raises, self.folded, self.pending, self.acted,
                self.street, self.full,
            )  # fmt: skip
        changed = TexasHoldemState(
            TERMINAL, rules, self.hand, self.won, self.last, cards, self.history, self.paid,
            self.top, self.base, self.size, self.raises, self.folded,
            _able(rules, self.paid, self.folded), 0, self.street, self.full,
        )  # fmt: skip
        before: int = self.button()
        if board > 0:
            changed.street = board - 2
            changed.base = changed.full = self.top
            changed.raises = 0
            changed.size = rules.big_blind
            if rules.fixed and board > 3:
                changed.size = 2 * rules.big_blind
        elif rules.seats > 2:
            # Left of the big blind; in a duel the button has the small blind and begins.
            before = (before + 2) % rules.seats
        else:
            before = 1 - before
        changed.pass_on(before)
        return changed.ended() if changed.to_move == TERMINAL else changed

    def pass_on(self, before: int) -> None:
        """Set who acts after the seat ``before``: a seat, chance, or nobody in this hand."""
        rules = self.rules
        seats: int = rules.seats
        alive: int = 0
        able: int = _able(rules, self.paid, self.folded)
        for seat in range(seats):
            if not self.folded >> seat & 1:
                alive += 1
        self.to_move = TERMINAL
        if alive == 1:
            return
        for step in range(1, seats + 1):
            following: int = (before + step) % seats
            if self.pending >> following & 1:
                # A seat that has called is not asked if nobody else has chips to bet.
                if able == 1 << following and self.paid[following] >= self.top:
                    break
                self.to_move = following
                return
        if len(self.cards) < 2 * seats + 5:
            self.to_move = CHANCE

    def ended(self) -> TexasHoldemState:
        """Return the start of the next hand, or the end of the match; this hand is over."""
        net, shown = self.result()
        rules = self.rules
        won = tuple([before + chips for before, chips in zip(self.won, net, strict=True)])
        last = (self.hand, self.board(), shown, net)
        if self.hand + 1 < rules.hands:
            return start_of_hand(rules, self.hand + 1, won, last)
        return TexasHoldemState(
            TERMINAL, rules, self.hand, won, last, self.cards, self.history, self.paid, self.top,
            self.base, self.size, self.raises, self.folded, 0, self.acted, self.street, self.full,
        )  # fmt: skip

    def result(self) -> tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]:
        """Return chips won by seat, and the cards that each seat shows, when the hand is over."""
        rules = self.rules
        seats: int = rules.seats
        shown: list[tuple[int, ...]] = []
        strengths: list[int] = []
        alive: int = 0
        for seat in range(seats):
            if not self.folded >> seat & 1:
                alive += 1
        board: i64 = hand_bits(self.board()) if alive > 1 else 0
        for seat in range(seats):
            if alive > 1 and not self.folded >> seat & 1:
                hole = self.hole(seat)
                shown.append(hole)
                strengths.append(hand_strength(board | hand_bits(hole), 2))
            else:
                shown.append(())
                strengths.append(0)
        taken = divided(self.paid, self.folded, tuple(strengths), self.button())
        net = tuple([chips - spent for chips, spent in zip(taken, self.paid, strict=True)])
        return net, tuple(shown)

    # Cards

    def hole(self, seat: int) -> tuple[int, ...]:
        """Return the cards that have been dealt to a seat."""
        seats: int = self.rules.seats
        place: int = (seat - self.button() - 1 + seats) % seats
        count: int = len(self.cards)
        if count > place + seats:
            return (self.cards[place], self.cards[place + seats])
        return (self.cards[place],) if count > place else ()

    def board(self) -> tuple[int, ...]:
        """Return the cards on the table."""
        return self.cards[2 * self.rules.seats :]

    def chance_outcomes(self) -> tuple[tuple[Any, float], ...]:
        """Return the cards still in the pack, equally likely."""
        if self.to_move != CHANCE:
            return ()
        dealt: i64 = 0
        for card in self.cards:
            bit: i64 = _BITS[card]
            dealt |= bit
        share: float = 1.0 / float(PACK - len(self.cards))
        left: list[tuple[int, float]] = []
        for card in range(PACK):
            mask: i64 = _BITS[card]
            if (dealt & mask) == 0:
                left.append((card, share))
        return tuple(left)

    def redealt(self, cards: tuple[int, ...]) -> TexasHoldemState:
        """Return the same position with other cards, in the order of the deal."""
        return TexasHoldemState(
            self.to_move, self.rules, self.hand, self.won, self.last, cards, self.history,
            self.paid, self.top, self.base, self.size, self.raises, self.folded, self.pending,
            self.acted, self.street, self.full,
        )  # fmt: skip

    # Results

    def returns(self) -> tuple[float, ...]:
        """Return big blinds won per hundred hands."""
        unit: float = self.rules.unit
        return tuple([float(chips) * unit for chips in self.won])

    def paid_when_called(self) -> tuple[int, ...]:
        """Return the chips of each seat in the pots if all call."""
        paid: list[int] = []
        for seat in range(self.rules.seats):
            chips: int = self.paid[seat]
            if not self.folded >> seat & 1:
                chips = max(chips, min(self.top, self.rules.stacks[seat]))
            paid.append(chips)
        return tuple(paid)

    def playout(self, rng: Random) -> tuple[float, ...]:
        """Return the returns if all check or call to the end of this hand, and play no other.

        Later hands do not depend on this one, and nobody has an advantage in them on average.
        """
        if self.to_move == TERMINAL:
            return self.returns()
        rules = self.rules
        wanted: int = 2 * rules.seats + 5
        dealt: i64 = 0
        cards: list[int] = []
        for card in self.cards:
            bit: i64 = _BITS[card]
            dealt |= bit
            cards.append(card)
        while len(cards) < wanted:
            card = int(rng.random() * PACK)
            mask: i64 = _BITS[card]
            if (dealt & mask) == 0:
                dealt |= mask
                cards.append(card)
        called = self.redealt(tuple(cards))
        called.paid = self.paid_when_called()
        net, _ = called.result()
        unit: float = rules.unit
        return tuple([float(self.won[seat] + net[seat]) * unit for seat in range(rules.seats)])

    def call_down(self) -> tuple[float, ...]:
        """Return the expected returns if all check or call to the end of this hand.

        They are exact from the flop on, if two seats are left; otherwise the mean of random boards,
        always the same for the same cards.  Later hands count as even.  If no seat has chips to
        bet, this is all-in equity.
        """
        if self.to_move == TERMINAL:
            return self.returns()
        rules = self.rules
        chips: list[float] = [float(each) for each in self.won]
        if len(self.cards) >= 2 * rules.seats:
            holes = tuple([self.hole(seat) for seat in range(rules.seats)])
            expected = called_down(
                holes, self.board(), self.paid_when_called(), self.folded, self.button()
            )
            for seat in range(rules.seats):
                chips[seat] += expected[seat]
        return tuple([each * rules.unit for each in chips])


def start_of_hand(
    rules: Rules, hand: int, won: tuple[int, ...], last: tuple[Any, ...]
) -> TexasHoldemState:
    """Return the state before the first card of a hand; antes and blinds are paid."""
    seats: int = rules.seats
    button: int = hand % seats
    small: int = button if seats == 2 else (button + 1) % seats
    paid: tuple[int, ...] = (rules.ante,) * seats
    paid = _with(paid, small, rules.ante + rules.small_blind)
    paid = _with(paid, (small + 1) % seats, rules.ante + rules.big_blind)
    top: int = rules.ante + rules.big_blind
    return TexasHoldemState(
        CHANCE, rules, hand, won, last, (), (), paid, top, rules.ante, rules.big_blind, 1, 0, 0, 0,
        0, top,
    )  # fmt: skip


def action_parts(code: int) -> tuple[int, int, int, int]:
    """Return street, seat, kind and chips of an action in a history."""
    return code & 3, code >> 2 & 7, code >> 5 & 7, code >> 8


def _with(chips: tuple[int, ...], seat: int, value: int) -> tuple[int, ...]:
    """Return the chips with another value for one seat."""
    changed: list[int] = list(chips)
    changed[seat] = value
    return tuple(changed)


def _able(rules: Rules, paid: tuple[int, ...], folded: int) -> int:
    """Return the seats that have chips left and have not folded."""
    found: int = 0
    stacks: tuple[int, ...] = rules.stacks
    for seat in range(rules.seats):
        if paid[seat] < stacks[seat] and not folded >> seat & 1:
            found += 1 << seat
    return found
