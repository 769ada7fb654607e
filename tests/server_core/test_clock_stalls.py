"""What a clock does not charge: pauses, stalls, logins and round trips; and charging again."""

from __future__ import annotations

import pytest

from plyhouse.server.match.clock import Clock
from plyhouse.server.match.time_control import MS, SECOND, LagPolicy, Ledger, TimeControl

from .harness import NO_LAG

TIGHT = LagPolicy(0, 0, busy_per_move_ns=500, busy_total_ns=800)
"""No refund of lag, and few nanoseconds for a server at work."""


def clock(control: str = "total:60+0", lag: LagPolicy = NO_LAG) -> Clock:
    return Clock(TimeControl.parse(control), 2, lag)


def running(control: str = "total:60+0", lag: LagPolicy = NO_LAG, now: int = 1000) -> Clock:
    watch = clock(control, lag)
    watch.start(0, now)
    return watch


# ------------------------------------------------------------------------------- readings


def test_limit_without_running_clock_is_refused() -> None:
    with pytest.raises(RuntimeError, match="no clock is running"):
        clock().limit()


def test_deadline_without_running_clock_is_none() -> None:
    assert clock().deadline() is None


def test_reading_of_a_resting_clock_shows_what_its_control_has() -> None:
    assert clock("move:1").reading(0, 5) == (SECOND, None, None)
    assert clock("byoyomi:1+3x1").reading(1, 5) == (4 * SECOND, 3, None)
    assert clock("bank:1+30").reading(1, 5) == (31 * SECOND, None, 30 * SECOND)


def test_opponents_clock_rests_during_a_ply() -> None:
    watch = running("total:60+0", now=0)
    assert watch.remaining(1, 7 * SECOND) == 60 * SECOND
    assert watch.reading(1, 7 * SECOND) == (60 * SECOND, None, None)
    assert watch.remaining(0, 7 * SECOND) == 53 * SECOND
    assert watch.reading(0, 7 * SECOND) == (53 * SECOND, None, None)


def test_reading_before_the_start_and_after_the_flag_stays_within_bounds() -> None:
    watch = running("total:60+0", now=SECOND)
    assert watch.remaining(0, 0) == 60 * SECOND
    assert watch.reading(0, 0).remaining_ns == 60 * SECOND
    assert watch.remaining(0, 99 * SECOND) == 0
    assert watch.reading(0, 99 * SECOND).remaining_ns == 0


def test_running_periods_burn_one_at_a_time() -> None:
    watch = running("byoyomi:1+3x1", now=0)
    periods = [watch.reading(0, used).periods for used in (SECOND, SECOND + 1, 2 * SECOND - 1)]
    assert periods == [3, 3, 3]
    assert watch.reading(0, 2 * SECOND).periods == 2
    assert watch.reading(0, 4 * SECOND).periods == 0
    assert watch.reading(0, 50 * SECOND).periods == 0


def test_reading_in_a_pause_shows_the_time_of_its_begin() -> None:
    watch = running("total:60+0", now=0)
    watch.pause(SECOND)
    assert watch.paused
    assert watch.remaining(0, 9 * SECOND) == 59 * SECOND
    assert watch.reading(0, 9 * SECOND) == (59 * SECOND, None, None)
    watch.resume(11 * SECOND)
    assert (watch.paused, watch.remaining(0, 12 * SECOND)) == (False, 58 * SECOND)


# --------------------------------------------------------------------------------- pauses


def test_pause_that_begins_before_the_ply_pauses_all_of_it() -> None:
    watch = running("move:1", now=100)
    watch.pause(40)
    assert watch.resume(1100) == 1000
    assert watch.deadline() == SECOND + 1100
    assert watch.stop(0, 1100 + 5) == Ledger(1005, 0, 1000, 5, SECOND)


def test_pause_between_plies_begins_when_it_says() -> None:
    watch = clock("move:1")
    watch.pause(40)
    assert watch.resume(100) == 60
    watch.start(0, 200)
    assert watch.deadline() == SECOND + 200, "it is no part of a later ply"


@pytest.mark.parametrize(("written", "begins"), [(30, 40), (40, 40), (70, 70)])
def test_turn_written_in_a_pause_begins_within_it(written: int, begins: int) -> None:
    watch = clock("move:1")
    watch.pause(40)
    watch.start(0, written)
    assert watch.resume(100) == 100 - begins
    assert watch.stop(0, 105) == Ledger(105 - begins, 0, 100 - begins, 5, SECOND)


