"""Ratings: known values, laws, and intervals that cover what they promise."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plyhouse.server.results.intervals import interval_of_sums, mean_interval
from plyhouse.server.results.ratings import PairScore, fit
from plyhouse.server.results.scoring import match_scores

Payoffs = dict[tuple[str, str], list[tuple[float, float]]]
"""For every two players the first one's possible scores, with their probabilities."""


def counted(a: Any, b: Any, wins: float, draws: float, losses: float) -> PairScore[Any]:
    """A pair score from wins, draws and losses of the first player."""
    return PairScore(a, b, wins + draws + losses, wins + draws / 2, wins + draws / 4)


def expected_score(elo: float, opponent: float) -> float:
    """The share of points expected against an opponent, between 0 and 1."""
    return float(1.0 / (1.0 + 10.0 ** ((opponent - elo) / 400.0)))


def split(
    names: Sequence[str], returns: Sequence[float], span: float = 0.0
) -> list[PairScore[str]]:
    """One match as pairwise results, weighed as the leaderboards do."""
    weight = 1.0 / (len(names) - 1)
    pairs = zip(combinations(names, 2), match_scores(returns, span).pairs, strict=True)
    return [
        PairScore(one, other, weight, score * weight, score * score * weight)
        for (one, other), score in pairs
        if one != other and score is not None
    ]


def test_three_quarters_of_many_games_are_191_points() -> None:
    fitted = fit([counted("a", "b", 75_000, 0, 25_000)])
    assert fitted["a"].elo - fitted["b"].elo == pytest.approx(190.85, abs=0.1)
    assert fitted["a"].elo + fitted["b"].elo == pytest.approx(3000)
    assert expected_score(fitted["a"].elo, fitted["b"].elo) == pytest.approx(0.75, abs=1e-4)


def test_a_draw_is_half_a_win() -> None:
    drawn = fit([counted("a", "b", 10, 20, 4)])
    decided = fit([counted("a", "b", 20, 0, 14)])
    assert drawn["a"].elo == pytest.approx(decided["a"].elo)
    assert (drawn["a"].games, drawn["a"].score, drawn["b"].score) == (34, 20, 14)


def test_strength_is_inferred_through_common_opponents() -> None:
    fitted = fit([counted("a", "b", 80, 0, 20), counted("b", "c", 80, 0, 20)])
    assert fitted["a"].elo > fitted["b"].elo > fitted["c"].elo
    assert fitted["a"].elo - fitted["c"].elo == pytest.approx(
        2 * (fitted["a"].elo - fitted["b"].elo), rel=1e-6
    )


def test_a_clean_sweep_stays_finite_and_grows_with_the_evidence() -> None:
    few = fit([counted("a", "b", 3, 0, 0)])["a"]
    many = fit([counted("a", "b", 300, 0, 0)])["a"]
    assert 1500 < few.elo < many.elo < 3500


def test_more_games_narrow_the_interval() -> None:
    widths = []
    for games in (4, 40, 400):
        rating = fit([counted("a", "b", games, 0, games)])["a"]
        assert rating.low < rating.elo < rating.high
        widths.append(rating.high - rating.low)
    assert widths == sorted(widths, reverse=True)
    # Known error of a share of 1/2 in n games: 400 / ln 10 / sqrt(n), half of it each.
    known = 2 * 1.96 * 400 / math.log(10) / math.sqrt(800)
    assert widths[-1] == pytest.approx(known, rel=0.02)


def test_groups_that_never_met_stand_on_one_level() -> None:
    fitted = fit([counted("a", "b", 10, 0, 5), counted("x", "y", 5, 0, 10)])
    assert fitted["a"].elo == pytest.approx(fitted["y"].elo)
    assert all(math.isfinite(value) for rating in fitted.values() for value in rating)


def test_who_has_not_played_is_average_and_unknown() -> None:
    fitted = fit([counted("a", "b", 5, 0, 5)], players=["new"])
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
    results = [counted(*row) for row in rows]
    turned = [counted(b, a, losses, draws, wins) for a, b, wins, draws, losses in rows]
    rng.shuffle(turned)
    one, other = fit(results), fit(turned)
    assert one.keys() == other.keys()
    for name, rating in one.items():
        assert other[name] == pytest.approx(rating, abs=1e-6)
    assert fit(results) == one


