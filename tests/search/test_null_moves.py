"""Null moves, and reductions: searches that look less deeply where it seems to matter less."""

from __future__ import annotations

from typing import Any

import pytest

from plyhouse.games import get_game
from plyhouse.search import Limit, alpha_beta

MIDDLE = "r1bq1rk1/pp2bppp/2n1pn2/3p4/3P4/2NBPN2/PP3PPP/R1BQ1RK1 w - - 0 9"


def searched(fen: str, depth: int, **options: Any) -> Any:
    game = get_game(f'chess(fen="{fen}")')
    return alpha_beta(game, game.initial_state(), Limit(depth=depth), deepen=True, **options)


def test_null_moves_search_fewer_positions() -> None:
    # White is a queen up, and stands well in most positions even after a pass.
    fen = "r5k1/5ppp/8/8/8/8/5PPP/3QR1K1 w - - 0 1"
    assert searched(fen, 4, null_moves=True).nodes < 0.7 * searched(fen, 4).nodes


@pytest.mark.parametrize(
    "fen",
    [
        "6k1/5ppp/8/8/8/8/5PPP/3RR1K1 w - - 0 1",
        "r5rk/5p1p/5R2/4B3/8/8/7P/7K w - - 0 1",
    ],
)
def test_null_moves_find_the_mate_that_a_full_search_finds(fen: str) -> None:
    full = searched(fen, 5)
    found = searched(fen, 5, null_moves=True)
    assert full.value == found.value == 1.0
    assert found.exact


def test_reductions_find_a_mate_with_checks_two_plies_sooner() -> None:
    fen = "r2n1rk1/1ppb2pp/1p1p4/3Ppq1n/2B3P1/2P4P/PP1N1P1K/R2Q1RN1 b - - 0 1"
    assert searched(fen, 5).value == searched(fen, 3, reductions=True).value == 1.0
    assert searched(fen, 4).value < 1.0


def test_reductions_search_few_positions_to_nearly_the_same_value() -> None:
    full, found = searched(MIDDLE, 4), searched(MIDDLE, 4, reductions=True)
    assert found.nodes < 0.7 * full.nodes
    assert found.value == pytest.approx(full.value, abs=0.002)


def test_reductions_find_a_late_quiet_mate_though_later() -> None:
    # 1. Ra6 bxa6 2. b7#, and other answers are mated as well.
    fen = "kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1"
    found = searched(fen, 6, reductions=True, null_moves=True, futility=True)
    assert (searched(fen, 3).value, found.value) == (1.0, 1.0)
    assert found.pv[0] == searched(fen, 3).pv[0]


def test_null_moves_change_nothing_where_nobody_can_pass() -> None:
    game = get_game("othello")
    state = game.initial_state()
    plain = alpha_beta(game, state, Limit(depth=5), deepen=True)
    asked = alpha_beta(game, state, Limit(depth=5), deepen=True, null_moves=True)
    assert (asked.nodes, asked.value, asked.pv) == (plain.nodes, plain.value, plain.pv)
