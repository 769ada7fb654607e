from __future__ import annotations

import itertools
import random
from typing import Any

import pytest
from tests.harness.counting import divide, positions_by_ply

from plyhouse.games import TERMINAL, InvalidParameter, State, get_game
from plyhouse.games.counting import perft
from plyhouse.games.native import COMPILED
from plyhouse.search import alpha_beta

GAME = get_game("connect_four")


def play(moves: str, spec: str = "connect_four") -> State:
    game = get_game(spec)
    state = game.initial_state()
    for move in moves:
        state = state.after(game.parse(state, move))
    return state


@pytest.mark.parametrize(
    ("depth", "count"), [(1, 7), (2, 49), (3, 343), (4, 2401), (5, 16807), (6, 117649), (7, 823536)]
)
def test_perft(depth: int, count: int) -> None:
    state = GAME.initial_state()
    assert perft(state, depth) == count, divide(state, depth)


def test_positions_by_ply() -> None:
    assert positions_by_ply(GAME.initial_state(), 7) == [
        1,
        7,
        49,
        238,
        1120,
        4263,
        16422,
        54859,
    ]


def test_positions_after_eight_plies() -> None:
    assert positions_by_ply(GAME.initial_state(), 8)[-1] == 184_275


@pytest.mark.parametrize(
    ("moves", "line"),
    [
        ("1212121", "upright"),
        ("1122334", "level"),
        ("12234334544", "rising"),
        ("76654554344", "falling"),
    ],
)
def test_four_in_a_line_win(moves: str, line: str) -> None:
    before = play(moves[:-1])
    assert before.to_move == 0, f"{line} line must not be complete before the last disc"
    state = play(moves)
    assert state.to_move == TERMINAL
    assert state.returns() == (1.0, -1.0)
    assert GAME.scene(GAME.observe(state, 1)).status == "first wins"


def test_a_line_does_not_go_on_in_the_next_column() -> None:
    # The top three of column 1 and the lowest of column 2 would be neighbours as bits.
    state = play("112117171")
    board = GAME.observe(state, None).fields()["board"]
    assert [row[0] for row in board] == list("xxxoox")
    assert board[-1][1] == "x"
    assert state.to_move == 1


def test_the_number_of_a_column_is_its_action() -> None:
    state = GAME.initial_state()
    assert state.actions() == (1, 2, 3, 4, 5, 6, 7)
    for action in state.actions():
        assert action == int(GAME.format(state, action)) == GAME.parse(state, str(action))
        board = GAME.observe(state.after(action), None).fields()["board"]
        assert board[-1].index("x") == action - 1


def test_a_full_column_is_closed() -> None:
    state = play("111111")
    assert GAME.observe(state, 0).fields()["legal"] == ("2", "3", "4", "5", "6", "7")


def test_full_board_is_a_draw() -> None:
    spec = "connect_four(columns=2,connect=3,rows=3)"
    state = play("112212", spec)
    assert state.to_move == TERMINAL
    assert state.returns() == (0.0, 0.0)
    assert get_game(spec).scene(get_game(spec).observe(state, 0)).status == "Draw"


def test_board_is_observed_from_the_top() -> None:
    fields = GAME.observe(play("443"), 1).fields()
    assert fields["board"] == (".......",) * 4 + ("...o...", "..xx...")


def test_centre_columns_come_first_in_order() -> None:
    state = GAME.initial_state()
    assert state.order(state.actions()) == (4, 3, 5, 2, 6, 1, 7)  # type: ignore[attr-defined]
    assert state.order((1, 6, 4)) == (4, 6, 1)  # type: ignore[attr-defined]


def test_heuristic_prefers_more_open_lines() -> None:
    centre, edge = play("4"), play("1")
    for state in (centre, edge):
        first, second = state.heuristic()  # type: ignore[attr-defined]
        assert first == -second
    assert centre.heuristic()[0] > edge.heuristic()[0] > 0  # type: ignore[attr-defined]