def test_pause_that_ends_before_it_began_has_no_length() -> None:
    watch = running("move:1", now=0)
    watch.pause(50)
    assert watch.resume(20) == 0
    assert watch.deadline() == SECOND


def test_stop_within_a_pause_charges_the_time_before_it() -> None:
    watch = running("total:60+0", now=0)
    watch.pause(30)
    assert watch.stop(0, 90) == Ledger(90, 0, 60, 30, 60 * SECOND - 30)
    assert watch.paused
    watch.start(1, 90)
    assert watch.resume(100) == 10, "the rest of the pause is the next ply's"
    assert watch.stop(1, 103) == Ledger(13, 0, 10, 3, 60 * SECOND - 3)


def test_pause_in_which_a_ply_stopped_keeps_its_length() -> None:
    watch = running("total:60+0", now=0)
    watch.pause(30)
    watch.stop(0, 90)
    assert watch.resume(100) == 70


def test_stop_before_the_pause_began_adds_no_stall() -> None:
    watch = running("total:60+0", now=0)
    watch.pause(30)
    assert watch.stop(0, 20) == Ledger(20, 0, 0, 20, 60 * SECOND - 20)


def test_pause_of_one_ply_does_not_help_the_next() -> None:
    watch = running("move:1", now=0)
    watch.pause(0)
    watch.resume(500)
    assert watch.stop(0, 600).stall_ns == 500
    watch.start(0, 1000)
    assert watch.deadline() == SECOND + 1000
    assert watch.stop(0, 2000) == Ledger(1000, 0, 0, 1000, SECOND)


def test_two_pauses_of_a_ply_add_up() -> None:
    watch = running("move:1", now=0)
    for begin in (100, 300):
        watch.pause(begin)
        watch.resume(begin + 50)
    assert watch.deadline() == SECOND + 100
    assert watch.stop(0, 400).stall_ns == 100


def test_stop_earlier_than_the_start_charges_nothing() -> None:
    assert running("total:60+0", now=50).stop(0, 20) == Ledger(0, 0, 0, 0, 60 * SECOND)


def test_stop_of_the_other_seat_is_refused() -> None:
    with pytest.raises(RuntimeError, match="the clock of seat 1 is not running"):
        running().stop(1, 2000)
    with pytest.raises(RuntimeError, match="the clock of seat 1 is not running"):
        running().settle(1, 2000)


def test_settle_before_the_deadline_charges_what_was_thought() -> None:
    assert running("move:1", now=0).settle(0, 300) == Ledger(300, 0, 0, 300, SECOND)


def test_stall_adds_to_the_pauses_up_to_the_time_thought() -> None:
    watch = running("move:1", now=0)
    watch.pause(0)
    watch.resume(100)
    watch.stalled(100, 300)
    assert watch.stop(0, 1000) == Ledger(1000, 0, 300, 700, SECOND)
    watch.start(0, 0)
    watch.stalled(0, 5000)
    assert watch.stop(0, 1000) == Ledger(1000, 0, 1000, 0, SECOND)


# --------------------------------------------------------------------------------- stalls


def test_stall_without_a_running_clock_or_in_a_pause_refunds_nothing() -> None:
    assert clock().stalled(0, 1000) == 0
    watch = running(now=0)
    watch.pause(500)
    assert watch.stalled(0, 1000) == 0
    watch.resume(500)
    assert watch.deadline() == 60 * SECOND


def test_stall_of_a_process_that_did_not_run_is_refunded_whole() -> None:
    watch = running(lag=TIGHT, now=0)
    assert watch.stalled(1000, 6000) == 5000
    assert watch.deadline() == 60 * SECOND + 5000
    assert watch.stop(0, 6000) == Ledger(6000, 0, 5000, 1000, 60 * SECOND - 1000)


def test_stall_without_work_needs_none_of_the_caps() -> None:
    watch = running(lag=LagPolicy(0, 0, busy_per_move_ns=0, busy_total_ns=0), now=0)
    assert watch.stalled(0, 300) == 300
    assert watch.stalled(300, 600, busy_ns=1) == 299


