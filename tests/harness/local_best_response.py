"""Local best response in heads-up hold'em: a lower bound on what a policy can lose.

V. Lisý and M. Bowling, "Equilibrium approximation quality of current no-limit poker bots", AAAI
2017 workshop on computer poker.  The responder knows the policy, and so the probability of every
pair of cards that the opponent may have.  In its turn it takes the action that is best if both
check and call from then on, except that the opponent may fold to its bet at once.  Without a limit
it bets half the pot, the pot or all its chips.  A best response wins at least as much, so the
result is a lower bound on exploitability.

The opponent's cards are never drawn.  Its actions follow their probability over all pairs, and a
showdown counts by its mean.  From each result the luck of the table and of the opponent's choices
is subtracted, by what the responder would win if both checked and called from then on (N. Burch and
others, "AIVAT: a new variance reduction technique for agent evaluation in imperfect information
games", AAAI 2018).

A hand is worth money only: results are in thousandths of a big blind a hand.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from plyhouse.games.base import CHANCE, TERMINAL
from plyhouse.games.hidden.texas_holdem.expected_strength import PAIRS, showdown_order
from plyhouse.games.hidden.texas_holdem.rules import TexasHoldem
from plyhouse.games.hidden.texas_holdem.state import FOLD, PASSIVE
from plyhouse.games.playing_cards import PACK
from plyhouse.learning.limit_holdem import (
    LimitPolicy,
    letter,
    limit_game,
    preflop_class,
)
from plyhouse.learning.limit_holdem_training import Strengths, canonical_suits

Floats = NDArray[np.float64]
VectorPolicy = Callable[[Any, Strengths | None], Floats]
"""Probabilities of fold, check or call, and bet or raise (three columns) with every pair of cards.

