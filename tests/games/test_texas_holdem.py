from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
from tests.harness.pokerkit_hands import Tally, compare_match

from plyhouse.games import CHANCE, TERMINAL, IllegalAction, InvalidAction, InvalidParameter
from plyhouse.games.hidden.texas_holdem.pots import divided, pots_of
from plyhouse.games.hidden.texas_holdem.rules import TexasHoldem
from plyhouse.games.hidden.texas_holdem.state import TexasHoldemState
from plyhouse.games.playing_cards import card_number

DEAL = "As 2c Ah 7d"
"""Cards of a duel: the first and third go to the big blind, seat 1."""
BOARD = "Kc Kd 9s 4h 3c"


def play(game: TexasHoldem, text: str) -> TexasHoldemState:
    """Play cards and actions, separated by commas; cards may be written together: "As 2c"."""
    state = game.initial_state()
    for part in text.split(","):
        part = part.strip()
        if state.to_move == CHANCE:
            for card in part.split():
                state = state.after(game.parse_chance(state, card))
        else:
            state = state.after(game.parse(state, part))
    return state


def duel(**parameters: Any) -> TexasHoldem:
    return TexasHoldem(**{"hands": 1, **parameters})


def legal(game: TexasHoldem, state: TexasHoldemState) -> list[str]:
    return [game.format(state, action) for action in state.actions()]


def net(state: TexasHoldemState) -> tuple[int, ...]:
    """Chips won by seat in the hand that has just ended."""
    chips: tuple[int, ...] = state.last[3]
    return chips


# Pots


def test_side_pots_are_for_those_who_paid_for_them() -> None:
    assert pots_of((5, 20, 20, 12), folded=0b1000) == ((20, 0b0111), (37, 0b0110))


def test_each_pot_goes_to_its_best_hand() -> None:
    assert divided((5, 20, 20), 0, (9, 3, 7), button=0) == (15, 0, 30)


def test_a_bet_that_nobody_calls_returns() -> None:
    assert divided((5, 20, 12), 0, (1, 2, 3), button=0) == (0, 8, 29)


def test_odd_chips_go_to_the_first_winner_left_of_the_button() -> None:
    assert divided((5, 5, 5), 0b100, (4, 4, 0), button=0) == (7, 8, 0)
    assert divided((5, 5, 5), 0b100, (4, 4, 0), button=1) == (8, 7, 0)


# Betting


def test_the_button_of_a_duel_has_the_small_blind_and_acts_first_only_before_the_flop() -> None:
    game = duel()
    state = play(game, DEAL)
    assert (state.to_move, state.paid) == (0, (1, 2))
    assert play(game, f"{DEAL}, call").to_move == 1
    assert play(game, f"{DEAL}, call, check, Kc Kd 9s").to_move == 1


def test_a_ring_begins_left_of_the_big_blind_and_later_left_of_the_button() -> None:
    game = duel(seats=4, ante=1)
    deal = "2c 3c 4c 5c 2d 3d 4d 5d"
    state = play(game, deal)
    assert (state.to_move, state.paid) == (3, (1, 2, 3, 1))
    assert play(game, f"{deal}, call, call, call, check, 9s 9d 9h").to_move == 1
    assert play(game, f"{deal}, call, call, fold, check, 9s 9d 9h").to_move == 2


def test_the_button_moves_on_and_stacks_begin_again() -> None:
    game = TexasHoldem(hands=3, seats=3)
    state = play(game, "2c 3c 4c 2d 3d 4d, fold, fold")
    assert (state.hand, state.button(), state.won) == (1, 1, (0, -1, 1))
    assert state.paid == (2, 0, 1)
    assert game.observe(state, 0).stacks == (198, 200, 199)


def test_a_raise_goes_up_by_the_last_raise() -> None:
    game = duel()
    assert legal(game, play(game, DEAL))[:3] == ["fold", "call", "raise 4"]
    assert legal(game, play(game, f"{DEAL}, raise 7"))[:3] == ["fold", "call", "raise 12"]
    assert legal(game, play(game, f"{DEAL}, raise 7"))[-1] == "raise 200"
    assert legal(game, play(game, f"{DEAL}, call, check, Kc Kd 9s"))[:2] == ["check", "bet 2"]


def test_fixed_bets_double_on_the_turn_and_end_with_the_fourth() -> None:
    game = duel(betting="fixed")
    assert legal(game, play(game, DEAL)) == ["fold", "call", "raise 4"]
    capped = play(game, f"{DEAL}, raise 4, raise 6, raise 8")
    assert legal(game, capped) == ["fold", "call"]
    flop = f"{DEAL}, call, check, Kc Kd 9s"
    assert legal(game, play(game, f"{flop}, bet 2, raise 4, raise 6, raise 8")) == ["fold", "call"]
    assert legal(game, play(game, f"{flop}, check, check, 4h")) == ["check", "bet 4"]