def test_wrong_results_are_refused() -> None:
    with pytest.raises(ValueError, match="against itself"):
        fit([counted("a", "a", 1, 0, 0)])
    with pytest.raises(ValueError, match="no score of -1 games"):
        fit([counted("a", "b", -1, 0, 0)])
    with pytest.raises(ValueError, match=r"3\.5 is no score of 3 games"):
        fit([PairScore("a", "b", 3, 3.5, 3.5)])


def test_a_match_of_many_seats_counts_as_one_game_for_everybody() -> None:
    scores = split(["a", "b", "c", "a"], [3.0, 1.0, 1.0, -5.0])
    assert ("a", "b", 1 / 3, 1 / 3, 1 / 3) in scores
    assert ("b", "c", 1 / 3, 1 / 6, 1 / 12) in scores
    assert ("b", "a", 1 / 3, 1 / 3, 1 / 3) in scores
    assert len(scores) == 5
    fitted = fit(split(["a", "b", "c"], [1.0, 0.0, -1.0]))
    assert [fitted[name].games for name in "abc"] == [1, 1, 1]


def test_returns_score_by_their_difference() -> None:
    assert split(["a", "b"], [2.0, -2.0], 4.0) == [("a", "b", 1, 1, 1)]
    assert split(["a", "b"], [-1.0, 1.0], 4.0) == [("a", "b", 1, 0.25, 0.0625)]
    assert split(["a", "b"], [-9.0, 9.0], 4.0) == [("a", "b", 1, 0, 0)]


def test_who_wins_more_chips_is_rated_higher_whoever_wins_more_games() -> None:
    # The maniac wins three games of four by one chip, and loses the fourth: four chips.
    games = [(1.0, -1.0), (1.0, -1.0), (1.0, -1.0), (-4.0, 4.0)] * 10
    by_chips = fit([pair for game in games for pair in split(["maniac", "rock"], game, 8.0)])
    by_wins = fit([pair for game in games for pair in split(["maniac", "rock"], game)])
    assert by_chips["maniac"].elo < by_chips["rock"].elo
    assert by_wins["maniac"].elo > by_wins["rock"].elo


def test_ratings_rank_as_scores_do_when_all_have_played_all() -> None:
    rng = random.Random(3)
    names = "abcdef"
    results = []
    for i, one in enumerate(names):
        for other in names[i + 1 :]:
            scores = [rng.choice([0.0, 0.25, 0.5, 0.75, 1.0]) for _ in range(30)]
            results.append(
                PairScore(one, other, 30, math.fsum(scores), math.fsum(s * s for s in scores))
            )
    fitted = fit(results)
    assert sorted(names, key=lambda name: fitted[name].elo) == sorted(
        names, key=lambda name: fitted[name].score
    )


def test_scores_that_vary_less_than_a_coin_give_narrower_intervals() -> None:
    widths = []
    for scores in ([0.0, 1.0], [0.25, 0.75], [0.4, 0.6]):
        sums = 200 * sum(scores), 200 * sum(score * score for score in scores)
        rating = fit([PairScore("a", "b", 400, *sums)])["a"]
        widths.append(rating.high - rating.low)
    # In proportion to the deviation of the scores, but for the games imagined for caution.
    assert widths[1] / widths[0] == pytest.approx(0.5, abs=0.03)
    assert widths[2] / widths[0] == pytest.approx(0.2, abs=0.05)


@pytest.mark.parametrize("games", [1, 2, 5, 20, 100])
def test_equal_scores_leave_room_for_what_was_not_seen(games: int) -> None:
    drawn = fit([counted("a", "b", 0, games, 0)])["a"]
    decided = fit([counted("a", "b", games / 2, 0, games / 2)])["a"]
    # Half of the gap between the two; each may be 1.84 / games of the score off.
    unseen = (1 - 0.025 ** (1 / games)) / 2
    known = 400 / math.log(10) * unseen / 0.25 / 2 * games / (games + 1)
    assert (drawn.high - drawn.low) / 2 > 0.9 * min(known, (decided.high - decided.low) / 2)
    assert drawn.high - drawn.low <= decided.high - decided.low + 1e-9