def test_stall_that_began_before_the_ply_counts_from_its_start() -> None:
    watch = running(lag=TIGHT, now=1000)
    assert watch.stalled(400, 1000) == 0
    assert watch.stalled(400, 1001) == 1
    assert watch.stalled(900, 800) == 0
    assert watch.stalled(1000, 1300, busy_ns=300) == 300
    assert watch.limit() == 60 * SECOND + 1301


def test_stall_of_an_instant_after_the_ply_began_is_nothing() -> None:
    watch = running(now=1000)
    assert watch.stalled(2000, 2000) == 0
    assert watch.stalled(2000, 1500) == 0
    assert watch.limit() == 60 * SECOND + 1000


def test_stall_at_work_is_refunded_up_to_the_cap_of_a_ply() -> None:
    watch = running(lag=TIGHT, now=0)
    assert watch.stalled(0, 300, busy_ns=300) == 300
    assert watch.stalled(300, 500, busy_ns=200) == 200, "exactly the cap"
    assert watch.stalled(500, 501, busy_ns=1) == 0
    assert watch.limit() == 60 * SECOND + 500


def test_stall_at_work_is_refunded_up_to_the_cap_of_a_match() -> None:
    watch = running(lag=TIGHT, now=0)
    assert watch.stalled(0, 450, busy_ns=450) == 450
    watch.stop(0, 1000)
    watch.start(0, 1000)
    assert watch.stalled(1000, 1350, busy_ns=350) == 350, "exactly what is left"
    assert watch.stalled(1350, 1351, busy_ns=1) == 0
    watch.stop(0, 2000)
    watch.start(1, 2000)
    assert watch.stalled(2000, 2500, busy_ns=500) == 500, "each seat has its own"


def test_stall_at_work_beyond_a_cap_is_refunded_in_part() -> None:
    watch = running(lag=TIGHT, now=0)
    assert watch.stalled(0, 700, busy_ns=700) == 500
    assert watch.stalled(700, 800, busy_ns=100) == 0
    watch.stop(0, 1000)
    watch.start(0, 1000)
    assert watch.stalled(1000, 1700, busy_ns=700) == 300
    assert watch.limit() == 1000 + 60 * SECOND - 500 + 300


def test_stall_partly_at_work_refunds_the_rest_whole() -> None:
    watch = running(lag=TIGHT, now=0)
    assert watch.stalled(0, 10_000, busy_ns=600) == 9900
    assert watch.stalled(10_000, 20_000, busy_ns=40) == 9960, "the cap of the ply is used up"
    assert watch.limit() == 60 * SECOND + 19_860


def test_stall_by_the_movers_own_data_is_never_refunded() -> None:
    watch = running(lag=TIGHT, now=0)
    assert watch.stalled(0, 1000, busy_ns=400, own_ns=400) == 600
    assert watch.stalled(1000, 2000, busy_ns=1000, own_ns=1000) == 0
    assert watch.stalled(2000, 3000, busy_ns=1000, own_ns=5000) == 0
    assert watch.stalled(3000, 4000, busy_ns=300, own_ns=100) == 900
    assert watch.stalled(4000, 5000, busy_ns=100, own_ns=300) == 700, "own work is work"
    assert watch.limit() == 60 * SECOND + 2200
    # Of the cap of 500, only the 200 above were used.
    assert watch.stalled(5000, 5300, busy_ns=300) == 300
    assert watch.stalled(5300, 5301, busy_ns=1) == 0


def test_own_data_within_a_busy_stall_leaves_the_others_share() -> None:
    watch = running(lag=TIGHT, now=0)
    assert watch.stalled(0, 300, busy_ns=300, own_ns=1) == 299
    assert watch.stalled(300, 501, busy_ns=201) == 201, "the own part used no cap"


def test_own_data_that_fill_the_stall_leave_nothing_at_work() -> None:
    watch = running(lag=TIGHT, now=0)
    assert watch.stalled(0, 300, busy_ns=500, own_ns=250) == 50
    assert watch.limit() == 60 * SECOND + 50


def test_stall_longer_than_what_was_at_work_takes_no_more_of_the_cap() -> None:
    watch = running(lag=TIGHT, now=0)
    assert watch.stalled(0, 300, busy_ns=9000) == 300
    assert watch.stalled(300, 700, busy_ns=9000) == 200


# --------------------------------------------------------------------------------- logins