def test_a_short_all_in_does_not_reopen_the_betting() -> None:
    game = duel(seats=3, stacks="100,100,14")
    deal = "2c 3c 4c 2d 3d 4d"
    short = play(game, f"{deal}, raise 10, call, raise 14")
    assert short.to_move == 0
    assert legal(game, short) == ["fold", "call"]
    with pytest.raises(IllegalAction, match="does not reopen the betting"):
        game.parse(short, "raise 40")


FIXED = {"seats": 3, "betting": "fixed", "small_blind": 10, "big_blind": 20}
THREE = "2c 3c 4c 2d 3d 4d"
FLOP = f"{THREE}, call, call, check, 9h Th Jh"


@pytest.mark.parametrize(
    ("stacks", "line", "options"),
    [
        # An all-in of half a bet or more is a full bet; the example of the rules is 15 to 35.
        ("1000,1000,35", f"{FLOP}, check, bet 15", "fold|call|raise 35"),
        ("1000,1000,35", f"{FLOP}, check, bet 15, call", "fold|call|raise 35"),
        ("1000,1000,30", f"{FLOP}, check, bet 10, call", "fold|call|raise 30"),
        # One of less can be completed, but not by a seat that has acted.
        ("1000,1000,29", f"{FLOP}, check, bet 9", "fold|call|raise 20"),
        ("1000,1000,29", f"{FLOP}, check, bet 9, call", "fold|call"),
        ("1000,1000,29", f"{FLOP}, check, bet 9, raise 20", "fold|call|raise 40"),
        ("1000,1000,29", f"{FLOP}, check, bet 9, raise 20, raise 40", "fold|call|raise 60"),
        # Before the flop: a raise to 40, and an all-in of 16 or 6 more.
        ("1000,56,1000", f"{THREE}, raise 40, raise 56", "fold|call|raise 76"),
        ("1000,56,1000", f"{THREE}, raise 40, raise 56, call", "fold|call|raise 76"),
        ("1000,46,1000", f"{THREE}, raise 40, raise 46", "fold|call|raise 60"),
        ("1000,46,1000", f"{THREE}, raise 40, raise 46, fold", "fold|call"),
        ("1000,46,1000", f"{THREE}, raise 40, raise 46, call", "fold|call"),
        # It is no raise for the cap.
        ("1000,66,1000", f"{THREE}, raise 40, call, raise 60, call, raise 66", "fold|call"),
        ("66,1000,1000", f"{THREE}, call, raise 40, raise 60, raise 66", "fold|call|raise 80"),
        ("66,1000,1000", f"{THREE}, call, raise 40, raise 60, raise 66, raise 80", "fold|call"),
        ("75,1000,1000", f"{THREE}, call, raise 40, raise 60, raise 75", "fold|call"),
    ],
)
def test_short_all_in_with_fixed_limit(stacks: str, line: str, options: str) -> None:
    game = duel(**FIXED, stacks=stacks)
    assert "|".join(legal(game, play(game, line))) == options


@pytest.mark.parametrize(
    ("stacks", "bets", "options"),
    [
        ("1000,26,35,1000", "bet 6, raise 15", "fold|call|raise 35"),
        ("1000,24,29,1000", "bet 4, raise 9", "fold|call|raise 20"),
    ],
)
def test_short_all_ins_with_fixed_limit_add_up(stacks: str, bets: str, options: str) -> None:
    game = duel(**{**FIXED, "seats": 4}, stacks=stacks)
    line = f"2c 3c 4c 5c 2d 3d 4d 5d, call, call, call, check, 9h Th Jh, {bets}"
    assert "|".join(legal(game, play(game, line))) == options


def test_a_short_all_in_may_be_raised_by_a_seat_that_has_not_acted() -> None:
    game = duel(seats=3, stacks="14,100,100")
    deal = "2c 3c 4c 2d 3d 4d"
    assert legal(game, play(game, f"{deal}, raise 14, call"))[:3] == ["fold", "call", "raise 26"]
    game = duel(seats=4, stacks="100,12,100,100")
    deal = "2c 3c 4c 5c 2d 3d 4d 5d"
    state = play(game, f"{deal}, raise 8, fold, raise 12")
    assert (state.to_move, legal(game, state)[2]) == (2, "raise 18")


def test_short_all_ins_that_add_up_to_a_raise_reopen_the_betting() -> None:
    game = duel(seats=4, stacks="100,14,18,100")
    deal = "2c 3c 4c 5c 2d 3d 4d 5d"
    state = play(game, f"{deal}, raise 10, call, raise 14, raise 18")
    assert (state.to_move, legal(game, state)[:3]) == (3, ["fold", "call", "raise 26"])


