"""What forfeits and agreements are worth, within the bounds of every game."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plyhouse.games.base import Utility
from plyhouse.games.coin_guess import CoinGuess
from plyhouse.games.kuhn_poker import KuhnPoker
from plyhouse.games.pig import Pig
from plyhouse.games.tic_tac_toe import TicTacToe
from plyhouse.server.outcomes import draw_returns, forfeit_returns, void_returns

from .harness import Heap


@pytest.mark.parametrize(
    "game",
    [TicTacToe(), Pig(), Pig(seats=10), CoinGuess(), CoinGuess(variant="bag"), KuhnPoker(seats=3)],
    ids=lambda game: game.spec,
)
def test_forfeits_stay_within_the_games_bounds_and_sum(game: Pig) -> None:
    info = game.info
    for guilty in range(game.seats):
        returns = forfeit_returns(info, game.seats, guilty)
        assert returns[guilty] == info.min_return
        assert all(info.min_return <= value <= info.max_return for value in returns)
        if info.utility is Utility.ZERO_SUM and game.seats > 1:
            assert sum(returns) == pytest.approx(0)


@given(st.sampled_from(list(Utility)), st.integers(1, 6), st.integers(-9, 9), st.integers(0, 9))
def test_every_kind_of_utility_has_its_rule(
    utility: Utility, seats: int, least: int, width: int
) -> None:
    info = dataclasses.replace(
        Heap.info, utility=utility, min_return=float(least), max_return=float(least + width)
    )
    returns = forfeit_returns(info, seats, 0)
    assert returns[0] == least
    assert all(least <= value <= least + width for value in returns)
    assert len(set(returns[1:])) <= 1, "who did no wrong is treated alike"
    if utility is Utility.CONSTANT_SUM:
        draw = draw_returns(info, seats)
        assert sum(draw) == pytest.approx(least + width + (seats - 1) * least)
        if seats > 1:
            assert sum(returns) == pytest.approx(sum(draw))


def test_draws_and_void_matches() -> None:
    assert draw_returns(Heap.info, 3) == (0.0, 0.0, 0.0)
    general = dataclasses.replace(Heap.info, utility=Utility.GENERAL_SUM, min_return=0.0)
    assert draw_returns(general, 2) == (1.5, 1.5)
    assert forfeit_returns(general, 3, 1) == (3.0, 0.0, 3.0)
    assert void_returns(2) == (0.0, 0.0)
