from __future__ import annotations

import math
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.harness.backgammon_positions import GAME, at, legal, play

from plyhouse.games import (
    CHANCE,
    TERMINAL,
    AmbiguousAction,
    IllegalAction,
    InvalidAction,
    InvalidPosition,
)
from plyhouse.games.stochastic.backgammon.rules import OPENING, ROLLS, START, BackgammonState, pips
from plyhouse.games.stochastic.backgammon.turns import apply_turn, farthest, turns_of, written

Sides = tuple[tuple[int, ...], tuple[int, ...]]


# An independent generator: every order of the dice, every result, kept by dice played.


def results_by_trying(mine: tuple[int, ...], theirs: tuple[int, ...], dice: int) -> set[Sides]:
    large, small = divmod(dice, 10)
    found: dict[tuple[int, ...], set[Sides]] = {}

    def walk(
        own: list[int], other: list[int], left: tuple[int, ...], used: tuple[int, ...]
    ) -> None:
        stuck = True
        for point in range(25, 0, -1):
            if not left or not own[point] or (own[25] and point != 25):
                continue
            to = point - left[0]
            if to > 0 and other[25 - to] >= 2:
                continue
            if to <= 0 and (any(own[7:]) or (to < 0 and any(own[point + 1 :]))):
                continue
            to = max(to, 0)
            one, two = own[:], other[:]
            one[point] -= 1
            one[to] += 1
            if to and two[25 - to] == 1:
                two[25 - to] = 0
                two[25] += 1
            stuck = False
            walk(one, two, left[1:], (*used, left[0]))
        if stuck:
            found.setdefault(used, set()).add((tuple(own), tuple(other)))

    for order in {(large, small), (small, large)} if large != small else {(large,) * 4}:
        walk(list(mine), list(theirs), order, ())
    most = max(len(used) for used in found)
    kept = [used for used in found if len(used) == most]
    if most == 1 and large != small and (large,) in found:
        kept = [(large,)]
    return {result for used in kept for result in found[used]}


def results(mine: tuple[int, ...], theirs: tuple[int, ...], dice: int) -> list[Sides]:
    found = []
    for turn in turns_of(list(mine), list(theirs), dice):
        one, two = list(mine), list(theirs)
        apply_turn(one, two, dice, turn)
        found.append((tuple(one), tuple(two)))
    return found


@pytest.mark.parametrize(
    ("dice", "count"),
    [
        *[(21, 15), (31, 16), (32, 17), (41, 14), (42, 18), (43, 17), (51, 8), (52, 8), (53, 9)],
        *[(54, 9), (61, 10), (62, 14), (63, 14), (64, 14), (65, 7)],
        *[(11, 42), (22, 75), (33, 73), (44, 52), (55, 4), (66, 11)],
    ],
)
def test_turns_from_the_opening(dice: int, count: int) -> None:
    state = BackgammonState(0, START, START, 0, dice)
    assert len(state.actions()) == count
    assert set(results(START, START, dice)) == results_by_trying(START, START, dice)


@st.composite
def boards(draw: st.DrawFn) -> Sides:
    """Any two sides that share no point, often crowded, often close to the end."""
    taken: set[int] = set()
    sides: list[list[int]] = []
    for seat in range(2):
        counts = [0] * 26
        reach = draw(st.sampled_from([6, 12, 24, 25]))
        for _ in range(draw(st.integers(1, 15))):
            point = draw(st.integers(1, reach))
            if point == 25 or (25 - point if seat else point) not in taken:
                counts[point] += 1
        counts[0] = 15 - sum(counts)
        if not seat:
            taken = {point for point in range(1, 25) if counts[point]}
        sides.append(counts)
    return tuple(sides[0]), tuple(sides[1])


@settings(max_examples=100, deadline=None)
@given(boards(), st.sampled_from([dice for dice, _ in ROLLS]))
def test_turns_are_those_found_by_trying_and_merged(sides: Sides, dice: int) -> None:
    found = results(*sides, dice)
    assert len(set(found)) == len(found), "equal results are one turn"
    assert set(found) == results_by_trying(*sides, dice)
    game = type(GAME)()
    state = BackgammonState(0, *sides, 0, dice)
    texts = [game.format(state, action) for action in state.actions()]
    assert len(set(texts)) == len(texts)
    for text, action in list(zip(texts, state.actions(), strict=True))[:6]:
        assert game.parse(state, " ".join(reversed(text.split()))) == action