It is a function of a state in which the opponent is to move, and of E[HS] and E[HS^2] on its board
(None before the flop)."""

RaiseOf = Callable[[Any], int]
"""Returns the action by which a policy bets or raises in a state."""

RUNOUTS: Final = 60
"""Random boards for the chance to win before the turn; on the turn and the river it is exact."""
HANDS: Final = 6
"""Own hands of the responder on each table, which share the strengths of all pairs."""
FIRST: Final = np.array([first for first, _ in PAIRS])
SECOND: Final = np.array([second for _, second in PAIRS])


def only_raise(state: Any) -> int:
    """Return the bet or raise of a game with fixed limit, where there is one."""
    return int(max(state.actions()))


class Responder:
    """Plays hands against a policy.

    ``game`` has one hand and two equal stacks.  With free sizes, ``raise_of`` says which one the
    policy's third column means.
    ``strengths`` returns E[HS] and E[HS^2] of all pairs on a board, as
    `plyhouse.learning.limit_holdem_training.FlopTable.strengths` does.  ``runouts`` is the
    number of random boards behind each chance to win before the turn.  Fewer are faster and make
    results noisier, but do not shift their mean.
    """

    def __init__(
        self,
        policy: VectorPolicy,
        strengths: Callable[[tuple[int, ...]], Strengths],
        seed: int = 0,
        runouts: int = RUNOUTS,
        game: TexasHoldem | None = None,
        raise_of: RaiseOf = only_raise,
    ) -> None:
        self.policy = policy
        self.raise_of = raise_of
        self.strengths = strengths
        self.rng = random.Random(seed)
        self.runouts = runouts
        self.game = game or limit_game()
        self.known: dict[tuple[int, ...], Strengths] = {}
        """Strengths on the table that is played."""
        self.known_answers: dict[tuple[tuple[int, ...], tuple[int, ...]], Floats] = {}
        """The opponent's probabilities on the table, by board and actions; own hands share them."""
        self.orders: dict[tuple[int, ...], NDArray[np.int64]] = {}
        """Showdowns on the ends of the table's turn and river, which all its hands ask for."""

    def tables(self, count: int) -> list[float]:
        """Return the mean results of some hands on each of ``count`` random tables."""
        return [self.table() for _ in range(count)]

    def table(self) -> float:
        """Return the mean result of `HANDS` own hands, each in both seats, on one table."""
        cards = self.rng.sample(range(PACK), 5)
        # Change suits so that a flop is one of 1,755, whose strengths are kept.
        suits = canonical_suits(tuple(cards[:3]))
        cards = [4 * (card // 4) + suits[card % 4] for card in cards]
        board = (*sorted(cards[:3]), *cards[3:])
        self.known.clear()
        self.known_answers.clear()
        self.orders.clear()
        left = [card for card in range(PACK) if card not in board]
        results = []
        for _ in range(HANDS):
            own = self.rng.sample(left, 2)
            results += [self.hand(seat, own, board) for seat in range(2)]
        return sum(results) / len(results)

    def hand(self, seat: int, own: list[int], board: tuple[int, ...]) -> float:
        """Return the responder's result of a single hand from one seat."""
        weights = without(np.ones(len(PAIRS)), own)
        # Cards of the table are drawn first, so the opponent has none of them from the start.
        possible = without(np.ones(len(PAIRS)), board)
        state: Any = self.game.initial_state()
        luck = 0.0
        while state.to_move != TERMINAL:
            if state.to_move == CHANCE:
                before = state
                while state.to_move == CHANCE:
                    state = self.dealt(state, seat, own, board)
                left = without(weights, state.board())
                if before.street > 0 or len(before.cards) == 4:
                    luck += self.value(state, seat, own, left)
                    luck -= self.value(before, seat, own, weights)
                weights = left
            elif state.to_move == seat:
                state = state.after(self.choice(state, tuple(own), weights))
            else:
                state, weights, gained = self.answered(state, seat, own, weights, possible)
                luck += gained
        big_blinds = 1000.0 / float(state.rules.big_blind)
        if state.folded:
            return (float(state.won[seat]) - luck) * big_blinds
        return (self.value(state, seat, own, weights) - luck) * big_blinds

    def value(self, state: Any, seat: int, own: list[int], weights: Floats) -> float:
        """Return the chips that the responder wins if both check and call from here."""
        if state.folded:
            return float(state.won[seat])
        won = self.chance(tuple(own), state.board(), weights)
        return (2.0 * won - 1.0) * float(max(state.paid))

    def dealt(self, state: Any, seat: int, own: list[int], board: tuple[int, ...]) -> Any:
        """Return the state after the next card; the opponent's cards are any two others."""
        place = len(state.cards)
        if place >= 4:
            return state.dealt(board[place - 4])
        dealt_to = (state.button() + 1 + place) % 2
        if dealt_to == seat:
            return state.dealt(own[place // 2])
        others = [card for card in range(PACK) if card not in own and card not in board]
        return state.dealt(others[place // 2])

    def answers(self, state: Any) -> Floats:
        """Return the opponent's probabilities, with every pair, in a state where it moves."""
        board = state.board()
        if board and board not in self.known:
            self.known[board] = self.strengths(board)
        asked = (board, state.history)
        if asked not in self.known_answers:
            self.known_answers[asked] = self.policy(state, self.known.get(board))
        return self.known_answers[asked]

    def answered(
        self, state: Any, seat: int, own: list[int], weights: Floats, possible: Floats
    ) -> tuple[Any, Floats, float]:
        """Draw the opponent's action over all possible pairs.

        Returns the state after it, the new weights, and the luck of the draw in chips.
        """
        shares = self.answers(state)
        totals = (weights * possible) @ shares
        kinds = {action: action for action in state.actions() if action <= PASSIVE}
        if max(state.actions()) > PASSIVE:
            kinds[PASSIVE + 1] = self.raise_of(state)
        whole = float(sum([totals[kind] for kind in kinds]))
        drawn = self.rng.random() * whole
        chosen = max(kinds, key=lambda kind: float(totals[kind]))
        for kind in kinds:
            drawn -= float(totals[kind])
            if drawn < 0.0:
                chosen = kind
                break
        values = {
            kind: self.value(state.after(action), seat, own, weights * shares[:, kind])
            for kind, action in kinds.items()
            if totals[kind] > 0.0
        }
        mean = sum([float(totals[kind]) / whole * value for kind, value in values.items()])
        weights = weights * shares[:, chosen]
        return state.after(kinds[chosen]), weights / weights.sum(), values[chosen] - mean

    def choice(self, state: Any, own: tuple[int, ...], weights: Floats) -> int:
        """Return the action with the best value if both check and call afterwards."""
        board = state.board()
        pot = float(sum(state.paid))
        asked = float(state.to_call())
        won = self.chance(own, board, weights)
        values = {PASSIVE: won * pot - (1.0 - won) * asked}
        if asked > 0.0:
            values[FOLD] = 0.0
        for action in bets(state):
            after = state.after(action)
            size = float(after.paid[state.to_move] - state.paid[state.to_move]) - asked
            folds = self.answers(after)[:, 0]
            left = weights * (1.0 - folds)
            if left.sum() <= 0.0:
                values[action] = pot
                continue
            gone = float(weights @ folds) / float(weights.sum())
            won = self.chance(own, board, left)
            called = won * (pot + size) - (1.0 - won) * (asked + size)
            values[action] = gone * pot + (1.0 - gone) * called
        return max(values, key=lambda action: values[action])

    def chance(self, own: tuple[int, ...], board: tuple[int, ...], weights: Floats) -> float:
        """Return the share of the pot in a showdown with pairs of these weights."""
        missing = 5 - len(board)
        left = [card for card in range(PACK) if card not in own and card not in board]
        if missing == 0:
            ends: list[tuple[int, ...]] = [()]
        elif missing == 1:
            ends = [(card,) for card in left]
        else:
            ends = [tuple(self.rng.sample(left, missing)) for _ in range(self.runouts)]
        mine = int(np.flatnonzero((min(own) == FIRST) & (max(own) == SECOND))[0])
        won = total = 0.0
        for end in ends:
            order = self.order((*board, *end)) if missing < 2 else order_of((*board, *end))
            possible = np.where(order >= 0, weights, 0.0)
            strength = order[mine]
            won += float(possible[order < strength].sum())
            won += 0.5 * float(possible[order == strength].sum())
            total += float(possible.sum())
        return won / total if total > 0.0 else 0.5

    def order(self, board: tuple[int, ...]) -> NDArray[np.int64]:
        """Return the order of all pairs on a full board, kept until the next table."""
        if board not in self.orders:
            self.orders[board] = order_of(board)
        return self.orders[board]


def bets(state: Any) -> list[int]:
    """Return the bets and raises that the responder weighs: a few sizes where all are legal."""
    least, most = state.raise_bounds()
    if least > most:
        return []
    return [amount + 1 for amount in state.common_sizes(least, most)]


def order_of(board: tuple[int, ...]) -> NDArray[np.int64]:
    """Return the order of all pairs on a full board as an array."""
    return np.array(showdown_order(board), dtype=np.int64)


def without(weights: Floats, cards: Sequence[int]) -> Floats:
    """Return weights that are 0 for pairs with one of these cards."""
    gone = np.isin(FIRST, cards) | np.isin(SECOND, cards)
    return np.where(gone, 0.0, weights)


def always(kind: int) -> VectorPolicy:
    """Return the policy that always folds (0), checks or calls (1), or bets or raises (2).

    It checks where there is no bet to fold to, and calls where the limit forbids a raise.
    """

    def policy(state: Any, strengths: Strengths | None) -> Floats:
        legal = {min(action, PASSIVE + 1) for action in state.actions()}
        found = np.zeros((len(PAIRS), 3))
        found[:, kind if kind in legal else PASSIVE] = 1.0
        return found

    return policy


def of_policy(policy: LimitPolicy) -> VectorPolicy:
    """Return a policy of buckets as one of all pairs of cards."""
    game = limit_game()
    classes = np.array([preflop_class(first, second) for first, second in PAIRS])
    counts = policy.buckets.counts()

    def found(state: Any, strengths: Strengths | None) -> Floats:
        seen: Any = game.observe(state, None)
        bets = tuple([tuple([letter(text) for _, text in each]) for each in seen.rounds])
        street = len(bets) - 1
        table = np.zeros((counts[street], 3))
        for bucket in range(counts[street]):
            for kind, share in policy.shares(bets, bucket).items():
                table[bucket, kind] = share
        if strengths is None:
            return np.asarray(table[classes], dtype=np.float64)
        return np.asarray(table[policy.buckets.of_all(street, *strengths)], dtype=np.float64)

    return found
