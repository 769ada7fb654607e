"""Bridge against OpenSpiel's bridge: legal actions, points, and tricks with all hands open."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from tests.bridges.libraries import library

if not TYPE_CHECKING:
    library("pyspiel", "openspiel")

from tests.harness.openspiel_bridge import Tally, compare_board, compare_scores

from plyhouse.games.hidden.bridge.cards import PACK
from plyhouse.games.hidden.bridge.double_dummy import DoubleDummy
from plyhouse.games.native import COMPILED


def dealt(rng: random.Random, mixed: int = PACK) -> tuple[int, ...]:
    """Four hands; few ``mixed`` cards leave each seat with almost one suit."""
    cards = list(range(PACK))
    places = rng.sample(range(PACK), mixed)
    moved = rng.sample(places, mixed)
    for place, card in zip(places, moved, strict=True):
        cards[place] = card
    return tuple([sum(1 << card for card in cards[at : at + 13]) for at in range(0, PACK, 13)])


def test_random_boards_have_the_actions_and_points_of_openspiel() -> None:
    tally = Tally()
    rng = random.Random(12)
    for number in range(320):
        compare_board(number % 16 + 1, rng, tally)
    assert tally.positions > 10_000
    assert tally.contracts > 150
    assert tally.passed_out > 10


def test_points_of_all_contracts_are_those_of_openspiel() -> None:
    rng = random.Random(5)
    seen = set()
    for number in range(1, 17):
        seen |= set(compare_scores(dealt(rng, 10 + 2 * number), number).values())
    assert seen == set(range(14))


@pytest.mark.skipif(not COMPILED, reason="interpreted, a whole deal takes minutes")
def test_whole_deals_have_the_double_dummy_tricks_of_openspiel() -> None:
    rng = random.Random(9)
    for mixed in (16, 18, 20):
        hands = dealt(rng, mixed)
        for (strain, declarer), tricks in compare_scores(hands, 1).items():
            ours = DoubleDummy(hands, strain).tricks((declarer + 1) % 4)
            assert tricks == (13 - ours if declarer % 2 else ours)