def test_twenty_one_rolls() -> None:
    assert len(ROLLS) == 21
    assert math.fsum(p for _, p in ROLLS) == pytest.approx(1.0)
    for roll, probability in ROLLS:
        double = roll // 10 == roll % 10
        assert probability == pytest.approx(1 / 36 if double else 1 / 18)


def test_the_opening_roll_is_never_a_double_and_the_larger_die_begins() -> None:
    start = GAME.initial_state()
    assert start.chance_outcomes() == OPENING
    assert len(OPENING) == 30
    assert all(roll // 10 != roll % 10 for roll, _ in OPENING)
    for text, seat in (("31", 0), ("13", 1), ("65", 0), ("56", 1)):
        state = start.after(GAME.parse_chance(start, text))
        assert state.to_move == seat
        assert GAME.observe(state, None).fields()["dice"] == tuple(sorted(map(int, text))[::-1])


def test_checkers_on_the_bar_enter_first() -> None:
    assert legal("bar 24 13x5 8x3 6x5; 24x2 13x5 8x3 6x4; 0 31") == {
        *("bar/22 24/23", "bar/22 8/7", "bar/22 6/5", "bar/21"),
        *("bar/24 13/10", "bar/24 8/5", "bar/24 6/3"),
    }


def test_two_on_the_bar_take_both_dice() -> None:
    assert legal("barx2 6x13; 24x2 13x5 8x3 6x5; 0 42") == {"bar/23 bar/21"}


def test_a_closed_board_lets_nobody_in() -> None:
    closed = "6x2 5x2 4x2 3x2 2x2 1x2 13x3"
    assert legal(f"bar 6x14; {closed}; 0 65") == {"pass"}
    state = play(f"bar 6x14; {closed}; 0 65", "pass")
    assert state.to_move == CHANCE


def test_entering_with_one_die_only() -> None:
    # Point 19, where a six would enter, is held by the other side.
    assert legal("bar 24 2x2; 6x2 9x2; 0 61") == {"bar/18"}
    assert legal("bar 13x2; 6x2; 0 61") == {"bar/18", "bar/24 13/7"}


def test_the_larger_die_must_be_played_if_only_one_can() -> None:
    # Either die can be played, but the point after both is held.
    assert legal("24; 4x2; 0 21") == {"24/22"}
    assert legal("24; 9x2 12x2; 0 65") == {"24/18"}


def test_the_smaller_die_is_played_if_the_larger_cannot() -> None:
    assert legal("24 1x2; 7x2 8x2 12x2; 0 61") == {"24/23"}


def test_both_dice_must_be_played_if_there_is_a_way() -> None:
    # 7/2 with the five would leave no six.
    assert legal("24 7; 7x2 12x2; 0 65") == {"24/19 7/1"}


def test_as_many_of_a_double_as_possible() -> None:
    assert legal("24; 5x2; 0 22") == {"24/22"}
    assert legal("24 13; 11x2; 0 55") == {"24/19 13/3"}


def test_bearing_off_with_gaps() -> None:
    far = "13x2"
    # A six bears off from the highest point when nothing is on six.
    assert legal(f"5x2; {far}; 0 66") == {"5/off(2)"}
    assert legal(f"5x2 2; {far}; 0 61") == {"5/4 5/off", "5/off 2/1"}
    # A lower checker may not go while one is farther.
    assert legal(f"6 2; {far}; 0 43") == {"6/off"}
    assert legal(f"6 3x2; {far}; 0 54") == {"6/1 3/off", "6/2 3/off"}
    # With a checker outside nothing is borne off, but it may come home first.
    assert legal(f"8 1; {far}; 0 31") == {"8/5 1/off", "8/4"}
    assert legal(f"9 1; {far}; 0 21") == {"9/6"}


def test_two_ways_to_bear_off_one_checker_are_one_turn() -> None:
    assert legal("5; 13x2; 0 43") == {"5/off"}
    assert legal("2x2; 13x2; 0 65") == {"2/off(2)"}
    assert legal("2 1; 13x2; 0 65") == {"2/off 1/off"}


def test_hits_on_the_way_make_different_turns() -> None:
    position = "24; 2 3; 0 21"
    # 24/23*? points 23 and 22 of seat 0 are 2 and 3 of seat 1.
    assert legal(position) == {"24/23*/21", "24/22*/21"}
    game, state = at(position)
    with pytest.raises(AmbiguousAction) as caught:
        game.parse(state, "24/21")
    assert set(caught.value.candidates) == {"24/23*/21", "24/22*/21"}
    after = state.after(game.parse(state, "24/23/21"))
    assert game.observe(after, None).fields()["checkers"][1][25] == 1


@pytest.mark.parametrize(
    ("loser", "points"),
    [
        ("6x14", 1.0),
        ("6x15", 2.0),
        ("13x10 7x5", 2.0),
        ("18x5 12x10", 2.0),
        ("19 6x14", 3.0),
        ("22 6x14", 3.0),
        ("bar 6x14", 3.0),
        ("bar 6x13", 1.0),
    ],
)
def test_gammon_and_backgammon(loser: str, points: float) -> None:
    for seat, sides in ((0, f"1; {loser}"), (1, f"{loser}; 1")):
        state = play(f"{sides}; {seat} 21", "1/off")
        assert state.to_move == TERMINAL
        assert state.returns() == ((points, -points) if seat == 0 else (-points, points))


@pytest.mark.parametrize(
    ("written", "meaning"),
    [
        ("8/5 6/5", "8/5 6/5"),
        ("6/5 8/5", "8/5 6/5"),
        (" 24/20 ", "24/20"),
        ("24/21/20", "24/20"),
        ("24/23/20", "24/20"),
    ],
)
def test_ways_to_write_a_turn(written: str, meaning: str) -> None:
    game, state = at("24x2 13x5 8x3 6x5; 24x2 13x5 8x3 6x5; 0 31")
    assert game.format(state, game.parse(state, written)) == meaning


def test_doubles_are_counted() -> None:
    game, state = at("24x2 13x5 8x3 6x5; 24x2 13x5 8x3 6x5; 0 11")
    turn = game.parse(state, "8/7(2) 6/5(2)")
    assert game.format(state, turn) == "8/7(2) 6/5(2)"
    assert game.parse(state, "6/5 8/7 6/5 8/7") == turn


@pytest.mark.parametrize("text", ["8/5", "8/5* 6/5", "13/7 8/5", "pass", "24/off", "8/5 6/5 6/5"])
def test_illegal_turns(text: str) -> None:
    game, state = at("24x2 13x5 8x3 6x5; 24x2 13x5 8x3 6x5; 0 31")
    with pytest.raises(IllegalAction) as caught:
        game.parse(state, text)
    assert "8/5 6/5" in caught.value.legal


@pytest.mark.parametrize("text", ["", "8-5", "8/", "bar", "8/5 6/5 4/3 2/1 1/off", "8/5(9)"])
def test_unreadable_turns(text: str) -> None:
    game, state = at("24x2 13x5 8x3 6x5; 24x2 13x5 8x3 6x5; 0 31")
    with pytest.raises(InvalidAction):
        game.parse(state, text)


@pytest.mark.parametrize(
    ("position", "words"),
    [
        ("6x40; 6x15; 0", "40 checkers on 6 of seat 0"),
        ("6x10 5x6; 6x15; 0", "seat 0 has 16 checkers"),
        ("6; 19; 0", "both seats have checkers on point 6 of seat 0, which is point 19"),
        ("6; ; 0", "seat 1 has no checkers left"),
        ("25; 6; 0", "no point 25"),
        ("0; 6; 0", "no point 0"),
        ("six; 6; 0", "'six' of seat 0"),
        ("6 6; 6; 0", "6 of seat 0 is written twice"),
        ("6; 6; 2", "'2' is not the seat"),
        ("6; 6; 0 71", "'0 71' is not the seat"),
        ("6; 6", "checkers of seat 0; checkers of seat 1; seat to roll"),
        (
            "bar 6x2 5x2 4x2 3x2 2x2 1x2; bar 6x2 5x2 4x2 3x2 2x2 1x2; 0",
            "could never move",
        ),
    ],
)
def test_impossible_positions_are_refused(position: str, words: str) -> None:
    with pytest.raises(InvalidPosition) as caught:
        at(position)
    assert words in str(caught.value)


def test_described_positions_can_be_read_again() -> None:
    rng = random.Random(3)
    state: Any = GAME.initial_state()
    state = state.after(31)
    while state.to_move != TERMINAL:
        _, again = at(GAME.describe(state))
        assert GAME.describe(again) == GAME.describe(state)
        assert again.actions() == state.actions()
        choices = state.actions() or [roll for roll, _ in state.chance_outcomes()]
        state = state.after(rng.choice(choices))


def test_both_sides_have_167_pips_to_move_at_first() -> None:
    assert pips(START) == 167


def test_playouts_are_fair() -> None:
    rng = random.Random(1)
    start: Any = GAME.initial_state()
    results = [start.playout(rng)[0] for _ in range(40)]
    assert {abs(points) for points in results} <= {1.0, 2.0, 3.0}
    assert {points > 0 for points in results} == {True, False}


def test_turns_of_doubles_are_all_with_the_most_dice_on_crowded_boards() -> None:
    rng = random.Random(8)
    for _ in range(300):
        sides = []
        for reach in (rng.choice([3, 6, 8, 25]), rng.choice([6, 24])):
            counts = [0] * 26
            for _ in range(rng.randint(1, 6)):
                counts[rng.randint(1, reach)] += 1
            sides.append(counts)
        mine, theirs = sides
        theirs = [0, *[0 if mine[25 - p] else theirs[p] for p in range(1, 25)], theirs[25]]
        for counts in (mine, theirs):
            counts[0] = 15 - sum(counts[1:])
        for dice in (11, 22, 33, 44, 55, 66, rng.choice([21, 31, 42, 54, 65])):
            found = results(tuple(mine), tuple(theirs), dice)
            assert len(set(found)) == len(found)
            assert set(found) == results_by_trying(tuple(mine), tuple(theirs), dice)


def test_one_die_is_played_by_the_larger_or_the_only_possible_one() -> None:
    # Two checkers outside; the sixes are blocked, and then the ones.
    assert legal("24x2; 7x2 8x2; 0 61") == {"24/23"}
    assert legal("24x2; 2x2 8x2; 0 61") == {"24/18"}


@pytest.mark.parametrize(
    ("turn", "point"),
    [(0, 0), (24 + 32 * 13, 24), (13 + 32 * 24, 24), (6 + 32 * 6, 6), (32 * 25, 25)],
)
def test_farthest_point_of_a_turn_is_in_any_place(turn: int, point: int) -> None:
    assert farthest(turn) == point


@pytest.mark.parametrize(
    ("theirs", "dice", "turn", "text"),
    [
        ({}, 31, 0, "pass"),
        ({}, 31, 25 + 32 * 24, "bar/22 24/23"),
        ({24: 1}, 61, 7, "7/1*"),
        ({24: 2}, 61, 7, "7/1"),
        ({25: 1}, 61, 6, "6/off"),
        ({7: 1}, 61, 24 + 32 * 18, "24/18*/17"),
        ({8: 1}, 61, 24 + 32 * 18, "24/17*"),
        ({}, 11, 8 + 32 * 8 + 1024 * 6 + 32768 * 6, "8/7(2) 6/5(2)"),
        ({}, 11, 8 + 32 * 7 + 1024 * 6, "8/5"),
        ({}, 11, 8 + 32 * 7 + 1024 * 5, "8/6 5/4"),
        ({}, 66, 24 + 32 * 18, "24/12"),
    ],
)
def test_turn_is_written_by_checkers_with_hits_on_the_way(
    theirs: dict[int, int], dice: int, turn: int, text: str
) -> None:
    counts = tuple([theirs.get(point, 0) for point in range(26)])
    assert written(counts, dice, turn) == text