def test_results_no_strengths_explain_do_not_narrow_the_intervals() -> None:
    # A circle of draws that are worth little beside a clean sweep: nothing fits.
    fitted = fit(
        [
            counted("a", "b", 50, 0, 0),
            counted("b", "c", 50, 0, 0),
            counted("a", "c", 0, 50, 0),
        ]
    )
    coin = fit(
        [
            counted("a", "b", 50, 0, 0),
            counted("b", "c", 50, 0, 0),
            counted("a", "c", 25, 0, 25),
        ]
    )
    for name in "abc":
        assert fitted[name].high - fitted[name].low > 0.5 * (coin[name].high - coin[name].low)


ELO = {"a": 1650.0, "b": 1550.0, "c": 1450.0, "d": 1350.0}


def bradley_terry(drawn: float) -> Payoffs:
    """Players of known strength; ``drawn`` is the share of draws between equals."""
    payoffs: Payoffs = {}
    for one, other in (("a", "b"), ("b", "c"), ("c", "d"), ("a", "c"), ("b", "d"), ("a", "d")):
        mean = expected_score(ELO[one], ELO[other])
        draws = drawn * 2 * min(mean, 1 - mean)
        payoffs[one, other] = [
            (1.0, mean - draws / 2),
            (0.5, draws),
            (0.0, 1 - mean - draws / 2),
        ]
    return payoffs


KUHN: Payoffs = {
    # One or two chips change hands: scores of two players whose returns span four chips.
    ("optimal", "random"): [(1, 0.22), (0.75, 0.38), (0.25, 0.25), (0, 0.15)],
    ("optimal", "maniac"): [(1, 0.20), (0.75, 0.35), (0.25, 0.25), (0, 0.20)],
    ("maniac", "random"): [(1, 0.25), (0.75, 0.35), (0.25, 0.20), (0, 0.20)],
}
COIN: Payoffs = {
    # A penny or a nickel changes hands.
    ("optimal", "nickel"): [(1, 0.41), (0.6, 0.09), (0.4, 0.09), (0, 0.41)],
    ("optimal", "random"): [(1, 0.25), (0.6, 0.25), (0.4, 0.25), (0, 0.25)],
    ("nickel", "random"): [(1, 0.6), (0.4, 0.1), (0, 0.3)],
}
LOTTERY: Payoffs = {
    # Hardly ever anything but the usual happens, and what does is ten times as much.
    ("a", "b"): [(0.6, 0.5), (0.4, 0.45), (1, 0.05)],
    ("b", "c"): [(0.5, 0.95), (1, 0.05)],
    ("a", "c"): [(0.5, 1)],
}


def known(payoffs: Payoffs) -> dict[str, float]:
    """The ratings of players who have played for ever."""
    games = 1e7
    results = []
    for (one, other), scores in payoffs.items():
        mean = sum(score * share for score, share in scores)
        squares = sum(score * score * share for score, share in scores)
        results.append(PairScore(one, other, games, games * mean, games * squares))
    return {name: rating.elo for name, rating in fit(results).items()}


@pytest.mark.parametrize(
    ("payoffs", "games", "least", "most"),
    [
        pytest.param(bradley_terry(0.0), 5, 0.93, 0.985, id="wins-5"),
        pytest.param(bradley_terry(0.0), 60, 0.93, 0.97, id="wins-60"),
        pytest.param(bradley_terry(0.6), 5, 0.93, 0.99, id="draws-5"),
        pytest.param(bradley_terry(0.6), 60, 0.93, 0.975, id="draws-60"),
        pytest.param(KUHN, 2, 0.95, 1.0, id="kuhn-2"),
        pytest.param(KUHN, 20, 0.93, 0.985, id="kuhn-20"),
        pytest.param(KUHN, 300, 0.93, 0.97, id="kuhn-300"),
        pytest.param(COIN, 20, 0.93, 0.985, id="coin-20"),
        pytest.param(COIN, 300, 0.93, 0.975, id="coin-300"),
        pytest.param(LOTTERY, 10, 0.95, 1.0, id="lottery-10"),
        pytest.param(LOTTERY, 300, 0.95, 1.0, id="lottery-300"),
    ],
)
def test_the_intervals_cover_the_truth(
    payoffs: Payoffs, games: int, least: float, most: float
) -> None:
    rng = random.Random(7)
    truth = known(payoffs)
    hits = total = 0
    for _ in range(200):
        results = []
        for (one, other), scores in payoffs.items():
            values, shares = zip(*scores, strict=True)
            drawn = rng.choices(values, shares, k=games)
            squares = math.fsum(score * score for score in drawn)
            results.append(PairScore(one, other, games, math.fsum(drawn), squares))
        for name, rating in fit(results).items():
            hits += rating.low <= truth[name] <= rating.high
            total += 1
    assert least <= hits / total <= most


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


