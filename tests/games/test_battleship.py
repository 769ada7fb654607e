from __future__ import annotations

import collections
import itertools
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plyhouse.games import (
    TERMINAL,
    IllegalAction,
    InvalidAction,
    InvalidParameter,
    State,
    get_game,
)
from plyhouse.games.hidden.battleship.fleet import Guesses, Waters, sample_fleet
from plyhouse.games.hidden.battleship.rules import IllegalPlacement
from plyhouse.games.scene import Laying
from plyhouse.games.testing import check_game

GAME = get_game("battleship")
SMALL = get_game('battleship(columns=4,fleet="3,2,1",rows=5)')
TINY = get_game('battleship(columns=3,fleet="2",rows=2)')


def play(game: Any, text: str) -> Any:
    state: State = game.initial_state()
    for word in text.split():
        state = state.after(game.parse(state, word))
    return state


FLEETS = "a1-c1 a2-b2 d5 b5-b3 a4-a5 c1"


def test_the_longest_ship_is_placed_first_by_seat_0_and_then_by_seat_1() -> None:
    state = GAME.initial_state()
    lengths: list[tuple[int, int]] = []
    while len(state.actions()) > 100 and len(lengths) < 10:
        action = state.actions()[0]
        lengths.append((state.to_move, len(GAME.waters.cells[action])))  # type: ignore[attr-defined]
        state = state.after(action)
    assert lengths[:5] == [(0, 5), (0, 4), (0, 3), (0, 3), (0, 2)]
    assert lengths[5:] == [(1, 5), (1, 4), (1, 3), (1, 3), (1, 2)]
    assert state.to_move == 0
    assert len(state.actions()) == 100


def test_places_on_an_empty_board() -> None:
    assert len(GAME.initial_state().actions()) == 2 * 10 * 6
    assert len(SMALL.initial_state().actions()) == 5 * 2 + 4 * 3


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a1-f1", "f1 is not on the board"),
        ("a1-a9", "a9 is not on the board"),
        ("a0-a2", "a0 is not on the board"),
        ("a1-b1", "it has 2 cells, the ship has 3"),
        ("a1", "it has 1 cells, the ship has 3"),
        ("a1-c3", "neither along a row nor along a column"),
        ("a1-b3", "neither along a row nor along a column"),
        ("a1:c1", "it cannot be read"),
        ("", "there is nothing in it"),
    ],
)
def test_illegal_placements(text: str, words: str) -> None:
    with pytest.raises(InvalidAction) as caught:
        SMALL.parse(SMALL.initial_state(), text)
    assert words in str(caught.value)


def test_ships_must_not_overlap() -> None:
    state = play(SMALL, "a2-c2")
    with pytest.raises(IllegalPlacement) as caught:
        SMALL.parse(state, "b1-b2")
    assert "overlaps your ship on b2" in str(caught.value)
    assert isinstance(caught.value, IllegalAction)
    assert caught.value.code == "action/illegal"
    assert "b1-b2" not in caught.value.legal
    assert "b3-b4" in caught.value.legal, "touching is allowed"


def test_the_other_fleet_is_no_obstacle() -> None:
    state = play(SMALL, "a1-c1 a2-b2 d5")
    assert state.to_move == 1
    assert SMALL.parse(state, "a1-c1") == SMALL.parse(SMALL.initial_state(), "c1-a1")


def test_ends_may_be_written_in_either_order() -> None:
    state = SMALL.initial_state()
    assert SMALL.parse(state, "A3-A1") == SMALL.parse(state, "a1-a3")


def test_misses_hits_and_sunken_ships() -> None:
    state = play(SMALL, f"{FLEETS} a1 a1 a4 b1 a5 c1")
    seen = SMALL.observe(state, None).fields()
    assert seen["shots"] == (
        (("a1", "miss"), ("a4", "hit"), ("a5", "sunk")),
        (("a1", "hit"), ("b1", "hit"), ("c1", "sunk")),
    )
    assert seen["sunk"] == (("a1-c1",), ("a4-a5",))
    assert seen["afloat"] == (3, 4)
    assert seen["ships"] == ((), ())


def test_a_cell_is_shot_at_once() -> None:
    state = play(SMALL, f"{FLEETS} a1 a1")
    with pytest.raises(IllegalAction):
        SMALL.parse(state, "a1")
    with pytest.raises(InvalidAction, match="e1 is not on the board"):
        SMALL.parse(state, "e1")


