from __future__ import annotations

import pickle
import random
from typing import Any

import pytest
from tests.harness.counting import divide

from plyhouse.games import TERMINAL, IllegalAction, InvalidAction, InvalidPosition, get_game
from plyhouse.games.counting import perft
from plyhouse.games.deterministic.othello.rules import Othello
from plyhouse.games.native import COMPILED

GAME = get_game("othello")


def at(*rows: str, mover: str = "x") -> tuple[Othello, Any]:
    """The game from a position of which the last rows are empty."""
    board = "".join(rows).ljust(64, "-")
    game = Othello(position=f"{board} {mover}")
    return game, game.initial_state()


def play(moves: str) -> Any:
    state = GAME.initial_state()
    for move in moves.split():
        state = state.after(GAME.parse(state, move))
    return state


@pytest.mark.parametrize(
    ("depth", "count"), [(1, 4), (2, 12), (3, 56), (4, 244), (5, 1396), (6, 8200), (7, 55092)]
)
def test_perft(depth: int, count: int) -> None:
    state = GAME.initial_state()
    assert perft(state, depth) == count, divide(state, depth)


@pytest.mark.skipif(not COMPILED, reason="deep counts want the compiled games")
@pytest.mark.parametrize(("depth", "count"), [(8, 390_216), (9, 3_005_288), (10, 24_571_284)])
def test_deep_perft(depth: int, count: int) -> None:
    # The 228 plays in which all discs of one colour are gone after nine plies count on.
    assert perft(GAME.initial_state(), depth, finished_as_leaf=True) == count


@pytest.mark.skipif(not COMPILED, reason="deep counts want the compiled games")
def test_plays_that_end_after_nine_plies_can_be_left_out() -> None:
    assert perft(GAME.initial_state(), 10) == 24_571_284 - 228


def test_black_begins_and_a1_is_at_the_top_left() -> None:
    assert GAME.seat_name(0) == "Black"
    fields = GAME.observe(GAME.initial_state(), 0).fields()
    assert fields["legal"] == ("d3", "c4", "f5", "e6")
    assert fields["board"][3:5] == ("...ox...", "...xo...")


def test_lines_in_all_directions_are_turned() -> None:
    game, state = at(
        "x--x--x-",
        "-o-o-o--",
        "--ooo---",
        "xoo-oox-",
        "--ooo---",
        "-o-o-o--",
        "x--o--x-",
        "---x----",
    )
    state = state.after(game.parse(state, "d4"))
    assert state.white == 0
    assert state.to_move == TERMINAL
    assert state.returns() == (1.0, -1.0)


def test_lines_that_are_not_enclosed_stay() -> None:
    game, state = at("xo-oo-ox")
    assert game.legal_text(state, 0) == ("c1", "f1")
    state = state.after(game.parse(state, "c1"))
    assert game.observe(state, None).fields()["board"][0] == "xxxoo.ox"


def test_lines_do_not_go_on_at_the_other_edge() -> None:
    game, state = at("xo------", "-----xoo", "o-------")
    assert game.legal_text(state, 0) == ("c1",)


def test_corners_can_be_taken_and_their_lines_turned() -> None:
    rows = ["xooooooo"[:7] + "-"] + ["o------o"] * 6 + ["-oooooox"]
    game, state = at(*rows)
    assert {"h1", "a8"} <= set(game.legal_text(state, 0))
    state = state.after(game.parse(state, "h1"))
    board = game.observe(state, None).fields()["board"]
    assert board[0] == "xxxxxxxx"
    assert all(row[7] == "x" for row in board)


def test_the_last_square_can_be_played() -> None:
    game, state = at("x-------", "-o------", "--o-----", "---o----", *["-" * 8] * 2, "------o-")
    assert game.legal_text(state, 0) == ("e5",)
    rows = ["x-------", "-o------", "--o-----", "---o----", "----o---", "-----o--", "------o-"]
    game, state = at(*rows)
    assert game.legal_text(state, 0) == ("h8",)
    state = state.after(game.parse(state, "h8"))
    assert state.to_move == TERMINAL
    assert game.observe(state, None).fields()["discs"] == (8, 0)


def test_pass_only_when_nothing_else_is_legal() -> None:
    game, state = at("-oxxxxxx", mover="o")
    assert game.legal_text(state, 1) == ("pass",)
    with pytest.raises(IllegalAction, match="legal here: pass"):
        game.parse(state, "a1")
    state = state.after(game.parse(state, "pass"))
    assert state.to_move == 0
    assert game.legal_text(state, 0) == ("a1",)
    with pytest.raises(IllegalAction, match="legal here: d3"):
        GAME.parse(GAME.initial_state(), "pass")


