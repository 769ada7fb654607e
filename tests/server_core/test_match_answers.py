"""What the match engine answers, tells and stores, to the last word."""

from __future__ import annotations

from typing import Any

import pytest

from plyhouse.games.base import CHANCE
from plyhouse.games.deterministic.tic_tac_toe import TicTacToe
from plyhouse.games.stochastic.pig import Pig
from plyhouse.protocol.messages import (
    Accepted,
    DrawDeclined,
    DrawOffered,
    Error,
    Finished,
    MatchMessage,
    Ok,
    Turn,
    Update,
)
from plyhouse.server.match.effects import Started
from plyhouse.server.match.engine import MAX_NONCE_CHANGES
from plyhouse.server.match.events import end_data, kept_info
from plyhouse.server.match.time_control import SECOND
from plyhouse.storage.causes import written

from .harness import Broken, BrokenState, Heap, HeapState, Table


def kinds(table: Table, seat: int) -> list[type]:
    return [type(each) for each in table.inbox[seat]]


# ------------------------------------------------------------------------------ snapshots


def test_snapshot_holds_the_terms_of_the_match() -> None:
    table = Table(Heap(), "total:60+1", rated=True, illegal_rule="retry")
    shown = table.match.snapshot(None, 0)
    assert (shown.match, shown.pairing, shown.game) == ("m1", "p1", "heap")
    assert (shown.time_control, shown.rated, shown.illegal_rule) == ("total:60+1", True, "retry")
    assert [player.player for player in shown.players] == ["player0", "player1"]
    assert (shown.seat, shown.status, shown.ply) == (None, "running", 0)
    assert shown.commitment == table.match.commitment != ""
    assert (shown.your_turn, shown.deadline_ms, shown.outcome) == (False, None, None)


def test_snapshot_says_whose_turn_it_is() -> None:
    table = Table(Heap())
    table.act("1")
    for seat in (0, 1):
        shown = table.match.snapshot(seat, table.now + SECOND)
        assert shown.your_turn == (seat == 1)
        assert shown.deadline_ms == (59_000 if seat == 1 else None)
    assert not table.match.snapshot(None, table.now).your_turn


def test_sync_starts_the_clock_of_the_seat_to_move_only() -> None:
    table = Table(Heap(), write_turns=False)
    for seat, ply in ((0, 0), (1, -1)):
        (sent,) = table.match.sync(seat, 0).messages
        assert (sent.seat, sent.turn_ply) == (seat, ply)  # type: ignore[union-attr]
        assert isinstance(sent.message, MatchMessage)
        assert sent.message.re is None


def test_snapshot_of_a_waiting_match_is_nobodys_turn() -> None:
    shown = Table(Heap(), ready=False).match.snapshot(0, 0)
    assert (shown.your_turn, shown.deadline_ms, shown.nonces) == (False, None, [])
    assert not any(each.running for each in shown.clocks)


def test_snapshot_shows_offers_while_the_match_runs() -> None:
    table = Table(Heap(seats=3))
    table.ask("offer_draw", 2)
    table.ask("accept_draw", 0)
    assert table.match.snapshot(1, 0).draw_offers == [0, 2]
    table.ask("accept_draw", 1)
    assert table.match.snapshot(1, 0).draw_offers == []


def test_snapshot_after_a_forfeit_shows_no_seat_to_move() -> None:
    table = Table(Heap())
    table.do(table.match.resign(0, 5))
    shown = table.match.snapshot(1, 5)
    assert shown.observation["to_move"] == -2
    assert shown.outcome == table.outcome
    ended = Table(Heap(coins=1))
    ended.act("1")
    assert ended.match.snapshot(1, 5).observation == ended.match.views.observation(
        ended.match.state, 1
    )


def test_snapshot_after_the_end_by_the_rules_draws_what_the_game_says() -> None:
    table = Table(Heap(coins=1))
    table.match.audience.subscribe(0, scenes=True)
    table.act("1")
    scene = table.match.snapshot(0, 5).scene
    assert scene is not None
    assert scene["status"] == "0 left"


def test_turn_after_a_snapshot_goes_on_from_it() -> None:
    table = Table(Heap(seats=3))
    table.act("1")
    table.ask("sync", 2)
    table.act("1")
    assert [event.ply for event in table.inbox[2][-1].events] == [1]


