"""States of Texas hold'em: playouts, equities, chances, observations and what samples rebuild."""

from __future__ import annotations

import itertools
import pickle
import random
from typing import Any

import pytest

from plyhouse.games import CHANCE, TERMINAL, IllegalAction, InvalidParameter
from plyhouse.games.hidden.texas_holdem.pots import divided, pots_of
from plyhouse.games.hidden.texas_holdem.rules import TexasHoldem
from plyhouse.games.hidden.texas_holdem.state import FOLD, PASSIVE, TexasHoldemState
from plyhouse.games.playing_cards import CARDS, PACK

GAMES: list[dict[str, Any]] = [
    {"hands": 1},
    {"hands": 1, "seats": 3, "ante": 1},
    {"hands": 1, "seats": 4, "stacks": "9,40,23,14", "small_blind": 2, "big_blind": 5},
    {"hands": 1, "seats": 3, "betting": "fixed"},
]


def fields(state: TexasHoldemState) -> tuple[Any, ...]:
    made: tuple[Any, ...] = state.__reduce__()[1]
    return made


def states(seed: int, parameters: dict[str, Any]) -> list[TexasHoldemState]:
    """All states of a random match, often with small bets, calls and folds."""
    rng = random.Random(seed)
    state = TexasHoldem(**parameters).initial_state()
    found = [state]
    while state.to_move != TERMINAL:
        if state.to_move == CHANCE:
            state = state.after(rng.choice(state.chance_outcomes())[0])
        else:
            actions = list(state.actions())
            weak = [each for each in actions if each != FOLD or rng.random() < 0.2]
            state = state.after(rng.choice([*weak[:3], *weak[:2], weak[-1]]))
        found.append(state)
    return found


def called_to_the_end(state: TexasHoldemState, cards: list[int]) -> TexasHoldemState:
    while state.to_move != TERMINAL:
        state = state.after(cards.pop(0) if state.to_move == CHANCE else PASSIVE)
    return state


@pytest.mark.parametrize("parameters", GAMES)
@pytest.mark.parametrize("seed", range(4))
def test_playout_deals_unknown_cards_and_all_call(seed: int, parameters: dict[str, Any]) -> None:
    for number, state in enumerate(states(seed, parameters)):
        rng, cards = random.Random(number), list(state.cards)
        while len(cards) < 2 * state.rules.seats + 5:
            card = int(rng.random() * PACK)
            if card not in cards:
                cards.append(card)
        end = called_to_the_end(state, cards[len(state.cards) :])
        assert state.playout(random.Random(number)) == pytest.approx(end.returns())


@pytest.mark.parametrize("parameters", GAMES)
def test_all_call_returns_are_the_mean_over_the_river(parameters: dict[str, Any]) -> None:
    seen = set()
    for state in [each for seed in range(12) for each in states(seed, parameters)]:
        board = len(state.cards) - 2 * state.rules.seats
        alive = state.rules.seats - bin(state.folded).count("1")
        if board < 4 or (board == 4 and alive > 2) or state.to_move == TERMINAL:
            continue
        seen.add(board)
        rivers = [[card] for card in range(PACK) if card not in state.cards] if board < 5 else [[]]
        ends = [called_to_the_end(state, list(river)).returns() for river in rivers]
        mean = [sum(column) / len(ends) for column in zip(*ends, strict=True)]
        assert state.call_down() == pytest.approx(mean)
    assert seen


def test_all_call_returns_before_the_deal_are_even_and_after_the_end_exact() -> None:
    game = TexasHoldem(hands=2)
    start = game.initial_state()
    assert start.call_down() == (0.0, 0.0)
    state = start
    for text in ("As", "2c", "Ah", "7d"):
        assert state.call_down() == (0.0, 0.0)
        state = state.after(game.parse_chance(state, text))
    # Aces win about 86 % of these hands and two chips each, which count 25 in a match of two hands.
    assert state.call_down() == pytest.approx((-36.0, 36.0), abs=3.0)
    *_, end = states(1, {"hands": 2})
    assert end.call_down() == end.returns() == end.playout(random.Random(1))
    second = next(each for each in states(1, {"hands": 2}) if each.hand == 1)
    assert second.call_down() == pytest.approx(second.returns())


