"""Bridge: the auction, the play with dummy, scores, and what seats know of each other's cards."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plyhouse.games import CHANCE, TERMINAL, IllegalAction, InvalidAction, get_game
from plyhouse.games.hidden.bridge.scoring import imps_of, is_vulnerable, points_of
from plyhouse.games.native import COMPILED
from plyhouse.games.playing_cards import CARDS, cards_by_suit
from plyhouse.games.scene import scene_actions

ONE: Any = get_game("bridge(boards=1)")
SEEDS = st.integers(0, 2**32)
EXAMPLES = 60 if COMPILED else 10


def dealt(game: Any = ONE) -> Any:
    """Return the deal in which seat 0 has clubs and so on, with each suit in one hand."""
    state = game.initial_state()
    for rank in range(13):
        for suit in range(4):
            state = state.after(4 * rank + suit)
    return state


def played(text: str, state: Any = None, game: Any = ONE) -> Any:
    state = dealt(game) if state is None else state
    for word in text.split():
        state = state.after(game.parse(state, word))
    return state


def random_state(rng: random.Random, least: int = 0) -> Any:
    """Return a state of random play in which a seat moves, after at least this number of plies."""
    state = ONE.initial_state()
    plies = rng.randrange(least, 60)
    while state.to_move == CHANCE or plies > 0:
        if state.to_move == CHANCE:
            state = state.after(rng.choice(state.chance_outcomes())[0])
        else:
            calls = state.bidding() and rng.random() < 0.6
            state = state.after(52 if calls else rng.choice(state.actions()))
            plies -= 1
        if state.to_move == TERMINAL:
            return random_state(rng, least)
    return state


@pytest.mark.parametrize(
    ("contract", "tricks", "vulnerable", "points"),
    [
        ((1, 0, 0), 7, False, 70),
        ((2, 2, 0), 9, True, 140),
        ((3, 4, 0), 9, False, 400),
        ((4, 3, 0), 11, True, 650),
        ((5, 1, 0), 11, False, 400),
        ((6, 2, 0), 12, True, 1430),
        ((7, 4, 0), 13, False, 1520),
        ((2, 3, 1), 8, False, 470),
        ((1, 4, 1), 8, True, 380),
        ((1, 2, 2), 9, False, 920),
        ((3, 4, 0), 7, True, -200),
        ((4, 2, 1), 8, False, -300),
        ((4, 2, 1), 6, False, -800),
        ((4, 2, 1), 6, True, -1100),
        ((4, 2, 2), 9, True, -400),
    ],
)
def test_points_are_those_of_the_laws(
    contract: tuple[int, int, int], tricks: int, vulnerable: bool, points: int
) -> None:
    assert points_of(*contract, tricks, vulnerable) == points


@pytest.mark.parametrize(
    ("points", "imps"), [(0, 0), (10, 0), (20, 1), (-50, -2), (420, 9), (-3999, -23), (4000, 24)]
)
def test_imps_of_points(points: int, imps: int) -> None:
    assert imps_of(points) == imps


def test_vulnerability_follows_the_boards_of_duplicate_bridge() -> None:
    words = {(False, False): "-", (True, False): "n", (False, True): "e", (True, True): "b"}
    shown = "".join(words[is_vulnerable(n, 0), is_vulnerable(n, 1)] for n in range(16))
    assert shown == "-nebneb-eb-nb-ne"


def test_declarer_is_the_first_of_the_side_to_name_the_trumps() -> None:
    state = played("1S pass 2C pass 2S pass pass pass")
    seen = ONE.observe(state, 1)
    assert (seen.contract, seen.declarer, state.to_move) == ("2S", 0, 1)
    assert seen.dummy == ()
    state = played("2d", state)
    assert ONE.observe(state, None).dummy == ONE.observe(state, 2).hand
    assert state.to_move == 0
    assert ONE.observe(state, 0).legal == ONE.observe(state, 2).hand  # dummy's


def test_dummy_that_takes_a_trick_leads_and_the_declarer_chooses() -> None:
    # Dummy has the trumps.
    state = played("1H pass pass pass 2d 2h 2s 2c")
    assert (state.to_move, state.hand_to_play()) == (0, 2)
    with pytest.raises(IllegalAction, match="dummy does not hold this card"):
        ONE.parse(state, "3c")
    assert ONE.scene(ONE.observe(state, 0)).status == "north plays from dummy"


def test_four_passes_end_a_board_without_points() -> None:
    state = played("pass pass pass pass")
    assert state.to_move == TERMINAL
    assert state.returns() == (0.0, 0.0, 0.0, 0.0)
    seen = ONE.observe(state, None)
    assert (seen.last_contract, seen.last_declarer, seen.last_taken) == ("", None, 0)


def test_partners_share_the_imps_of_a_board() -> None:
    state = played("7NT pass pass pass")
    while state.to_move != TERMINAL:
        state = state.after(state.actions()[0])
    # East leads diamonds, which only east has.
    assert state.points == points_of(7, 4, 0, 0, False) == -650
    assert state.returns() == (-12.0, 12.0, -12.0, 12.0)


@pytest.mark.parametrize(
    ("before", "text", "rule"),
    [
        ("1H", "1D", "a bid must be higher than the last one, 1H"),
        ("", "X", "there is no bid to double"),
        ("1H pass", "X", "the last bid is of the seat's own side"),
        ("1H X", "X", "the bid is doubled already"),
        ("1H", "XX", "there is no double to redouble"),
        ("1H X pass", "XX", "the double is of the seat's own side"),
        ("1H", "2c", ""),
        ("1H", "Qs", "the auction is not over: make a call"),
        ("1H pass pass pass", "X", "the auction is over: play a card"),
        ("1H pass pass pass", "2c", "the seat does not hold this card"),
    ],
)
def test_illegal_action_names_the_rule_it_breaks(before: str, text: str, rule: str) -> None:
    state = played(before)
    if not rule:
        assert ONE.format(state, ONE.parse(state, text)) == "2C"
        return
    with pytest.raises(IllegalAction) as error:
        ONE.parse(state, text)
    assert error.value.rule == rule


def test_seat_that_can_follow_suit_must() -> None:
    rng = random.Random(5)
    found = 0
    while found < 20:
        state = random_state(rng, 20)
        trick = state.trick()
        hand = cards_by_suit(state.hands[state.hand_to_play()]) if trick else ()
        follows = [card for card in hand if card % 4 == trick[0] % 4]
        others = [card for card in hand if card % 4 != trick[0] % 4]
        if follows and others:
            assert set(state.actions()) == set(follows)
            with pytest.raises(IllegalAction, match="must follow suit"):
                ONE.parse(state, CARDS[others[0]])
            found += 1
    with pytest.raises(InvalidAction, match="a call like pass"):
        ONE.parse(state, "8NT")


@settings(max_examples=EXAMPLES, deadline=None)
@given(SEEDS)
def test_samples_have_what_the_observer_knows(seed: int) -> None:
    rng = random.Random(seed)
    state = random_state(rng)
    for seat in (*range(4), None):
        seen = ONE.observe(state, seat)
        sample = ONE.sample_state(seen, rng)
        assert ONE.observe(sample, seat) == seen
        held = [card for hand in sample.hands for card in cards_by_suit(hand)]
        gone = [code & 63 for code in sample.played]
        assert sorted(held + gone) == list(range(52))
        if seat is not None:
            assert ONE.information_state(sample, seat) == ONE.information_state(state, seat)


@settings(max_examples=EXAMPLES, deadline=None)
@given(SEEDS)
def test_samples_could_have_been_played_so(seed: int) -> None:
    rng = random.Random(seed)
    state = random_state(rng, 15)
    sample = ONE.sample_state(ONE.observe(state, rng.randrange(4)), rng)
    hands = list(sample.hands)
    for code in sample.played:
        hands[code >> 6] |= 1 << (code & 63)
    kind = type(state)
    again = kind(0, 1, 0, tuple(hands), 52)
    for call in sample.calls:
        again = again.after(call)
    for code in sample.played:
        assert again.hand_to_play() == code >> 6
        assert (code & 63) in again.actions()
        again = again.after(code & 63)
    assert again.hands == sample.hands


def test_bidding_box_has_every_call() -> None:
    state = played("1H")
    seen = ONE.observe(state, 1)
    scene = ONE.scene(seen)
    assert scene_actions(scene) == set(seen.legal)
    assert {"pass", "X", "1S", "7NT"} < set(seen.legal)
    assert scene.status == "east to call"
