"""Hearts: passing, tricks, points, and what seats know of each other's cards."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plyhouse.games import CHANCE, TERMINAL, IllegalAction, InvalidAction, get_game
from plyhouse.games.native import COMPILED
from plyhouse.games.playing_cards import CARDS, card_number, cards_by_suit
from plyhouse.games.scene import Hand

ONE: Any = get_game("hearts(deals=1)")
SEEDS = st.integers(0, 2**32)
EXAMPLES = 60 if COMPILED else 10


def dealt(*hands: str, game: Any = ONE) -> Any:
    """Return the state after a deal of these hands, cards in any order."""
    cards = [hand.split() for hand in hands]
    state = game.initial_state()
    for place in range(13):
        for hand in cards:
            state = state.after(game.parse_chance(state, hand[place]))
    return state


def suits(*names: str) -> list[str]:
    return [" ".join(rank + name for rank in "23456789TJQKA") for name in names]


def played(state: Any, text: str, game: Any = ONE) -> Any:
    for card in text.split():
        state = state.after(game.parse(state, card))
    return state


def random_state(rng: random.Random, game: Any = ONE, least: int = 0) -> Any:
    """Return a state of random play in which a seat moves, after at least this number of plies."""
    state = game.initial_state()
    plies = rng.randrange(least, 64)
    while state.to_move == CHANCE or plies > 0:
        if state.to_move == CHANCE:
            state = state.after(rng.choice(state.chance_outcomes())[0])
        else:
            state = state.after(rng.choice(state.actions()))
            plies -= 1
        if state.to_move == TERMINAL:
            return random_state(rng, game, least)
    return state


def after_pass(*hands: str) -> Any:
    """Return the first deal after every seat has passed its first three cards."""
    state = dealt(*hands)
    for hand in hands:
        state = played(state, " ".join(hand.split()[:3]))
    return state


def test_cards_are_passed_to_the_left_and_seen_only_when_all_have_chosen() -> None:
    clubs, diamonds, spades, hearts = suits("c", "d", "s", "h")
    state = dealt(clubs, diamonds, spades, hearts)
    state = played(state, "Ac Kc Qc Ad Kd Qd As Ks Qs Ah Kh")
    assert ONE.observe(state, 1).received == ()
    assert ONE.observe(state, 0).passed == ("Ac", "Kc", "Qc")
    state = played(state, "Qh")
    assert ONE.observe(state, 1).received == ("Qc", "Kc", "Ac")
    assert ONE.observe(state, 0).received == ("Qh", "Kh", "Ah")
    assert state.to_move == 0
    assert ONE.observe(state, 0).legal == ("2c",)


@pytest.mark.parametrize(("deal", "to"), [(0, 1), (1, 3), (2, 2), (3, None), (4, 1)])
def test_direction_of_passing_changes_with_the_deal(deal: int, to: int | None) -> None:
    game = get_game("hearts(deals=5)")
    rng = random.Random(deal)
    state: Any = game.initial_state()
    while state.deal < deal or state.to_move == CHANCE:
        if state.to_move == CHANCE:
            state = state.after(rng.choice(state.chance_outcomes())[0])
        else:
            state = state.after(state.actions()[0])
    assert game.observe(state, 0).pass_to == to  # type: ignore[attr-defined]
    assert state.passing() == (to is not None)


@pytest.mark.parametrize(
    ("before", "won"),
    [((1, 0, 23, 0), (1, 0, 25, 0)), ((0, 0, 24, 0), (26, 26, 0, 26))],
    ids=["25 points", "all points"],
)
def test_seat_with_all_points_gives_them_to_the_others(
    before: tuple[int, ...], won: tuple[int, ...]
) -> None:
    kind = type(ONE.initial_state())
    last = [card_number(card) for card in ("2h", "2d", "Ah", "3d")]
    hands = tuple(1 << card for card in last)
    rest = tuple(card for card in range(52) if card not in last)
    state = kind(2, 1, 0, hands, 52, rest[:12], rest, before)
    state = played(state, "Ah 3d 2h 2d")
    assert state.to_move == TERMINAL
    assert state.won == won
    assert state.returns() == tuple(sum(won) / 4 - points for points in won)


@pytest.mark.parametrize(
    ("plays", "card", "rule"),
    [
        ("", "3c", "the first trick begins with the 2c"),
        ("2c", "8d", "the seat must follow suit: it has clubs"),
        ("2c Ac", "2c", "the seat does not hold this card"),
        ("2c Ac 7d", "2h", "no points go into the first trick while the seat has other cards"),
        ("2c Ac 7d 2d", "5h", "hearts are not broken"),
    ],
)
def test_illegal_card_names_the_rule_it_breaks(plays: str, card: str, rule: str) -> None:
    state = after_pass(
        "Ad Kd Qd 2c 3c 4c 5c 6c 7c 8c 9c Tc Jc",
        "Jd Td 9d Ac Kc Qc 8d 3h 4h 5h 6h As Ks",
        "2s 3s 4s 7d 6d 5d 4d 3d Qs Js Ts 9s 8s",
        "5s 6s 7s 2d 2h 7h 8h 9h Th Jh Qh Kh Ah",
    )
    state = played(state, plays)
    with pytest.raises(IllegalAction) as error:
        ONE.parse(state, card)
    assert rule in error.value.rule


def test_cards_that_are_chosen_already_are_refused() -> None:
    state = played(dealt(*suits("c", "d", "s", "h")), "Ac")
    with pytest.raises(IllegalAction) as error:
        ONE.parse(state, "Ac")
    assert error.value.rule == "the card is chosen already"
    with pytest.raises(InvalidAction, match="a card like Qs"):
        ONE.parse(state, "1c")


def test_seat_with_points_only_may_throw_them_into_the_first_trick() -> None:
    state = after_pass(
        "2d 3d 4d 2c 3c 4c 5c 6c 7c 8c 9c Tc Jc",
        "2s 3s 4s Qc Kc Ac 5d 6d 7d 8d 9d Td Jd",
        "5s 6s 7s Qd Kd Ad 8s 9s Ts Js Ks As 2h",
        "3h 4h 5h Qs 6h 7h 8h 9h Th Jh Qh Kh Ah",
    )
    # Seat 3 got three spades, so it has to throw those.
    state = played(state, "2c Qc Qd")
    assert set(ONE.observe(state, 3).legal) == {"5s", "6s", "7s"}


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
        assert len(set(held + gone)) == len(held + gone) == 52
        assert [len(cards_by_suit(hand)) for hand in sample.hands] == [
            len(cards_by_suit(hand)) for hand in state.hands
        ]
        if seat is not None:
            assert ONE.information_state(sample, seat) == ONE.information_state(state, seat)


@settings(max_examples=EXAMPLES, deadline=None)
@given(SEEDS)
def test_samples_could_have_been_played_so(seed: int) -> None:
    rng = random.Random(seed)
    state = random_state(rng, least=20)
    seat = rng.randrange(4)
    sample = ONE.sample_state(ONE.observe(state, seat), rng)
    # Give every seat its played cards back, and play the deal again.
    hands = list(sample.hands)
    for code in sample.played:
        hands[code >> 6] |= 1 << (code & 63)
    kind = type(state)
    lead = sample.played[0] >> 6 if sample.played else sample.to_move
    again = kind(lead, 1, 0, tuple(hands), 52, sample.passed)
    for code in sample.played:
        assert (code & 63) in again.actions(), CARDS[code & 63]
        again = again.after(code & 63)
    assert again.hands == sample.hands


def test_abstraction_plays_the_observed_deal_only() -> None:
    game: Any = get_game("hearts(deals=6)")
    rng = random.Random(2)
    state = game.initial_state()
    while state.deal < 4 or state.to_move == CHANCE:
        if state.to_move == CHANCE:
            state = state.after(rng.choice(state.chance_outcomes())[0])
        else:
            state = state.after(rng.choice(state.actions()))
    one = game.abstraction()
    sample = one.sample_state(game.observe(state, state.to_move), rng)
    assert sample.actions() == state.actions()
    returns = sample.playout(rng)
    assert sum(returns) == 0.0
    points = [sum(returns) / 4 - each for each in returns]
    assert max(points) - min(points) <= 26  # of a single deal


def test_sample_knows_where_passed_cards_are() -> None:
    state = after_pass(*suits("c", "d", "s", "h"))
    seen = ONE.observe(state, 0)
    rng = random.Random(1)
    for _ in range(20):
        sample = ONE.sample_state(seen, rng)
        assert all(sample.hands[1] >> card_number(card) & 1 for card in seen.passed)


def test_points_of_a_deal_add_up_and_returns_to_zero() -> None:
    game = get_game("hearts")
    rng = random.Random(3)
    for _ in range(20):
        state: Any = game.initial_state()
        assert sum(state.playout(rng)) == 0.0
        while state.to_move != TERMINAL:
            if state.to_move == CHANCE:
                before = state.won
                state = state.after(rng.choice(state.chance_outcomes())[0])
                continue
            deal = state.deal
            state = state.after(rng.choice(state.actions()))
            if state.deal > deal or state.to_move == TERMINAL:
                assert sum(state.won) - sum(before) in (26, 78)
        assert sum(state.returns()) == 0.0


def test_scene_shows_the_trick_and_the_hand() -> None:
    state = after_pass(*suits("c", "d", "s", "h"))
    state = played(state, "2c")
    scene = ONE.scene(ONE.observe(state, 2))
    assert scene.status == "seat 3 to play"
    hands = [each for each in scene.elements if each.kind == "hand"]
    assert [(hand.label, hand.look) for hand in hands] == [("seat 2", "trick"), ("Your cards", "")]


def hands_of(state: Any, seat: int | None) -> list[Hand]:
    elements = ONE.scene(ONE.observe(state, seat)).elements
    return [each for each in elements if isinstance(each, Hand)]


def test_scene_previews_the_cards_that_a_seat_passes() -> None:
    state = dealt(*suits("c", "d", "s", "h"))
    assert [hand.cards for hand in hands_of(state, 0) if hand.look == "trick"] == [()]
    preview, own = hands_of(played(state, "Ac Kc"), 0)
    assert (preview.label, preview.look, preview.seat) == ("Passed to the left", "trick", 0)
    assert [card.text for card in preview.cards] == ["Ac", "Kc"]
    assert len(own.cards) == 11


@pytest.mark.parametrize("viewer", [None, 2, 3])
def test_scene_shows_backs_of_the_cards_that_others_have_chosen_to_pass(
    viewer: int | None,
) -> None:
    """Their number is known to all; which cards they are is not."""
    start = dealt(*suits("c", "d", "s", "h"))
    shown = []
    for choice in ("Ac Kc Qc Ad", "2c 3c 4c 2d"):
        hands = [each for each in hands_of(played(start, choice), viewer) if each.seat != viewer]
        assert [(each.label, each.seat, each.look) for each in hands] == [
            ("seat 1 passes", 0, "trick"),
            ("seat 2 passes", 1, "trick"),
        ]
        assert [{(card.text, card.label) for card in each.cards} for each in hands] == [
            {(None, "3 cards")},
            {(None, "1 card")},
        ]
        assert [len(each.cards) for each in hands] == [3, 1]
        shown.append(hands)
    assert shown[0] == shown[1]


def test_scene_has_no_backs_once_the_cards_have_changed_hands() -> None:
    state = after_pass(*suits("c", "d", "s", "h"))
    assert [each for each in hands_of(state, None) if each.look == "trick"] == []
