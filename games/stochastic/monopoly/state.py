"""The position of Monopoly as searches see it: actions, chance, estimates and playouts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, final

from mypy_extensions import mypyc_attr

from plyhouse.games.base import CHANCE, TERMINAL
from plyhouse.games.stochastic.monopoly.cards import DECK
from plyhouse.games.stochastic.monopoly.events import (
    act,
    draw,
    rolled,
    settle,
    utility_rolled,
)
from plyhouse.games.stochastic.monopoly.legal import legal_actions
from plyhouse.games.stochastic.monopoly.policy import chosen
from plyhouse.games.stochastic.monopoly.position import (
    CHANCE_CARD,
    DICE,
    UTILITY_DICE,
    Position,
)
from plyhouse.games.stochastic.monopoly.valuation import estimate

if TYPE_CHECKING:
    import random

__all__ = ["ROLLS", "MonopolyState"]

ROLLS: Final[tuple[tuple[Any, float], ...]] = tuple(
    [
        (10 * larger + smaller, 1.0 / 36.0 if larger == smaller else 1.0 / 18.0)
        for larger in range(1, 7)
        for smaller in range(1, larger + 1)
    ]
)
"""The 21 rolls of two dice: ten times the larger one plus the smaller one."""

PLAYOUT_ROUNDS: Final = 12
"""Rounds after which a playout is judged by the estimate."""


@final
@mypyc_attr(free_list_len=1)
class MonopolyState(Position):
    """A position of Monopoly."""

    __slots__ = ()

    def __reduce__(self) -> tuple[Any, ...]:
        return MonopolyState, self.parts()

    def parts(self) -> tuple[Any, ...]:
        """Return all fields, in the order of the constructor."""
        return (
            self.to_move, self.rules, self.phase, self.turn, self.round, self.cash, self.places,
            self.jailed, self.fallen, self.owners, self.levels, self.decks, self.card_owners,
            self.dice, self.drawn, self.doubles, self.again, self.ahead, self.changes, self.offers,
            self.debts, self.lots, self.bid, self.bidder, self.bidders, self.partner, self.asked,
            self.given, self.price,
        )  # fmt: skip

    def copied(self) -> MonopolyState:
        """Return a copy, which may be changed until others see it."""
        return MonopolyState(
            self.to_move, self.rules, self.phase, self.turn, self.round, self.cash, self.places,
            self.jailed, self.fallen, self.owners, self.levels, self.decks, self.card_owners,
            self.dice, self.drawn, self.doubles, self.again, self.ahead, self.changes, self.offers,
            self.debts, self.lots, self.bid, self.bidder, self.bidders, self.partner, self.asked,
            self.given, self.price,
        )  # fmt: skip

    def actions(self) -> tuple[Any, ...]:
        """Return the legal actions of the phase, a roll first."""
        return legal_actions(self)

    def after(self, action: Any) -> MonopolyState:
        """Return the state after an action, a roll or a card."""
        choice: int = action
        changed = self.copied()
        changed.apply(choice)
        return changed

    def apply(self, choice: int) -> None:
        """Change this state by an action, a roll or a card: only for a copy that nobody sees."""
        if self.to_move != CHANCE:
            act(self, choice)
            return
        phase: int = self.phase
        # Whether somebody has to act is seen by whether the event sets it.
        self.to_move = TERMINAL
        if phase == DICE:
            rolled(self, choice // 10, choice % 10)
        elif phase == UTILITY_DICE:
            utility_rolled(self, choice // 10, choice % 10)
        else:
            draw(self, choice)
        if self.to_move == TERMINAL:
            settle(self)

    def chance_outcomes(self) -> tuple[tuple[Any, float], ...]:
        """Return the rolls of two dice, or the cards of the deck that are left."""
        if self.to_move != CHANCE:
            return ()
        if self.phase == DICE or self.phase == UTILITY_DICE:
            return ROLLS
        deck: int = 0 if self.phase == CHANCE_CARD else 1
        left: int = self.decks[deck]
        cards: list[int] = [deck * DECK + card for card in range(DECK) if left >> card & 1]
        share: float = 1.0 / float(len(cards))
        return tuple([(card, share) for card in cards])

    def key(self) -> tuple[Any, ...]:
        """Return the position without the last dice and card, which have no effect."""
        return (
            self.to_move, self.phase, self.turn, self.round, self.cash, self.places, self.jailed,
            self.fallen, self.owners, self.levels, self.decks, self.card_owners, self.doubles,
            self.again, self.ahead, self.changes, self.offers, self.debts, self.lots, self.bid,
            self.bidder, self.bidders, self.partner, self.asked, self.given, self.price,
        )  # fmt: skip

    def heuristic(self) -> tuple[float, ...]:
        """Estimate the returns by what each seat would have at the end."""
        if self.to_move == TERMINAL:
            return self.returns()
        return estimate(self)

    def playout(self, rng: random.Random) -> tuple[float, ...]:
        """Return what is estimated after some rounds in which all play by the rules of `policy`."""
        state = self.copied()
        last: int = self.round + PLAYOUT_ROUNDS
        while state.to_move != TERMINAL and state.round < last:
            if state.to_move != CHANCE:
                state.apply(chosen(state))
            elif state.phase == DICE or state.phase == UTILITY_DICE:
                one: int = int(rng.random() * 6.0) + 1
                other: int = int(rng.random() * 6.0) + 1
                state.apply(10 * one + other if one > other else 10 * other + one)
            else:
                outcomes = state.chance_outcomes()
                state.apply(outcomes[int(rng.random() * len(outcomes))][0])
        return state.heuristic()
