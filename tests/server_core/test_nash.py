"""Nash averaging and the linear program under it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from plyhouse.server.results.nash import (
    UnboundedError,
    greatest,
    nash_average,
    nash_shares,
    payoffs,
)
from plyhouse.server.results.pair_results import Played, ResultError, collect

CIRCLE = np.array([[0.0, 1.0, -1.0], [-1.0, 0.0, 1.0], [1.0, -1.0, 0.0]])


def test_a_circle_is_chosen_alike() -> None:
    share, score = nash_average(CIRCLE)
    assert share == pytest.approx([1 / 3] * 3)
    assert score == pytest.approx([0.0] * 3)


def test_unequal_stakes_have_the_known_mixture() -> None:
    # Rock beats scissors by 2, paper beats rock by 1, scissors beat paper by 3: as 3 : 2 : 1.
    table = np.array([[0.0, -1.0, 2.0], [1.0, 0.0, -3.0], [-2.0, 3.0, 0.0]])
    assert nash_average(table)[0] == pytest.approx([3 / 6, 2 / 6, 1 / 6])


def test_copies_share_alike_and_change_nobody_else() -> None:
    rows = [0, 1, 2, 2, 2]
    share, _ = nash_average(CIRCLE[np.ix_(rows, rows)])
    assert share == pytest.approx([1 / 3, 1 / 3, 1 / 9, 1 / 9, 1 / 9], abs=1e-6)


def test_an_entry_that_everybody_beats_is_not_chosen() -> None:
    table = np.zeros((4, 4))
    table[:3, :3] = CIRCLE
    table[:3, 3], table[3, :3] = 0.25, -0.25
    share, score = nash_average(table)
    assert share == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0.0])
    assert score == pytest.approx([0.0, 0.0, 0.0, -0.25])


def test_the_best_of_an_order_takes_it_all_and_equals_share() -> None:
    order = np.array([[0.0, 0.2, 0.5], [-0.2, 0.0, 0.3], [-0.5, -0.3, 0.0]])
    assert nash_average(order)[0] == pytest.approx([1.0, 0.0, 0.0])
    assert nash_average(np.zeros((4, 4)))[0] == pytest.approx([0.25] * 4)


@example(9, 6776, 0)  # the curvature becomes singular
@settings(max_examples=60, deadline=None)
@given(st.integers(1, 9), st.integers(0, 2**32 - 1), st.sampled_from([0, 1, 3]))
def test_shares_are_an_equilibrium_whatever_the_order(size: int, seed: int, digits: int) -> None:
    rng = np.random.default_rng(seed)
    table = np.round(rng.normal(size=(size, size)), digits)
    table = np.triu(table, 1)
    table = table - table.T
    share, score = nash_average(table)
    assert share.sum() == pytest.approx(1.0)
    assert (share >= 0).all()
    assert score.max() <= 1e-6
    assert (score * share) == pytest.approx(0.0, abs=1e-6)
    order = rng.permutation(size)
    turned, _ = nash_average(table[np.ix_(order, order)])
    assert turned == pytest.approx(share[order], abs=1e-3)


def circle_of(games: int) -> list[Played[str]]:
    played = []
    for one, other in ("ab", "bc", "ca"):
        played += [Played(one, other, 1.0), Played(other, one, 0.0)] * games
        played += [Played(one, other, 0.0)]
    for strong in "abc":
        played += [Played(strong, "weak", 1.0)] * games + [Played(strong, "weak", 0.0)]
    return played


def test_results_of_a_circle_have_shares_with_bounds() -> None:
    found = nash_shares(collect(circle_of(12)), rounds=60, seed=1)
    for name in "abc":
        assert found[name].share == pytest.approx(1 / 3)
        assert found[name].low < 1 / 3 < found[name].high
        assert found[name].chosen > 0.9
    assert (found["weak"].share, found["weak"].chosen) == (0.0, 0.0)
    assert found["weak"].score < 0
    again = nash_shares(collect(circle_of(12)), rounds=60, seed=1)
    assert again == found


def test_who_has_not_met_is_named() -> None:
    units = collect([Played("a", "b", 1.0), Played("b", "c", 1.0)])
    with pytest.raises(ResultError, match="'a' and 'c' have not met: Nash averaging needs"):
        payoffs(units)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (np.zeros((2, 3)), "not square"),
        (np.array([[0.0, 1.0], [1.0, 0.0]]), "not antisymmetric"),
        (np.array([[0.0, math.nan], [1.0, 0.0]]), "no numbers"),
    ],
)
def test_what_is_no_table_is_refused(table: np.ndarray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        nash_average(table)


def test_the_program_finds_known_corners() -> None:
    # Dantzig's furniture: 3x + 5y with x <= 4, 2y <= 12, 3x + 2y <= 18.
    rules = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 2.0]])
    assert greatest(np.array([3.0, 5.0]), rules, np.array([4.0, 12.0, 18.0])) == pytest.approx(
        [2, 6]
    )
    # Beale's: Dantzig's rule alone goes round in circles.
    rules = np.array([[0.25, -60, -1 / 25, 9], [0.5, -90, -1 / 50, 3], [0, 0, 1, 0]])
    aim = np.array([0.75, -150, 1 / 50, -6])
    assert aim @ greatest(aim, rules, np.array([0.0, 0.0, 1.0])) == pytest.approx(1 / 20)


def test_the_program_refuses_what_has_no_greatest() -> None:
    with pytest.raises(UnboundedError):
        greatest(np.array([1.0]), np.array([[-1.0]]), np.array([1.0]))
    with pytest.raises(ValueError, match="zero must be allowed"):
        greatest(np.array([1.0]), np.array([[1.0]]), np.array([-1.0]))
