from __future__ import annotations

import pytest
from tests.harness.counting import divide

from plyhouse.games import TERMINAL, IllegalAction, InvalidAction, InvalidParameter, get_game
from plyhouse.games.counting import perft
from plyhouse.games.deterministic.kalah import Kalah, KalahState

GAME = Kalah()


def play(state: KalahState, houses: str) -> KalahState:
    for house in houses:
        state = state.after(GAME.parse(state, house))
    return state


def south(*houses: int, store: int = 0, north: tuple[int, ...], away: int = 0) -> KalahState:
    """A position of the standard size, South to move."""
    return KalahState(0, (*houses, store, *north, away))


@pytest.mark.parametrize(("depth", "count"), [(1, 6), (2, 35), (3, 185), (4, 942), (5, 4690)])
def test_perft(depth: int, count: int) -> None:
    state = GAME.initial_state()
    assert perft(state, depth) == count, divide(state, depth)


def test_sowing_goes_on_in_the_houses_of_the_other() -> None:
    state = play(GAME.initial_state(), "6")
    assert state.pits == (4, 4, 4, 4, 4, 0, 1, 5, 5, 5, 4, 4, 4, 0)
    assert state.to_move == 1


def test_the_other_store_is_skipped() -> None:
    state = south(0, 0, 0, 1, 0, 11, north=(1, 1, 1, 1, 1, 1))
    assert play(state, "6").pits == (1, 1, 1, 2, 0, 0, 1, 2, 2, 2, 2, 2, 2, 0)


def test_last_seed_in_the_store_moves_again() -> None:
    state = play(GAME.initial_state(), "3")
    assert state.to_move == 0
    assert state.actions() == (1, 2, 4, 5, 6)
    north = play(play(GAME.initial_state(), "6"), "2")
    assert north.to_move == 1
    assert north.pits[13] == 1


def test_chains_of_extra_turns() -> None:
    state = south(2, 0, 0, 0, 2, 1, north=(1, 0, 0, 0, 0, 0))
    for house, stored in (("6", 1), ("5", 2), ("6", 3)):
        state = play(state, house)
        assert state.to_move == 0
        assert state.pits[6] == stored
    assert play(state, "1").to_move == 1


def test_last_seed_in_an_own_empty_house_captures_with_what_is_opposite() -> None:
    state = south(1, 0, 3, 0, 0, 0, north=(0, 0, 0, 0, 5, 2))
    assert play(state, "1").pits == (0, 0, 3, 0, 0, 0, 6, 0, 0, 0, 0, 0, 2, 0)
    assert play(state, "1").to_move == 1


def test_nothing_is_captured_when_nothing_is_opposite() -> None:
    state = south(1, 0, 3, 0, 0, 0, north=(0, 0, 0, 0, 0, 2))
    assert play(state, "1").pits == (0, 1, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0)


def test_nothing_is_captured_in_a_house_that_had_seeds_or_is_not_own() -> None:
    state = south(1, 2, 0, 0, 0, 2, north=(0, 0, 0, 0, 5, 2))
    assert play(state, "1").pits[:7] == (0, 3, 0, 0, 0, 2, 0)
    assert play(state, "6").pits[6:8] == (1, 1)


def test_a_whole_round_ends_in_the_emptied_house_and_captures() -> None:
    state = south(13, 0, 0, 0, 0, 0, north=(1, 0, 0, 0, 0, 1))
    reached = play(state, "1")
    assert reached.pits == (0, 1, 1, 1, 1, 1, 1 + 1 + 2, 2, 1, 1, 1, 1, 0, 0)


def test_seeds_that_are_left_go_to_their_owner() -> None:
    state = south(0, 0, 0, 0, 0, 1, store=10, north=(3, 0, 0, 0, 0, 4), away=2)
    reached = play(state, "6")
    assert reached.to_move == TERMINAL
    assert reached.pits == (0, 0, 0, 0, 0, 0, 11, 0, 0, 0, 0, 0, 0, 9)
    assert reached.returns() == (1.0, -1.0)


def test_the_game_ends_also_when_the_other_side_is_empty() -> None:
    state = south(1, 0, 3, 0, 0, 0, store=1, north=(0, 0, 0, 0, 5, 0), away=20)
    reached = play(state, "1")
    assert reached.to_move == TERMINAL
    assert reached.pits[6] == 1 + 6 + 3
    assert reached.returns() == (-1.0, 1.0)


def test_as_many_seeds_are_a_draw() -> None:
    state = south(0, 0, 0, 0, 0, 1, store=1, north=(2, 0, 0, 0, 0, 0))
    reached = play(state, "6")
    assert reached.returns() == (0.0, 0.0)
    assert GAME.scene(GAME.observe(reached, 0)).status == "Draw"


def test_small_boards_and_the_largest_end_within_the_declared_plies() -> None:
    assert Kalah(houses=2, seeds=1).info.max_plies == GAME.info.max_plies
    # Each ply stores a seed or brings one at least a house nearer: 200 seeds, 9 houses.
    assert GAME.info.max_plies == 200 * (9 * 200 + 1)


def test_order_puts_extra_turns_first() -> None:
    state = GAME.initial_state()
    assert state.order(state.actions()) == (3, 6, 5, 4, 2, 1)


def test_heuristic_is_the_lead() -> None:
    assert GAME.initial_state().heuristic() == (0.0, 0.0)
    first, second = play(GAME.initial_state(), "3").heuristic()
    assert 0 < first == -second < 1


def test_houses_are_drawn_against_the_clock() -> None:
    grid = GAME.scene(GAME.observe(GAME.initial_state(), 0)).elements[0]
    assert [cell.action for cell in grid.rows[1]] == ["1", "2", "3", "4", "5", "6"]  # type: ignore[union-attr]
    assert [cell.action for cell in grid.rows[0]] == [None] * 6  # type: ignore[union-attr]
    assert grid.rows[0][0].label == "house 6 of North, seeds 4"  # type: ignore[union-attr]


def test_empty_houses_are_illegal_and_words_invalid() -> None:
    state = play(GAME.initial_state(), "3")
    with pytest.raises(IllegalAction, match="legal here: 1, 2, 4, 5, 6"):
        GAME.parse(state, "3")
    with pytest.raises(InvalidAction, match="the number of a house from 1 to 6"):
        GAME.parse(state, "third")


@pytest.mark.parametrize("spec", ["kalah(houses=1)", "kalah(houses=11)", "kalah(seeds=0)"])
def test_sizes_have_limits(spec: str) -> None:
    with pytest.raises(InvalidParameter, match="a whole number from"):
        get_game(spec)