def test_no_seat_is_asked_when_nobody_else_can_bet() -> None:
    game = duel(stacks="200,50")
    state = play(game, f"{DEAL}, raise 200, call")
    assert state.to_move == CHANCE
    state = play(game, f"{DEAL}, raise 200, call, {BOARD}")
    assert (state.to_move, net(state)) == (TERMINAL, (-50, 50))


@pytest.mark.parametrize(
    ("moves", "won"),
    [
        (f"{DEAL}, fold", (-1, 1)),
        (f"{DEAL}, raise 6, fold", (2, -2)),
        (f"{DEAL}, raise 200, fold", (2, -2)),
        (
            f"{DEAL}, call, check, Kc Kd 9s, check, check, 4h, check, check, 3c, bet 8, call",
            (-10, 10),
        ),
        (f"{DEAL}, call, check, Kc Kd 9s, check, check, 4h, bet 3, raise 9, fold", (5, -5)),
        (
            "As Ad Kh Kc, call, check, Qs Js Td, check, check, 4h, check, check, 3c, check, check",
            (0, 0),
        ),
    ],
)
def test_hands_end_with_the_right_chips(moves: str, won: tuple[int, int]) -> None:
    state = play(duel(), moves)
    assert (state.to_move, net(state)) == (TERMINAL, won)
    assert state.returns() == tuple(50.0 * chips for chips in won)


def test_returns_are_big_blinds_for_a_hundred_hands() -> None:
    game = TexasHoldem(hands=2, big_blind=4, small_blind=2)
    state = play(game, f"{DEAL}, fold, {DEAL}, raise 10, fold")
    assert state.won == (-2 - 4, 2 + 4)
    assert state.returns() == (-75.0, 75.0)


# Errors


@pytest.mark.parametrize(
    ("moves", "text", "rule"),
    [
        (DEAL, "raise 3", "least raise is to 4"),
        (DEAL, "raise 201", "chips to raise 200 at most"),
        (DEAL, "bet 6", "there is a bet already"),
        (DEAL, "check", "1 to call"),
        (f"{DEAL}, call", "fold", "no bet to answer"),
        (f"{DEAL}, call, check, Kc Kd 9s", "bet 1", "least bet is the big blind, 2"),
        (f"{DEAL}, call, check, Kc Kd 9s", "raise 8", "no bet to raise"),
        (f"{DEAL}, call, check, Kc Kd 9s", "call", "no bet to answer"),
        (f"{DEAL}, raise 200", "raise 400", "no chips are left beyond a call"),
    ],
)
def test_an_illegal_action_names_its_rule_and_changes_nothing(
    moves: str, text: str, rule: str
) -> None:
    game = duel()
    state = play(game, moves)
    before = game.describe(state)
    with pytest.raises(IllegalAction) as caught:
        game.parse(state, text)
    assert rule in caught.value.rule
    assert rule in str(caught.value)
    assert game.describe(state) == before


def test_the_fixed_limit_is_named() -> None:
    game = duel(betting="fixed")
    with pytest.raises(IllegalAction, match="makes it raise 4"):
        game.parse(play(game, DEAL), "raise 5")
    with pytest.raises(IllegalAction, match="at most four bets and raises"):
        game.parse(play(game, f"{DEAL}, raise 4, raise 6, raise 8"), "raise 10")


@pytest.mark.parametrize("text", ["all in", "raise", "raise -4", "raise 4.5", "", "bet ten"])
def test_unreadable_actions_are_refused(text: str) -> None:
    game = duel()
    with pytest.raises(InvalidAction):
        game.parse(play(game, DEAL), text)


@pytest.mark.parametrize(
    ("name", "value"),
    [("stacks", "200"), ("stacks", "200,x"), ("stacks", "1,200"), ("small_blind", 5), ("stack", 2)],
)
def test_parameters_that_do_not_fit_are_refused(name: str, value: int | str) -> None:
    with pytest.raises(InvalidParameter, match=name):
        TexasHoldem(**{"ante": 1, name: value})


@pytest.mark.parametrize(
    ("parameters", "most"),
    [
        ({}, 1000),
        ({"stack": 1000}, 200),
        ({"seats": 6}, 333),
        ({"seats": 3, "stacks": "40,90,1000"}, 133),
        ({"seats": 6, "stack": 1000, "betting": "fixed"}, 1000),
    ],
)
def test_hands_with_deep_stacks_are_limited(parameters: dict[str, Any], most: int) -> None:
    assert TexasHoldem(**parameters, hands=most).int_parameter("hands") == most
    with pytest.raises(InvalidParameter, match=f"hands='{most + 1}'.*{most}"):
        TexasHoldem(**parameters, hands=most + 1)


# Hidden information


