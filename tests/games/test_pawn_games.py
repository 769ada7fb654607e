"""Hexapawn and breakthrough."""

from __future__ import annotations

import random
from typing import Any

import pytest
from tests.harness.counting import count_complete_games, divide

from plyhouse.games import TERMINAL, IllegalAction, InvalidAction, InvalidParameter, get_game
from plyhouse.games.counting import perft
from plyhouse.games.deterministic.pawns import PawnState, pawn_board, read_pawns

HEXAPAWN = get_game("hexapawn")
BREAKTHROUGH = get_game("breakthrough")


def play(spec: str, moves: str) -> Any:
    game = get_game(spec)
    state = game.initial_state()
    for move in moves.split():
        state = state.after(game.parse(state, move))
    return state


def value(state: Any) -> float:
    """Returns of seat 0 under best play."""
    known: dict[Any, float] = {}

    def solve(position: Any) -> float:
        if position.to_move == TERMINAL:
            return float(position.returns()[0])
        key = position.key()
        if key not in known:
            values = [solve(position.after(action)) for action in position.actions()]
            known[key] = max(values) if position.to_move == 0 else min(values)
        return known[key]

    return solve(state)


@pytest.mark.parametrize(
    ("spec", "counts"),
    [
        ("hexapawn", [3, 10, 28]),
        ("hexapawn(size=4)", [4, 16, 66]),
        ("breakthrough", [22, 484, 11132]),
    ],
)
def test_perft(spec: str, counts: list[int]) -> None:
    state = get_game(spec).initial_state()
    assert [perft(state, depth + 1) for depth in range(len(counts))] == counts, divide(state, 2)


def test_breakthrough_perft_of_four() -> None:
    assert perft(BREAKTHROUGH.initial_state(), 4) == 256_036


def test_hexapawn_has_134_complete_games() -> None:
    assert count_complete_games(HEXAPAWN.initial_state()) == 134


def test_the_second_player_wins_hexapawn_on_nine_squares_the_first_on_sixteen() -> None:
    assert value(HEXAPAWN.initial_state()) == -1.0
    assert value(get_game("hexapawn(size=4)").initial_state()) == 1.0


def test_hexapawns_go_straight_or_take_slanting() -> None:
    state = play("hexapawn", "a1a2")
    assert HEXAPAWN.legal_text(state, 1) == ("b3a2", "b3b2", "c3c2")
    with pytest.raises(IllegalAction):
        HEXAPAWN.parse(state, "a3a2")


def test_the_far_rank_wins_hexapawn() -> None:
    state = play("hexapawn", "a1a2 b3b2 c1b2 a3b2 a2a3")
    assert state.to_move == TERMINAL
    assert state.returns() == (1.0, -1.0)


def test_leaving_no_legal_move_wins_hexapawn() -> None:
    state = play("hexapawn", "a1a2 b3a2 b1a2")
    assert state.to_move == 1
    state = play("hexapawn", "a1a2 b3b2 c1c2")
    assert state.to_move == TERMINAL
    assert state.returns() == (1.0, -1.0)
    state = play("hexapawn", "b1b2 c3b2 c1b2 a3b2 a1b2")
    assert state.returns() == (1.0, -1.0)


def test_the_sign_bit_square_is_a_square_like_others() -> None:
    state = play("hexapawn(size=8)", "g1g2 h8h7 g2g3 h7h6 g3g4 h6h5 g4h5")
    board = get_game("hexapawn(size=8)").observe(state, None).fields()["board"]
    assert board[0] == "bbbbbbb."
    assert board[3] == ".......w"
    game = get_game("breakthrough")
    moves = "g2g3 h7g6 g3g4 h8h7 g4g5 h7h6 a2a3 h6g5"
    reached = play("breakthrough", moves)
    board = game.observe(reached, None).fields()["board"]
    assert board[0] == "bbbbbbb."
    assert board[1] == "bbbbbbb."
    assert board[3] == "......b."


def test_pawns_of_breakthrough_never_take_straight() -> None:
    board = pawn_board(4, True)
    white, black = read_pawns(("....", "bb..", "ww..", "...."))
    state = PawnState(0, white, black, -1, board)
    game = get_game("breakthrough(size=4)")
    assert set(game.legal_text(state, 0)) == {"a2b3", "b2a3", "b2c3"}


