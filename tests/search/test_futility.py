"""Futility: estimates far outside of the window are believed near the depth limit."""

from __future__ import annotations

from typing import Any

import pytest

from plyhouse.games import get_game
from plyhouse.search import Limit, alpha_beta

MIDDLE = "r1bq1rk1/pp2bppp/2n1pn2/3p4/3P4/2NBPN2/PP3PPP/R1BQ1RK1 w - - 0 9"


def searched(fen: str, depth: int, **options: Any) -> Any:
    game = get_game(f'chess(fen="{fen}")')
    return alpha_beta(game, game.initial_state(), Limit(depth=depth), deepen=True, **options)


def test_futility_searches_fewer_positions_to_nearly_the_same_value() -> None:
    full = searched(MIDDLE, 4)
    found = searched(MIDDLE, 4, futility=True)
    assert found.nodes < 0.6 * full.nodes
    start: Any = get_game("chess").initial_state()
    margin = start.quiet_margin()
    assert found.value == pytest.approx(full.value, abs=2 * margin)


@pytest.mark.parametrize("reductions", [False, True])
@pytest.mark.parametrize(
    ("fen", "depth"),
    [
        ("6k1/5ppp/8/8/8/8/5PPP/3RR1K1 w - - 0 1", 3),
        ("r5rk/5p1p/5R2/4B3/8/8/7P/7K w - - 0 1", 5),
        # Black has a queen more, and white mates by a quiet move first.
        ("6k1/6pp/8/8/8/1q6/6PP/R4RK1 w - - 0 1", 3),
    ],
)
def test_futility_finds_the_mate_that_a_full_search_finds(
    fen: str, depth: int, reductions: bool
) -> None:
    full = searched(fen, depth)
    found = searched(fen, depth, futility=True, reductions=reductions)
    assert full.value == found.value == 1.0
    assert found.exact


@pytest.mark.parametrize(
    "fen",
    [
        "6k1/5ppp/8/8/8/r7/1r3PPP/6K1 w - - 0 1",
        "7k/8/8/8/8/8/1q6/K7 w - - 0 1",
        "3k4/8/8/8/7q/8/5PPP/4R1K1 w - - 0 1",
    ],
)
def test_futility_calls_no_position_lost_that_is_not(fen: str) -> None:
    # Where the first actions lose at once, the others are still looked at.
    full = searched(fen, 4)
    found = searched(fen, 4, futility=True)
    assert (found.value == -1.0) == (full.value == -1.0)


def test_futility_needs_quiescence() -> None:
    plain = searched(MIDDLE, 3, quiescence=False)
    asked = searched(MIDDLE, 3, quiescence=False, futility=True)
    assert (asked.nodes, asked.value, asked.pv) == (plain.nodes, plain.value, plain.pv)


def test_futility_changes_nothing_where_no_margin_is_known() -> None:
    game = get_game("othello")
    state = game.initial_state()
    plain = alpha_beta(game, state, Limit(depth=5), deepen=True)
    asked = alpha_beta(game, state, Limit(depth=5), deepen=True, futility=True)
    assert (asked.nodes, asked.value, asked.pv) == (plain.nodes, plain.value, plain.pv)