@pytest.mark.parametrize("parameters", GAMES)
def test_chances_are_the_cards_left_in_the_pack(parameters: dict[str, Any]) -> None:
    for state in states(2, parameters):
        left = [card for card in range(PACK) if card not in state.cards]
        expected: list[Any] = [(card, pytest.approx(1 / len(left))) for card in left]
        assert list(state.chance_outcomes()) == (expected if state.to_move == CHANCE else [])
        assert (state.to_move >= 0) == (state.actions() != ())


@pytest.mark.parametrize("parameters", [{"hands": 3}, *GAMES])
def test_sampled_state_of_all_known_cards_is_the_state(parameters: dict[str, Any]) -> None:
    game = TexasHoldem(**parameters)
    for state in states(5, parameters):
        again = pickle.loads(pickle.dumps(state))
        assert fields(again) == fields(state)
        assert again.rules is state.rules
        for seat in range(state.rules.seats):
            sampled = game.sample_state(game.observe(state, seat), random.Random(seat))
            assert game.information_state(sampled, seat) == game.information_state(state, seat)
            assert sampled.actions() == state.actions()
            assert sampled.hole(seat) == state.hole(seat)
            assert sampled.board() == state.board()
            assert len(set(sampled.cards)) == len(state.cards)
            assert sampled.returns() == state.returns()
            unlike = [number for number, (one, other) in
                      enumerate(zip(fields(sampled), fields(state), strict=True))
                      if one != other]  # fmt: skip
            assert set(unlike) <= {5}, "only cards that the seat does not know may differ"


def test_default_state_is_the_start_of_a_duel() -> None:
    assert fields(TexasHoldemState()) == fields(TexasHoldem(hands=1).initial_state())


def test_information_states_tell_apart_what_a_seat_has_seen() -> None:
    game = TexasHoldem(hands=2, seats=3)
    start = game.initial_state()
    # The first card goes to the small blind, seat 1, and the third to the button, seat 0.
    one, other = start.after(3), start.after(7)
    assert game.information_state(one, 1) != game.information_state(other, 1)
    for seat in (0, 2):
        assert game.information_state(one, seat) == game.information_state(other, seat)
        assert game.information_state(one, seat) != game.information_state(start, seat)
    assert game.information_state(one, 0)[:5] == (0, 0, (0, 0, 0), (), 1)  # type: ignore[index]
    seven = states(3, {"hands": 1, "seats": 3})
    assert max(game.information_state(s, 0)[4] for s in seven) == 6  # type: ignore[index]


@pytest.mark.parametrize("seats", [2, 3, 6])
def test_each_card_is_shown_to_the_seat_that_is_dealt_it(seats: int) -> None:
    game = TexasHoldem(hands=3, seats=seats)
    shown = 0
    path = states(6, {"hands": 3, "seats": seats})
    for state, after in itertools.pairwise(path):
        if state.to_move != CHANCE or len(state.cards) >= 2 * seats:
            continue
        card = after.cards[-1]
        owner = next(seat for seat in range(seats) if card in after.hole(seat))
        seen = [viewer for viewer in range(seats) if game.visible(state, card, viewer)]
        assert seen == [owner]
        assert game.visible(state, card, None) is None
        assert game.visible(state, card, owner) == CARDS[card]
        shown += 1
    assert shown >= 2 * seats


