"""Local best response: exact against always folding, and a bound in other cases."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.harness.local_best_response import Responder, always, of_policy, without

from plyhouse.clients.arena.tally import mean_interval
from plyhouse.games.base import CHANCE
from plyhouse.games.hidden.texas_holdem.expected_strength import PAIRS
from plyhouse.games.hidden.texas_holdem.rules import TexasHoldem
from plyhouse.games.hidden.texas_holdem.state import FOLD, PASSIVE
from plyhouse.games.native import COMPILED
from plyhouse.games.playing_cards import PACK, card_number
from plyhouse.learning.limit_holdem_training import (
    LimitSettings,
    LimitTraining,
    Strengths,
)

NONE: Strengths = (np.zeros(len(PAIRS)), np.zeros(len(PAIRS)))
"""For policies that do not look at their cards."""


RUNOUTS = 60 if COMPILED else 2
"""Boards behind a chance to win: each takes a thousand times as long interpreted."""


def blind(kind: int, seed: int = 1) -> Responder:
    return Responder(always(kind), lambda board: NONE, seed, RUNOUTS)


def test_always_folding_loses_the_blinds() -> None:
    # The big blind in one seat, the small blind in the other.
    assert blind(0).tables(2) == [750.0, 750.0]


def without_limit(kind: int) -> Responder:
    def least(state: Any) -> int:
        return int(min(action for action in state.actions() if action > PASSIVE))

    return Responder(always(kind), lambda board: NONE, 1, RUNOUTS, TexasHoldem(hands=1), least)


def test_always_folding_loses_the_blinds_without_a_limit_too() -> None:
    assert without_limit(0).tables(1) == [750.0]


def test_best_hand_bets_all_chips_against_a_policy_that_always_calls() -> None:
    responder = without_limit(1)
    own, board = [50, 51], [48, 49, 0, 5]  # four aces
    turn = on_the_turn(responder, own, board)
    weights = without(np.ones(len(PAIRS)), own + board)
    assert responder.choice(turn, (50, 51), weights) == max(turn.actions())


def test_policy_bets_as_much_as_its_size_says() -> None:
    responder = without_limit(2)
    own, board = [50, 51], [0, 5, 10, 40]
    turn = on_the_turn(responder, own, board)
    possible = without(np.ones(len(PAIRS)), own + board)
    after, _, luck = responder.answered(turn, 1 - turn.to_move, own, possible, possible)
    assert after.paid[turn.to_move] - turn.paid[turn.to_move] == 2
    assert luck == 0.0


@pytest.mark.parametrize(("kind", "published", "seed"), [(1, 1163.48, 1), (2, 3697.69, 2)])
def test_bound_lies_below_the_published_best_response(
    kind: int, published: float, seed: int
) -> None:
    found = mean_interval(blind(kind, seed).tables(4))
    assert found.low < published
    assert found.value > 0.5 * published


def test_chance_to_win_counts_ties_half() -> None:
    responder = blind(1)
    royal = tuple(card_number(text) for text in ("As", "Ks", "Qs", "Js", "Ts"))
    board = tuple(card_number(text) for text in ("2c", "7d", "9h", "Jc", "Js"))
    others = without(np.ones(len(PAIRS)), royal)
    assert responder.chance((0, 5), royal, without(others, (0, 5))) == 0.5
    jacks = (card_number("Jd"), card_number("Jh"))
    assert responder.chance(jacks, board, without(np.ones(len(PAIRS)), jacks + board)) == 1.0


@pytest.mark.parametrize("seat", [0, 1])
def test_hand_of_checks_and_calls_is_worth_what_it_was_before_the_flop(seat: int) -> None:
    responder = blind(1)
    known: dict[tuple[int, ...], float] = {}

    def chance(own: Any, board: tuple[int, ...], weights: Any) -> float:
        if board not in known:
            known[board] = Responder.chance(responder, own, board, weights)
        return known[board]

    responder.chance = chance  # type: ignore[method-assign]
    responder.choice = lambda state, own, weights: PASSIVE  # type: ignore[method-assign]
    found = responder.hand(seat, [50, 51], (0, 5, 10, 40, 45))
    assert sorted(len(board) for board in known) == [0, 3, 4, 5]
    assert len(set(known.values())) > 2, "there was luck"
    assert found == pytest.approx((2 * known[()] - 1) * 1000)


def on_the_turn(responder: Responder, own: list[int], board: list[int]) -> Any:
    """Return the first state of the turn, after checks and a call."""
    state: Any = responder.game.initial_state()
    while len(state.cards) < 8:
        if state.to_move == CHANCE:
            state = responder.dealt(state, 0, own, (*board, 0))
        else:
            state = state.after(PASSIVE)
    return state


def test_luck_of_an_answer_and_of_the_river_is_zero_on_average() -> None:
    responder = blind(1)
    own, board = [50, 51], [0, 5, 10, 40]
    turn = on_the_turn(responder, own, board)
    seat = turn.to_move
    possible = without(np.ones(len(PAIRS)), own + board)

    mixed = np.tile([0.2, 0.5, 0.3], (len(PAIRS), 1))
    mixed[::2] = [0.1, 0.3, 0.6]
    responder.policy = lambda state, strengths: mixed
    gained = {}
    for _ in range(40):
        asked = turn.after(max(turn.actions()))
        after, left, luck = responder.answered(asked, seat, own, possible, possible)
        kind = FOLD if after.folded else PASSIVE if after.to_move == CHANCE else PASSIVE + 1
        gained[kind] = luck
        assert left.sum() == pytest.approx(1.0)
    shares = possible @ mixed / possible.sum()
    assert len(gained) == 3
    assert sum(shares[kind] * luck for kind, luck in gained.items()) == pytest.approx(0.0)
    assert max(gained.values()) > 0.5

    river = turn.after(PASSIVE).after(PASSIVE)
    worth = total = 0.0
    for card in range(PACK):
        if card not in (*own, *board):
            left = without(possible, [card])
            worth += left.sum() * responder.value(river.dealt(card), seat, own, left)
            total += left.sum()
    assert worth / total == pytest.approx(responder.value(river, seat, own, possible))


def test_policy_of_buckets_is_one_of_all_pairs() -> None:
    training = LimitTraining(LimitSettings(seed=3, parts=(2, 2, 3), deals=4, boards=2))
    training.run(8)
    policy = of_policy(training.policy)
    responder = Responder(policy, training.table.strengths, seed=2, runouts=RUNOUTS)
    state: Any = responder.game.initial_state()
    for card in range(4):
        state = state.dealt(card)
    shares = policy(state, None)
    assert shares.shape == (len(PAIRS), 3)
    assert np.allclose(shares.sum(axis=1), 1.0)
    (result,) = responder.tables(1)
    assert abs(result) < 24_000
