from __future__ import annotations

import random
from typing import Any

import pytest

from plyhouse.games import (
    CHANCE,
    TERMINAL,
    IllegalAction,
    InvalidAction,
    InvalidParameter,
    get_game,
)
from plyhouse.games.stochastic.einstein import CELLS, GONE, START, EinsteinState

GAME = get_game("einstein")
FREE = get_game("einstein(placement=free)")


def at(first: str, second: str, turn: int, rolled: int) -> EinsteinState:
    """Stones by cell, "-" for one that is gone: "a5 - - - - -"."""
    stones = tuple(
        GONE if name == "-" else CELLS.index(name) for name in [*first.split(), *second.split()]
    )
    return EinsteinState(turn if rolled else CHANCE, stones, turn, rolled)


def legal(state: Any) -> list[str]:
    return [GAME.format(state, action) for action in state.actions()]


def test_the_standard_start() -> None:
    start = GAME.initial_state()
    assert GAME.describe(start).splitlines()[:5] == ["123..", "45...", "6...f", "...ed", "..cba"]
    assert start.to_move == CHANCE
    assert [p for _, p in start.chance_outcomes()] == [1 / 6] * 6


def test_the_number_rolled_moves() -> None:
    assert legal(GAME.initial_state().after(3)) == ["c5d5", "c5c4", "c5d4"]


def test_a_missing_number_gives_the_next_ones_on_both_sides() -> None:
    state = at("a5 - - e5 - b3", "e1 d1 c1 e2 d2 e3", 0, 3)
    assert legal(state) == ["a5b5", "a5a4", "a5b4", "e5e4"]
    state = at("a5 - - e5 - b3", "e1 d1 c1 e2 d2 e3", 0, 5)
    assert legal(state) == ["e5e4", "b3c3", "b3b2", "b3c2"]


def test_a_missing_number_at_the_end_gives_one_stone() -> None:
    state = at("- - b4 - - -", "e1 d1 c1 e2 d2 e3", 0, 1)
    assert legal(state) == ["b4c4", "b4b3", "b4c3"]
    state = at("a5 b5 c5 a4 b4 a3", "- - d2 - - -", 1, 6)
    assert legal(state) == ["d2c2", "d2d3", "d2c3"]


def test_own_stones_may_be_captured() -> None:
    start = GAME.initial_state().after(1)
    assert legal(start) == ["a5b5", "a5a4", "a5b4"]
    after = start.after(GAME.parse(start, "a5b4"))
    assert GAME.observe(after, None).fields()["stones"][0] == ("b4", "b5", "c5", "a4", None, "a3")
    assert after.to_move == CHANCE


def test_reaching_the_corner_wins() -> None:
    state = at("d2 - - - - -", "a4 - - - - -", 0, 2)
    over = state.after(GAME.parse(state, "d2e1"))
    assert over.to_move == TERMINAL
    assert over.returns() == (1.0, -1.0)
    state = at("d2 - - - - -", "a4 - - - - -", 1, 2)
    assert state.after(GAME.parse(state, "a4a5")).returns() == (-1.0, 1.0)


def test_capturing_the_last_stone_wins() -> None:
    state = at("b4 - - - - -", "c3 - - - - -", 0, 6)
    over = state.after(GAME.parse(state, "b4c3"))
    assert over.to_move == TERMINAL
    assert over.returns() == (1.0, -1.0)


def test_seats_choose_their_placement() -> None:
    state = FREE.initial_state()
    for number, cell in enumerate(["a3", "b4", "a5", "b5", "c5", "a4"]):
        assert state.to_move == 0
        assert len(state.actions()) == 6 - number
        state = state.after(FREE.parse(state, cell))
    with pytest.raises(IllegalAction):
        FREE.parse(state, "b4")
    for cell in ["e1", "d1", "c1", "e2", "d2", "e3"]:
        assert state.to_move == 1
        state = state.after(FREE.parse(state, cell))
    assert state.to_move == CHANCE
    assert FREE.describe(state).splitlines()[:5] == ["345..", "62...", "1...f", "...ed", "..cba"]


def test_a_place_is_taken_once() -> None:
    state = FREE.initial_state()
    state = state.after(FREE.parse(state, "b4"))
    with pytest.raises(IllegalAction):
        FREE.parse(state, "b4")
    with pytest.raises(IllegalAction):
        FREE.parse(state, "c3")


def test_bad_input() -> None:
    state = GAME.initial_state().after(1)
    with pytest.raises(IllegalAction):
        GAME.parse(state, "b5b4")
    with pytest.raises(InvalidAction):
        GAME.parse(state, "a6b5")
    with pytest.raises(InvalidParameter, match="one of standard, free"):
        get_game("einstein(placement=random)")


def test_captures_and_arrivals_are_noisy() -> None:
    state = at("d3 - - - - -", "e2 a1 - - - -", 0, 1)
    assert [GAME.format(state, action) for action in state.noisy_actions()] == ["d3e2"]


def test_the_heuristic_prefers_the_nearer_stone() -> None:
    state = at("d2 - - - - -", "e2 - - - - -", 0, 0)
    assert state.heuristic()[0] > 0.3
    assert state.heuristic()[1] == -state.heuristic()[0]


def test_playouts_agree_with_random_play() -> None:
    rng = random.Random(5)
    count = 1500
    by_playout = sum(EinsteinState().playout(rng)[0] for _ in range(count)) / count
    by_steps = 0.0
    for _ in range(count):
        state: Any = EinsteinState(CHANCE, START)
        while state.to_move != TERMINAL:
            options = state.actions() or [face for face, _ in state.chance_outcomes()]
            state = state.after(rng.choice(options))
        by_steps += state.returns()[0] / count
    assert by_playout == pytest.approx(by_steps, abs=0.12)
