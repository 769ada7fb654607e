"""``hearts`` passes by the rules of books, and otherwise plays what its search finds."""

from __future__ import annotations

import random
from typing import Any

import pytest
from tests.harness.bot_turns import turn_at

from plyhouse.bots.loading import load_bot
from plyhouse.bots.reference.best_bot import BestBot, bot_for
from plyhouse.bots.reference.hearts_bot import HeartsBot
from plyhouse.games.base import CHANCE
from plyhouse.games.hidden.hearts.passing import cards_to_pass
from plyhouse.games.playing_cards import CARDS, card_number
from plyhouse.games.registry import get_game

GAME: Any = get_game("hearts(deals=1)")


def passed(hand: str) -> set[str]:
    return {CARDS[card] for card in cards_to_pass([card_number(name) for name in hand.split()])}


@pytest.mark.parametrize(
    ("hand", "kept"),
    [
        ("2s 3s 5s 9s Qs 4h 6h 8h 2d 5d Kd 3c Tc", True),
        ("2s 3s 5s 9s Qs Ah Kh Qh Ad Kd Qd Ac Kc", True),
        ("2s 5s 9s Js Qs Ks 4h 2d 5d Kd 3c Tc Ac", True),
        ("2s 3s 9s Qs 4h 6h 8h 2d 5d 6d Jd 3c Tc", False),
        ("Qs As Ks 4h 6h 8h 9h 2d 5d 6d Jd 3c Tc", False),
        ("Qs 4h 6h 8h 9h 2d 5d 6d Jd 3c Tc Jc Ac", False),
    ],
)
def test_queen_is_kept_with_four_low_spades(hand: str, kept: bool) -> None:
    assert ("Qs" not in passed(hand)) is kept


def test_ace_and_king_of_spades_are_passed_without_lower_spades() -> None:
    assert passed("As Ks 2s 4h 6h 8h 9h 2d 5d 6d Jd 3c Tc") >= {"As", "Ks"}
    assert not passed("As Ks 2s 4s 7s 8h 9h 2d 5d 6d Jd 3c Tc") & {"As", "Ks"}


def test_low_spades_are_never_passed() -> None:
    rng = random.Random(3)
    for _ in range(300):
        cards = cards_to_pass(rng.sample(range(52), 13))
        assert len(set(cards)) == 3
        assert not [card for card in cards if card % 4 == 3 and card < card_number("Qs")]


def test_short_suits_with_high_cards_become_empty() -> None:
    assert passed("2s 3s 4s 5s 2h 3h 4h 2d 3d 5d 7d Kc Jc") >= {"Kc", "Jc"}


def dealt(rng: random.Random) -> Any:
    state = GAME.initial_state()
    while state.to_move == CHANCE:
        state = state.after(rng.choice(state.chance_outcomes())[0])
    return state


def test_it_passes_its_three_cards_and_plays_legal_ones() -> None:
    rng = random.Random(5)
    state = dealt(rng)
    assert load_bot("hearts") is HeartsBot
    bots = [HeartsBot(simulations=10) for _ in range(4)]
    wanted = [set(cards_to_pass([c for c in range(52) if hand >> c & 1])) for hand in state.hands]
    for _ in range(20):
        action: Any = bots[state.to_move].choose(turn_at(GAME, state, rng=rng))
        state = state.after(GAME.parse(state, action) if isinstance(action, str) else action)
    assert [set(state.own_passed(seat)) for seat in range(4)] == wanted
    assert len(state.played) == 8


def test_best_is_this_bot_and_says_so() -> None:
    assert bot_for(GAME) is HeartsBot
    rng = random.Random(6)
    turn = turn_at(GAME, dealt(rng), rng=rng)
    BestBot(simulations=10).choose(turn)
    said: Any = turn.said
    assert said["text"] == "played by hearts"
