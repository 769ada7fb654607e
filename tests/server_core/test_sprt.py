"""Sequential tests on pairs."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plyhouse.server.results.sprt import (
    Hypotheses,
    Sprt,
    Verdict,
    elo_score,
    log_likelihood_ratio,
)

VALUES = (0.0, 0.25, 0.5, 0.75, 1.0)
COUNTS = st.lists(st.integers(1, 60), min_size=5, max_size=5)


def three_way(wins: int, draws: int, losses: int, mean: float) -> float:
    """Greatest log-likelihood of these with this mean, solved by hand.

    With p and q for wins and losses, p - q = d = 2 mean - 1 and draws 1 - p - q: the derivative
    of w log p + l log(p - d) + t log(1 - 2p + d) vanishes at the root of a quadratic.
    """
    d = 2 * mean - 1
    total = wins + draws + losses
    a = 2.0 * total
    b = -(wins * (1 + 3 * d) + losses * (1 + d) + 2 * draws * d)
    c = wins * d * (1 + d)
    p = (-b + math.sqrt(b * b - 4 * a * c)) / (2 * a)
    return wins * math.log(p) + losses * math.log(p - d) + draws * math.log(1 - 2 * p + d)


@pytest.mark.parametrize(
    ("wins", "draws", "losses"), [(40, 30, 30), (10, 80, 10), (3, 1, 9), (200, 1, 200)]
)
@pytest.mark.parametrize(("elo0", "elo1"), [(0, 10), (-5, 5), (0, 100)])
def test_the_ratio_for_wins_draws_and_losses_is_the_one_by_hand(
    wins: int, draws: int, losses: int, elo0: float, elo1: float
) -> None:
    mean0, mean1 = elo_score(elo0), elo_score(elo1)
    by_hand = three_way(wins, draws, losses, mean1) - three_way(wins, draws, losses, mean0)
    found = log_likelihood_ratio({1.0: wins, 0.5: draws, 0.0: losses}, mean0, mean1)
    assert found == pytest.approx(by_hand, abs=1e-9)


def test_the_ratio_without_draws_is_that_of_a_coin() -> None:
    found = log_likelihood_ratio({1.0: 61, 0.0: 39}, 0.5, 0.55)
    assert found == pytest.approx(61 * math.log(0.55 / 0.5) + 39 * math.log(0.45 / 0.5), abs=1e-9)


def test_near_hypotheses_give_the_ratio_of_normal_means() -> None:
    counts = dict(zip(VALUES, (90, 210, 410, 200, 90), strict=True))
    total = sum(counts.values())
    mean = sum(value * count for value, count in counts.items()) / total
    variance = sum(count * (value - mean) ** 2 for value, count in counts.items()) / total
    mean0, mean1 = elo_score(0), elo_score(4)
    normal = total * (mean1 - mean0) * (2 * mean - mean0 - mean1) / (2 * variance)
    assert log_likelihood_ratio(counts, mean0, mean1) == pytest.approx(normal, rel=0.02, abs=0.01)


def test_equal_pairs_speak_for_the_hypothesis_that_is_nearer() -> None:
    assert log_likelihood_ratio({}, 0.5, 0.6) == 0.0
    for count in (1, 10, 1000):
        assert (
            log_likelihood_ratio({0.5: count}, 0.5, 0.6)
            < 0
            < log_likelihood_ratio({1.0: count}, 0.5, 0.6)
        )
    # A mean of 0.6 needs a fifth of the pairs to be wins: none in 10 has a chance of 0.8**10.
    found = log_likelihood_ratio({0.5: 10}, 0.5, 0.6)
    assert found == pytest.approx(10 * math.log(0.8), rel=0.01)


@given(COUNTS, st.floats(0.1, 0.85), st.floats(0.01, 0.1))
@settings(max_examples=80, deadline=None)
def test_laws_of_the_ratio(counts: list[int], mean0: float, more: float) -> None:
    mean1 = mean0 + more
    pairs = dict(zip(VALUES, counts, strict=True))
    found = log_likelihood_ratio(pairs, mean0, mean1)
    # Hypotheses exchanged, and sides exchanged.
    assert log_likelihood_ratio(pairs, mean1, mean0) == pytest.approx(-found, abs=1e-9)
    other = {1 - value: count for value, count in pairs.items()}
    assert log_likelihood_ratio(other, 1 - mean0, 1 - mean1) == pytest.approx(found, abs=1e-7)
    # Points are as shares of their range are.
    points = {8 * value - 4: count for value, count in pairs.items()}
    scaled = log_likelihood_ratio(points, 8 * mean0 - 4, 8 * mean1 - 4, -4, 4)
    assert scaled == pytest.approx(found, abs=1e-7)
    # Twice the pairs are twice the evidence.
    twice = {value: 2 * count for value, count in pairs.items()}
    assert log_likelihood_ratio(twice, mean0, mean1) == pytest.approx(2 * found, abs=1e-7)


@given(COUNTS, st.floats(0.35, 0.6), st.floats(0.01, 0.1))
@settings(max_examples=80, deadline=None)
def test_the_sign_of_the_ratio_is_that_of_the_nearer_mean(
    counts: list[int], mean0: float, more: float
) -> None:
    pairs = dict(zip(VALUES, counts, strict=True))
    mean = sum(value * count for value, count in pairs.items()) / sum(counts)
    found = log_likelihood_ratio(pairs, mean0, mean0 + more)
    if mean <= mean0:
        assert found < 0
    if mean >= mean0 + more:
        assert found > 0


def verdict_of(
    draw: Callable[[], float], hypotheses: Hypotheses, max_pairs: int = 5000
) -> tuple[Verdict | None, int]:
    sprt = Sprt(hypotheses, max_pairs=max_pairs)
    index = 0
    while sprt.is_open(0):
        sprt.add(0, index, draw())
        index += 1
    return sprt.state(0).verdict, index


@pytest.mark.parametrize("draws", [0.0, 0.3, 0.6])
@pytest.mark.parametrize("truth", ["H0", "H1"])
def test_verdicts_are_wrong_as_rarely_as_was_stated(draws: float, truth: str) -> None:
    test = Hypotheses(elo_score(0), elo_score(100), alpha=0.1, beta=0.1)
    rng = random.Random(7)
    wins = (test.mean0 if truth == "H0" else test.mean1) - draws / 2
    shares = (wins, draws, 1 - wins - draws)
    runs = 200
    verdicts = [
        verdict_of(lambda: rng.choices((1.0, 0.5, 0.0), shares)[0], test)[0] for _ in range(runs)
    ]
    wrong = sum(verdict != truth for verdict in verdicts)
    assert wrong <= runs * 0.1 + 3 * math.sqrt(runs * 0.1 * 0.9)


def test_chips_are_tested_in_chips() -> None:
    test = Hypotheses(0.0, 0.5, alpha=0.1, beta=0.1, least=-2.0, greatest=2.0)
    rng = random.Random(9)
    values = (-2.0, -1.0, 0.0, 0.5, 2.0)  # the means are 0 and 0.5
    for truth, shares in (("H0", (2, 4, 4, 8, 2)), ("H1", (3, 6, 18, 24, 17))):
        verdicts = [
            verdict_of(lambda shares=shares: rng.choices(values, shares)[0], test)[0]  # type: ignore[misc]
            for _ in range(150)
        ]
        wrong = sum(verdict != truth for verdict in verdicts)
        assert wrong <= 15 + 3 * math.sqrt(150 * 0.09)


def test_any_candidate_is_taken_for_better_as_rarely_as_was_stated() -> None:
    test = Hypotheses(elo_score(0), elo_score(150), alpha=0.1, beta=0.1)
    rng = random.Random(3)
    runs, wrong = 120, 0
    for _ in range(runs):
        sprt = Sprt(test, 4, max_pairs=2000)
        index = 0
        while not sprt.is_over:
            for candidate in range(4):
                sprt.add(candidate, index, rng.choices((1.0, 0.5, 0.0), (0.4, 0.2, 0.4))[0])
            index += 1
        wrong += any(sprt.state(c).verdict is Verdict.H1 for c in range(4))
    assert wrong <= runs * 0.1 + 3 * math.sqrt(runs * 0.1 * 0.9)


def test_the_first_that_is_accepted_leaves_its_share_to_the_others() -> None:
    test = Hypotheses(0.5, 0.75)
    sprt = Sprt(test, 3, max_pairs=100)
    alone = math.log(0.95 / (0.05 / 3))
    assert sprt.state(0).upper == pytest.approx(alone)
    index = 0
    while sprt.is_open(0):
        sprt.add(0, index, 1.0)
        sprt.add(1, index, 1.0 if index % 4 else 0.0)
        sprt.add(2, index, 0.5)
        index += 1
    assert sprt.state(0).verdict is Verdict.H1
    assert sprt.state(0).upper == pytest.approx(alone)
    assert sprt.state(1).verdict is None
    # Candidate 2 is out, but not accepted: it keeps its share.
    assert sprt.state(2).verdict is Verdict.H0
    assert sprt.state(1).upper == pytest.approx(math.log(0.95 / (0.05 / 2)))


@given(
    st.lists(st.tuples(st.sampled_from(VALUES), st.sampled_from(VALUES)), min_size=1, max_size=30),
    st.randoms(use_true_random=False),
)
@settings(max_examples=60, deadline=None)
def test_the_order_in_which_pairs_end_is_no_matter(
    pairs: list[tuple[float, float]], rng: random.Random
) -> None:
    test = Hypotheses(0.5, 0.6)
    tasks = [(c, i, pair[c]) for i, pair in enumerate(pairs) for c in (0, 1)]
    in_order, shuffled = (Sprt(test, 2, max_pairs=len(pairs)) for _ in range(2))
    for task in tasks:
        in_order.add(*task)
    rng.shuffle(tasks)
    for task in tasks:
        shuffled.add(*task)
    for candidate in (0, 1):
        assert in_order.state(candidate) == shuffled.state(candidate)
        assert in_order.values(candidate) == shuffled.values(candidate)


def test_pairs_that_do_not_count_use_up_the_maximum() -> None:
    sprt = Sprt(Hypotheses(0.5, 0.6), max_pairs=3)
    for index in range(3):
        sprt.add(0, index, None)
    assert sprt.is_over
    state = sprt.state(0)
    assert (state.pairs, state.llr, state.verdict, sprt.taken(0)) == (0, 0.0, None, 3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"mean0": 0.5, "mean1": 0.5}, "greater mean"),
        ({"mean0": 0.6, "mean1": 0.5}, "greater mean"),
        ({"mean0": 0.0, "mean1": 0.5}, "lie between 0 and 1"),
        ({"mean0": 0.5, "mean1": 1.0}, "lie between"),
        ({"mean0": 0.5, "mean1": 0.6, "alpha": 0.0}, "alpha"),
        ({"mean0": 0.5, "mean1": 0.6, "beta": 0.5}, "beta"),
        ({"mean0": math.nan, "mean1": 0.6}, "greater mean"),
    ],
)
def test_what_cannot_be_tested_is_refused(arguments: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Hypotheses(**arguments)


def test_a_test_needs_somebody_to_test() -> None:
    for candidates, max_pairs in ((0, 5), (1, 0)):
        with pytest.raises(ValueError, match="at least"):
            Sprt(Hypotheses(0.5, 0.6), candidates, max_pairs=max_pairs)
