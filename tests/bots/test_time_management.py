"""The laws of spending time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plyhouse.bots.client.timing import MS, SECOND
from plyhouse.bots.running.time_management import (
    TimeRule,
    allot,
    expected_moves_left,
    parse_time_control,
    safety_margin,
)

RULES = [
    TimeRule("move", each=SECOND),
    TimeRule("total", increment=0),
    TimeRule("total", increment=SECOND // 2),
    TimeRule("byoyomi", each=5 * SECOND, periods=3),
    TimeRule("bank", each=SECOND),
]
rules = st.sampled_from(RULES)
times = st.integers(0, 4000 * SECOND)
lags = st.integers(0, 500 * MS)
counts = st.integers(1, 200)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("move:1", TimeRule("move", each=SECOND)),
        ("move:0.05", TimeRule("move", each=50 * MS)),
        ("total:60", TimeRule("total")),
        ("total:60+0.5", TimeRule("total", increment=SECOND // 2)),
        ("byoyomi:60+5x10", TimeRule("byoyomi", each=5 * SECOND, periods=10)),
        ("bank:1+30", TimeRule("bank", each=SECOND)),
    ],
)
def test_time_controls_are_read(text: str, rule: TimeRule) -> None:
    assert parse_time_control(text) == rule


@pytest.mark.parametrize("text", ["", "hourglass:5", "total:", "move:-1", "move:1e9x"])
def test_an_unknown_time_control_uses_what_there_is(text: str) -> None:
    assert parse_time_control(text).kind == "move"


@given(rules, times, lags, lags, counts, st.none() | st.integers(1, 10))
def test_soft_comes_before_hard_and_hard_before_the_flag(
    rule: TimeRule, left: int, trip: int, jitter: int, moves: int, periods: int | None
) -> None:
    margin = safety_margin(left, trip, jitter)
    given = allot(rule, left, margin=margin, periods=periods, moves_left=moves)
    assert 0 <= given.soft <= given.hard <= left - margin


@given(rules, times, st.integers(0, 60 * SECOND), lags, counts)
def test_more_time_left_never_means_less_to_think(
    rule: TimeRule, left: int, more: int, trip: int, moves: int
) -> None:
    def soft(time: int) -> int:
        return allot(rule, time, margin=safety_margin(time, trip), moves_left=moves).soft

    assert soft(left) <= soft(left + more)


@given(times, lags, lags)
def test_the_margin_leaves_some_time_to_think(left: int, trip: int, jitter: int) -> None:
    margin = safety_margin(left, trip, jitter)
    assert 0 <= margin <= left / 3


def test_lag_widens_the_margin() -> None:
    near, far = safety_margin(SECOND), safety_margin(SECOND, 100 * MS, 20 * MS)
    assert far == near + 140 * MS


@given(st.integers(0, 300), st.none() | st.integers(1, 300))
def test_at_least_one_move_is_left(made: int, most: int | None) -> None:
    left = expected_moves_left(made, most)
    assert left >= 1
    if most is not None:
        assert left <= max(1, most - made)


@given(
    st.integers(SECOND // 10, 600 * SECOND),
    st.integers(0, 2 * SECOND),
    st.integers(0, 20 * MS),
    st.integers(1, 400),
)
def test_a_bot_that_keeps_to_soft_never_loses_on_total_time(
    total: int, increment: int, lag: int, moves: int
) -> None:
    rule = TimeRule("total", increment=increment)
    left = total
    for made in range(moves):
        margin = safety_margin(left, lag)
        spent = allot(rule, left, margin=margin, moves_left=expected_moves_left(made)).soft
        assert spent < left
        left += increment - spent


@given(st.integers(0, 60 * SECOND), st.integers(SECOND // 2, 30 * SECOND), st.integers(1, 5))
def test_byo_yomi_periods_are_not_used_up(main: int, period: int, periods: int) -> None:
    rule = TimeRule("byoyomi", each=period, periods=periods)
    for made in range(100):
        left = main + period * periods
        margin = safety_margin(left)
        spent = allot(
            rule, left, margin=margin, periods=periods, moves_left=expected_moves_left(made)
        ).soft
        assert spent < main + period
        main = max(0, main - spent)


@given(st.integers(SECOND // 10, 10 * SECOND), st.integers(0, 100 * SECOND))
def test_the_bank_is_never_overdrawn(each: int, bank: int) -> None:
    rule = TimeRule("bank", each=each)
    for made in range(200):
        margin = safety_margin(each + bank)
        moves = expected_moves_left(made)
        spent = allot(rule, each + bank, margin=margin, moves_left=moves).soft
        bank -= max(0, spent - each)
        assert bank >= 0


def test_the_last_move_of_a_bounded_game_may_take_it_all() -> None:
    given = allot(TimeRule("total"), 10 * SECOND, margin=100 * MS, moves_left=1)
    assert given.soft > 9 * SECOND


def test_time_per_move_is_used_fully() -> None:
    given = allot(TimeRule("move", each=SECOND), SECOND, margin=30 * MS)
    assert given.hard == 970 * MS
    assert given.soft > 900 * MS