def test_observation_has_the_actions_of_each_round() -> None:
    game = TexasHoldem(hands=1, seats=3, stack=30)
    state = game.initial_state()
    for text in ("2c 3c 4c 2d 3d 4d", "raise 6", "call", "call", "9s 9d 9h", "check", "bet 4",
                 "raise 10", "fold", "call", "Ks", "bet 14", "call"):  # fmt: skip
        for word in text.split() if state.to_move == CHANCE else [text]:
            parse = game.parse_chance if state.to_move == CHANCE else game.parse
            state = state.after(parse(state, word))
    seen = game.observe(state, 1)
    assert seen.rounds == (
        ((0, "raise 6"), (1, "call"), (2, "call")),
        ((1, "check"), (2, "bet 4"), (0, "raise 10"), (1, "fold"), (2, "call")),
        ((2, "bet 14"), (0, "call")),
    )
    assert (seen.paid, seen.stacks, seen.bets) == ((30, 6, 30), (0, 24, 0), (14, 0, 14))
    assert (seen.folded, seen.to_call, seen.dealt) == ((False, True, False), 0, 6)
    assert seen.board == ("9s", "9d", "9h", "Ks")
    assert state.to_move == CHANCE
    [card] = [card for card, _ in state.chance_outcomes() if CARDS[card] == "2h"]
    end = game.observe(state.after(card), None)
    # The board has three nines. Seat 0 holds a pair of fours, and seat 2 a pair of threes.
    assert end.last_shown == (("4c", "4d"), (), ("3c", "3d"))
    assert (end.last_won, end.won, end.last_hand) == ((36, -6, -30), (36, -6, -30), 0)
    assert end.last_board == ("9s", "9d", "9h", "Ks", "2h")
    assert end.bets == (0, 0, 0)


@pytest.mark.parametrize(
    ("folds", "shown"),
    [("", (0, 1, 2)), ("0", (1, 2)), ("1", (0, 2)), ("01", ())],
)
def test_only_seats_in_a_showdown_show_their_cards(folds: str, shown: tuple[int, ...]) -> None:
    state = TexasHoldem(hands=1, seats=3).initial_state()
    for card in range(6):
        state = state.after(card)
    for seat in range(3):
        if state.to_move != TERMINAL:
            state = state.after(FOLD if str(seat) in folds else PASSIVE)
    if state.to_move != TERMINAL:
        state = called_to_the_end(state, list(range(10, 15)))
    assert [seat for seat in range(3) if state.last[2][seat]] == [*shown]


@pytest.mark.parametrize(
    ("stacks", "moves", "answer"),
    [
        ("100,100,14", (11, 1), ["fold", "call", "raise 14"]),  # a short stack may raise all in
        ("100,100,10", (11, 1), ["fold", "call"]),
        ("10,10,100", (11, 11), ["fold", "call"]),  # nobody else has chips
        ("100,10,100", (11, 1), ["fold", "call", "raise 18"]),
        ("2,100,100", (1,), ["fold", "call", "raise 4"]),
    ],
)
def test_raises_are_offered_to_those_who_have_chips_and_somebody_to_call(
    stacks: str, moves: tuple[int, ...], answer: list[str]
) -> None:
    game = TexasHoldem(hands=1, seats=3, stacks=stacks)
    state = game.initial_state()
    for card in range(6):
        state = state.after(card)
    for action in moves:
        state = state.after(action)
    assert [game.format(state, action) for action in state.actions()][:3] == answer


def test_bounds_of_returns_are_all_chips_lost_or_won_in_every_hand() -> None:
    assert TexasHoldem(hands=5).return_bounds == (-10_000.0, 10_000.0)
    game = TexasHoldem(seats=3, stacks="40,200,90", hands=5, big_blind=4)
    assert game.return_bounds == (-5000.0, (40 + 90) * 25.0)
    assert game.stacks == (40, 200, 90)
    info = TexasHoldem.info
    assert (info.min_return, info.max_return) == (-50_000.0, 250_000.0)
    assert info.max_plies == 200_000 + 137_000
    few = TexasHoldem(hands=1, seats=2, stacks="7,3")
    assert few.return_bounds == (-350.0, 150.0)


def test_chance_numbers_count_the_cards_of_all_hands() -> None:
    game = TexasHoldem(hands=2, seats=3)
    path = states(2, {"hands": 2, "seats": 3})
    for state in path:
        assert game.chance_number(state, 0) == state.hand * 11 + len(state.cards)
    assert {state.hand for state in path} == {0, 1}


def test_likely_action_is_the_one_named_if_it_is_legal() -> None:
    game = TexasHoldem(hands=1)
    actions = (FOLD, PASSIVE, 5, 6, 7)
    state = game.initial_state()
    assert game.likely(state, "fold", actions) == (FOLD,)
    assert game.likely(state, "Call", actions) == game.likely(state, "check", actions) == (PASSIVE,)
    assert game.likely(state, "raise 5", actions) == game.likely(state, "BET 5", actions) == (6,)
    assert game.likely(state, "raise 7", actions) == ()
    assert game.likely(state, "raise 99999", actions) == ()
    for text in ("raise 100000", "raise ²", "raise x", "bet "):
        assert game.likely(state, text, actions) == actions


