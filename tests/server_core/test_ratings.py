"""Ratings: known values, laws, and intervals that cover what they promise."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plyhouse.server.ratings import PairScore, expected_score, fit, mean_interval, split


def test_three_quarters_of_many_games_are_191_points() -> None:
    fitted = fit([PairScore("a", "b", 75_000, 0, 25_000)])
    assert fitted["a"].elo - fitted["b"].elo == pytest.approx(190.85, abs=0.1)
    assert fitted["a"].elo + fitted["b"].elo == pytest.approx(3000)
    assert expected_score(fitted["a"].elo, fitted["b"].elo) == pytest.approx(0.75, abs=1e-4)


def test_a_draw_is_half_a_win() -> None:
    drawn = fit([PairScore("a", "b", 10, 20, 4)])
    decided = fit([PairScore("a", "b", 20, 0, 14)])
    assert drawn["a"].elo == pytest.approx(decided["a"].elo)
    assert (drawn["a"].games, drawn["a"].score, drawn["b"].score) == (34, 20, 14)


def test_strength_is_inferred_through_common_opponents() -> None:
    fitted = fit([PairScore("a", "b", 80, 0, 20), PairScore("b", "c", 80, 0, 20)])
    assert fitted["a"].elo > fitted["b"].elo > fitted["c"].elo
    assert fitted["a"].elo - fitted["c"].elo == pytest.approx(
        2 * (fitted["a"].elo - fitted["b"].elo), rel=1e-6
    )


def test_a_clean_sweep_stays_finite_and_grows_with_the_evidence() -> None:
    few = fit([PairScore("a", "b", 3, 0, 0)])["a"]
    many = fit([PairScore("a", "b", 300, 0, 0)])["a"]
    assert 1500 < few.elo < many.elo < 3500


def test_more_games_narrow_the_interval() -> None:
    widths = []
    for games in (4, 40, 400):
        rating = fit([PairScore("a", "b", games, 0, games)])["a"]
        assert rating.low < rating.elo < rating.high
        widths.append(rating.high - rating.low)
    assert widths == sorted(widths, reverse=True)
    # Known error of a share of 1/2 in n games: 400 / ln 10 / sqrt(n), half of it each.
    known = 2 * 1.96 * 400 / math.log(10) / math.sqrt(800)
    assert widths[-1] == pytest.approx(known, rel=0.02)


def test_groups_that_never_met_stand_on_one_level() -> None:
    fitted = fit([PairScore("a", "b", 10, 0, 5), PairScore("x", "y", 5, 0, 10)])
    assert fitted["a"].elo == pytest.approx(fitted["y"].elo)
    assert all(math.isfinite(value) for rating in fitted.values() for value in rating)


def test_who_has_not_played_is_average_and_unknown() -> None:
    fitted = fit([PairScore("a", "b", 5, 0, 5)], players=["new"])
    assert fitted["new"].elo == pytest.approx(1500)
    assert fitted["new"].high - fitted["new"].low > 500
    assert fit([], players=["alone"])["alone"].elo == pytest.approx(1500)
    assert fit([]) == {}


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.integers(0, 5), *[st.integers(0, 30)] * 3).filter(
            lambda row: row[0] != row[1]
        ),
        max_size=12,
    ),
    st.randoms(use_true_random=False),
)
def test_the_order_of_results_and_sides_does_not_matter(
    rows: list[tuple[int, int, int, int, int]], rng: random.Random
) -> None:
    results = [PairScore(*row) for row in rows]
    turned = [PairScore(r.b, r.a, r.losses, r.draws, r.wins) for r in results]
    rng.shuffle(turned)
    one, other = fit(results), fit(turned)
    assert one.keys() == other.keys()
    for name, rating in one.items():
        assert other[name] == pytest.approx(rating, abs=1e-6)
    assert fit(results) == one


def test_wrong_results_are_refused() -> None:
    with pytest.raises(ValueError, match="against itself"):
        fit([PairScore("a", "a", 1, 0, 0)])
    with pytest.raises(ValueError, match="negative"):
        fit([PairScore("a", "b", -1, 0, 0)])


def test_a_match_of_many_seats_counts_as_one_game_for_everybody() -> None:
    scores = split(["a", "b", "c", "a"], [3.0, 1.0, 1.0, -5.0])
    assert ("a", "b", 1 / 3, 0, 0) in scores
    assert ("b", "c", 0, 1 / 3, 0) in scores
    assert ("b", "a", 1 / 3, 0, 0) in scores
    assert len(scores) == 5
    fitted = fit(split(["a", "b", "c"], [1.0, 0.0, -1.0]))
    assert [fitted[name].games for name in "abc"] == [1, 1, 1]


def test_the_intervals_cover_the_truth() -> None:
    rng = random.Random(7)
    truth = {"a": 1650.0, "b": 1500.0, "c": 1350.0}
    hits = total = 0
    for _ in range(150):
        results = []
        for one, other in (("a", "b"), ("b", "c"), ("a", "c")):
            chance = expected_score(truth[one], truth[other])
            wins = sum(rng.random() < chance for _ in range(100))
            results.append(PairScore(one, other, wins, 0, 100 - wins))
        for name, rating in fit(results).items():
            hits += rating.low <= truth[name] <= rating.high
            total += 1
    assert 0.92 <= hits / total <= 0.98


@pytest.mark.parametrize(
    ("scores", "half"),
    [
        ([0.0, 1.0], 6.3531),  # 12.7062 * sqrt(0.5 / 2)
        ([1.0, 2.0, 3.0, 4.0, 5.0], 1.9632),  # 2.7764 * sqrt(2.5 / 5)
        ([0.0, 1.0] * 500, 0.031042),  # 1.96234 * sqrt(0.25025 / 1000)
    ],
)
def test_the_interval_of_a_mean_is_students(scores: list[float], half: float) -> None:
    interval = mean_interval(scores)
    assert interval.high - interval.mean == pytest.approx(half, rel=1e-4)
    assert interval.mean - interval.low == pytest.approx(half, rel=1e-4)
    assert interval.size == len(scores)


def test_equal_scores_do_not_pretend_to_certainty() -> None:
    sweep = mean_interval([1.0] * 10, bounds=(0.0, 1.0))
    assert (sweep.mean, sweep.high) == (1.0, 1.0)
    assert sweep.low == pytest.approx(0.025 ** (1 / 10))
    draws = mean_interval([0.5] * 10, bounds=(0.0, 1.0))
    assert draws.low == pytest.approx(1 - draws.high)
    assert 0 < draws.low < 0.5
    single = mean_interval([0.5])
    assert (single.low, single.high) == (-math.inf, math.inf)
    with pytest.raises(ValueError, match="no scores"):
        mean_interval([])
