"""States of backgammon: playouts, estimates, observations, notation and drawing."""

from __future__ import annotations

import random
from typing import Any

import pytest
from tests.harness.backgammon_positions import GAME, at, play

from plyhouse.games import CHANCE, TERMINAL, IllegalAction
from plyhouse.games.scene import Button, Counter, Dice
from plyhouse.games.stochastic.backgammon.estimate import points_of
from plyhouse.games.stochastic.backgammon.rules import ROLLS, START, BackgammonState, pips
from plyhouse.games.stochastic.backgammon.turns import farthest

# Chance, playouts and estimates


def played_out(state: BackgammonState, rng: random.Random) -> tuple[float, ...]:
    """A random game by actions, with dice and turns drawn as a playout draws them."""
    while state.to_move != TERMINAL:
        if state.to_move == CHANCE:
            one, other = int(rng.random() * 6) + 1, int(rng.random() * 6) + 1
            if state.turn < 0:
                if one != other:
                    state = state.after(10 * one + other)
                continue
            state = state.after(10 * max(one, other) + min(one, other))
        else:
            turns = state.actions()
            state = state.after(turns[int(rng.random() * len(turns))])
    return state.returns()


@pytest.mark.parametrize(
    "position",
    [
        "",
        "24x2 13x5 8x3 6x5; 24x2 13x5 8x3 6x5; 0",
        "24x2 13x5 8x3 6x5; 24x2 13x5 8x3 6x5; 1 31",
        "6x2; bar 6x14; 0 66",
        "bar 6x14; 6x2; 1",
        "6x3 1; 5x2; 1 65",
    ],
)
def test_playout_is_a_game_of_random_turns(position: str) -> None:
    _, state = at(position)
    for seed in range(6):
        assert state.playout(random.Random(seed)) == played_out(state, random.Random(seed))


def test_playout_from_the_end_is_its_result() -> None:
    state: Any = play("1; 6x15; 0 21", "1/off")
    assert state.playout(random.Random(1)) == state.returns() == (2.0, -2.0)


def test_heuristic_is_the_estimate_of_the_seat_that_rolls_next() -> None:
    one, two = at("24x2 13x5 8x3 6x5; 13x5 8x3 6x6 bar; 0")[1].key()[2:]
    value = points_of(one, two)
    for dice, to_move in ((0, CHANCE), (31, 0)):
        assert BackgammonState(to_move, one, two, 0, dice).heuristic() == (value, -value)
    assert BackgammonState(CHANCE, two, one, 1, 0).heuristic() == (-value, value)
    assert value != 0.0
    start: Any = GAME.initial_state()
    assert start.heuristic() == (0.0, 0.0)
    assert play("1; 6x15; 0 21", "1/off").heuristic() == (2.0, -2.0)


def test_start_and_its_observation_are_before_the_opening_roll() -> None:
    state: Any = GAME.initial_state()
    assert state.key() == (-1, 0, START, START)
    assert (state.to_move, state.dice, state.turn) == (CHANCE, 0, -1)
    seen = GAME.observe(state, None).fields()
    assert (seen["turn"], seen["dice"], seen["pips"]) == (None, (), (167, 167))
    assert state.actions() == ()
    assert pips((0, 1, *[0] * 22, 1, 1)) == 1 + 24 + 25


def test_sampled_state_is_the_one_observed() -> None:
    rng = random.Random(4)
    state: Any = GAME.initial_state()
    for _ in range(60):
        for seat in (None, 0, 1):
            again: Any = GAME.sample_state(GAME.observe(state, seat), rng)
            assert (again.to_move, again.key()) == (state.to_move, state.key())
        choices = state.actions() or [roll for roll, _ in state.chance_outcomes()]
        if not choices:
            break
        state = state.after(rng.choice(choices))
        assert state.chance_outcomes() == (ROLLS if state.to_move == CHANCE else ())


def test_likely_turns_begin_at_the_point_of_the_text() -> None:
    game: Any
    game, state = at("bar 24 13x5; 6x5; 0 31")
    actions = state.actions()
    assert game.likely(state, "bar/22 24/23", actions) == actions
    assert game.likely(state, "24/23 bar/22", actions) == ()
    game, state = at("24x2 13x5; 6x5; 0 31")
    for text, point in (("24/23 13/10", 24), ("13/9", 13)):
        chosen = game.likely(state, text, state.actions())
        assert 0 < len(chosen) < len(state.actions())
        assert {farthest(action) for action in chosen} == {point}
    assert game.likely(state, "25/24", state.actions()) == ()
    assert game.likely(state, "pass", (0,)) == (0,)
    assert game.likely(state, "x", (0,)) == ()


