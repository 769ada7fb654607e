"""The match engine and time: readiness, pauses and stalls of the server, flags, absent seats."""

from __future__ import annotations

from typing import Any

import pytest

from plyhouse.games import get_game
from plyhouse.protocol.messages import Accepted, Error, Finished, Notice, Ok, Turn, Update
from plyhouse.server.match.engine import Match
from plyhouse.server.match.events import end_data
from plyhouse.server.match.time_control import MS, SECOND, LagPolicy
from plyhouse.server.results.record import make_record
from plyhouse.server.results.verify import verify

from .harness import NO_LAG, Heap, Table

VOUCHED = LagPolicy(100 * MS, 10 * MS, vouched_per_move_ns=40 * MS)


def kinds(table: Table, seat: int) -> list[type]:
    return [type(each) for each in table.inbox[seat]]


# ------------------------------------------------------------------------------- readiness


def test_ready_timeout_counts_from_the_announcement() -> None:
    table = Table(Heap(), ready=False, ready_timeout_ns=SECOND)
    assert table.match.deadline() == SECOND
    table.match.announce(7)
    assert table.match.deadline() == SECOND + 7
    assert Match(table.config, 5).deadline() == SECOND + 5


def test_ready_timeout_moves_with_a_pause_of_the_server() -> None:
    table = Table(Heap(), ready=False, ready_timeout_ns=SECOND)
    table.match.server_paused(100)
    assert table.match.deadline() is None
    assert not table.match.tick(9 * SECOND)
    table.match.server_paused(500)
    table.match.server_resumed(700)
    assert table.match.deadline() == SECOND + 600


def test_ready_timeout_moves_with_a_stall_of_the_server() -> None:
    table = Table(Heap(), ready=False, ready_timeout_ns=SECOND)
    assert table.match.server_stalled(100, 350) is None
    assert table.match.deadline() == SECOND + 250


def test_stall_within_a_pause_is_counted_once() -> None:
    table = Table(Heap(), ready=False, ready_timeout_ns=SECOND)
    table.match.server_paused(100)
    assert table.match.server_stalled(100, 350) is None
    table.match.server_resumed(400)
    assert table.match.deadline() == SECOND + 300


def test_pause_that_ends_before_it_began_moves_nothing() -> None:
    table = Table(Heap(), ready=False, ready_timeout_ns=SECOND)
    table.match.server_paused(500)
    table.match.server_resumed(300)
    assert table.match.deadline() == SECOND


def test_ready_after_the_timeout_is_too_late() -> None:
    table = Table(Heap(), ready=False, ready_timeout_ns=SECOND)
    table.now = SECOND
    assert table.ask("ready", 0, "aa").code == "match/over"
    assert (table.outcome.termination, table.outcome.seat) == ("aborted", None)
    assert table.outcome.reason == (
        "seat 1 (player0/bot) and seat 2 (player1/bot) were not ready within 1 s."
    )
    assert kinds(table, 0)[-2:] == [Finished, Error]


def test_no_show_of_two_teams_is_no_forfeit() -> None:
    table = Table(Heap(), ready=False, ready_timeout_ns=SECOND, no_show_forfeits=True)
    table.do(table.match.tick(SECOND))
    assert (table.outcome.termination, table.outcome.seat) == ("aborted", None)


# ----------------------------------------------------------------------- pauses and stalls