def test_spectators_snapshot_takes_no_events_from_a_seat() -> None:
    table = Table(Heap())
    table.match.audience.subscribe(None)
    table.act("1")
    table.match.snapshot(None, table.now)
    table.act("1")
    assert [event.ply for event in table.inbox[0][-1].events] == [1]
    assert [event.ply for event in table.broadcasts[-1].events] == [1]


# ------------------------------------------------------------------------------ readiness


def test_ready_with_the_same_nonce_is_no_change() -> None:
    table = Table(Heap(), ready=False)
    nonces = [f"{number:02x}" for number in range(MAX_NONCE_CHANGES + 1)]
    for nonce in nonces:
        assert isinstance(table.ask("ready", 0, nonce), Ok)
        assert isinstance(table.ask("ready", 0, nonce), Ok)
    assert isinstance(table.ask("ready", 0, "ff"), Error)
    assert [row.text for row in table.rows] == nonces


def test_start_has_the_nonces_in_the_order_of_seats() -> None:
    table = Table(Heap(), ready=False)
    table.do(table.match.ready(1, "BB", 0))
    effects = table.match.ready(0, "aa", 0)
    assert [row.nonces for row in effects.rows if isinstance(row, Started)] == [("aa", "bb")]


def test_nonces_of_each_seat_are_counted_alone() -> None:
    table = Table(Heap(seats=3), ready=False)
    for seat in (0, 1):
        for number in range(MAX_NONCE_CHANGES + 1):
            assert isinstance(table.ask("ready", seat, f"{number:02x}"), Ok)


def test_ready_without_a_request_is_not_answered() -> None:
    table = Table(Heap(), ready=False)
    assert table.match.ready(0, "aa", 0).messages == []
    assert table.match.ready(0, "zz", 0).messages == []


def test_ready_after_the_end_is_refused() -> None:
    table = Table(Heap())
    table.do(table.match.resign(0, 5))
    assert table.ask("ready", 0, "77").code == "protocol/unexpected"
    assert isinstance(table.ask("ready", 0, "00"), Ok)


class RollingState(HeapState):
    """Chance takes coins one by one."""

    __slots__ = ()

    def __init__(self, left: int, seats: int) -> None:
        super().__init__(left, seats, CHANCE)

    def chance_outcomes(self) -> tuple[tuple[int, float], ...]:
        return ((1, 1.0),)

    def after(self, action: int) -> RollingState:
        return RollingState(self.left - action, self.seats)


class Lost(Heap):
    """A game whose second roll fails."""

    def initial_state(self) -> Any:
        return RollingState(12, self.seats)

    def format_chance(self, state: Any, outcome: Any) -> str:
        if state.left < 12:
            raise ZeroDivisionError("the secret of the rules")
        return "1"


def test_rules_that_fail_at_the_start_void_the_match() -> None:
    table = Table(Lost())
    assert table.outcome.termination == "server_fault"
    assert table.outcome.reason == "The rules of heap failed (ZeroDivisionError)."
    assert [row.kind for row in table.rows] == ["ready", "ready", "end"]
    assert table.match.views.events(0) == []


# ---------------------------------------------------------------------------------- play


