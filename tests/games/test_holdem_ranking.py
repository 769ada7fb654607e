"""Hands of poker: published frequencies, comparisons with PokerKit, and equities."""

from __future__ import annotations

import itertools
import random
from collections import Counter

import pytest
from pokerkit import StandardHighHand

from plyhouse.games.hidden.texas_holdem.equity import equity
from plyhouse.games.hidden.texas_holdem.ranking import (
    category_name,
    hand_frequencies,
    hand_strength,
)
from plyhouse.games.native import COMPILED
from plyhouse.games.playing_cards import CARD_BITS, CARDS, card_number, hand_bits


def strength(text: str) -> int:
    cards = tuple([card_number(name) for name in text.split()])
    return hand_strength(hand_bits(cards), len(cards) - 5)


def test_five_card_hands_have_the_published_frequencies_and_classes() -> None:
    found = Counter(hand_strength(sum(hand), 0) for hand in itertools.combinations(CARD_BITS, 5))
    assert len(found) == 7462
    categories: Counter[str] = Counter()
    for value, count in found.items():
        categories[category_name(value)] += count
    assert categories == {
        "high card": 1302540,
        "pair": 1098240,
        "two pair": 123552,
        "three of a kind": 54912,
        "straight": 10200,
        "flush": 5108,
        "full house": 3744,
        "four of a kind": 624,
        "straight flush": 40,
    }


@pytest.mark.skipif(not COMPILED, reason="interpreted, 133,784,560 hands take several minutes")
def test_seven_card_hands_have_the_published_frequencies() -> None:
    assert hand_frequencies(7) == [
        *(23294460, 58627800, 31433400, 6461620, 6180020, 4047644, 3473184, 224848, 41584)
    ]


@pytest.mark.parametrize("size", [5, 6, 7])
def test_hands_compare_as_in_pokerkit(size: int) -> None:
    rng = random.Random(size)
    hands = [rng.sample(CARDS, size) for _ in range(60)]
    ours = [strength(" ".join(hand)) for hand in hands]
    theirs = [StandardHighHand.from_game("".join(hand[:2]), "".join(hand[2:])) for hand in hands]
    for one, other in itertools.combinations(range(len(hands)), 2):
        assert (ours[one] < ours[other]) == (theirs[one] < theirs[other])
        assert (ours[one] == ours[other]) == (theirs[one] == theirs[other])


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ("Ah 2h 3h 4h 5h 9c 9d", "As Ac Ad Ah Ks 2c 3d"),
        ("6h 2h 3h 4h 5h Kc Kd", "Ah 2h 3h 4h 5h Kc Kd"),
        ("2s 2c 2d 2h As 3c 3d", "As Ac Ad Kh Ks Kc 2d"),
        ("As Ac Ad Kh Ks Kc 2d", "As Ac Ad Qh Qs Kc 2d"),
        ("Ah 3h 7h 9h 2h Ac Ad", "Kh Qh Jh 9h 8h Kc Kd"),
        ("Ts Jh Qc Kd Ac 2d 2c", "9s Th Jc Qd Kc 2d 2c"),
        ("2s 3h 4c 5d 6c 6d 6h", "As 2h 3c 4d 5c Kd Kh"),
        ("As Ad Kh Kc Qd Qc 2s", "As Ad Kh Kc Jd Jc 2s"),
        ("As Ad Kh Qc Jd 9c 2s", "As Ad Kh Qc Td 9c 2s"),
    ],
)
def test_better_hands_are_stronger(better: str, worse: str) -> None:
    assert strength(better) > strength(worse)


def test_cards_beyond_the_best_five_do_not_count() -> None:
    assert strength("As Kd Qh Jc 9d 3c 2s") == strength("Ac Kh Qs Jd 9c 5d 4h")
    assert strength("As Ad Kh Kc Qd 3c 2s") == strength("As Ad Kh Kc Qh 3d 3s")


@pytest.mark.parametrize(
    ("own", "opponents", "published"),
    [("As Ah", 1, 0.852), ("As Ah", 2, 0.735), ("7h 2c", 1, 0.346), ("Ks Qs", 1, 0.634)],
)
def test_equity_of_starting_hands_is_as_published(
    own: str, opponents: int, published: float
) -> None:
    cards = tuple([card_number(name) for name in own.split()])
    assert equity(cards, (), opponents, 40_000, seed=7) == pytest.approx(published, abs=0.012)


def test_equity_of_a_finished_hand_is_exact() -> None:
    board = tuple([card_number(name) for name in ["Ts", "Js", "Qs", "2c", "2d"]])
    royal = tuple([card_number(name) for name in ("As", "Ks")])
    assert equity(royal, board, 3, 500, seed=3) == 1.0
