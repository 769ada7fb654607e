"""The values of forfeits and agreements, within the bounds of every game."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plyhouse.games.base import Game, Parameter, Utility
from plyhouse.games.deterministic.tic_tac_toe import TicTacToe
from plyhouse.games.hidden.bridge.rules import Bridge
from plyhouse.games.hidden.coin_guess import CoinGuess
from plyhouse.games.hidden.kuhn_poker import KuhnPoker
from plyhouse.games.stochastic.pig import Pig
from plyhouse.server.match.terminations import draw_returns, forfeit_returns, void_returns

from .harness import Heap


def heap(utility: Utility, seats: int, least: float, most: float) -> Heap:
    """A game of this utility, whose parameters narrow what its kind could give at most."""
    wide = dataclasses.replace(
        Heap.info,
        utility=utility,
        min_seats=1,
        max_seats=6,
        min_return=least - 5,
        max_return=most + 5,
        parameters=(Parameter("seats", 2, "seats", 1, 6), *Heap.info.parameters[1:]),
    )
    kind = type("Heap", (Heap,), {"info": wide, "return_bounds": (least, most)})
    game = kind(seats=seats)
    assert isinstance(game, Heap)
    return game


@pytest.mark.parametrize(
    "game",
    [
        TicTacToe(),
        Pig(),
        Pig(seats=10),
        CoinGuess(),
        CoinGuess(variant="bag"),
        CoinGuess(variant="bag", pennies=1.0),
        KuhnPoker(),
        KuhnPoker(seats=3),
    ],
    ids=lambda game: game.spec,
)
def test_forfeits_stay_within_the_games_bounds_and_sum(game: Game) -> None:
    least, most = game.return_bounds
    for guilty in range(game.seats):
        returns = forfeit_returns(game, guilty)
        assert returns[guilty] == least
        assert all(least <= value <= most for value in returns)
        if game.info.utility is Utility.ZERO_SUM and game.seats > 1:
            assert sum(returns) == pytest.approx(0)


def test_a_forfeit_is_worth_what_is_at_stake_with_these_parameters() -> None:
    assert forfeit_returns(CoinGuess(), 0) == (-5.0, 5.0)
    assert forfeit_returns(CoinGuess(variant="bag", pennies=1.0), 0) == (-1.0, 1.0)


@given(st.sampled_from(list(Utility)), st.integers(1, 6), st.integers(-9, 9), st.integers(0, 9))
def test_every_kind_of_utility_has_its_rule(
    utility: Utility, seats: int, least: int, width: int
) -> None:
    game = heap(utility, seats, float(least), float(least + width))
    returns = forfeit_returns(game, 0)
    assert returns[0] == least
    assert all(least <= value <= least + width for value in returns)
    assert len(set(returns[1:])) <= 1, "who did no wrong is treated alike"
    if utility is Utility.CONSTANT_SUM:
        draw = draw_returns(game)
        assert sum(draw) == pytest.approx(least + width + (seats - 1) * least)
        if seats > 1:
            assert sum(returns) == pytest.approx(sum(draw))


def test_draws_and_void_matches() -> None:
    assert draw_returns(Heap(seats=3)) == (0.0, 0.0, 0.0)
    assert draw_returns(heap(Utility.GENERAL_SUM, 2, 0.0, 3.0)) == (1.5, 1.5)
    assert forfeit_returns(heap(Utility.GENERAL_SUM, 3, 0.0, 3.0), 1) == (3.0, 0.0, 3.0)
    assert void_returns(2) == (0.0, 0.0)


@pytest.mark.parametrize(("guilty", "side"), [(0, (0, 2)), (1, (1, 3)), (2, (0, 2)), (3, (1, 3))])
def test_a_forfeit_in_bridge_loses_for_both_partners(guilty: int, side: tuple[int, ...]) -> None:
    returns = forfeit_returns(Bridge(), guilty)
    assert returns == tuple(-7600.0 if seat in side else 7600.0 for seat in range(4))