def test_cards_are_told_to_their_seat_and_the_table_to_all() -> None:
    game = duel()
    start = game.initial_state()
    ace = card_number("As")
    assert [game.visible(start, ace, viewer) for viewer in (0, 1, None)] == [None, "As", None]
    preflop = play(game, f"{DEAL}, call, check")
    assert [game.visible(preflop, ace, viewer) for viewer in (0, 1, None)] == ["As"] * 3


def test_cards_are_shown_in_a_showdown_only() -> None:
    game = duel()
    folded = game.observe(play(game, f"{DEAL}, raise 9, fold"), 1)
    assert folded.last_shown == ((), ())
    assert folded.cards == ("As", "Ah")
    end = f"{DEAL}, call, check, Kc Kd 9s, check, check, 4h, check, check, 3c, check, check"
    assert game.observe(play(game, end), None).last_shown == (("2c", "7d"), ("As", "Ah"))


def test_a_seat_that_has_folded_shows_nothing_in_the_showdown_of_others() -> None:
    game = duel(seats=3)
    rest = "Kc Kd 9s, check, check, 4h, check, check, 3s, check, check"
    state = play(game, f"2c 3c 4c 2d 3d 4d, fold, call, check, {rest}")
    assert game.observe(state, 0).last_shown == ((), ("2c", "2d"), ("3c", "3d"))


def test_observations_do_not_depend_on_the_cards_of_others() -> None:
    game = TexasHoldem(seats=4, hands=2)
    rng = random.Random(5)
    for _ in range(40):
        state = game.initial_state()
        for _ in range(rng.randint(1, 60)):
            if state.to_move == TERMINAL:
                break
            outcomes = [card for card, _ in state.chance_outcomes()]
            state = state.after(rng.choice(outcomes or list(state.actions())[:4]))
        if state.to_move == TERMINAL:
            continue
        for seat in range(4):
            seen = game.observe(state, seat)
            other = game.sample_state(seen, rng)
            assert game.observe(other, seat) == seen
            assert game.scene(game.observe(other, seat)) == game.scene(seen)
            assert game.observe(other, None) == game.observe(state, None)


def test_samples_deal_every_unknown_card_equally_often() -> None:
    game = duel()
    seen = game.observe(play(game, DEAL), 0)
    rng = random.Random(1)
    found: Counter[int] = Counter()
    for _ in range(10_000):
        found.update(game.sample_state(seen, rng).hole(1))
    assert not {card_number("2c"), card_number("7d")} & set(found)
    assert len(found) == 50
    assert all(300 < count < 500 for count in found.values())


# Searches


def test_a_playout_calls_to_the_showdown_of_this_hand() -> None:
    game = TexasHoldem(hands=5)
    state = play(
        game, f"{DEAL}, call, check, {BOARD[:8]}, bet 8, call, 4h, check, check, 3c, bet 20"
    )
    unit = state.rules.unit
    assert state.playout(random.Random(1)) == (-30 * unit, 30 * unit)


def test_the_abstraction_offers_few_legal_sizes_of_the_same_hand() -> None:
    game = TexasHoldem(hands=4, seats=3)
    few = game.abstraction()
    state = play(game, "2c 3c 4c 2d 3d 4d, fold, fold, 2c 3c 4c 2d 3d 4d, raise 6")
    sampled = few.sample_state(game.observe(state, state.to_move), random.Random(2))
    assert set(sampled.actions()) < set(state.actions())
    assert [few.format(sampled, action) for action in sampled.actions()] == [
        "fold", "call", "raise 13", "raise 20", "raise 200"
    ]  # fmt: skip
    assert sampled.after(0).after(0).to_move == TERMINAL


# PokerKit


@pytest.mark.parametrize("seed", range(8))
def test_random_hands_end_as_in_pokerkit(seed: int) -> None:
    rng = random.Random(seed)
    tally = Tally()
    while tally.hands < 40:
        compare_match(rng, tally)
    assert tally.mismatches == []
    assert tally.showdowns > 5
    assert tally.side_pots > 0


def test_scene_names_shown_hands_and_sizes_bets_by_their_amounts() -> None:
    game: Any = duel()
    state = play(game, f"{DEAL}, call")
    scene = game.scene(game.observe(state, 1))
    bets = [each for each in scene.elements if each.kind == "button" and each.amount]
    assert [each.amount for each in bets] == list(range(4, 201))
    assert {each.place for each in bets} == {3}
    badges = [each.text for each in scene.elements if each.kind == "text" and each.look]
    assert badges == ["seat 1: dealer", "seat 1: stack 198", "seat 2: stack 198"]
    rest = ", ".join(["check", "Kc Kd 9s", "check, check", "4h", "check, check", "3c"])
    state = play(game, f"{DEAL}, call, {rest}, check, check")
    said = [
        each.text
        for each in game.scene(game.observe(state, None)).elements
        if each.kind == "text" and each.seat is not None and not each.look
    ]
    assert said == ["seat 1: a pair", "seat 2: two pair"]