@pytest.mark.parametrize(
    ("scores", "shares"),
    [((1.0, 0.0), (0.97, 0.03)), ((1.0, 0.5, 0.0), (0.945, 0.05, 0.005)), ((0.0, 1.0), (0.9, 0.1))],
)
@pytest.mark.parametrize("count", [30, 100])
def test_mean_near_a_bound_is_covered(
    scores: tuple[float, ...], shares: tuple[float, ...], count: int
) -> None:
    rng = random.Random(5)
    mean = sum(score * share for score, share in zip(scores, shares, strict=True))
    runs = 600
    hits = 0
    for _ in range(runs):
        found = mean_interval(rng.choices(scores, shares, k=count), bounds=(0.0, 1.0))
        hits += found.low <= mean <= found.high
    assert hits / runs > 0.93


def test_bounded_interval_of_wins_is_wilsons() -> None:
    # 29 of 30, with t = 2.0452 and the variance of 29 degrees of freedom.
    found = mean_interval([1.0] * 29 + [0.0], bounds=(0.0, 1.0))
    extra = 2.04523**2 / 29
    centre = (29 / 30 + extra / 2) / (1 + extra)
    reach = math.sqrt(extra * (29 / 900 + extra / 4)) / (1 + extra)
    assert (found.low, found.high) == pytest.approx((centre - reach, centre + reach), abs=1e-5)


def test_ratings_of_an_outlier_are_centred_and_covered() -> None:
    rng = random.Random(2)
    truth = [525.0] + [-75.0] * 7
    hits = 0
    for _ in range(25):
        results = []
        for i, j in combinations(range(8), 2):
            wins = sum(rng.random() < expected_score(truth[i], truth[j]) for _ in range(40))
            results.append(counted(i, j, wins, 0, 40 - wins))
        fitted = fit(results)
        assert math.fsum(each.elo for each in fitted.values()) / 8 == pytest.approx(1500.0)
        hits += sum(each.low <= 1500.0 + truth[name] <= each.high for name, each in fitted.items())
    assert 0.92 <= hits / 200 <= 0.985


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


@pytest.mark.parametrize("count", [2, 7, 250, 301, 302, 5000])
def test_sums_give_the_interval_of_the_scores_themselves(count: int) -> None:
    rng = random.Random(count)
    scores = [rng.choice([-5.0, -1.0, 1.0, 5.0]) for _ in range(count - 2)] + [1.0, 5.0]
    sums = count, math.fsum(scores), math.fsum(score * score for score in scores)
    whole = mean_interval(scores, bounds=(-5.0, 5.0))
    assert interval_of_sums(*sums, bounds=(-5.0, 5.0)) == pytest.approx(whole, rel=1e-9)


def test_sums_of_equal_scores_do_not_pretend_to_certainty() -> None:
    tenth = interval_of_sums(10, 10 * 0.1, 10 * 0.1 * 0.1, bounds=(0.0, 1.0))
    assert tenth == pytest.approx(mean_interval([0.1] * 10, bounds=(0.0, 1.0)))
    single = interval_of_sums(1, 2.0, 4.0, bounds=(-2.0, 2.0))
    assert (single.low, single.high) == pytest.approx((-1.9, 2.0))
    with pytest.raises(ValueError, match="no scores"):
        interval_of_sums(0, 0.0, 0.0)


def test_students_quantile_is_smooth_where_the_expansion_takes_over() -> None:
    # Twice the deviation of n scores of -1 and 1 is the quantile over sqrt(n - 1).
    def quantile(freedom: int) -> float:
        interval = interval_of_sums(freedom + 1, 0.0, freedom + 1.0)
        return interval.high * math.sqrt(freedom)

    assert quantile(300) == pytest.approx(1.9679030112, abs=1e-9)
    assert quantile(301) == pytest.approx(1.9678766142, abs=1e-7)
    assert quantile(1000) == pytest.approx(1.9623390808, abs=1e-9)