def counted(rows: tuple[str, ...], connect: int) -> int:
    """The definition of the heuristic, read from the board."""
    balance = 0
    cells = {(r, c): mark for r, row in enumerate(rows) for c, mark in enumerate(row)}
    for (r, c), (down, right) in itertools.product(cells, ((0, 1), (1, 0), (1, 1), (1, -1))):
        line = [cells.get((r + down * i, c + right * i), "edge") for i in range(connect)]
        if "edge" not in line and not {"x", "o"} <= set(line):
            balance += line.count("x") ** 2 - line.count("o") ** 2
    return balance


@pytest.mark.parametrize(
    ("columns", "rows", "connect"),
    [(7, 6, 4), (10, 5, 4), (4, 10, 4), (6, 7, 4), (3, 4, 4), (5, 5, 3), (10, 5, 6), (2, 2, 2)],
)
def test_heuristic_counts_the_open_lines(columns: int, rows: int, connect: int) -> None:
    game = get_game(f"connect_four(columns={columns},connect={connect},rows={rows})")
    rng = random.Random(columns)
    found: set[float] = set()
    for _ in range(40):
        state: Any = game.initial_state()
        while state.to_move >= 0:
            board: Any = game.observe(state, None).fields()["board"]
            lead = counted(board, connect)
            estimate = state.heuristic()[0]
            assert estimate == -state.heuristic()[1]
            if lead:
                found.add(round(estimate / lead, 12))
            else:
                assert estimate == 0
            free = [number for number in range(1, columns + 1) if board[0][number - 1] == "."]
            assert list(state.actions()) == free
            state = state.after(rng.choice(state.actions()))
    assert len(found) <= 1  # one scale for all


def chance_of_first(state: Any) -> float:
    """Seat 0's mean return under uniformly random play."""
    if state.to_move < 0:
        return float(state.returns()[0])
    actions = state.actions()
    return sum(chance_of_first(state.after(action)) for action in actions) / len(actions)


@pytest.mark.parametrize("moves", ["", "1", "23", "231"])
def test_playouts_are_uniformly_random(moves: str) -> None:
    spec = "connect_four(columns=3,connect=3,rows=3)"
    state: Any = play(moves, spec)
    rng = random.Random(5)
    count = 4000
    mean = sum(state.playout(rng)[0] for _ in range(count)) / count
    assert abs(mean - chance_of_first(state)) < 4 / count**0.5


def test_players_may_agree_on_a_draw() -> None:
    assert GAME.info.draw_offers


def test_boards_that_do_not_fit_a_machine_word_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="with 7 columns at most 7 rows fit"):
        get_game("connect_four(rows=8)")


def test_lines_longer_than_the_board_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="from 2 to 3"):
        get_game("connect_four(columns=3,rows=3)")


def test_the_largest_boards_fill_up_within_the_declared_plies() -> None:
    sizes = [(c, r) for c in range(2, 11) for r in range(2, 11) if c * (r + 1) <= 62]
    assert max(c * r for c, r in sizes) == GAME.info.max_plies


@pytest.mark.skipif(not COMPILED, reason="three million positions: takes minutes interpreted")
@pytest.mark.parametrize("replies", ["1", "2", "5", "6", "7", "331", "332", "336"])
def test_the_centre_opening_is_won_for_the_first_player_where_it_can_be_shown(replies: str) -> None:
    """A piece of "the first player wins from the centre column" (Allis 1988, Allen 1988).

    The whole claim takes hours of search; nine plies into its line, every reply but the most
    stubborn one takes less than a second, and so do most replies to that one's continuation.
    """
    state = play("444444223" + replies)
    result = alpha_beta(
        GAME,
        state,
        deepen=False,
        heuristic=False,
        table=True,
        ordering=False,
        null_windows=False,
    )
    assert state.to_move == 0
    assert (result.value, result.exact) == (1.0, True)
