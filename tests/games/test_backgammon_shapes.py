"""Primes, blocks and shots of backgammon positions, which are inputs of the game's networks."""

from __future__ import annotations

import random
from typing import Any

import pytest
from tests.games.random_positions import random_position

from plyhouse.games import get_game
from plyhouse.games.stochastic.backgammon.rules import ROLLS
from plyhouse.games.stochastic.backgammon.shapes import Shape, crossing, escapes, parts_of
from plyhouse.games.stochastic.backgammon.turns import apply_turn, turns_of

GAME = get_game("backgammon")
Side = tuple[int, ...]


def sides(position: str) -> tuple[Side, Side]:
    state: Any = type(GAME)(position=position).initial_state()
    return state.one, state.two


def rolls_hitting(mine: Side, theirs: Side) -> int:
    """Count the rolls of which some turn hits, by playing all turns."""
    count = 0
    for roll, share in ROLLS:
        for turn in turns_of(list(mine), list(theirs), roll):
            own, other = list(mine), list(theirs)
            apply_turn(own, other, roll, turn)
            if other[25] > theirs[25]:
                count += round(36 * share)
                break
    return count


def hits(mine: Side, theirs: Side) -> int:
    return round(36 * parts_of(crossing(Shape(mine), mine[25], Shape(theirs)))[0])


@pytest.mark.parametrize(
    ("block", "rolls"),
    [(0, 21), (0b111111, 0), (0b11111, 11), (0b1, 21), (0b111111000000, 0)],
)
def test_a_checker_escapes_by_whole_rolls_of_more_than_six_pips(block: int, rolls: int) -> None:
    assert escapes(block) == rolls


def test_shots_are_the_rolls_of_turns_that_hit() -> None:
    rng = random.Random(1)
    compared = equal = 0
    while compared < 150:
        state: Any = random_position("backgammon", rng)[1]
        mine, theirs = (state.one, state.two)
        # With more on the bar, the count leaves out what follows the entering of a double.
        if mine[0] == 15 or theirs[0] == 15 or mine[25] > 1:
            continue
        exact = rolls_hitting(mine, theirs)
        counted = hits(mine, theirs)
        # A hit that leaves the other die unplayable is counted but may be illegal.
        assert counted >= exact
        compared += 1
        equal += counted == exact
    assert equal > 0.9 * compared


@pytest.mark.parametrize(
    ("theirs", "rolls"),
    [
        ("7 3x14", 16),  # six pips away, but not by 2-2
        ("8 3x14", 6),
        ("13 3x14", 3),  # twelve pips
        ("7 13 3x13", 17),
    ],
)
def test_shots_of_known_distances(theirs: str, rolls: int) -> None:
    one, two = sides(f"24 1x14; {theirs}; 0")
    assert hits(one, two) == rolls


def test_primes_are_seen_from_four_points_on() -> None:
    four = Shape(sides("7x4 6x4 5x4 4x3; 24x15; 0")[0]).inputs()
    assert four[:3] == [1.0, 0.0, 0.0]
    assert 0.0 < four[3] < 1.0
    six = Shape(sides("7x3 6x3 5x3 4x2 3x2 2x2; 24x15; 0")[0]).inputs()
    assert six == [1.0, 1.0, 1.0, 1.0]
