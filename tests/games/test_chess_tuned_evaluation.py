"""The fitted estimate of chess, and passing."""

from __future__ import annotations

import random
from typing import Any

import pytest

from plyhouse.games import get_game
from plyhouse.games.deterministic.chess.tuned_evaluation import (
    WEIGHTS,
    read_weights,
    square_table,
    tapered,
    term_sum,
)

CHESS: Any = get_game("chess")


def at(fen: str) -> Any:
    return get_game(f'chess(fen="{fen}")').initial_state()


def flipped(fen: str) -> str:
    """The same position with the colours exchanged."""
    board, mover, rights, skipped, clock, number = fen.split()
    board = "/".join(reversed(board.swapcase().split("/")))
    mover = "b" if mover == "w" else "w"
    rights = "".join(sorted(rights.swapcase()))
    if skipped != "-":
        skipped = skipped[0] + {"3": "6", "6": "3"}[skipped[1]]
    return " ".join((board, mover, rights, skipped, clock, number))


def played(plies: int, seed: int) -> Any:
    rng = random.Random(seed)
    state: Any = CHESS.initial_state()
    for _ in range(plies):
        following = state.after(rng.choice(state.actions()))
        if following.to_move < 0:
            break
        state = following
    return state


@pytest.mark.parametrize("seed", range(20))
def test_estimates_are_the_same_for_exchanged_colours(seed: int) -> None:
    state = played(10 + 5 * seed, seed)
    other = at(flipped(CHESS.observe(state, None).fen))
    white, black = state.heuristic()
    assert white == -black
    assert other.heuristic() == (black, white)


def test_term_sum_is_linear_in_the_weights() -> None:
    rng = random.Random(1)
    one = [rng.randrange(-50, 50) for _ in range(WEIGHTS)]
    two = [rng.randrange(-50, 50) for _ in range(WEIGHTS)]
    both = [3 * a + b for a, b in zip(one, two, strict=True)]

    def value(position: bytes, weights: list[int]) -> float:
        return tapered(term_sum(position, square_table(weights), weights), 24)

    for seed in range(10):
        position = played(12 * seed, seed).position
        assert value(position, both) == 3 * value(position, one) + value(position, two)


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ("4k3/8/8/8/8/8/8/Q3K3 w - - 0 1", "4k3/8/8/8/8/8/8/R3K3 w - - 0 1"),
        ("4k3/8/P7/8/8/8/8/4K3 w - - 0 1", "4k3/8/8/8/8/P7/8/4K3 w - - 0 1"),
        ("4k3/8/8/8/8/8/PP6/4K3 w - - 0 1", "4k3/8/8/8/8/P7/P7/4K3 w - - 0 1"),
    ],
    ids=["queen or rook", "passed pawn near its goal", "doubled pawns"],
)
def test_heuristic_prefers(better: str, worse: str) -> None:
    assert at(better).heuristic()[0] > at(worse).heuristic()[0]


def test_weights_of_a_wrong_length_are_refused() -> None:
    with pytest.raises(ValueError, match="are 3 bytes, not"):
        read_weights(b"abc")


def test_passing_changes_the_side_and_forgets_en_passant() -> None:
    state = at("4k3/8/8/3pP3/8/8/8/R3K3 w - d6 0 1")
    rest = state.passed()
    assert CHESS.observe(rest, None).fen.split()[:4] == ["4k3/8/8/3pP3/8/8/8/R3K3", "b", "-", "-"]


@pytest.mark.parametrize(
    "fen",
    [
        "4k3/4r3/8/8/8/8/8/R3K3 w - - 0 1",
        "4k3/8/8/8/8/8/P7/4K3 w - - 0 1",
        "k7/8/1Q6/8/8/8/8/4K3 w - - 0 1",
    ],
    ids=["in check", "king and pawns", "stalemate"],
)
def test_passing_is_refused(fen: str) -> None:
    assert at(fen).passed() is None