def test_double_pass_ends_the_game_with_squares_empty() -> None:
    # White has a disc left, but neither side can enclose anything.
    game, state = at("xo------", "--------", "--------", "------oo")
    state = state.after(game.parse(state, "c1"))
    assert state.to_move == TERMINAL
    assert state.actions() == ()
    assert game.observe(state, None).fields()["discs"] == (3, 2)
    assert state.returns() == (1.0, -1.0)


def test_the_shortest_game_takes_all_discs_in_nine_plies() -> None:
    state = play("e6 f4 e3 f6 g5 d6 e7 f5 c5")
    assert state.to_move == TERMINAL
    assert state.white == 0
    assert state.returns() == (1.0, -1.0)


def test_as_many_discs_are_a_draw() -> None:
    game, state = at("xo------", "--------", "--------", "-----ooo")
    state = state.after(game.parse(state, "c1"))
    assert state.to_move == TERMINAL
    assert state.returns() == (0.0, 0.0)
    assert game.scene(game.observe(state, 0)).status == "Draw"


def test_every_free_square_that_is_legal_can_be_chosen() -> None:
    grid: Any = GAME.scene(GAME.observe(GAME.initial_state(), 0)).elements[0]
    assert grid.rows[2][3].action == "d3"
    assert grid.rows[0][0].label == "a1, empty"


def test_corners_come_first_in_order() -> None:
    game, state = at("-ox-----", "o-------", "x-------", "-ox-----")
    texts = [game.format(state, action) for action in state.order(state.actions())]
    assert texts[0] == "a1"
    assert state.order((64,)) == (64,)


def test_heuristic_likes_corners() -> None:
    corner = at("xxo-----")[1].heuristic()
    edge = at("--xxo---")[1].heuristic()
    assert corner[0] == -corner[1]
    assert corner[0] > edge[0]


@pytest.mark.parametrize(
    ("position", "reason"),
    [
        ("xo x", "the board has 2 squares, not 64"),
        ("-" * 64, "write the board, a blank and who is to move"),
        ("x" * 63 + "q x", "'q' stands on h8"),
        ("xo" + "-" * 62 + " z", "'z' is to move"),
        ("-" * 64 + " x", "neither side can place"),
        ("x" * 64 + " x", "neither side can place"),
    ],
)
def test_impossible_positions_are_refused(position: str, reason: str) -> None:
    with pytest.raises(InvalidPosition, match=reason):
        Othello(position=position)


def test_what_is_not_a_square_is_invalid() -> None:
    with pytest.raises(InvalidAction, match="a square from a1 to h8"):
        GAME.parse(GAME.initial_state(), "3d")


def test_plays_fit_the_declared_plies() -> None:
    # Three discs are the fewest from which one can be placed; a pass never follows a pass.
    assert GAME.info.max_plies >= 2 * (64 - 3)


def test_by_score_the_returns_are_the_discs_and_empty_squares_go_to_the_winner() -> None:
    board = "xo------" + "-" * 16 + "------oo" + "-" * 32
    game = Othello(position=f"{board} x", score=True)
    state = game.initial_state()
    state = state.after(game.parse(state, "c1"))
    assert state.to_move == TERMINAL
    assert state.returns() == (60.0, -60.0)  # three discs and 59 empty squares against two
    assert game.return_bounds == (-64.0, 64.0)
    assert game.spec == f'othello(position="{board} x",score=true)'


def test_by_score_as_many_discs_are_worth_nothing() -> None:
    board = "xo------" + "-" * 16 + "-----ooo" + "-" * 32
    game = Othello(position=f"{board} x", score=True)
    state = game.initial_state()
    assert state.after(game.parse(state, "c1")).returns() == (0.0, 0.0)


def test_by_score_estimates_are_within_the_returns_and_of_their_size() -> None:
    plain: Any = GAME.initial_state()
    scored: Any = Othello(score=True).initial_state()
    for move in ["d3", "c3", "b3", "d2"]:
        plain = plain.after(GAME.parse(plain, move))
        scored = scored.after(GAME.parse(scored, move))
        assert scored.heuristic()[0] == 64.0 * plain.heuristic()[0]


def test_by_score_is_kept_by_copies_and_observations() -> None:
    game = Othello(score=True)
    state = game.initial_state()
    state = state.after(game.parse(state, "d3"))
    seen = game.observe(state, None)
    for other in (pickle.loads(pickle.dumps(state)), game.sample_state(seen, random.Random(1))):
        assert other.score
        assert other.key() == state.key()
