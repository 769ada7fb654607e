"""Bounds that hold at every moment, and grades that are certain."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plyhouse.server.results import sequential
from plyhouse.server.results.sequential import (
    ConfidenceSequence,
    Grading,
    GradingState,
)

SCORES = st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), min_size=1, max_size=40)
ALPHA = 0.1


def mean_excess(counts: Counter[float], mean: float) -> float:
    """The log evidence that scores in [0, 1] average above ``mean``."""
    if mean <= 0.0:
        return math.inf if any(value > 0.0 for value in counts) else 0.0
    if mean >= 1.0 or not counts:
        return 0.0
    return sequential._capital([*counts], [*counts.values()])(mean)


def ever_refuted(
    rng: random.Random, outcomes: tuple[float, ...], shares: tuple[float, ...], scores: int
) -> bool:
    """Return whether the true mean is ever outside of the bounds, after any score.

    The mean is outside exactly when the evidence against it, from either side, is 2 / alpha.
    """
    mean = math.fsum(a * p for a, p in zip(outcomes, shares, strict=True))
    counts: Counter[float] = Counter()
    mirrored: Counter[float] = Counter()
    for score in rng.choices(outcomes, shares, k=scores):
        counts[score] += 1
        mirrored[1 - score] += 1
        if max(mean_excess(counts, mean), mean_excess(mirrored, 1 - mean)) >= math.log(2 / ALPHA):
            return True
    return False


@pytest.mark.parametrize(
    ("outcomes", "shares"),
    [
        ((0.0, 1.0), (0.5, 0.5)),
        ((0.0, 0.5, 1.0), (0.48, 0.04, 0.48)),
        ((0.0, 0.5, 1.0), (0.02, 0.96, 0.02)),
        ((0.0, 0.25, 0.5, 0.75, 1.0), (0.05, 0.1, 0.2, 0.3, 0.35)),
        ((0.0, 1.0), (0.97, 0.03)),
        ((0.45, 0.55), (0.5, 0.5)),
    ],
)
def test_the_mean_is_missed_at_any_time_as_rarely_as_was_stated(
    outcomes: tuple[float, ...], shares: tuple[float, ...]
) -> None:
    rng = random.Random(11)
    runs = 200
    missed = sum(ever_refuted(rng, outcomes, shares, 200) for _ in range(runs))
    # Three standard deviations of a binomial number above what was stated: the seed is fixed, and
    # an interval of fixed size that is looked at as often misses in more than half of the runs.
    assert missed <= runs * ALPHA + 3 * math.sqrt(runs * ALPHA * (1 - ALPHA))


def test_an_interval_for_a_fixed_number_would_not_do() -> None:
    rng = random.Random(11)
    runs, missed = 200, 0
    for _ in range(runs):
        total = 0
        for count in range(1, 251):
            total += rng.random() < 0.5
            if count >= 10 and abs(total / count - 0.5) > 1.645 * 0.5 / math.sqrt(count):
                missed += 1
                break
    assert missed > 2 * runs * ALPHA


@pytest.mark.parametrize("value", [0.0, 0.3, 0.5, 1.0])
def test_equal_scores_are_not_certainty_at_once_but_bounds_close_in(value: float) -> None:
    bounds = ConfidenceSequence()
    widths = []
    for _ in range(300):
        bounds.add(value)
        assert bounds.low <= value <= bounds.high
        widths.append(bounds.high - bounds.low)
    assert widths[1] > 0.9, "two pairs say next to nothing"
    assert 0 < widths[-1] < 0.05


@given(SCORES)
@settings(max_examples=60, deadline=None)
def test_bounds_only_come_closer_and_hold_the_mean(scores: list[float]) -> None:
    bounds = ConfidenceSequence()
    low, high = 0.0, 1.0
    for score in scores:
        bounds.add(score)
        assert low <= bounds.low <= bounds.high <= high
        low, high = bounds.low, bounds.high
    assert bounds.mean == pytest.approx(math.fsum(scores) / len(scores))
    assert bounds.size == len(scores)


@given(SCORES)
@settings(max_examples=60, deadline=None)
def test_sides_are_alike(scores: list[float]) -> None:
    ours, theirs = ConfidenceSequence(), ConfidenceSequence()
    ours.extend(scores)
    theirs.extend(1 - score for score in scores)
    assert ours.low == pytest.approx(1 - theirs.high, abs=1e-9)
    assert ours.high == pytest.approx(1 - theirs.low, abs=1e-9)


@given(SCORES, st.floats(0.01, 0.99), st.floats(0.01, 0.99))
@settings(max_examples=80, deadline=None)
def test_the_higher_the_mean_the_less_speaks_for_more_than_it(
    scores: list[float], one: float, other: float
) -> None:
    counts = Counter(scores)
    low, high = sorted((one, other))
    assert mean_excess(counts, low) >= mean_excess(counts, high) - 1e-9
    better = Counter(min(1.0, score + 0.25) for score in scores)
    assert mean_excess(better, one) >= mean_excess(counts, one) - 1e-9


@given(SCORES)
@settings(max_examples=40, deadline=None)
def test_less_error_means_wider_bounds(scores: list[float]) -> None:
    strict, loose = ConfidenceSequence(0.01), ConfidenceSequence(0.2)
    strict.extend(scores)
    loose.extend(scores)
    assert strict.low <= loose.low
    assert loose.high <= strict.high


def test_points_are_bounded_as_shares_of_their_range_are() -> None:
    shares, points = ConfidenceSequence(), ConfidenceSequence(least=-2.0, greatest=2.0)
    for score in (0.25, 0.5, 1.0, 0.75, 0.75, 1.0, 1.0, 1.0, 0.75, 1.0, 1.0):
        shares.add(score)
        points.add(4 * score - 2)
    assert points.low == pytest.approx(4 * shares.low - 2)
    assert points.high == pytest.approx(4 * shares.high - 2)
    assert points.mean == pytest.approx(4 * shares.mean - 2)


def test_evidence_is_that_of_a_gambler_by_hand() -> None:
    # Stakes of 0.9, 0.45, ... of what is possible on "above 1/2": a win multiplies by 1 + f,
    # a loss by 1 - f, a draw by 1.
    fractions = [0.9 / 2**step for step in range(6)]
    capital = sum((1 + f) ** 5 * (1 - f) ** 2 for f in fractions) / 6
    found = mean_excess(Counter({1.0: 5, 0.5: 9, 0.0: 2}), 0.5)
    assert found == pytest.approx(math.log(capital))


@pytest.mark.parametrize("score", [-0.1, 1.1, math.nan, math.inf])
def test_what_is_no_score_is_refused(score: float) -> None:
    with pytest.raises(ValueError, match="from 0 to 1"):
        ConfidenceSequence().add(score)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0.0,), "error rate"),
        ((1.0,), "error rate"),
        ((math.nan,), "error rate"),
        ((0.05, 1.0, 1.0), "finite range"),
        ((0.05, 0.0, math.inf), "finite range"),
    ],
)
def test_bounds_that_cannot_be_are_refused(arguments: tuple[float, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ConfidenceSequence(*arguments)


def test_before_the_first_score_all_is_possible() -> None:
    bounds = ConfidenceSequence()
    assert (bounds.low, bounds.mean, bounds.high) == (0.0, 0.5, 1.0)
    decision = Grading([0.3, 0.7], maximum=5).decision
    assert (decision.state, decision.possible, decision.estimate) == ("open", range(3), 1)


@pytest.mark.parametrize(("score", "band"), [(0.0, 0), (0.5, 1), (1.0, 2)])
def test_a_clear_grade_is_decided_and_stays(score: float, band: int) -> None:
    grading = Grading([0.25, 0.75], maximum=1000)
    while grading.decision.state is GradingState.OPEN:
        assert grading.decision.band is None
        grading.add(score)
    decided = grading.decision
    assert (decided.state, decided.band, decided.estimate) == ("decided", band, band)
    assert decided.pairs < 40
    assert decided.possible == range(band, band + 1)
    for _ in range(50):
        grading.add(1.0 - score)  # games that were under way
    assert grading.decision == decided


def test_who_is_at_a_threshold_is_stopped_by_the_maximum() -> None:
    grading = Grading([0.5], maximum=30)
    for score in itertools.islice(itertools.cycle([1.0, 0.0]), 30):
        assert grading.decision.state is GradingState.OPEN
        grading.add(score)
    decision = grading.decision
    assert (decision.state, decision.band, decision.pairs) == ("maximum", None, 30)
    assert decision.possible == range(2)
    assert decision.estimate == 1, "who has the threshold has reached it"


def test_wrong_grades_are_as_rare_as_was_stated() -> None:
    rng = random.Random(4)
    runs, wrong, pairs = 60, 0, 0
    for _ in range(runs):
        grading = Grading([0.3, 0.5], alpha=ALPHA, maximum=1000)
        while grading.decision.state is GradingState.OPEN:
            grading.add(rng.choices((1.0, 0.5, 0.0), (0.3, 0.2, 0.5))[0])  # 0.4 on average
        wrong += grading.decision.band not in (1, None)
        pairs += grading.decision.pairs
    assert wrong <= runs * ALPHA + 3 * math.sqrt(runs * ALPHA * (1 - ALPHA))
    assert pairs / runs < 500


def test_one_threshold_takes_the_error_on_one_side_and_fewer_pairs() -> None:
    pairs = {}
    for one_sided in (False, True):
        grading = Grading([0.5], maximum=1000, one_sided=one_sided)
        while grading.decision.state is GradingState.OPEN:
            grading.add((1.0, 1.0, 0.0)[grading.decision.pairs % 3])
        pairs[one_sided] = grading.decision.pairs
    assert pairs[True] < 0.9 * pairs[False]


def test_one_threshold_is_decided_wrongly_as_seldom_as_was_stated() -> None:
    rng = random.Random(8)
    runs, wrong = 120, 0
    for _ in range(runs):
        grading = Grading([0.5], alpha=ALPHA, maximum=250)
        while grading.decision.state is GradingState.OPEN:
            grading.add(rng.choices((1.0, 0.5, 0.0), (0.397, 0.2, 0.403))[0])  # just below it
        wrong += grading.decision.band == 1
    # Were it wrong more often than stated, more than 22 of 120 would be likely.
    assert 0 < wrong <= runs * ALPHA + 3 * math.sqrt(runs * ALPHA * (1 - ALPHA))


@pytest.mark.parametrize(
    ("thresholds", "maximum"),
    [([0.5, 0.5], 10), ([0.6, 0.4], 10), ([0.0], 10), ([1.0], 10), ([math.nan], 10), ([0.5], 0)],
)
def test_grades_that_cannot_be_are_refused(thresholds: list[float], maximum: int) -> None:
    with pytest.raises(ValueError, match=r"thresholds|maximum"):
        Grading(thresholds, maximum=maximum)


def test_without_thresholds_everybody_has_the_one_grade() -> None:
    assert Grading([], maximum=10).decision.band == 0
