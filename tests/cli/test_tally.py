"""The statistics of a series of matches."""

from __future__ import annotations

import math
import random

import pytest

from plyhouse.clients.arena.tally import (
    SCORES,
    MatchResult,
    beaten,
    elo,
    mean_interval,
    tally,
)
from plyhouse.server.results import intervals


def result(
    pairing: int,
    bots: tuple[int, ...],
    returns: tuple[float, ...],
    termination: str = "normal",
    culprit: int | None = None,
) -> MatchResult:
    return MatchResult(pairing, bots, returns, termination, culprit, 9, (1_000, 2_000))


def test_a_tie_counts_half_and_three_seats_share() -> None:
    assert beaten((1.0, -1.0), 0) == 1.0
    assert beaten((0.0, 0.0), 1) == 0.5
    assert [beaten((2.0, 0.0, 0.0), seat) for seat in range(3)] == [1.0, 0.25, 0.25]


def test_interval_of_wins_is_the_one_of_boards() -> None:
    values = [1.0] * 9 + [0.0]
    found, board = mean_interval(values, SCORES), intervals.mean_interval(values, bounds=SCORES)
    assert (found.value, found.low, found.high) == (board.mean, board.low, board.high)


def test_score_interval_never_collapses() -> None:
    for values in ([1.0], [0.5] * 50, [1.0] * 100):
        found = mean_interval(values, SCORES)
        assert found.low < found.high
        assert 0 <= found.low <= found.high <= 1


def test_intervals_hold_what_they_promise() -> None:
    rng = random.Random(5)
    inside_score = inside_mean = 0
    rounds = 1500
    for _ in range(rounds):
        values = [(rng.random() < 0.6) * 0.5 + (rng.random() < 0.6) * 0.5 for _ in range(20)]
        score, mean = mean_interval(values, SCORES), mean_interval(values)
        inside_score += score.low <= 0.6 <= score.high
        inside_mean += mean.low <= 0.6 <= mean.high
    assert 0.93 < inside_score / rounds < 0.99
    assert 0.92 < inside_mean / rounds < 0.98


@pytest.mark.parametrize(
    ("freedom", "published"), [(1, 12.706), (4, 2.776), (9, 2.262), (30, 2.042), (1000, 1.962)]
)
def test_student_points_are_those_of_the_tables(freedom: int, published: float) -> None:
    count = freedom + 1
    values = [0.0, 1.0] + [0.5] * (count - 2)
    found = mean_interval(values)
    deviation = math.sqrt(0.5 / freedom / count)
    assert (found.high - found.value) / deviation == pytest.approx(published, rel=0.01)


def test_one_value_bounds_nothing() -> None:
    found = mean_interval([3.0])
    assert (found.value, found.low, found.high) == (3.0, -math.inf, math.inf)


def test_an_interval_never_leaves_the_bounds() -> None:
    found = mean_interval([1.0, -1.0], (-1.0, 1.0))  # Student's t alone: 0 +- 12.7
    assert found.value == 0.0
    assert -1.0 <= found.low < -0.9 < 0.9 < found.high <= 1.0
    found = mean_interval([2.0, 0.5, 2.0], (-2.0, 2.0))
    assert -2.0 <= found.low < found.value < found.high <= 2.0


def test_values_that_do_not_vary_leave_doubt() -> None:
    found = mean_interval([1.0, 1.0], (-1.0, 1.0))
    assert found.value == found.high == 1.0
    assert -1.0 < found.low < 0.5


def test_elo_of_known_scores() -> None:
    assert elo(0.5) == 0
    assert elo(10 / 11) == pytest.approx(400)
    assert elo(1.0) == math.inf
    assert elo(0.0) == -math.inf


def test_bots_are_followed_through_their_seats() -> None:
    series = [
        result(0, (0, 1), (1.0, -1.0)),
        result(0, (1, 0), (-1.0, 1.0)),
        result(1, (0, 1), (0.0, 0.0)),
        result(1, (1, 0), (1.0, -1.0), "flag_fall", culprit=1),
    ]
    first, second = tally(series, 2)
    assert (first.wins, first.draws, first.losses) == (2, 1, 1)
    assert (second.wins, second.draws, second.losses) == (1, 1, 2)
    assert first.forfeits == {"flag_fall": 1}
    assert second.forfeits == {}
    assert first.score is not None
    assert first.score.value == pytest.approx(0.625)
    assert first.charged_ns == 1_000 + 2_000 + 1_000 + 2_000


def test_void_matches_count_for_nobody() -> None:
    series = [result(0, (0, 1), (), "server_fault"), result(1, (0, 1), (0.0, 0.0), "aborted")]
    first, second = tally(series, 2)
    assert first.games == second.games == 0
    assert first.score is None
    assert first.mean is None


def test_intervals_are_over_pairings_not_matches() -> None:
    # Every pairing splits 1:1: over matches the spread would be large, over pairings it is 0.
    series = [
        result(pairing, order, (1.0, -1.0)) for pairing in range(40) for order in ((0, 1), (1, 0))
    ]
    account = tally(series, 2, (-1.0, 1.0))[0]
    assert account.mean is not None
    assert account.mean.value == 0.0
    assert account.mean.high - account.mean.low < 0.36  # over matches it would be 0.44
    assert account.score is not None
    assert account.score.high - account.score.low < 0.18