def test_pawns_of_breakthrough_slant_onto_empty_squares_and_take() -> None:
    state = play("breakthrough(size=5)", "c2c3")
    game = get_game("breakthrough(size=5)")
    assert {"b4c3", "d4c3"} <= set(game.legal_text(state, 1))
    assert "c4c3" not in game.legal_text(state, 1)
    assert {"a4a3", "a4b3"} <= set(game.legal_text(state, 1))
    taken = state.after(game.parse(state, "b4c3"))
    assert game.observe(taken, None).fields()["board"][2] == "..b.."


@pytest.mark.parametrize(
    ("rows", "mover", "move", "returns"),
    [
        (("b...", "w...", "....", "...."), 0, "a3b4", (1.0, -1.0)),
        (("....", "....", "b...", "w..."), 1, "a2b1", (-1.0, 1.0)),
        (("....", "..b.", ".w..", "...."), 0, "b2c3", (1.0, -1.0)),
        (("....", "..b.", ".w..", "...."), 1, "c3b2", (-1.0, 1.0)),
    ],
)
def test_reaching_the_far_rank_or_taking_all_wins(
    rows: tuple[str, ...], mover: int, move: str, returns: tuple[float, float]
) -> None:
    game = get_game("breakthrough(size=4)")
    white, black = read_pawns(rows)
    state = PawnState(mover, white, black, -1, pawn_board(4, True))
    reached = state.after(game.parse(state, move))
    assert reached.to_move == TERMINAL
    assert reached.returns() == returns
    assert game.scene(game.observe(reached, 0)).status == (
        "White wins" if returns[0] > 0 else "Black wins"
    )


def test_captures_and_the_foremost_pawns_come_first() -> None:
    white, black = read_pawns(("....", "b.w.", ".w..", "w..."))
    state = PawnState(0, white, black, -1, pawn_board(4, True))
    game = get_game("breakthrough(size=4)")
    texts = [game.format(state, action) for action in state.order(state.actions())]
    assert {text[:2] for text in texts[:3]} == {"c3"}
    assert texts[3] == "b2a3"
    assert texts[-1][:2] == "a1"
    noisy = [game.format(state, action) for action in state.noisy_actions()]
    assert sorted(noisy) == sorted(["b2a3", *texts[:3]])


@pytest.mark.parametrize("size", [4, 6, 8])
def test_noisy_actions_are_those_that_take_or_win(size: int) -> None:
    game = get_game(f"breakthrough(size={size})")
    rng = random.Random(size)
    for _ in range(30):
        state: Any = game.initial_state()
        while state.to_move >= 0:
            pawns = state.white.bit_count() + (state.black % (1 << 64)).bit_count()
            wanted = []
            for action in state.actions():
                after = state.after(action)
                left = after.white.bit_count() + (after.black % (1 << 64)).bit_count()
                if left < pawns or after.to_move == TERMINAL:
                    wanted.append(action)
            assert list(state.noisy_actions()) == wanted
            state = state.after(rng.choice(state.actions()))


def test_hexapawn_orders_captures_first() -> None:
    state = play("hexapawn", "b1b2")
    ordered = [HEXAPAWN.format(state, action) for action in state.order(state.actions())]
    assert ordered == ["c3b2", "a3b2", "a3a2", "c3c2"]
    assert len(state.noisy_actions()) == 2


@pytest.mark.parametrize("spec", ["hexapawn(size=8)", "breakthrough"])
def test_heuristics_start_even_and_grow_with_advance(spec: str) -> None:
    assert get_game(spec).initial_state().heuristic() == (0.0, 0.0)  # type: ignore[attr-defined]
    move = "d1d2" if spec.startswith("hexapawn") else "d2d3"
    first, second = play(spec, move).heuristic()
    assert 0 < first == -second < 1


@pytest.mark.parametrize(
    "spec", ["hexapawn(size=2)", "hexapawn(size=9)", "breakthrough(size=3)", "breakthrough(size=9)"]
)
def test_sizes_have_limits(spec: str) -> None:
    with pytest.raises(InvalidParameter, match="a whole number from"):
        get_game(spec)


def test_what_is_not_two_squares_is_invalid() -> None:
    with pytest.raises(InvalidAction, match="the squares from and to, like a2a3"):
        BREAKTHROUGH.parse(BREAKTHROUGH.initial_state(), "a2-a3")