def test_the_first_to_sink_all_wins_and_fleets_are_shown() -> None:
    state = play(TINY, "a1-b1 b2-c2 b2 a1 c2")
    assert state.to_move == TERMINAL
    assert state.returns() == (1.0, -1.0)
    assert TINY.observe(state, None).fields()["ships"] == (("a1-b1",), ("b2-c2",))
    state = play(TINY, "a1-b1 b2-c2 a1 a1 b2 b1")
    assert state.returns() == (-1.0, 1.0)


def test_what_the_other_seat_hides_changes_nothing_that_is_sent() -> None:
    """Non-interference: seat 0 sees the same for every fleet of seat 1 that fits the shots."""
    shots = "a1 a1 b2 b2 c3 c3"
    fleets = ["d1-d3 a4-b4 c5", "a5-c5 d1-d2 a3", "d3-d5 b4-b5 a2"]
    views = []
    for fleet in fleets:
        state = play(SMALL, f"a1-c1 a2-b2 d5 {fleet} {shots}")
        view = [
            SMALL.observe(state, viewer).fields()
            | {"scene": SMALL.scene(SMALL.observe(state, viewer))}
            for viewer in (0, None)
        ]
        views.append(repr((view, SMALL.information_state(state, 0), state.actions())))
    assert len(set(views)) == 1


def test_placements_are_told_to_their_owner_only() -> None:
    start = SMALL.initial_state()
    place = start.actions()[0]
    text = SMALL.format(start, place)
    assert [SMALL.visible(start, place, viewer) for viewer in (0, 1, None)] == [text, None, None]
    state = play(SMALL, FLEETS)
    assert [SMALL.visible(state, 0, viewer) for viewer in (0, 1, None)] == ["a1"] * 3


@settings(max_examples=40, deadline=None)
@given(st.sampled_from([SMALL, TINY, GAME]), st.integers(0, 2**32))
def test_sampled_fleets_fit_everything_seen(game: Any, seed: int) -> None:
    rng = random.Random(seed)
    state = game.initial_state()
    history = [state]
    while state.to_move != TERMINAL:
        state = state.after(rng.choice(state.actions()))
        history.append(state)
    for state in rng.sample(history, min(6, len(history))):
        for seat in (0, 1):
            sampled = game.sample_state(game.observe(state, seat), rng)
            assert game.information_state(sampled, seat) == game.information_state(state, seat)
            assert game.observe(sampled, seat) == game.observe(state, seat)


def test_samples_differ() -> None:
    rng = random.Random(1)
    state = play(SMALL, f"{FLEETS} a4 a4 b4 b4")
    seen = SMALL.observe(state, 0)
    found = {SMALL.describe(SMALL.sample_state(seen, rng)) for _ in range(60)}
    assert len(found) > 5


def fitting_fleets(game: Any, seen: Any) -> list[tuple[int, ...]]:
    """All fleets of seat 1 that fit what seat 0 has seen, by trying every one."""
    waters = game.waters
    shots = [waters.names.index(cell) for cell, _ in seen.shots[0]]
    found: list[tuple[int, ...]] = []
    for places in itertools.product(*waters.places):
        cells = [cell for place in places for cell in waters.cells[place]]
        if len(set(cells)) < len(cells):
            continue
        words: list[str] = []
        sunk: list[str] = []
        for number, cell in enumerate(shots, start=1):
            word = "hit" if cell in cells else "miss"
            for place in places:
                if cell in waters.cells[place] and set(waters.cells[place]) <= set(shots[:number]):
                    word = "sunk"
                    sunk.append(waters.place_names[place])
            words.append(word)
        if words == [word for _, word in seen.shots[0]] and tuple(sunk) == seen.sunk[1]:
            found.append(places)
    return found