def test_abstraction_is_one_hand_with_the_same_stakes() -> None:
    game = TexasHoldem(hands=4, seats=3, stacks="40,200,90", ante=1, big_blind=4)
    few: Any = game.abstraction()
    assert few.parameters == {**game.parameters, "hands": 1}
    assert (few.exploration_scale, few.few_sizes, game.few_sizes) == (0.1, True, False)
    state = few.initial_state()
    for card in range(6):
        state = state.after(card)
    # In the pots are 8 chips, and 12 after a call of 4.
    assert [few.format(state, action) for action in state.actions()] == [
        "fold", "call", "raise 10", "raise 16", "raise 39",
    ]  # fmt: skip


def test_description_names_all_cards_bets_and_chips() -> None:
    game = TexasHoldem(hands=1)
    state = game.initial_state()
    assert game.describe(state) == (
        "hand 0, cards: - / -, table: -, bets: -, paid: (1, 2), won: (0, 0)"
    )
    for text in ("As", "2c", "Ah", "7d"):
        state = state.after(game.parse_chance(state, text))
    state = state.after(game.parse(state, "raise 6"))
    assert game.describe(state) == (
        "hand 0, cards: 2c 7d / As Ah, table: -, bets: raise 6, paid: (6, 2), won: (0, 0)"
    )


@pytest.mark.parametrize(
    ("parameters", "problem"),
    [
        ({"small_blind": 3}, "small_blind='3'.* at most the big blind, 2"),
        ({"stack": 2, "ante": 1}, "stack='2'.* at least big blind and ante, 3"),
        ({"stacks": "200,2", "ante": 1}, "stacks='200,2'.* 2 whole numbers from 3 to 1000"),
        ({"stacks": "200,1001"}, "2 whole numbers from 2 to 1000"),
        ({"stacks": "200,200,200"}, "2 whole numbers from 2 to 1000"),
        ({"stacks": "200,²"}, "2 whole numbers"),
        ({"stacks": "200,00200"}, "2 whole numbers"),
        ({"stacks": "200,-5"}, "2 whole numbers"),
    ],
)
def test_stakes_that_cannot_be_paid_are_refused(parameters: dict[str, Any], problem: str) -> None:
    with pytest.raises(InvalidParameter, match=problem):
        TexasHoldem(**parameters)


def test_stakes_that_can_just_be_paid_are_accepted() -> None:
    assert TexasHoldem(stack=3, ante=1, hands=1).stacks == (3, 3)
    assert TexasHoldem(stacks="2, 1000", hands=1).stacks == (2, 1000)
    assert TexasHoldem(small_blind=2).initial_state().paid == (2, 2)


def test_broken_rules_give_the_bounds_of_this_moment() -> None:
    game = TexasHoldem(hands=1)
    state = game.initial_state()
    for card in (0, 5, 10, 15):
        state = state.after(card)
    for text, rule in (("raise 3", "the least raise is to 4: it goes up by at least the last bet"),
                       ("raise 201", "the seat has chips to raise 200 at most"),
                       ("check", "there is a bet to answer, 1 to call")):  # fmt: skip
        with pytest.raises(IllegalAction, match=rule):
            game.parse(state, text)


def test_pots_leave_out_levels_without_chips_and_chips_of_the_folded_stay() -> None:
    assert pots_of((0, 5, 5), 0) == ((10, 0b110),)
    assert pots_of((5, 5, 9, 9), 0b0001) == ((20, 0b1110), (8, 0b1100))
    assert divided((3, 10, 10, 4), 0b1000, (9, 5, 5, 0), 0) == (12, 8, 7, 0)
    assert divided((3, 10, 10, 4), 0b1000, (9, 5, 5, 0), 1) == (12, 7, 8, 0)
    assert divided((4, 4, 4), 0, (7, 7, 7), 0) == (4, 4, 4)
    assert divided((5, 5, 4), 0b100, (0, 0, 0), 2) == (7, 7, 0)
