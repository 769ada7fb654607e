"""The score of a match: from returns to results and shares."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plyhouse.games import Scoring
from plyhouse.games.registry import get_game
from plyhouse.server.results.scoring import (
    match_scores,
    pair_score,
    scoring_rule,
    seat_result,
    teams_of,
)

TWO = "by wins: a win scores 1, a draw 0.5, a loss 0"
MANY = "by wins: a match scores the share of the opponents that got less, ties counting half"


@pytest.mark.parametrize(
    ("returns", "results"),
    [
        ((1, -1), [(1.0, "W"), (0.0, "L")]),
        ((0, 0), [(0.5, "D"), (0.5, "D")]),
        ((2, -1, -1), [(1.0, "W"), (0.25, "L"), (0.25, "L")]),
        ((1, 1, -2), [(0.75, "D"), (0.75, "D"), (0.0, "L")]),
        ((3, 2, 1), [(1.0, "W"), (0.5, "L"), (0.0, "L")]),
        ((5,), [(5, "D")]),
    ],
)
def test_returns_become_scores(returns: Any, results: Any) -> None:
    assert [seat_result(returns, seat) for seat in range(len(returns))] == results


@pytest.mark.parametrize(
    ("returns", "span", "results"),
    [
        ((1, -1), 4, [(0.75, "W"), (0.25, "L")]),
        ((-2, 2), 4, [(0.0, "L"), (1.0, "W")]),
        ((0, 0), 4, [(0.5, "D"), (0.5, "D")]),
        ((2, -1, -1), 6, [(0.75, "W"), (0.375, "L"), (0.375, "L")]),
        ((9, -9), 4, [(1.0, "W"), (0.0, "L")]),
        ((3,), 4, [(3, "D")]),
    ],
)
def test_the_size_of_returns_becomes_a_score_where_it_counts(
    returns: Any, span: Any, results: Any
) -> None:
    assert [seat_result(returns, seat, span) for seat in range(len(returns))] == results


def test_partners_win_together_and_do_not_score_against_each_other() -> None:
    teams = teams_of(get_game("bridge"))
    won = match_scores((400.0, -400.0, 400.0, -400.0), 15200.0, teams)
    share = 0.5 + 800 / 30400
    assert won.seats == ((share, "W"), (1 - share, "L")) * 2
    assert won.pairs == (share, None, share, 1 - share, None, share)
    drawn = match_scores((0.0,) * 4, 0.0, teams)
    assert drawn.seats == ((0.5, "D"),) * 4
    assert teams_of(get_game("hearts")) == ()


@given(*[st.floats(-5, 5)] * 2, st.sampled_from([0.0, 1.0, 4.0, 10.0]))
def test_what_a_pair_scores_adds_up_to_one(mine: Any, other: Any, span: Any) -> None:
    score = pair_score(mine, other, span)
    assert 0 <= score <= 1
    assert score + pair_score(other, mine, span) == pytest.approx(1)
    if span:
        assert score >= 0.5 if mine >= other else score <= 0.5


@given(st.lists(st.integers(-3, 3), min_size=2, max_size=6), st.sampled_from([0.0, 2.5, 6.0]))
def test_the_scores_of_a_match_add_up_to_half_its_seats(returns: Any, span: Any) -> None:
    total = sum(seat_result(returns, seat, span)[0] for seat in range(len(returns)))
    assert total == pytest.approx(len(returns) / 2)


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=6), st.sampled_from([0.0, 2.5, 6.0]))
def test_the_scores_of_a_match_are_those_of_its_seats_and_of_every_two(
    returns: Any, span: Any
) -> None:
    scores = match_scores(returns, span)
    assert scores.seats == tuple(seat_result(returns, n, span) for n in range(len(returns)))
    assert list(scores.pairs) == [pair_score(a, b, span) for a, b in combinations(returns, 2)]


@pytest.mark.parametrize(
    ("game", "rule"),
    [
        ("pig", TWO),
        ("bridge", TWO),
        ("pig(seats=3)", MANY),
        ("hearts", MANY),
        ("texas_holdem(seats=6)", MANY),
    ],
)
def test_rule_by_wins_counts_opponents_where_there_are_several(game: str, rule: str) -> None:
    assert scoring_rule(get_game(game), Scoring.WINS) == rule