def test_login_of_the_seat_to_move_is_refunded_within_the_caps() -> None:
    watch = running(lag=TIGHT, now=0)
    assert watch.let_in(1, 100, 300) == 0
    assert watch.let_in(0, 100, 300) == 200
    assert watch.let_in(0, 300, 900) == 300
    assert watch.let_in(0, 900, 950) == 0
    assert watch.limit() == 60 * SECOND + 500


def test_login_of_a_seat_is_refunded_from_the_resumption_on() -> None:
    watch = running(now=0)
    watch.pause(100)
    watch.resume(400)
    assert watch.let_in(0, 50, 450) == 50, "the pause itself is given back already"
    assert watch.let_in(0, 50, 300) == 0
    assert watch.limit() == 60 * SECOND + 350


def test_login_without_a_running_clock_refunds_nothing() -> None:
    assert clock().let_in(0, 0, 100) == 0


# ------------------------------------------------------------------------------ round trips


def test_allowance_counts_for_the_deadline_and_for_the_flag() -> None:
    for late in (0, 1):
        watch = clock("total:1+0", LagPolicy())
        watch.start(0, 5, lag_ns=30 * MS)
        assert watch.limit() == 5 + SECOND + 30 * MS
        ledger = watch.stop(0, 5 + SECOND + 30 * MS + late)
        assert (ledger.flagged, ledger.lag_ns) == (bool(late), 30 * MS)


def test_smaller_lag_at_the_stop_leaves_the_allowance() -> None:
    watch = clock("total:1+0", LagPolicy())
    watch.start(0, 0, lag_ns=30 * MS)
    assert watch.stop(0, 100 * MS, lag_ns=10 * MS).lag_ns == 30 * MS


def test_lag_of_a_nanosecond_is_refunded() -> None:
    watch = clock("total:1+0", LagPolicy())
    watch.start(0, 0)
    assert watch.stop(0, 100, lag_ns=1).lag_ns == 1
    watch.start(0, 0, lag_ns=-7)
    assert watch.stop(0, 100, lag_ns=-7).lag_ns == 0


def test_nothing_is_refunded_that_is_not_given() -> None:
    watch = clock("move:1", LagPolicy(vouched_per_move_ns=MS))
    watch.start(0, 0)
    assert watch.limit() == SECOND
    assert watch.stop(0, 1000) == Ledger(1000, 0, 0, 1000, SECOND)
    watch.start(0, 0)
    assert watch.stalled(0, 300) == 300
    assert watch.stalled(300, 600, busy_ns=300) == 300
    assert watch.let_in(0, 0, 300) == 300


def test_lag_of_exactly_what_is_left_is_refunded() -> None:
    watch = clock("total:1+0", LagPolicy(per_move_cap_ns=100, total_cap_ns=150))
    for lag, refund in ((100, 100), (50, 50), (1, 0)):
        watch.start(0, 0, lag_ns=lag)
        assert watch.stop(0, 1000).lag_ns == refund


def test_lag_that_was_not_used_stays_in_the_total() -> None:
    watch = clock("total:1+0", LagPolicy(per_move_cap_ns=100, total_cap_ns=150))
    watch.start(0, 0, lag_ns=100)
    assert watch.stop(0, 60).lag_ns == 60
    watch.start(0, 0, lag_ns=100)
    assert watch.stop(0, 1000).lag_ns == 90


VOUCHED = LagPolicy(per_move_cap_ns=100, total_cap_ns=50, vouched_per_move_ns=40)


def test_vouched_lag_is_free_of_the_total_under_a_time_per_move() -> None:
    watch = clock("move:1", VOUCHED)
    refunds = []
    for _ in range(4):
        watch.start(0, 0, lag_ns=60, floor_ns=70)
        refunds.append(watch.stop(0, 1000).lag_ns)
    assert refunds == [60, 60, 50, 40], "40 are free, and 50 in all beyond them"


def test_vouched_lag_is_at_most_what_the_kernel_saw() -> None:
    watch = clock("move:1", VOUCHED)
    for lag, refund in ((60, 60), (60, 10)):
        watch.start(0, 0, lag_ns=lag, floor_ns=10)
        assert watch.stop(0, 1000).lag_ns == refund
    watch.start(0, 0, lag_ns=60)
    assert watch.stop(0, 1000).lag_ns == 0, "nothing is vouched for"