@pytest.mark.parametrize(
    ("spec", "moves"),
    [
        ('battleship(columns=4,fleet="3,2",rows=4)', "a1-c1 a2-b2 a1-c1 a2-b2"),
        ('battleship(columns=4,fleet="3,2",rows=4)', "a1-c1 a2-b2 a1-c1 a2-b2 d4 d4 a1 c3"),
        ('battleship(columns=4,fleet="3,2",rows=4)', "a1-c1 a2-b2 a1-c1 a2-b2 b1 d4 a2 c3 c4 c2"),
        ('battleship(columns=4,fleet="3,2,2",rows=4)', "a1-c1 a2-b2 d3-d4 a1-c1 b2-b3 d3-d4 b1 a4"),
        (
            'battleship(columns=4,fleet="3,2,2",rows=4)',
            "a1-c1 a2-b2 d3-d4 a1-c1 b2-b3 d3-d4 b1 a4 b2 b4 d4 c4 a4 d1",
        ),
        (
            'battleship(columns=4,fleet="3,2,2",rows=4)',
            "a1-c1 a2-b2 d3-d4 a1-c1 b2-b3 d3-d4 b2 a4 b3 b4 c1 c4 c3 d1",
        ),
        ('battleship(columns=4,fleet="2,1,1",rows=3)', "a1-b1 c1 c3 a2-a3 b2 c1 b2 c1 a2 a1"),
    ],
)
def test_fleets_are_drawn_evenly(spec: str, moves: str) -> None:
    game: Any = get_game(spec)
    seen = game.observe(play(game, moves), 0)
    # Which of two ships of one length is which nobody can see.
    fleets = {tuple(sorted(fleet)) for fleet in fitting_fleets(game, seen)}
    assert len(fleets) > 5
    rng = random.Random(3)
    each = 40
    drawn = collections.Counter(
        tuple(sorted(game.sample_state(seen, rng).ships1)) for _ in range(each * len(fleets))
    )
    assert set(drawn) <= fleets
    statistic = sum((drawn[fleet] - each) ** 2 / each for fleet in fleets)
    # Chi-square: its mean is the degrees of freedom, its variance twice as much.
    freedom = len(fleets) - 1
    assert abs(statistic - freedom) < 4 * (2 * freedom) ** 0.5


def test_a_search_finds_fleets_where_draws_would_overlap_for_ever() -> None:
    # Ten ships of 3 on 3 by 10 cells, as no match can have them: draws hardly ever fit.
    waters = Waters(3, 10, (3,) * 10)
    found: dict[int, int] = {}
    guesses = Guesses(waters, tuple(range(10)), 0, 0b1001)
    assert guesses.search(random.Random(1), guesses.all, 0, guesses.hits, found)
    cells = [cell for place in found.values() for cell in waters.cells[place]]
    assert sorted(cells) == list(waters.all)
    assert not Guesses(waters, (0, 1), 0, 0b111).search(random.Random(1), 3, 0, 0b111, {})
    with pytest.raises(ValueError, match="no fleet fits"):
        sample_fleet(waters, (0,), 0, 0b10_0000_0001, random.Random(1))


def test_playouts_have_the_chances_of_random_play() -> None:
    rng = random.Random(7)
    state = play(SMALL, f"{FLEETS} a4 a4 a5")
    count = 3000
    drawn = sum(state.playout(rng)[0] for _ in range(count)) / count
    played = 0.0
    for _ in range(count):
        position = state
        while position.to_move != TERMINAL:
            position = position.after(rng.choice(position.actions()))
        played += position.returns()[0] / count
    assert drawn == pytest.approx(played, abs=0.08)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"fleet": "11"}, "a ship of 11 does not fit on a board of 10 by 10"),
        ({"fleet": "0"}, "every ship has a cell"),
        ({"fleet": "five"}, "lengths of ships like"),
        ({"fleet": ""}, "lengths of ships like"),
        ({"fleet": ",".join(["1"] * 11)}, "at most 10 ships"),
        ({"fleet": "3,3,3", "columns": 3, "rows": 3}, "no room for one of 3"),
        ({"columns": 16}, "from 2 to 15"),
    ],
)
def test_bad_fleets_are_refused(parameters: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        type(GAME)(**parameters)
    assert words in str(caught.value)


def test_the_large_board_keeps_every_law() -> None:
    check_game(GAME, max_states=24, seed=2)


def test_scene_says_how_long_the_ships_are_that_are_left_to_place() -> None:
    game = get_game("battleship")
    state: Any = game.initial_state()
    for left in ((5, 4, 3, 3, 2), (4, 3, 3, 2)):
        scene = game.scene(game.observe(state, 0))
        assert [each.lengths for each in scene.elements if isinstance(each, Laying)] == [left]
        assert not any(
            isinstance(each, Laying) for each in game.scene(game.observe(state, 1)).elements
        )
        if len(left) == 5:
            state = state.after(game.parse(state, "a1-a5"))