def test_pause_that_begins_before_the_clock_pauses_the_whole_ply() -> None:
    table = Table(Heap(), "move:10", write_turns=False, lag=NO_LAG)
    table.match.turn_written(0, 0, SECOND)
    table.match.server_paused(SECOND // 2)
    table.match.server_resumed(5 * SECOND)
    assert table.match.deadline() == 15 * SECOND + 1


def test_second_pause_is_as_good_as_the_first() -> None:
    table = Table(Heap(), "move:10", lag=NO_LAG)
    for begin in (1, 5):
        table.match.server_paused(begin * SECOND)
        table.match.server_resumed((begin + 2) * SECOND)
    assert table.match.deadline() == 14 * SECOND + 1


def test_absent_seat_has_its_grace_after_a_pause_and_a_stall() -> None:
    table = Table(Heap(), disconnect_grace_ns=10 * SECOND)
    table.do(table.match.disconnected(1, 0))
    assert table.match.deadline() == 10 * SECOND
    table.match.server_paused(SECOND)
    table.match.server_resumed(3 * SECOND)
    assert table.match.deadline() == 12 * SECOND
    table.match.server_stalled(4 * SECOND, 5 * SECOND)
    assert table.match.deadline() == 13 * SECOND
    assert not table.match.tick(13 * SECOND - 1)
    table.do(table.match.tick(13 * SECOND))
    assert table.outcome.termination == "disconnect"


def test_stall_moves_the_flag_by_what_was_refunded() -> None:
    policy = LagPolicy(0, 0, busy_per_move_ns=300, busy_total_ns=300)
    table = Table(Heap(), "move:10", lag=policy)
    assert table.match.server_stalled(1000, 2000) == 1000
    assert table.match.server_stalled(2000, 2200, busy_ns=200) == 200
    assert table.match.server_stalled(2200, 2400, busy_ns=200, own_ns=150) == 50
    assert table.match.deadline() == 10 * SECOND + 1250 + 1


def test_stall_before_the_turn_was_written_refunds_nothing() -> None:
    table = Table(Heap(), write_turns=False)
    assert table.match.server_stalled(0, 1000) is None


@pytest.mark.parametrize("late", [0, 1])
def test_frame_that_the_server_held_up_has_that_much_longer(late: int) -> None:
    table = Table(Heap(), "move:1", lag=NO_LAG)
    answer = table.act("1", think=SECOND + 300 + late, stall_ns=300)
    if late:
        assert answer.code == "match/over"
        assert table.outcome.termination == "flag_fall"
        end = table.rows[-1]
        assert (end.thought_ns, end.stall_ns, end.charged_ns) == (SECOND + 301, 300, SECOND + 1)
    else:
        assert isinstance(answer, Accepted)
        row = table.rows[-1]
        assert (row.thought_ns, row.stall_ns, row.charged_ns) == (SECOND + 300, 300, SECOND)


def test_flag_that_falls_by_itself_has_no_stall() -> None:
    table = Table(Heap(), "move:1", lag=NO_LAG)
    table.do(table.match.tick(SECOND + 1))
    end = table.rows[-1]
    assert (end.thought_ns, end.lag_ns, end.stall_ns) == (SECOND + 1, 0, 0)
    assert table.outcome.reason == "seat 1 (player0/bot) ran out of time at ply 1."
    assert end_data(end).on_clock == 0


@pytest.mark.parametrize(
    ("fen", "returns"),
    [
        ("4k3/8/8/8/8/8/3R4/4K3 w - - 0 1", [0.0, 0.0]),
        ("4k3/8/8/8/8/8/3R4/4K3 b - - 0 1", [1.0, -1.0]),
        ("4k3/7p/8/8/8/8/3R4/4K3 w - - 0 1", [-1.0, 1.0]),
        ("4k3/8/8/8/8/8/3r4/4K3 b - - 0 1", [0.0, 0.0]),
    ],
)
def test_flag_fall_against_a_lone_king_is_a_draw(fen: str, returns: list[float]) -> None:
    table = Table(get_game(f'chess(fen="{fen}")'), "move:1", lag=NO_LAG)
    table.do(table.match.tick(SECOND + 1))
    mover = "wb".index(fen.split()[1])
    assert table.outcome.termination == "flag_fall"
    assert (table.outcome.returns, table.outcome.seat) == (returns, mover)
    assert ("cannot win" in table.outcome.reason) is (returns == [0.0, 0.0])
    assert verify(make_record(table.config, table.rows, reveal=True)).ok


def test_rules_that_fail_at_a_flag_fall_void_the_match() -> None:
    class Unsure(Heap):
        def can_win(self, state: Any, seat: int) -> bool:
            raise ZeroDivisionError

    table = Table(Unsure(), "move:1", lag=NO_LAG)
    table.do(table.match.tick(SECOND + 1))
    assert table.outcome.termination == "server_fault"


def test_refund_of_lag_is_exactly_what_was_measured() -> None:
    table = Table(Heap(), "move:1", write_turns=False, lag=VOUCHED)
    match = table.match
    match.turn_written(0, 0, 0)
    assert match.deadline() == SECOND + 1
    table.act("1", think=MS)
    assert (table.rows[-1].lag_ns, table.rows[-1].stall_ns) == (0, 0)
    match.turn_written(1, 1, table.now, lag_ns=30 * MS, floor_ns=25 * MS)
    assert match.deadline() == table.now + SECOND + 30 * MS + 1
    table.act("1", think=500 * MS)
    assert table.rows[-1].lag_ns == 30 * MS
    match.turn_written(0, 2, table.now, lag_ns=30 * MS)
    assert match.deadline() == table.now + SECOND + 10 * MS + 1, "nothing is vouched for"
    table.act("1", think=500 * MS, lag_ns=90 * MS)
    assert table.rows[-1].lag_ns == 10 * MS
    match.turn_written(1, 3, table.now, lag_ns=50 * MS, floor_ns=50 * MS)
    assert match.deadline() == table.now + SECOND + 45 * MS + 1, "40 vouched for, 5 left"


def test_lag_that_comes_with_the_action_is_refunded() -> None:
    table = Table(Heap(), lag=LagPolicy(50 * MS, SECOND))
    table.act("1", think=SECOND, lag_ns=30 * MS)
    assert table.rows[-1].lag_ns == 30 * MS


# ------------------------------------------------------------------- which clock, and when


@pytest.mark.parametrize(("seat", "ply"), [(1, 0), (0, 1), (0, -1), (2, 0)])
def test_turn_written_of_another_seat_or_ply_starts_no_clock(seat: int, ply: int) -> None:
    table = Table(Heap(), write_turns=False)
    table.match.turn_written(seat, ply, SECOND)
    assert table.match.turn_open
    assert table.match.deadline() is None


def test_turn_written_of_an_earlier_seat_starts_no_clock() -> None:
    table = Table(Heap(seats=3), write_turns=False)
    table.act("1")
    table.match.turn_written(0, 1, SECOND)
    table.match.turn_written(1, 0, SECOND)
    assert table.match.turn_open


def test_no_turn_is_open_before_the_start_and_after_the_end() -> None:
    table = Table(Heap(), ready=False, write_turns=False)
    assert (table.match.turn_open, table.match.seat_to_move) == (False, None)
    table.match.turn_written(0, 0, 0)
    for seat in (0, 1):
        table.do(table.match.ready(seat, "", 0))
    assert (table.match.turn_open, table.match.seat_to_move) == (True, 0)
    table.do(table.match.resign(0, 5))
    assert (table.match.turn_open, table.match.seat_to_move) == (False, None)


def test_seat_that_leaves_with_an_open_turn_starts_its_own_clock_only() -> None:
    table = Table(Heap(seats=3), "move:5", write_turns=False, lag=NO_LAG)
    table.act("1", think=0)
    for seat in (0, 2):
        table.do(table.match.disconnected(seat, SECOND))
        assert table.match.clock.running is None
    table.do(table.match.disconnected(1, 2 * SECOND))
    assert table.match.clock.running == 1
    assert table.match.deadline() == 7 * SECOND + 1


def test_seat_that_leaves_while_its_turn_is_pending_starts_no_clock() -> None:
    table = Table(Heap(), "move:5", write_turns=False, lag=NO_LAG)
    table.match.audience.subscribe(1)
    effects = table.match.disconnected(0, SECOND, turn_pending=True)
    assert [type(each.message) for each in effects.messages] == [Notice]
    assert table.match.clock.running is None
    table.match.turn_missed(0, 0, 3 * SECOND)
    assert table.match.deadline() == 8 * SECOND + 1


def test_turn_missed_by_a_present_seat_starts_no_clock() -> None:
    table = Table(Heap(), write_turns=False)
    table.match.turn_missed(0, 0, SECOND)
    assert table.match.turn_open


def test_second_disconnection_starts_no_clock() -> None:
    table = Table(Heap(), "move:5", write_turns=False, lag=NO_LAG)
    table.do(table.match.disconnected(1, 0))
    table.act("1", think=SECOND)
    table.do(table.match.disconnected(1, 2 * SECOND))
    assert table.match.turn_open


def test_disconnection_after_the_end_is_not_noted() -> None:
    table = Table(Heap())
    table.do(table.match.resign(0, 5))
    table.match.audience.subscribe(None)
    assert not table.match.disconnected(1, 6)
    assert table.match.absences(None, 7) == []


def test_absence_ends_with_the_match() -> None:
    table = Table(Heap())
    table.do(table.match.disconnected(1, 5))
    table.do(table.match.resign(0, 6))
    assert table.match.absences(None, 7) == []
    assert table.match.deadline() is None


def test_absent_seat_before_the_start_does_not_end_the_wait() -> None:
    table = Table(Heap(), ready=False, ready_timeout_ns=9 * SECOND, disconnect_grace_ns=SECOND)
    table.do(table.match.disconnected(0, 0))
    assert table.match.deadline() == 9 * SECOND


def test_grace_that_ends_with_the_flag_comes_first() -> None:
    table = Table(Heap(), "move:1", disconnect_grace_ns=SECOND + 1, lag=NO_LAG)
    table.do(table.match.disconnected(1, 0))
    assert table.match.deadline() == SECOND + 1
    table.do(table.match.tick(SECOND + 1))
    assert table.outcome.termination == "flag_fall", "the flag has fallen, and not a moment later"
    table = Table(Heap(), "move:1", disconnect_grace_ns=SECOND, lag=NO_LAG)
    table.do(table.match.disconnected(1, 0))
    assert table.match.deadline() == SECOND
    table.do(table.match.tick(SECOND))
    assert table.outcome.termination == "disconnect"


def test_return_after_the_grace_is_too_late() -> None:
    table = Table(Heap(), disconnect_grace_ns=SECOND)
    table.do(table.match.disconnected(1, 0))
    table.do(table.match.reconnected(1, SECOND))
    assert (table.outcome.termination, table.outcome.seat) == ("disconnect", 1)
    assert table.outcome.reason == "seat 2 (player1/bot) was away for more than 1 s."


def test_notice_of_an_absence_counts_down_to_zero() -> None:
    table = Table(Heap(), disconnect_grace_ns=10 * SECOND)
    table.match.disconnected(1, 0)
    (early,) = table.match.absences(None, 8500 * MS)
    assert early.remaining_ms == 1500
    assert early.message == "Seat 2 (player1/bot) is away; the match waits 2 s more."
    (late,) = table.match.absences(None, 12 * SECOND)
    assert late.remaining_ms == 0
    assert late.message == "Seat 2 (player1/bot) is away; the match waits 0 s more."


def test_every_absent_seat_has_a_notice() -> None:
    table = Table(Heap(seats=3))
    for seat in (2, 0):
        table.match.disconnected(seat, 0)
    assert [each.seat for each in table.match.absences(None, 1)] == [0, 2]


# ----------------------------------------------------------------------- after a restart


def restored(table: Table, now: int = 100 * SECOND) -> Match:
    match = table.restored(now=now)
    match.resume(now)
    return match


def test_seats_of_a_restored_match_have_the_grace_without_clocks() -> None:
    table = Table(Heap(), "move:5", disconnect_grace_ns=10 * SECOND)
    match = restored(table)
    match.turn_missed(0, 0, 101 * SECOND)
    assert match.turn_open, "the server is the reason"
    assert match.deadline() == 110 * SECOND
    assert not match.tick(110 * SECOND - 1)
    effects = match.tick(110 * SECOND)
    assert match.outcome is not None
    assert match.outcome.termination == "aborted"
    assert match.outcome.reason == "Nobody came back within 10 s of the server's restart."
    assert effects.milestone


def test_seat_that_came_back_alone_wins() -> None:
    table = Table(Heap(), disconnect_grace_ns=10 * SECOND)
    match = restored(table)
    match.reconnected(0, 101 * SECOND)
    match.tick(110 * SECOND)
    assert match.outcome is not None
    assert (match.outcome.termination, match.outcome.seat) == ("disconnect", 1)


def test_seats_that_came_back_and_left_again_are_not_excused() -> None:
    table = Table(Heap(), disconnect_grace_ns=10 * SECOND)
    match = restored(table)
    for seat in (0, 1):
        match.reconnected(seat, 101 * SECOND)
        match.disconnected(seat, (102 + seat) * SECOND)
    match.tick(200 * SECOND)
    assert match.outcome is not None
    assert (match.outcome.termination, match.outcome.seat) == ("disconnect", 0)


def test_seat_that_got_its_turn_after_a_restart_is_no_longer_excused() -> None:
    table = Table(Heap(), "move:50", disconnect_grace_ns=10 * SECOND)
    match = restored(table)
    match.turn_written(0, 0, 101 * SECOND)
    match.tick(110 * SECOND)
    assert match.outcome is not None
    assert (match.outcome.termination, match.outcome.seat) == ("disconnect", 0)


def test_finished_match_that_is_restored_waits_for_nobody() -> None:
    table = Table(Heap())
    table.do(table.match.resign(0, 5))
    match = restored(table)
    assert match.absences(None, 100 * SECOND) == []
    assert match.deadline() is None


def waiting(seats: int = 2) -> Match:
    """Return a match for which seats have a second to get ready, or 10 s to come back."""
    table = Table(
        Heap(seats=seats), ready=False, ready_timeout_ns=SECOND, disconnect_grace_ns=10 * SECOND
    )
    match = table.restored(now=50 * SECOND)
    assert not match.resume(50 * SECOND)
    return match


def test_waiting_match_that_is_restored_gives_seats_the_grace_to_come_back() -> None:
    match = waiting()
    assert match.deadline() == 60 * SECOND
    match.tick(60 * SECOND)
    assert match.outcome is not None
    assert match.outcome.termination == "aborted"


def test_seat_that_came_back_has_the_whole_time_to_get_ready() -> None:
    match = waiting()
    match.ready(0, "aa", 50 * SECOND)
    match.reconnected(1, 58 * SECOND)
    assert match.deadline() == 59 * SECOND
    match.reconnected(1, 58 * SECOND + 1)
    assert match.deadline() == 59 * SECOND, "once"


def test_match_waits_for_no_seat_that_is_ready_already() -> None:
    match = waiting()
    match.ready(0, "aa", 50 * SECOND)
    match.reconnected(1, 50 * SECOND)
    assert match.deadline() == 51 * SECOND, "though seat 0 is away"


# ------------------------------------------------------------- a seat's server is gone


def test_nothing_is_due_from_a_seat_while_its_server_keeps_it_away() -> None:
    table = Table(Heap(), ready=False, ready_timeout_ns=SECOND)
    match = table.match
    match.ready(0, "aa", table.now)
    match.excuse(1, table.now)
    assert match.deadline() is None
    match.reconnected(0, table.now + 30 * SECOND)
    assert match.status == "waiting"
    match.reconnected(1, table.now + 30 * SECOND)
    assert match.deadline() == table.now + 31 * SECOND


def test_flag_of_a_seat_that_its_server_keeps_away_does_not_fall() -> None:
    table = Table(Heap(), "total:5", lag=NO_LAG)
    match = table.match
    begin = table.now
    match.turn_written(0, 0, begin)
    match.excuse(0, begin + SECOND)
    match.reconnected(1, begin + 20 * SECOND)  # looks for flags
    assert match.status == "running"
    match.reconnected(0, begin + 21 * SECOND)
    assert match.clock.remaining(0, begin + 21 * SECOND) == 4 * SECOND
    assert match.deadline() == begin + 25 * SECOND + 1


def test_an_excuse_outlives_a_pause_and_gives_no_time_twice() -> None:
    table = Table(Heap(), "total:60", lag=NO_LAG)
    match = table.match
    begin = table.now
    match.turn_written(0, 0, begin)
    match.excuse(0, begin + SECOND)
    match.server_paused(begin + 11 * SECOND)
    match.server_resumed(begin + 21 * SECOND)
    match.reconnected(0, begin + 31 * SECOND)
    assert match.clock.remaining(0, begin + 41 * SECOND) == 49 * SECOND


def test_standstill_during_an_excuse_gives_no_time_twice() -> None:
    table = Table(Heap(), "total:60", lag=NO_LAG)
    match = table.match
    begin = table.now
    match.turn_written(0, 0, begin)
    match.excuse(0, begin + 2 * SECOND)
    assert match.server_stalled(begin + SECOND, begin + 4 * SECOND) == 3 * SECOND
    assert match.server_stalled(begin + 5 * SECOND, begin + 9 * SECOND) == 4 * SECOND
    match.reconnected(0, begin + 21 * SECOND)
    assert match.clock.remaining(0, begin + 31 * SECOND) == 49 * SECOND


def test_a_seat_that_comes_back_in_a_pause_is_not_charged() -> None:
    table = Table(Heap(), "total:5", lag=NO_LAG)
    match = table.match
    begin = table.now
    match.turn_written(0, 0, begin)
    match.excuse(0, begin + SECOND)
    match.server_paused(begin + 11 * SECOND)
    match.reconnected(0, begin + 12 * SECOND)
    match.server_resumed(begin + 13 * SECOND)
    assert match.clock.remaining(0, begin + 13 * SECOND) == 4 * SECOND


def test_grace_begins_when_an_excuse_ends() -> None:
    table = Table(Heap(), "total:5", lag=NO_LAG, disconnect_grace_ns=10 * SECOND)
    match = table.match
    assert not match.end_excuse(0, table.now), "it has none"
    match.excuse(1, table.now)
    assert match.end_excuse(1, table.now + 50 * SECOND)
    match.disconnected(1, table.now + 50 * SECOND)
    assert match.attendance.until(1) == table.now + 60 * SECOND


def test_seat_of_a_restored_match_has_its_grace_only_once() -> None:
    match = restored(Table(Heap(), disconnect_grace_ns=10 * SECOND))
    assert not match.end_excuse(0, 105 * SECOND)
    assert match.deadline() == 110 * SECOND


# --------------------------------------------------------------------- in a pause, and late


def test_repeated_action_in_a_pause_is_answered() -> None:
    table = Table(Heap())
    table.act("1")
    table.match.server_paused(table.now)
    assert table.act("1", seat=0, ply=0).duplicate
    assert table.act("1", seat=1, ply=1).code == "match/not_running"
    assert table.act("1", seat=1, ply=7).code == "match/not_running"


def test_action_out_of_turn_leaves_a_flag_that_has_not_fallen() -> None:
    table = Table(Heap(), "move:1", lag=NO_LAG)
    answer = table.act("1", seat=1, think=SECOND)
    assert (answer.code, answer.ply) == ("match/not_your_turn", 0)
    assert table.match.status == "running"


def test_clocks_of_a_turn_are_those_after_the_ply() -> None:
    table = Table(Heap(), "total:60+0", lag=NO_LAG)
    table.act("1", think=10 * SECOND)
    turn: Any = table.inbox[1][-1]
    assert isinstance(turn, Turn)
    assert [(each.remaining_ms, each.running) for each in turn.clocks] == [
        (50_000, False),
        (60_000, True),
    ]
    assert (turn.deadline_ms, turn.retry) == (60_000, False)


def test_first_turn_has_the_clocks_of_the_start() -> None:
    table = Table(Heap(), "total:60+0", lag=NO_LAG)
    turn: Any = table.inbox[0][-1]
    assert isinstance(turn, Turn)
    assert [(each.remaining_ms, each.running) for each in turn.clocks] == [
        (60_000, True),
        (60_000, False),
    ]
    assert not turn.retry


def test_last_update_shows_clocks_that_rest() -> None:
    table = Table(Heap(coins=2), "total:60+0", lag=NO_LAG)
    table.match.audience.subscribe(None)
    table.act("2", think=SECOND)
    update = table.broadcasts[-2]
    assert isinstance(update, Update)
    assert [(each.remaining_ms, each.running) for each in update.clocks] == [
        (59_000, False),
        (60_000, False),
    ]


def test_ledger_of_a_forfeit_ends_with_its_event() -> None:
    table = Table(Heap(), "total:60+0", lag=NO_LAG)
    table.do(table.match.resign(1, 7 * SECOND))
    end = table.rows[-1]
    assert (end.thought_ns, end.charged_ns, end.remaining_ns) == (
        7 * SECOND,
        7 * SECOND,
        53 * SECOND,
    )
    assert end_data(end).on_clock == 0


def test_answer_of_ready_comes_before_the_turn() -> None:
    table = Table(Heap(), ready=False)
    for seat in (1, 0):
        table.do(table.match.ready(seat, "", 0, re=5))
    assert kinds(table, 0)[-2:] == [Ok, Turn]