def test_vouched_lag_below_the_refund_leaves_the_total_as_it_is() -> None:
    watch = clock("move:1", VOUCHED)
    watch.start(0, 0, lag_ns=30, floor_ns=40)
    watch.stop(0, 1000)
    watch.start(0, 0, lag_ns=100, floor_ns=40)
    assert watch.stop(0, 1000).lag_ns == 90, "all 50 of the total were left, and no more"


def test_vouched_lag_counts_under_other_controls() -> None:
    watch = clock("total:1+0", VOUCHED)
    watch.start(0, 0, lag_ns=60, floor_ns=60)
    assert watch.stop(0, 1000).lag_ns == 50


# ----------------------------------------------------------------------------------- replay


def test_replay_of_exactly_all_time_is_possible() -> None:
    watch = clock("total:1+0")
    assert watch.replay(0, SECOND, 0) == 0
    with pytest.raises(ValueError, match="seat 1 was charged 1000000001 ns and had 1000000000 ns"):
        watch.replay(1, SECOND + 1, 0)
    with pytest.raises(ValueError, match="was charged -1 ns"):
        watch.replay(1, -1, 0)
    assert watch.available(1) == SECOND


def test_replay_of_a_fallen_flag_may_charge_more() -> None:
    watch = clock("byoyomi:1+2x1")
    assert watch.replay(0, 9 * SECOND, 0, flagged=True) == 0
    assert watch.reading(0, 0) == (0, None, None)


def test_replay_of_lag_keeps_both_caps() -> None:
    watch = clock("total:1+0", LagPolicy(per_move_cap_ns=100, total_cap_ns=150))
    with pytest.raises(ValueError, match="seat 0 was refunded 101 ns of lag"):
        watch.replay(0, 0, 101)
    with pytest.raises(ValueError, match="seat 0 was refunded -1 ns of lag"):
        watch.replay(0, 0, -1)
    watch.replay(0, 7, 100)
    with pytest.raises(ValueError, match="caps"):
        watch.replay(0, 7, 51)
    assert watch.replay(0, 7, 50) == SECOND - 14
    watch.start(0, 0, lag_ns=100)
    assert watch.stop(0, 1000).lag_ns == 0


def test_replay_of_vouched_lag_takes_the_total_first() -> None:
    watch = clock("move:1", VOUCHED)
    watch.replay(0, 0, 45)
    watch.replay(0, 0, 45)
    with pytest.raises(ValueError, match="caps"):
        watch.replay(0, 0, 41)
    watch.replay(0, 0, 40)
    watch.start(0, 0, lag_ns=60)
    assert watch.stop(0, 1000).lag_ns == 0


# ---------------------------------------------------------------------------------- accounts


def test_flag_in_main_time_leaves_no_period() -> None:
    watch = running("byoyomi:1+2x1", now=0)
    assert watch.stop(0, 3 * SECOND + 1).flagged
    assert watch.available(0) == 0


def test_main_time_of_byoyomi_runs_down_first() -> None:
    watch = running("byoyomi:2+2x1", now=0)
    assert watch.stop(0, SECOND).remaining_ns == 3 * SECOND
    watch.start(0, 0)
    assert watch.stop(0, SECOND).remaining_ns == 2 * SECOND, "main time is used up, no period is"
    assert watch.reading(0, 0).periods == 2


def test_period_of_a_nanosecond_burns() -> None:
    watch = running("byoyomi:1+3x0.000000001", now=0)
    assert watch.reading(0, SECOND // 2).periods == 3
    assert watch.reading(0, SECOND + 1).periods == 2
    assert watch.stop(0, SECOND // 2).remaining_ns == SECOND // 2 + 3
    watch.start(0, 0)
    assert watch.stop(0, SECOND // 2 + 1).remaining_ns == 2
    assert watch.reading(0, 0).periods == 2


def test_bank_pays_for_what_the_free_time_does_not() -> None:
    watch = running("bank:1+30", now=0)
    assert watch.reading(0, SECOND + 5).bank_ns == 30 * SECOND - 5
    assert watch.stop(0, SECOND - 1).remaining_ns == 31 * SECOND
    watch.start(0, 0)
    assert watch.stop(0, 4 * SECOND).remaining_ns == 28 * SECOND


def test_start_while_another_clock_runs_names_it() -> None:
    with pytest.raises(RuntimeError, match="the clock of seat 0 is running"):
        running().start(1, 2000)
