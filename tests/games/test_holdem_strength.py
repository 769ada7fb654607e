"""Expected strength of pairs of cards, and what hands win if all call."""

from __future__ import annotations

import random

import pytest

from plyhouse.games.base import CHANCE
from plyhouse.games.hidden.texas_holdem.equity import duel_ends, equity
from plyhouse.games.hidden.texas_holdem.expected_strength import (
    PAIRS,
    pair_strength,
    pair_strengths,
    showdown_order,
)
from plyhouse.games.hidden.texas_holdem.ranking import hand_strength
from plyhouse.games.hidden.texas_holdem.rules import TexasHoldem
from plyhouse.games.hidden.texas_holdem.state import TexasHoldemState
from plyhouse.games.playing_cards import card_number, hand_bits


def cards(text: str) -> tuple[int, ...]:
    return tuple([card_number(name) for name in text.split()])


def test_shares_on_the_river_count_all_opponents() -> None:
    board = cards("Kc Kd 9s 4h 4c")
    means, squares = pair_strengths(board)
    order = showdown_order(board)
    rng = random.Random(1)
    for pair in rng.sample(range(1326), 60):
        own = PAIRS[pair]
        if set(own) & set(board):
            assert means[pair] == squares[pair] == order[pair] == -1
            continue
        assert order[pair] == hand_strength(hand_bits((*own, *board)), 2)
        rivals = [other for other in PAIRS if not set(other) & {*own, *board}]
        strengths = [hand_strength(hand_bits((*other, *board)), 2) for other in rivals]
        points = sum([(each < order[pair]) + (each == order[pair]) / 2 for each in strengths])
        assert means[pair] == pytest.approx(points / 990)
        assert squares[pair] == pytest.approx(means[pair] ** 2)


def test_strengths_of_all_pairs_are_those_of_each() -> None:
    board = cards("Qh 8h 3c 2s")
    means, squares = pair_strengths(board)
    for own in (cards("Ah Kh"), cards("3d 3h"), cards("7c 2d")):
        pair = PAIRS.index((min(own), max(own)))
        assert (means[pair], squares[pair]) == pytest.approx(pair_strength(own, board))


def test_strength_on_the_flop_agrees_with_simulation() -> None:
    own, board = cards("Ah Kh"), cards("Qh 8h 3c")
    mean, square = pair_strength(own, board)
    assert mean == pytest.approx(equity(own, board, 1, 100_000, seed=3), abs=0.006)
    assert mean**2 < square < mean


def test_ends_of_a_duel_are_all_counted() -> None:
    won, shared, lost = duel_ends(cards("As Ad"), cards("Ks Kd"), cards("2c 7d 9h"), (), 0, 0)
    assert (won + shared + lost, shared) == (990, 0)
    kings = sum([1 for one in range(45) for two in range(one) if one < 2 or two < 2])
    assert lost == pytest.approx(kings, abs=5)  # a king comes, and seldom an ace as well
    dead = cards("Kc Kh")
    assert duel_ends(cards("As Ad"), cards("Ks Kd"), cards("2c 7d 9h"), dead, 0, 0)[2] == 0


def called(text: str, **parameters: int) -> TexasHoldemState:
    game = TexasHoldem(**parameters)
    state = game.initial_state()
    for part in text.split(", "):
        if state.to_move == CHANCE:
            for card in part.split():
                state = state.after(game.parse_chance(state, card))
        else:
            state = state.after(game.parse(state, part))
    return state


@pytest.mark.parametrize("seats", [2, 3])
def test_value_of_a_chance_node_is_the_mean_of_its_outcomes(seats: int) -> None:
    text = {
        2: "As 2c Ah 7d, raise 6, call, Kc Kd 9s, check, check, 4h, bet 10, call",
        3: "As 2c 7h Ah 7d Jc, raise 6, call, fold, Kc Kd 9s, check, check, 4h, bet 10, call",
    }[seats]
    state = called(text, hands=2, seats=seats)
    assert state.to_move == CHANCE
    outcomes = state.chance_outcomes()
    means = [0.0] * seats
    for card, share in outcomes:
        for seat, value in enumerate(state.after(card).call_down()):
            means[seat] += share * value
    assert means == pytest.approx(state.call_down())
    assert sum(means) == pytest.approx(0.0)


def test_a_hand_that_is_not_dealt_yet_counts_as_even() -> None:
    state = called("As 2c Ah 7d, fold", hands=3)
    assert state.call_down() == tuple([float(chips) * state.rules.unit for chips in state.won])


def test_all_in_before_the_flop_is_worth_its_equity() -> None:
    state = called("As 2c Ah 7d, raise 200, call", hands=1)
    lost, won = state.call_down()
    assert won == -lost
    assert won / (100.0 * 100.0) == pytest.approx(2 * 0.88 - 1, abs=0.06)  # 4,000 boards
