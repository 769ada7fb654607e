from __future__ import annotations

import pytest
from tests.harness.counting import (
    count_complete_games,
    count_nodes,
    count_positions,
    divide,
    positions_by_ply,
)

from plyhouse.games import TERMINAL, State, get_game
from plyhouse.games.counting import perft

GAME = get_game("tic_tac_toe")


def play(*moves: str) -> State:
    state = GAME.initial_state()
    for move in moves:
        state = state.after(GAME.parse(state, move))
    return state


def best(state: State, known: dict[object, float]) -> float:
    """Value for seat 0 by exhaustive minimax."""
    if state.to_move == TERMINAL:
        return state.returns()[0]
    key = state.key()  # type: ignore[attr-defined]
    if key not in known:
        values = [best(state.after(action), known) for action in state.actions()]
        known[key] = max(values) if state.to_move == 0 else min(values)
    return known[key]


@pytest.mark.parametrize(
    ("depth", "count"),
    list(enumerate([1, 9, 72, 504, 3024, 15120, 56160, 154944, 255168])),
)
def test_perft_with_finished_games_as_leaves(depth: int, count: int) -> None:
    state = GAME.initial_state()
    found = perft(state, depth, finished_as_leaf=True)
    assert found == count, divide(state, depth)


def test_number_of_complete_games() -> None:
    assert count_complete_games(GAME.initial_state()) == 255_168


def test_number_of_tree_nodes() -> None:
    assert count_nodes(GAME.initial_state()) == 549_946


def test_number_of_positions() -> None:
    assert count_positions(GAME.initial_state()) == 5_478
    assert sum(positions_by_ply(GAME.initial_state(), 9)) == 5_478


def test_perfect_play_is_a_draw() -> None:
    assert best(GAME.initial_state(), {}) == 0.0


def test_three_in_a_row_wins() -> None:
    state = play("a1", "a2", "b1", "b2", "c1")
    assert state.to_move == TERMINAL
    assert state.returns() == (1.0, -1.0)
    assert GAME.observe(state, None).fields()["winner"] == 0
    assert GAME.scene(GAME.observe(state, None)).status == "X wins"


def test_the_second_player_can_win_too() -> None:
    state = play("a1", "a3", "b1", "b3", "b2", "c3")
    assert state.returns() == (-1.0, 1.0)


def test_full_board_without_a_line_is_a_draw() -> None:
    state = play("a1", "b2", "c3", "b1", "b3", "a3", "c1", "c2", "a2")
    assert state.to_move == TERMINAL
    assert state.returns() == (0.0, 0.0)
    assert GAME.scene(GAME.observe(state, 0)).status == "Draw"


def test_board_is_observed_from_the_top() -> None:
    fields = GAME.observe(play("a1", "c3"), 0).fields()
    assert fields["board"] == ("..O", "...", "X..")
    assert fields["legal"] == ("b1", "c1", "a2", "b2", "c2", "a3", "b3")
