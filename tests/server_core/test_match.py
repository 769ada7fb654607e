"""The match engine: its course, its endings and its answers."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any, ClassVar

import pytest

from plyhouse.games.deterministic.connect_four.rules import ConnectFour
from plyhouse.games.deterministic.tic_tac_toe import TicTacToe
from plyhouse.games.hidden.bridge.rules import Bridge
from plyhouse.games.hidden.coin_guess import CoinGuess
from plyhouse.games.hidden.kuhn_poker import KuhnPoker
from plyhouse.games.stochastic.pig import Pig
from plyhouse.protocol.messages import (
    Accepted,
    DrawDeclined,
    DrawOffered,
    Error,
    Finished,
    MatchMessage,
    Notice,
    Ok,
    Turn,
    Update,
)
from plyhouse.server.match.effects import Broadcast, Send
from plyhouse.server.match.engine import MAX_NONCE_CHANGES
from plyhouse.server.match.events import end_data
from plyhouse.server.match.time_control import MS, SECOND, LagPolicy
from plyhouse.storage.causes import written

from .harness import NO_LAG, Broken, Heap, HeapObservation, Table

FIVE = [TicTacToe(), ConnectFour(), Pig(), CoinGuess(), KuhnPoker()]


def last(table: Table, seat: int, kind: type) -> Any:
    return next(each for each in reversed(table.inbox[seat]) if isinstance(each, kind))


# ------------------------------------------------------------------------------- the start


def test_every_seat_is_told_and_play_starts_when_all_are_ready() -> None:
    table = Table(Heap(), ready=False)
    for seat in (0, 1):
        snapshot = last(table, seat, MatchMessage).snapshot
        assert (snapshot.seat, snapshot.status, snapshot.your_turn) == (seat, "waiting", False)
        assert snapshot.nonces == []
    assert table.ask("ready", 1, "AB") == Ok(table.requests)
    assert str(table.match.status) == "waiting"
    assert table.ask("ready", 0, "") == Ok(table.requests)
    assert str(table.match.status) == "running"
    assert [row.kind for row in table.rows] == ["ready", "ready"]
    turn = last(table, 0, Turn)
    assert (turn.ply, turn.deadline_ms, turn.observation["left"]) == (0, 60_000, 12)
    assert table.match.snapshot(1, 0).nonces == ["", "ab"]


def test_ready_may_be_repeated_also_by_a_restarted_bot() -> None:
    table = Table(Heap(), ready=False)
    for nonce in ("aa", "aa", "bb"):
        assert isinstance(table.ask("ready", 0, nonce), Ok)
    table.ask("ready", 1, "cc")
    assert table.match.course.nonces == ["bb", "cc"]
    assert isinstance(table.ask("ready", 0, "bb"), Ok)
    assert table.ask("ready", 0, "dd").code == "protocol/unexpected"
    assert table.match.course.nonces == ["bb", "cc"]


def test_a_flood_of_nonces_is_stopped() -> None:
    table = Table(Heap(), ready=False)
    changes = MAX_NONCE_CHANGES
    answers = [table.ask("ready", 0, f"{number:02x}") for number in range(changes + 3)]
    assert [type(each) for each in answers] == [Ok] * (changes + 1) + [Error] * 2
    assert (answers[-1].code, answers[-1].fatal) == ("match/too_many_nonces", False)
    assert len(table.rows) == changes + 1


def test_a_nonce_that_is_no_hex_is_refused() -> None:
    table = Table(Heap(), ready=False)
    assert table.ask("ready", 0, "xyz").code == "protocol/bad_field"
    assert table.rows == []


def test_who_is_not_ready_in_time_is_named() -> None:
    table = Table(Heap(), ready=False, ready_timeout_ns=SECOND)
    table.ask("ready", 0, "")
    assert table.match.deadline() == SECOND
    assert not table.match.tick(SECOND - 1)
    table.do(table.match.tick(SECOND))
    assert table.outcome.termination == "aborted"
    assert table.outcome.seat == 1
    assert "seat 2 (player1/bot) was not ready within 1 s" in table.outcome.reason
    assert table.finish is not None
    assert table.finish.void


class Counted(Heap):
    """Counts the observations that the server makes."""

    observed = 0

    def observe(self, state: Any, seat: int | None) -> HeapObservation:
        Counted.observed += 1
        return super().observe(state, seat)


@pytest.mark.parametrize("scenes", [False, True])
def test_snapshots_of_one_position_are_observed_once(scenes: bool) -> None:
    table = Table(Counted())
    table.match.audience.subscribe(0, scenes=scenes)
    table.ask("sync", 0)
    first = last(table, 0, MatchMessage).snapshot
    before = Counted.observed
    for _ in range(3):
        table.ask("sync", 0)
    again = last(table, 0, MatchMessage).snapshot
    assert Counted.observed == before
    assert (again.observation, again.scene) == (first.observation, first.scene)
    table.act("1")
    table.ask("sync", 0)
    assert last(table, 0, MatchMessage).snapshot.observation["left"] == 11


@pytest.mark.parametrize(
    ("there", "termination", "returns"),
    [
        ((0, 2), "no_show", [7600.0, -7600.0, 7600.0, -7600.0]),
        ((0, 2, 3), "no_show", [7600.0, -7600.0, 7600.0, -7600.0]),
        ((0, 1), "aborted", [0.0, 0.0, 0.0, 0.0]),
        ((), "aborted", [0.0, 0.0, 0.0, 0.0]),
    ],
)
def test_no_show_with_seats_of_one_team_alone_is_forfeit(
    there: tuple[int, ...], termination: str, returns: list[float]
) -> None:
    table = Table(Bridge(), ready=False, ready_timeout_ns=SECOND, no_show_forfeits=True)
    for seat in there:
        table.ask("ready", seat, "")
    table.do(table.match.tick(SECOND))
    assert table.outcome.termination == termination
    assert table.outcome.returns == returns


def test_before_the_start_nothing_can_be_played() -> None:
    table = Table(Heap(), ready=False)
    assert table.act("1", seat=0).code == "match/not_ready"
    table.do(table.match.resign(0, 0, re=7))
    assert table.answer(0, 7).code == "match/not_ready"


def test_a_match_has_as_many_players_as_seats() -> None:
    table = Table(Heap())
    with pytest.raises(ValueError, match="3 seats"):
        replace(table.config, game=Heap(seats=3))


# ------------------------------------------------------------------------------- the course


@pytest.mark.parametrize("game", FIVE, ids=lambda game: game.info.name)
def test_random_matches_end_by_the_rules(game: Any) -> None:
    for seed in range(5):
        table = Table(game)
        table.play_randomly(random.Random(seed))
        assert table.outcome.termination == "normal"
        assert tuple(table.outcome.returns) == table.match.state.returns()
        for seat in range(game.seats):
            finished = last(table, seat, Finished)
            assert finished.outcome == table.outcome
            told = [e for each in table.inbox[seat] for e in getattr(each, "events", [])]
            assert told == table.match.views.events(seat), "each event is told once, in order"


def test_an_accepted_action_comes_with_its_ledger() -> None:
    table = Table(Heap())
    accepted = table.act("2", think=1500 * MS)
    assert isinstance(accepted, Accepted)
    assert (accepted.ply, accepted.duplicate) == (0, False)
    assert accepted.ledger is not None
    assert (accepted.ledger.thought_ms, accepted.ledger.remaining_ms) == (1500, 58_500)
    assert [(e.ply, e.seat, e.action, e.ms) for e in accepted.events] == [(0, 0, "2", 1500)]
    row = table.rows[-1]
    assert (row.kind, row.text, row.charged_ns) == ("action", "2", 1500 * MS)
    turn = last(table, 1, Turn)
    assert turn.events == accepted.events
    assert turn.clocks == accepted.clocks


def test_what_chance_did_is_told_with_the_ply_it_precedes() -> None:
    table = Table(Pig())
    accepted = table.act("roll")
    assert [(e.ply, e.seat) for e in accepted.events] == [(0, 0), (1, -1)]
    assert [row.kind for row in table.rows[2:]] == ["action", "chance"]


def test_the_clock_runs_from_the_writing_of_the_turn() -> None:
    table = Table(Heap(), "move:1", write_turns=False, lag=NO_LAG)
    assert table.match.deadline() is None
    table.match.turn_written(0, 0, 5 * SECOND)
    table.match.turn_written(0, 0, 6 * SECOND)
    assert table.match.deadline() == 6 * SECOND + 1
    table.match.turn_written(1, 1, 5 * SECOND)
    table.now = 5 * SECOND
    assert isinstance(table.act("1", think=SECOND), Accepted)
    table.match.turn_written(0, 0, 7 * SECOND)
    assert table.match.turn_open


def test_an_action_before_its_turn_was_written_took_no_time() -> None:
    table = Table(Heap(), write_turns=False)
    assert table.act("1", think=9 * SECOND).ledger.thought_ms == 0


def test_lag_is_refunded_and_stalls_are_not_charged() -> None:
    table = Table(Heap(), "total:60+0", write_turns=False, lag=LagPolicy(50 * MS, SECOND))
    table.match.turn_written(0, 0, 0, lag_ns=80 * MS)
    ledger = table.act("1", think=SECOND, stall_ns=200 * MS).ledger
    assert (ledger.lag_refunded_ms, ledger.stall_ms, ledger.charged_ms) == (50, 200, 750)


def test_followers_are_sent_updates_and_others_are_not() -> None:
    table = Table(Heap(seats=3))
    table.match.audience.subscribe(2, scenes=True)
    table.match.audience.subscribe(None)
    table.act("1")
    update = last(table, 2, Update)
    assert (update.ply, update.observation["left"]) == (1, 11)
    assert update.scene is not None
    assert table.broadcasts[-1].scene is None
    assert not any(isinstance(each, Update) for each in table.inbox[0] + table.inbox[1])
    table.match.audience.unsubscribe(None)
    table.act("1")
    assert len(table.broadcasts) == 1
    assert last(table, 2, Turn).scene is not None, "scenes come with turns as well"
    table.match.audience.subscribe(2, updates=False, scenes=False)
    table.act("1")
    assert last(table, 2, Update) is update


def test_followers_see_the_last_position_before_the_end() -> None:
    table = Table(Heap(coins=1))
    table.match.audience.subscribe(None)
    table.match.audience.subscribe(0)
    table.act("1")
    assert [type(each) for each in table.broadcasts] == [Update, Finished]
    assert table.broadcasts[0].observation["left"] == 0
    assert [type(each) for each in table.inbox[0][-3:]] == [Accepted, Update, Finished]


def test_a_late_spectator_is_told_only_what_is_new() -> None:
    table = Table(Heap())
    table.act("1")
    table.match.audience.subscribe(None)
    assert len(table.match.snapshot(None, table.now).events) == 1
    table.act("1")
    assert [event.ply for event in table.broadcasts[-1].events] == [1]


def test_a_snapshot_tells_everything_and_the_next_message_goes_on_from_it() -> None:
    table = Table(Heap())
    table.act("1")
    table.act("2")
    table.now += SECOND
    snapshot = table.ask("sync", 0).snapshot
    assert [event.action for event in snapshot.events] == ["1", "2"]
    assert (snapshot.your_turn, snapshot.ply, snapshot.deadline_ms) == (True, 2, 58_000)
    assert [state.running for state in snapshot.clocks] == [True, False]
    assert [event.ply for event in table.act("1").events] == [2]


# ------------------------------------------------------------------------- what is refused


def test_requests_out_of_turn_or_time_are_answered_by_their_codes() -> None:
    table = Table(Heap())
    assert table.act("1", seat=1).code == "match/not_your_turn"
    assert table.act("1", seat=0, ply=5).code == "match/future_ply"
    table.act("1")
    assert table.act("1", seat=1, ply=0).code == "match/stale_ply"
    table.do(table.match.resign(0, table.now))
    assert table.act("1", seat=1).code == "match/over"
    assert table.act("1", seat=0, ply=9).code == "match/over"
    rows = len(table.rows)
    for name in ("offer_draw", "accept_draw", "decline_draw"):
        assert table.ask(name, 0).code == "match/over"
    assert len(table.rows) == rows


def test_the_same_action_again_is_answered_as_before() -> None:
    table = Table(TicTacToe())
    first = table.act("B2", think=3 * SECOND)
    for text in ("B2", "b2", " b2"):
        again = table.act(text, seat=0, ply=0)
        assert (again.duplicate, again.ledger, again.events) == (True, first.ledger, [])
    assert table.act("a1", seat=0, ply=0).code == "action/conflict"
    assert table.act("zz", seat=0, ply=0).code == "action/conflict"
    assert table.match.ply == 1
    table.do(table.match.resign(1, table.now))
    assert table.act("b2", seat=0, ply=0).duplicate, "after the end as well"


def test_an_action_in_a_long_spelling_is_recognised_as_well() -> None:
    table = Table(TicTacToe())
    table.act("b2" + " " * 500)
    assert table.act("b2" + " " * 500, seat=0, ply=0).duplicate
    assert len(table.match.course.plies[0].sent) <= 64, "what is kept is bounded"


def test_another_spelling_is_recognised_behind_chance_nodes() -> None:
    table = Table(Pig())
    for _ in range(3):
        table.act("hold" if table.match.ply else "ROLL")
    assert table.act("rOLL", seat=0, ply=0).duplicate


def test_an_illegal_action_forfeits_by_default() -> None:
    table = Table(ConnectFour())
    answer = table.act("9")
    assert answer.code in ("action/illegal", "action/invalid")
    assert answer.legal == ["1", "2", "3", "4", "5", "6", "7"]
    assert (table.outcome.termination, table.outcome.seat) == ("illegal_action", 0)
    assert table.outcome.returns == [-1.0, 1.0]
    assert [row.kind for row in table.rows[2:]] == ["illegal", "end"]
    assert table.inbox[0].index(answer) < table.inbox[0].index(last(table, 0, Finished))


class ShortList(Heap):
    """A game whose list is short while more than ten coins are left."""

    def listed_actions(self, state: Any) -> Any:
        return state.actions()[:1] if state.left > 10 else state.actions()

    def lists_all(self, state: Any) -> bool:
        return bool(state.left <= 10)


def test_illegal_action_may_be_tried_again_where_not_all_actions_are_listed() -> None:
    table = Table(ShortList(), max_retries=2)
    answer = table.act("7")
    assert (answer.code, answer.legal) == ("action/illegal", ["1"])
    assert last(table, 0, Turn).retry
    assert isinstance(table.act("2"), Accepted), "legal, though not listed"
    assert table.act("7").legal == ["1", "2"]
    assert (table.outcome.termination, table.outcome.seat) == ("illegal_action", 1)
    table = Table(ShortList(), max_retries=2)
    for _ in range(3):
        table.act("7")
    assert table.outcome.seat == 0, "not for ever"


def test_a_retry_runs_on_the_same_clock_and_not_for_ever() -> None:
    table = Table(Heap(), "move:10", illegal_rule="retry", max_retries=2, lag=NO_LAG)
    assert table.act("7", think=4 * SECOND).code == "action/illegal"
    turn = last(table, 0, Turn)
    assert (turn.retry, turn.ply, turn.deadline_ms) == (True, 0, 6000)
    assert table.match.deadline() == 10 * SECOND + 1, "writing it again did not start it again"
    table.act("x", think=SECOND)
    assert table.act("1", think=SECOND).ledger.charged_ms == 6000
    for _ in range(3):
        table.act("x", think=0)
    assert table.outcome.seat == 1
    assert table.outcome.termination == "illegal_action"
    assert [row.kind for row in table.rows[2:]] == [
        *("illegal", "illegal", "action"),
        *("illegal", "illegal", "illegal", "end"),
    ]


def test_what_was_tried_is_kept_for_the_author_and_cut() -> None:
    table = Table(Heap())
    table.act("\0" + "x" * 1000)
    assert table.rows[-2].text == "\ufffd" + "x" * 255
    assert "xxx" in end_data(table.rows[-1]).detail
    assert "xxx" not in table.outcome.reason


# -------------------------------------------------------------------------------- the ends


def test_the_flag_falls_one_nanosecond_after_the_deadline() -> None:
    for late in (0, 1):
        table = Table(Heap(), "move:1", lag=NO_LAG)
        answer = table.act("1", think=SECOND + late)
        if late:
            assert answer.code == "match/over"
            assert (table.outcome.termination, table.outcome.seat) == ("flag_fall", 0)
            assert (table.rows[-1].charged_ns, table.rows[-1].remaining_ns) == (SECOND + 1, 0)
            assert end_data(table.rows[-1]).on_clock == 0
        else:
            assert isinstance(answer, Accepted)


def test_a_tick_at_the_deadline_of_the_engine_lets_the_flag_fall() -> None:
    table = Table(Heap(), "move:1", lag=NO_LAG)
    due = table.match.deadline()
    assert due == SECOND + 1
    assert not table.match.tick(due - 1)
    table.do(table.match.tick(due))
    assert table.outcome.termination == "flag_fall"
    assert table.match.deadline() is None
    assert not table.match.tick(due + 1)


@pytest.mark.parametrize("name", ["resign", "offer_draw", "accept_draw", "decline_draw"])
def test_a_flag_that_has_fallen_unnoticed_comes_first(name: str) -> None:
    table = Table(Heap(), "move:1")
    table.now = 5 * SECOND
    table.do(getattr(table.match, name)(1, table.now, re=9))
    assert table.answer(1, 9).code == "match/over"
    assert (table.outcome.termination, table.outcome.seat) == ("flag_fall", 0)


def test_an_opponent_out_of_turn_does_not_delay_the_flag() -> None:
    table = Table(Heap(), "move:1")
    assert table.act("1", seat=1, think=2 * SECOND).code == "match/over"
    assert table.outcome.seat == 0


def test_resignation_and_crash() -> None:
    table = Table(Heap(seats=3))
    table.do(table.match.resign(2, 3 * SECOND, re=5))
    assert table.answer(2, 5) == Ok(5)
    assert (table.outcome.termination, table.outcome.seat) == ("resignation", 2)
    assert table.outcome.returns == [1.5, 1.5, -3.0]
    assert (table.rows[-1].thought_ns, end_data(table.rows[-1]).on_clock) == (3 * SECOND, 0)
    table = Table(Heap())
    table.do(table.match.resign(0, 0, "bot_crash", "Traceback: secret"))
    assert table.outcome.termination == "bot_crash"
    assert "secret" not in str(table.inbox)
    assert "secret" in end_data(table.rows[-1]).detail


def test_a_draw_is_agreed_by_everybody() -> None:
    table = Table(Heap(seats=3))
    assert isinstance(table.ask("offer_draw", 1), Ok)
    assert isinstance(table.ask("offer_draw", 1), Ok)
    assert table.inbox[0][-1] == table.inbox[2][-1] == DrawOffered("m1", 1)
    assert table.ask("accept_draw", 1).code == "match/draw_not_offered"
    table.ask("accept_draw", 0)
    table.ask("accept_draw", 0)
    assert table.match.status == "running"
    table.ask("offer_draw", 2)
    assert (table.outcome.termination, table.outcome.returns) == ("draw_agreed", [0.0, 0.0, 0.0])
    assert [row.kind for row in table.rows[3:]] == [
        *("draw_offer", "draw_accept", "draw_accept", "end")
    ]


def test_an_offer_ends_when_it_is_declined_or_the_opponent_acts() -> None:
    table = Table(Heap())
    table.ask("offer_draw", 0)
    table.act("1")
    table.ask("decline_draw", 1)
    assert table.inbox[0][-1] == DrawDeclined("m1", 1)
    assert table.ask("accept_draw", 1).code == "match/draw_not_offered"
    assert table.ask("decline_draw", 1).code == "match/draw_not_offered"
    table.ask("offer_draw", 0)
    table.act("1")
    assert table.inbox[0][-2] == DrawDeclined("m1", 1)
    assert table.ask("accept_draw", 1).code == "match/draw_not_offered"


def test_one_offer_in_a_ply_is_enough() -> None:
    table = Table(Heap())
    table.ask("offer_draw", 1)
    table.ask("decline_draw", 0)
    assert table.ask("offer_draw", 1).code == "match/draw_offered_already"


def test_games_without_draws_by_agreement_have_none() -> None:
    table = Table(Pig())
    for name in ("offer_draw", "accept_draw", "decline_draw"):
        assert table.ask(name, 0).code == "match/no_draws"


def test_a_lost_connection_has_its_grace_on_the_running_clock() -> None:
    table = Table(Heap(), disconnect_grace_ns=10 * SECOND)
    table.do(table.match.disconnected(0, SECOND))
    table.do(table.match.disconnected(0, 2 * SECOND))
    assert table.match.deadline() == 11 * SECOND
    table.do(table.match.reconnected(0, 5 * SECOND))
    assert table.match.deadline() == 60 * SECOND + 1, "the clock went on"
    table.do(table.match.disconnected(1, 6 * SECOND))
    table.do(table.match.tick(16 * SECOND))
    assert (table.outcome.termination, table.outcome.seat) == ("disconnect", 1)
    assert "away for more than 10 s" in table.outcome.reason


def test_those_who_watch_are_told_who_is_away_and_for_how_long() -> None:
    table = Table(Heap(), disconnect_grace_ns=10 * SECOND)
    match = table.match
    assert table.match.disconnected(0, 0).messages == [], "nobody watches yet"
    (told,) = match.absences(None, 4 * SECOND)
    assert (told.code, told.match, told.seat, told.remaining_ms) == (
        "notice/away",
        match.config.match,
        0,
        6000,
    )
    assert told.message == "Seat 1 (player0/bot) is away; the match waits 6 s more."
    match.audience.subscribe(None)
    match.audience.subscribe(1)
    (to_seat, to_all) = match.reconnected(0, 5 * SECOND).messages
    assert isinstance(to_seat, Send)
    assert isinstance(to_all, Broadcast)
    assert to_seat.seat == 1
    assert to_seat.message == to_all.message
    assert isinstance(to_all.message, Notice)
    assert (to_all.message.code, to_all.message.seat) == ("notice/back", 0)
    assert match.absences(None, 5 * SECOND) == []
    assert match.reconnected(0, 5 * SECOND).messages == [], "it was not away"
    (to_all,) = match.disconnected(1, 6 * SECOND).messages
    assert isinstance(to_all, Broadcast), "not to itself"
    assert match.disconnected(1, 7 * SECOND).messages == [], "it was away already"


def test_a_person_is_told_who_is_away_and_a_bot_that_does_not_ask_is_not() -> None:
    table = Table(Heap(), disconnect_grace_ns=10 * SECOND)
    match = table.match
    match.audience.subscribe(0, updates=False, scenes=True)
    match.audience.subscribe(1, updates=False, scenes=False)
    (told,) = match.disconnected(1, 0).messages
    assert isinstance(told, Send)
    assert told.seat == 0
    (late,) = match.absences(0, 3 * SECOND)
    assert (late.code, late.seat, late.remaining_ms) == ("notice/away", 1, 7000)
    match.disconnected(0, 4 * SECOND)
    assert [each.seat for each in match.absences(0, 4 * SECOND)] == [1], "not of itself"
    assert match.absences(1, 4 * SECOND) == []
    assert match.reconnected(0, 5 * SECOND).messages == []


def test_a_flag_falls_before_a_longer_grace_ends() -> None:
    table = Table(Heap(), "move:1", lag=NO_LAG)
    table.do(table.match.disconnected(0, 0))
    table.do(table.match.tick(SECOND + 1))
    assert table.outcome.termination == "flag_fall"


def test_what_came_due_first_decides_however_late_the_tick() -> None:
    table = Table(Heap(), "move:5", disconnect_grace_ns=2 * SECOND, lag=NO_LAG)
    table.do(table.match.disconnected(0, 0))
    table.do(table.match.tick(60 * SECOND))
    assert table.outcome.termination == "disconnect"
    assert table.rows[-1].charged_ns == 5 * SECOND, "no more than the seat had"
    assert table.restored().outcome == table.outcome


def test_a_seat_that_is_away_thinks_on_its_own_clock() -> None:
    table = Table(Heap(), "move:5", write_turns=False, lag=NO_LAG)
    table.do(table.match.disconnected(1, 0))
    table.act("1", think=SECOND)
    assert table.match.clock.running is None, "nobody could have been told yet"
    table.match.turn_missed(1, 1, 2 * SECOND)
    assert table.match.deadline() == 7 * SECOND + 1
    table = Table(Heap(), "move:5", write_turns=False, lag=NO_LAG)
    table.do(table.match.disconnected(0, SECOND))
    assert table.match.deadline() == 6 * SECOND + 1


def test_a_pause_of_the_server_costs_nobody_anything() -> None:
    table = Table(Heap(), "move:10", disconnect_grace_ns=20 * SECOND, lag=NO_LAG)
    table.do(table.match.disconnected(1, 0))
    table.match.server_paused(5 * SECOND)
    assert table.match.deadline() is None
    assert table.act("1", seat=0).code == "match/not_running"
    table.match.server_resumed(1005 * SECOND)
    table.match.server_resumed(1006 * SECOND)
    assert table.match.deadline() == 1010 * SECOND + 1
    table.now = 1010 * SECOND
    ledger = table.act("1", think=0).ledger
    assert (ledger.stall_ms, ledger.charged_ms) == (1_000_000, 10_000)
    assert table.match.deadline() == 1020 * SECOND


def test_the_host_can_abort() -> None:
    table = Table(Heap())
    table.do(table.match.abort(written("The hall is on fire."), 7, "server_fault", detail="smoke"))
    assert (table.outcome.termination, table.outcome.returns) == ("server_fault", [0.0, 0.0])
    assert not table.match.abort(written("again"), 8)


def test_rules_that_fail_void_the_match_and_tell_nobody_why() -> None:
    table = Table(Broken())
    table.act("1")
    table.act("1")
    answer = table.act("1")
    assert answer.code == "match/over"
    assert (table.outcome.termination, table.match.ply) == ("server_fault", 2)
    assert "The rules of heap failed (ZeroDivisionError)" in table.outcome.reason
    assert "secret" not in str(table.inbox)
    assert "secret of the rules" in end_data(table.rows[-1]).detail
    assert [row.index for row in table.rows] == list(range(len(table.rows)))
    assert last(table, 0, Finished).events == []


def test_a_game_that_never_ends_is_aborted() -> None:
    table = Table(Heap(coins=500))
    table.play_randomly(random.Random(1), 300)
    assert table.outcome.termination == "aborted"
    assert "within 200 actions" in table.outcome.reason
    assert table.match.ply == 200


def test_the_seed_is_revealed_only_with_the_whole_pairing() -> None:
    for done in (False, True):
        table = Table(Heap(coins=1))
        table.match.last_of_pairing = done
        table.act("1")
        finished = last(table, 0, Finished)
        assert (finished.pairing_done, bool(finished.seed)) == (done, done)
        if not done:
            assert table.config.seed.hex() not in str(table.inbox)


def test_mirrored_matches_share_their_dice_by_the_stream() -> None:
    def rolls(stream: str, match: str) -> list[str]:
        table = Table(Pig(), stream=stream, ready=False)
        for seat in (0, 1):
            table.do(table.match.ready(seat, match, 0))
        for _ in range(20):
            table.act("roll")
        return [row.text for row in table.rows if row.kind == "chance"]

    assert rolls("pairing", "aa") == rolls("pairing", "bb")
    assert rolls("match:a", "aa") != rolls("match:b", "aa")
    assert rolls("match:a", "aa") != rolls("match:a", "bb")


class Watched(Heap):
    """Notes who is observed."""

    seen: ClassVar[list[int | None]] = []

    def observe(self, state: Any, seat: int | None) -> HeapObservation:
        self.seen.append(seat)
        return super().observe(state, seat)


def test_nobody_is_observed_who_did_not_ask() -> None:
    table = Table(Watched(seats=4))
    Watched.seen.clear()
    table.act("1")
    assert Watched.seen == [1]


def test_errors_name_the_match() -> None:
    table = Table(Heap())
    answer = table.act("1", seat=1)
    assert isinstance(answer, Error)
    assert (answer.match, answer.fatal) == ("m1", False)
