"""Clocks at their exact boundaries, and by the laws of the ledger."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plyhouse.server.match.clock import Clock
from plyhouse.server.match.time_control import (
    MS,
    SECOND,
    InvalidTimeControl,
    LagPolicy,
    Ledger,
    TimeControl,
)

from .harness import NO_LAG

CONTROLS = ["move:1", "total:60+0", "total:60+0.5", "byoyomi:60+5x10", "bank:1+30"]


def clock(control: str, lag: LagPolicy = NO_LAG) -> Clock:
    return Clock(TimeControl.parse(control), 2, lag)


def ply(watch: Clock, used: int, seat: int = 0, start: int = 1000, **more: int) -> Ledger:
    watch.start(seat, start)
    return watch.stop(seat, start + used, **more)


@pytest.mark.parametrize("text", CONTROLS)
def test_canonical_texts_read_back_as_they_are(text: str) -> None:
    assert str(TimeControl.parse(text)) == text


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("move:1.50", "move:1.5"),
        (" total:60 ", "total:60+0"),
        ("total:060+0.0", "total:60+0"),
        ("byoyomi:0+1x0.001", "byoyomi:0+1x0.001"),
        ("bank:0+30", "bank:0+30"),
        ("total:0.000000001+3", None),
    ],
)
def test_times_are_exact_and_written_shortly(text: str, canonical: str | None) -> None:
    if canonical is None:
        with pytest.raises(InvalidTimeControl, match="less than a millisecond"):
            TimeControl.parse(text)
    else:
        assert str(TimeControl.parse(text)) == canonical


@pytest.mark.parametrize(
    "text",
    [
        "",
        "move",
        "move:",
        "move:-1",
        "move:1+1",
        "move:0",
        "move:nan",
        "move:\u0663",
        "total:1e3",
        "total:60+",
        "total:9999999",
        "total:60+9999999",
        "byoyomi:60+10",
        "byoyomi:60+0x10",
        "byoyomi:60+3x0",
        "byoyomi:1+999x9999999",
        "bank:1",
        "blitz:5",
    ],
)
def test_a_wrong_time_control_says_what_would_be_right(text: str) -> None:
    with pytest.raises(InvalidTimeControl, match="is not a time control: ") as caught:
        TimeControl.parse(text)
    assert caught.value.code == "time_control/invalid"


@pytest.mark.parametrize("text", CONTROLS)
def test_at_the_deadline_an_action_counts_and_a_nanosecond_later_it_does_not(text: str) -> None:
    for late in (0, 1):
        watch = clock(text)
        watch.start(0, 7)
        deadline = watch.deadline()
        assert deadline == 7 + watch.control.initial_ns
        assert watch.stop(0, deadline + late).flagged == bool(late)


@pytest.mark.parametrize("text", CONTROLS)
def test_a_fallen_flag_leaves_nothing(text: str) -> None:
    watch = clock(text)
    ledger = ply(watch, watch.control.initial_ns + 1)
    assert ledger == Ledger(ledger.thought_ns, 0, 0, ledger.thought_ns, 0, flagged=True)


def test_time_per_move_comes_anew() -> None:
    watch = clock("move:1")
    assert ply(watch, SECOND).remaining_ns == SECOND
    assert ply(watch, 3).remaining_ns == SECOND


def test_the_increment_comes_after_the_ply() -> None:
    watch = clock("total:1+0.5")
    watch.start(0, 0)
    assert watch.deadline() == SECOND
    assert watch.stop(0, SECOND).remaining_ns == SECOND // 2
    assert watch.available(1) == SECOND


@pytest.mark.parametrize(
    ("used", "left", "periods"),
    [
        (60 * SECOND, 50 * SECOND, 5),
        (60 * SECOND + 1, 50 * SECOND, 5),
        (70 * SECOND - 1, 50 * SECOND, 5),
        (70 * SECOND, 40 * SECOND, 4),
        (89 * SECOND, 30 * SECOND, 3),
        (90 * SECOND, 20 * SECOND, 2),
        (110 * SECOND - 1, 10 * SECOND, 1),
        (110 * SECOND, 0, None),
    ],
)
def test_full_periods_burn_and_others_come_back(used: int, left: int, periods: int | None) -> None:
    watch = clock("byoyomi:60+5x10")
    assert ply(watch, used).remaining_ns == left
    assert watch.reading(0, 0)[:2] == (left, periods)


def test_the_bank_is_touched_after_the_free_time() -> None:
    watch = clock("bank:1+30")
    assert ply(watch, SECOND).remaining_ns == 31 * SECOND
    assert ply(watch, SECOND + 1).remaining_ns == 31 * SECOND - 1
    assert watch.reading(0, 0).bank_ns == 30 * SECOND - 1


def test_a_running_clock_shows_the_ply_under_way() -> None:
    watch = clock("byoyomi:1+3x1")
    watch.start(0, 0)
    assert watch.reading(0, SECOND // 2) == (3 * SECOND + SECOND // 2, 3, None)
    assert watch.reading(0, SECOND * 2 + 1) == (2 * SECOND - 1, 2, None)
    assert watch.reading(0, SECOND * 9) == (0, 0, None)
    watch = clock("bank:1+2")
    watch.start(0, 0)
    assert watch.reading(0, SECOND // 2).bank_ns == 2 * SECOND
    assert watch.reading(0, 2 * SECOND).bank_ns == SECOND


def test_lag_is_refunded_within_both_caps() -> None:
    policy = LagPolicy(per_move_cap_ns=100, total_cap_ns=250)
    watch = clock("total:60+0", policy)
    refunds = []
    for _ in range(4):
        watch.start(0, 0, lag_ns=150)
        refunds.append(watch.stop(0, 1000).lag_ns)
    assert refunds == [100, 100, 50, 0]
    watch.start(1, 0, lag_ns=150)
    assert watch.stop(1, 1000).lag_ns == 100, "the caps are each seat's own"


def test_the_deadline_includes_what_may_be_refunded() -> None:
    for late in (0, 1):
        watch = clock("move:1", LagPolicy())
        watch.start(0, 0, lag_ns=40 * MS)
        assert watch.deadline() == SECOND + 40 * MS
        ledger = watch.stop(0, SECOND + 40 * MS + late)
        assert (ledger.flagged, ledger.lag_ns) == (bool(late), 40 * MS)
        assert ledger.charged_ns == SECOND + late


def test_a_later_measurement_lowers_the_charge_but_moves_no_deadline() -> None:
    watch = clock("total:1+0", LagPolicy())
    watch.start(0, 0, lag_ns=10 * MS)
    assert watch.stop(0, SECOND // 2, lag_ns=30 * MS).charged_ns == SECOND // 2 - 30 * MS
    watch = clock("total:1+0", LagPolicy())
    watch.start(0, 0, lag_ns=10 * MS)
    assert watch.stop(0, SECOND + 20 * MS, lag_ns=30 * MS).flagged


def test_no_more_is_refunded_than_was_thought() -> None:
    watch = clock("total:1+0", LagPolicy())
    watch.start(0, 0, lag_ns=50 * MS)
    assert watch.stop(0, 20 * MS) == Ledger(20 * MS, 20 * MS, 0, 0, SECOND)


def test_the_servers_stalls_are_not_charged() -> None:
    watch = clock("move:1")
    watch.start(0, 0)
    watch.stalled(SECOND, SECOND + 300 * MS)
    ledger = watch.stop(0, SECOND + 300 * MS)
    assert ledger == Ledger(SECOND + 300 * MS, 0, 300 * MS, SECOND, SECOND)


def test_a_pause_moves_the_deadline_by_its_length() -> None:
    watch = clock("move:1")
    watch.start(0, 0)
    watch.pause(SECOND)
    watch.pause(SECOND + 5)
    assert watch.deadline() is None
    assert watch.remaining(0, 99 * SECOND) == 0
    assert watch.resume(100 * SECOND) == 99 * SECOND
    assert watch.resume(101 * SECOND) == 0
    assert watch.deadline() == 100 * SECOND
    assert not watch.stop(0, 100 * SECOND).flagged


def test_a_ply_that_begins_in_a_pause_begins_with_its_end() -> None:
    watch = clock("move:1")
    watch.pause(0)
    watch.start(0, 5)
    watch.resume(50)
    assert watch.deadline() == SECOND + 50


def test_a_ply_that_ends_with_the_match_is_never_flagged() -> None:
    for paused in (False, True):
        watch = clock("move:1")
        watch.start(0, 0)
        if paused:
            watch.pause(3 * SECOND)
        assert watch.settle(0, 9 * SECOND) == Ledger(SECOND, 0, 0, SECOND, SECOND)
    with pytest.raises(RuntimeError, match="not running"):
        watch.settle(0, 0)


def test_misuse_is_an_error_of_the_caller() -> None:
    watch = clock("move:1")
    with pytest.raises(RuntimeError, match="not running"):
        watch.stop(0, 0)
    watch.start(0, 0)
    with pytest.raises(RuntimeError, match="is running"):
        watch.start(1, 0)


def test_a_replayed_charge_must_have_been_possible() -> None:
    watch = clock("total:1+0")
    with pytest.raises(ValueError, match="had"):
        watch.replay(0, SECOND + 1, 0)
    with pytest.raises(ValueError, match="caps"):
        watch.replay(0, 0, 1)


LAWFUL = st.tuples(
    st.integers(0, 3 * SECOND),  # thought
    st.integers(0, 300 * MS),  # lag known at the start
    st.integers(0, 300 * MS),  # lag known at the stop
    st.integers(0, SECOND),  # pause
    st.integers(0, SECOND),  # stall reported
)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(CONTROLS), st.lists(LAWFUL, max_size=30))
def test_every_ledger_keeps_the_laws(text: str, plies: list[tuple[int, ...]]) -> None:
    watch, copy = clock(text, LagPolicy()), clock(text, LagPolicy())
    now = charged = refunded = 0
    increments = 0
    for thought, lag_before, lag_after, pause, stall in plies:
        watch.start(0, now, lag_ns=lag_before)
        had = watch.available(0)
        watch.pause(now + thought // 2)
        watch.resume(now + thought // 2 + pause)
        deadline = watch.deadline()
        assert deadline is not None
        assert deadline >= now + had + pause
        now += thought + pause
        shown = watch.remaining(0, now)
        watch.stalled(now - stall, now)
        ledger = watch.stop(0, now, lag_ns=lag_after)
        assert ledger.charged_ns == ledger.thought_ns - ledger.lag_ns - ledger.stall_ns >= 0
        assert min(ledger.lag_ns, ledger.stall_ns, ledger.remaining_ns) >= 0
        assert ledger.lag_ns <= LagPolicy().per_move_cap_ns
        assert ledger.stall_ns >= min(pause, ledger.thought_ns)
        assert shown >= had - thought
        if ledger.flagged:
            assert ledger.remaining_ns == 0
            break
        assert ledger.charged_ns <= had
        assert now <= deadline + stall
        charged += ledger.charged_ns
        refunded += ledger.lag_ns
        increments += watch.control.increment_ns
        assert copy.replay(0, ledger.charged_ns, ledger.lag_ns) == ledger.remaining_ns
        if watch.control.kind == "total":
            assert charged + ledger.remaining_ns == watch.control.main_ns + increments
    assert refunded <= LagPolicy().total_cap_ns