def test_parsed_turn_hits_wherever_a_star_is_written_also_on_the_last_point() -> None:
    game, state = at("8 6; 24 6x5; 0 51")
    hit = game.parse(state, "8/7 6/1*")
    assert game.format(state, hit) == "8/7 6/1*"
    assert game.parse(state, "6/1* 8/7") == hit
    assert game.parse(state, "6/1 8/7") == hit
    with pytest.raises(IllegalAction):
        game.parse(state, "6/1* 8/7*")


# Drawing


def test_scene_shows_points_bars_and_checkers_borne_off_by_the_viewers_numbers() -> None:
    game, state = at("bar 24x2 6x3; 13x4 3x2 bar; 1 42")
    for viewer in (None, 0, 1):
        scene = game.scene(game.observe(state, viewer))
        own = viewer or 0
        grid: Any = scene.elements[0]
        top, bottom = grid.rows
        checkers = game.observe(state, viewer).checkers
        names = [str(point) for point in range(13, 25)]
        assert [cell.name for cell in top] == [*names[:6], "", *names[6:], ""]
        names = [str(point) for point in range(12, 0, -1)]
        assert [cell.name for cell in bottom] == [*names[:6], "bar", *names[6:], "off"]
        for cell in (*top, *bottom):
            if cell.name.isdecimal():
                point = int(cell.name)
                mine, theirs = checkers[own][point], checkers[1 - own][25 - point]
                assert (cell.count or 0) == mine + theirs
                if mine + theirs:
                    owner = own if mine else 1 - own
                    assert (cell.owner, cell.text) == (owner, f"{'xo'[owner]}{mine + theirs}")
                    name = ("first", "second")[owner]
                    assert cell.label == f"point {point}, {mine + theirs} of {name}"
        for row, side in ((top, 1 - own), (bottom, own)):
            for place, point in ((6, 25), (13, 0)):
                assert (row[place].count or 0) == checkers[side][point]
                assert row[place].owner == (side if checkers[side][point] else None)
        assert scene.status == "second to play 4 and 2"
        assert scene.elements[1:4] == (
            Counter("Pips of first", 25 + 48 + 18, None, 0),
            Counter("Pips of second", 52 + 6 + 25, None, 1),
            Dice("Dice", (4, 2), 1),
        )
        assert grid.column_labels[:2] == ("13/12", "14/11")
        assert (grid.column_labels[6], grid.column_labels[13]) == ("bar", "off")
        buttons = [each for each in scene.elements if isinstance(each, Button)]
        legal_texts = {game.format(state, action) for action in state.actions()}
        assert {each.action for each in buttons} == (legal_texts if viewer == 1 else set())


def test_status_tells_who_rolls_plays_or_wins_and_how() -> None:
    def status(state: Any) -> str:
        return GAME.scene(GAME.observe(state, None)).status

    assert status(GAME.initial_state()) == "The opening roll"
    assert status(at("6; 6; 1")[1]) == "second rolls"
    assert status(at("6; 6; 0 61")[1]) == "first to play 6 and 1"
    assert status(play("1; 6x14; 0 21", "1/off")) == "first wins"
    assert status(play("6x15; 1; 1 21", "1/off")) == "second wins a gammon"
    assert status(play("1; bar 6x14; 0 21", "1/off")) == "first wins a backgammon"


@pytest.mark.parametrize(
    ("position", "turn", "pairs"),
    [
        ("13; 6x5; 0 31", "13/9", [("13/9", (3,)), ("13/10 10/9", (1, 2)), ("13/12 12/9", (2, 1))]),
        ("13; 15x2; 0 31", "13/9", [("13/9", (3,)), ("13/12 12/9", (2, 1))]),
        ("bar 6; 6x5; 0 52", "bar/20 6/4", [("bar/20 6/4", (1, 2))]),
        (
            "6x2; 6x5; 0 33",
            "6/off(2)",
            [("6/off 6/off", (0b11, 0b1100)), ("6/3 3/off 6/3 3/off", (1, 4, 2, 8))],
        ),
        ("2 1; 6x5; 0 65", "2/off 1/off", [("2/off 1/off", (2, 1))]),
    ],
)
def test_buttons_of_a_turn_are_its_moves_and_the_dice_of_each(
    position: str, turn: str, pairs: list[tuple[str, tuple[int, ...]]]
) -> None:
    game, state = at(position)
    scene = game.scene(game.observe(state, 0))
    buttons = [each for each in scene.elements if isinstance(each, Button) and each.action == turn]
    assert [(each.via, each.dice) for each in buttons] == [
        (tuple(words.replace("/", " ").split()), dice) for words, dice in pairs
    ]


def test_dice_are_displayed_by_their_faces_and_turns_in_notation() -> None:
    start: Any = GAME.initial_state()
    assert GAME.display(start, 31) == "⚂⚀"
    state = start.after(31)
    action = GAME.parse(state, "8/5 6/5")
    assert GAME.display(state, action) == "8/5 6/5"
    assert GAME.format_chance(start, 31) == "31"