class Careless(Heap):
    """A game that reads any text as a number."""

    def parse(self, state: Any, text: str) -> Any:
        number = int(text)
        return super().parse(state, str(12 // number))


@pytest.mark.parametrize("text", ["x", "0", "²"])
def test_text_on_which_the_rules_fail_is_an_illegal_action(text: str) -> None:
    """Otherwise a seat that is losing could void its match by an odd text."""
    table = Table(Careless())
    answer = table.act(text)
    assert (answer.code, answer.legal) == ("action/invalid", ["1", "2"])
    assert (table.outcome.termination, table.outcome.returns) == ("illegal_action", [-3.0, 3.0])
    assert "secret" not in str(table.inbox)


def test_legal_action_on_which_the_rules_fail_voids_the_match() -> None:
    class Refusing(Heap):
        def parse(self, state: Any, text: str) -> Any:
            raise ZeroDivisionError

    table = Table(Refusing())
    table.act(" 1 ")
    assert table.outcome.termination == "server_fault"


def test_text_on_which_the_rules_fail_is_no_other_spelling_of_an_earlier_action() -> None:
    table = Table(Careless())
    table.act("12")
    table.act("12")
    assert table.act("x", seat=0, ply=0).code == "action/conflict"
    assert table.match.status == "running"


def test_thoughts_are_stored_with_the_ply() -> None:
    table = Table(TicTacToe())
    assert table.act("b2", info={"value": 0.5}).info_refused == ""
    kept = kept_info(table.rows[-1].data)
    assert kept is not None
    assert kept.value == 0.5
    assert "info.value" in table.act("a1", info={"value": "x"}).info_refused
    assert table.rows[-1].data is None
    table.act("c3")
    assert table.rows[-1].data is None


def test_action_without_a_request_is_not_answered() -> None:
    table = Table(Heap())
    before = len(table.inbox[0])
    table.do(table.match.act(0, 0, "1", 5))
    assert len(table.inbox[0]) == before
    assert not table.match.act(0, 0, "1", 6)
    assert table.match.act(0, 9, "1", 6).messages == []
    assert table.match.ply == 1


def test_accepted_action_comes_before_turns_and_updates() -> None:
    table = Table(Heap(seats=3))
    table.match.audience.subscribe(2)
    table.ask("offer_draw", 2)
    effects = table.match.act(0, 0, "1", 5, re=7)
    assert [(each.seat, type(each.message)) for each in effects.messages] == [  # type: ignore[union-attr]
        (1, DrawDeclined),
        (2, DrawDeclined),
        (0, Accepted),
        (1, Turn),
        (2, Update),
    ]


def test_own_offer_stays_when_its_seat_acts() -> None:
    table = Table(Heap())
    table.ask("offer_draw", 0)
    assert table.inbox[1][-1] == DrawOffered("m1", 0)
    table.act("1")
    assert not any(isinstance(each, DrawDeclined) for each in table.inbox[1])
    assert isinstance(table.ask("accept_draw", 1), Ok)
    assert table.outcome.termination == "draw_agreed"
    assert table.outcome.reason == "A draw was agreed."
    assert table.outcome.seat is None


def test_offer_that_meets_another_agrees() -> None:
    table = Table(Heap())
    table.ask("offer_draw", 0)
    table.ask("offer_draw", 1)
    assert table.outcome.termination == "draw_agreed"


def test_offer_may_be_made_again_at_the_next_ply() -> None:
    table = Table(Heap())
    table.ask("offer_draw", 1)
    table.act("1")
    assert isinstance(table.ask("offer_draw", 1), Ok)


def test_own_offer_can_be_withdrawn_but_not_accepted() -> None:
    table = Table(Heap())
    table.ask("offer_draw", 0)
    assert table.ask("accept_draw", 0).code == "match/draw_not_offered"
    assert isinstance(table.ask("decline_draw", 0), Ok)
    assert table.inbox[1][-1] == DrawDeclined("m1", 0)
    assert table.match.status == "running"


def test_action_that_the_rules_cannot_finish_leaves_no_trace() -> None:
    table = Table(Broken())
    table.match.audience.subscribe(None)
    table.act("2")
    assert table.act("1").code == "match/over"
    assert kinds(table, 1)[-2:] == [Finished, Error]
    assert table.match.course.plies[-1].text == "2"
    assert table.match.views.events(None)[-1].ply == 0
    assert table.broadcasts[-1].outcome.termination == "server_fault"


class Jammed(Lost):
    """A game whose roll after the second action fails."""

    def initial_state(self) -> Any:
        return JammedState(12, self.seats, 0)


class JammedState(HeapState):
    """Lets chance act after the second action."""

    __slots__ = ()

    def after(self, action: int) -> Any:
        left = self.left - action
        return JammedState(left, self.seats, 1) if left > 10 else RollingState(left, self.seats)


def test_roll_that_fails_takes_its_action_back() -> None:
    table = Table(Jammed())
    table.act("1")
    assert table.act("1").code == "match/over"
    assert table.outcome.termination == "server_fault"
    assert [row.kind for row in table.rows[2:]] == ["action", "end"]
    assert (table.match.ply, table.match.state.left) == (1, 11)
    assert [event.ply for event in table.match.views.events(None)] == [0]
    assert table.finish is not None
    assert table.finish.ply == 1


class Bounded(Heap):
    """Ends after five actions at most."""

    info = Heap.info.__class__(
        **{
            **{name: getattr(Heap.info, name) for name in Heap.info.__dataclass_fields__},
            "max_plies": 5,
        }
    )


def test_match_ends_with_the_last_action_that_it_may_have() -> None:
    table = Table(Bounded())
    table.match.audience.subscribe(None)
    for _ in range(4):
        assert table.match.status == "running"
        table.act("1")
    assert table.match.status == "running"
    table.act("1")
    assert table.outcome.reason == "The match did not end within 5 actions."
    assert (table.match.ply, table.outcome.termination) == (5, "aborted")
    assert table.finish is not None
    assert (table.finish.ply, table.finish.void) == (5, True)
    assert [event.ply for event in table.broadcasts[-1].events] == [4], "no update told it"


class BoundedPig(Pig):
    """Pig that ends after five actions and rolls at most."""

    info = Pig.info.__class__(
        **{
            **{name: getattr(Pig.info, name) for name in Pig.info.__dataclass_fields__},
            "max_plies": 5,
        }
    )


def test_rolls_count_for_the_length_of_a_match() -> None:
    table = Table(BoundedPig())
    plies = 0
    while table.match.status == "running":
        table.act("roll")
        plies += 1
    assert plies == 3, "with two rolls, and no third one"
    assert table.outcome.termination == "aborted"
    assert [row.kind for row in table.rows[2:]] == [
        *("action", "chance", "action", "chance", "action", "end")
    ]


# ------------------------------------------------------------------------------- refusals


def test_refusals_of_play_name_the_current_ply() -> None:
    table = Table(Heap())
    table.act("1")
    for seat, ply, code, shown in (
        (0, 1, "match/not_your_turn", 1),
        (1, 2, "match/future_ply", 1),
        (1, -1, "match/future_ply", 1),
        (1, 0, "match/stale_ply", 1),
    ):
        answer = table.act("1", seat=seat, ply=ply)
        assert (answer.code, answer.ply, answer.match) == (code, shown, "m1")
        assert answer.message
    assert table.ask("accept_draw", 0).ply is None


def test_conflict_names_what_was_played() -> None:
    table = Table(TicTacToe())
    table.act("b2")
    answer = table.act("a1", seat=0, ply=0)
    assert (answer.code, answer.message) == (
        "action/conflict",
        "You have played 'b2' at ply 0.",
    )


def test_repeated_action_of_a_ply_long_past_is_known_by_its_spelling_only() -> None:
    table = Table(Heap(coins=30))
    table.act(" 1")
    for _ in range(5):
        table.act("1")
    assert table.act(" 1", seat=0, ply=0).duplicate
    assert table.act("1", seat=0, ply=0).duplicate
    assert table.act("01", seat=0, ply=0).code == "action/conflict"


def test_stale_action_of_another_seat_after_the_end_is_over() -> None:
    table = Table(Heap())
    table.act("1")
    table.do(table.match.resign(0, table.now))
    assert table.act("1", seat=1, ply=0).code == "match/over"
    assert table.act("1", seat=0, ply=0).duplicate


def test_repeated_action_has_the_clocks_of_now() -> None:
    table = Table(Heap(), "total:60+0")
    table.act("1", think=SECOND)
    again = table.act("1", seat=0, ply=0, think=2 * SECOND)
    assert [(each.remaining_ms, each.running) for each in again.clocks] == [
        (59_000, False),
        (58_000, True),
    ]
    assert again.ply == 0


def test_illegal_action_without_a_request_is_not_answered() -> None:
    table = Table(Heap(), illegal_rule="retry")
    effects = table.match.act(0, 0, "9", 5)
    assert [type(each.message) for each in effects.messages] == [Turn]


def test_forfeit_by_an_illegal_action_names_seat_and_ply() -> None:
    table = Table(Heap())
    for _ in range(2):
        table.act("1")
    table.act("9")
    assert table.outcome.reason == "seat 1 (player0/bot) played an illegal action at ply 3."
    assert end_data(table.rows[-1]).detail.startswith("'9': ")


def test_retries_count_for_one_ply() -> None:
    table = Table(Heap(), illegal_rule="retry", max_retries=1)
    for _ in range(3):
        assert table.act("9").code == "action/illegal"
        assert isinstance(table.act("1"), Accepted)


# --------------------------------------------------------------------------------- endings


@pytest.mark.parametrize(
    ("termination", "did"),
    [
        ("resignation", "resigned"),
        ("bot_crash", "failed"),
        ("no_answer", "named no legal action"),
    ],
)
def test_resignation_names_seat_and_ply(termination: Any, did: str) -> None:
    table = Table(Heap())
    table.act("1")
    table.act("1")
    table.do(table.match.resign(1, table.now, termination, "why", re=9))
    assert table.outcome.reason == f"seat 2 (player1/bot) {did} at ply 3."
    assert kinds(table, 1)[-2:] == [Ok, Finished]
    assert end_data(table.rows[-1]).detail == "why"
    assert table.finish is not None
    assert (table.finish.ply, table.finish.void) == (2, False)


@pytest.mark.parametrize("played", [0, 1, 2])
@pytest.mark.parametrize("how", ["resigned", "played an illegal action", "ran out of time"])
def test_forfeit_names_the_ply_that_was_not_played(how: str, played: int) -> None:
    table = Table(Heap(), "move:10")
    for _ in range(played):
        table.act("1")
    seat = table.match.seat_to_move
    assert seat is not None
    if how == "resigned":
        table.do(table.match.resign(seat, table.now))
    elif how == "ran out of time":
        table.do(table.match.tick(table.now + 60 * SECOND))
    else:
        table.act("9")
    name = f"seat {seat + 1} (player{seat}/bot)"
    assert table.outcome.reason == f"{name} {how} at ply {played + 1}."


def test_resignation_without_a_request_is_not_answered() -> None:
    table = Table(Heap())
    table.do(table.match.resign(0, 5))
    assert kinds(table, 0)[-1] is Finished
    assert Ok not in kinds(table, 0)[-2:]


def test_exclusion_before_the_start_voids_the_match() -> None:
    table = Table(Heap(), ready=False)
    table.do(table.match.exclude(1, 5))
    assert (table.outcome.termination, table.outcome.seat) == ("aborted", 1)
    assert table.outcome.reason == "seat 2 (player1/bot) was excluded by the organiser."
    assert table.outcome.returns == [0.0, 0.0]
    assert not table.match.exclude(0, 6)


def test_exclusion_from_a_running_match_forfeits() -> None:
    table = Table(Heap())
    table.do(table.match.exclude(0, 5))
    assert (table.outcome.termination, table.outcome.seat) == ("disconnect", 0)
    assert table.outcome.returns == [-3.0, 3.0]


def test_abort_has_its_seat_and_detail() -> None:
    table = Table(Heap())
    table.match.audience.subscribe(None)
    table.do(table.match.abort(written("Smoke."), 7, seat=1, detail="fire"))
    assert (table.outcome.termination, table.outcome.seat) == ("aborted", 1)
    assert end_data(table.rows[-1]).detail == "fire"
    assert [type(each) for each in table.broadcasts] == [Finished], "no update of a forfeit"


def test_end_by_the_rules_has_no_reason_and_no_seat() -> None:
    table = Table(Heap(coins=1))
    table.act("1")
    assert (table.outcome.termination, table.outcome.seat) == ("normal", None)
    assert table.outcome.reason == ""
    assert end_data(table.rows[-1]).on_clock == -1
    assert all(kinds(table, seat)[-1] is Finished for seat in (0, 1))


def test_end_of_a_match_without_spectators_is_broadcast_to_nobody() -> None:
    table = Table(Heap())
    table.do(table.match.resign(0, 5))
    assert table.broadcasts == []


def test_spectators_get_the_events_that_they_lack_with_the_end() -> None:
    table = Table(Heap())
    table.act("1")
    table.match.audience.subscribe(None)
    table.do(table.match.resign(1, table.now))
    (finished,) = table.broadcasts
    assert finished.events == []
    assert [event.ply for event in table.inbox[1][-1].events] == []
    assert (finished.match, finished.pairing_done, finished.seed) == ("m1", False, "")


class Counted(Heap):
    """Counts what is observed."""

    observed = 0

    def observe(self, state: Any, seat: int | None) -> Any:
        Counted.observed += 1
        return super().observe(state, seat)


def test_observations_are_freed_with_the_end() -> None:
    table = Table(Counted())
    table.ask("sync", 0)
    table.do(table.match.resign(0, 5))
    before = Counted.observed
    table.match.views.observation(table.match.state, 0)
    assert Counted.observed == before + 1


def test_reason_of_a_fault_names_game_and_error() -> None:
    table = Table(Broken())
    for action in ("2", "2"):
        table.act(action)
    assert table.outcome.reason == "The rules of heap failed (ZeroDivisionError)."
    assert isinstance(table.match.state, BrokenState)
    assert "Traceback" in end_data(table.rows[-1]).detail


def test_deterministic_game_has_no_chance_rows() -> None:
    table = Table(Heap(coins=2))
    table.act("2")
    assert [row.kind for row in table.rows] == ["ready", "ready", "action", "end"]
