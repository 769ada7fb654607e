"""The frames of a match are true: clocks run, offers are open, and sums add up."""

from __future__ import annotations

from typing import Any

import pytest

from plyhouse.games.base import TERMINAL
from plyhouse.games.deterministic.tic_tac_toe import TicTacToe
from plyhouse.games.hidden.kuhn_poker import KuhnPoker
from plyhouse.protocol.errors import ERRORS
from plyhouse.protocol.messages import Accepted, MatchSnapshot, Turn, Update
from plyhouse.server.match.time_control import MS, SECOND, Ledger
from plyhouse.server.match.views import ledger_entry

from .harness import Heap, Table

CONTROLS = ["move:1", "total:60+0.5", "byoyomi:60+5x10", "bank:1+30"]


def running(clocks: Any) -> list[int]:
    return [clock.seat for clock in clocks if clock.running]


# ------------------------------------------------------------------------ the clock that runs


@pytest.mark.parametrize("control", CONTROLS)
def test_every_frame_shows_whose_clock_runs(control: str) -> None:
    table = Table(Heap(seats=3), control)
    table.match.audience.subscribe(2)
    for ply in range(4):
        table.act("1", think=SECOND // 2)
        answer = next(each for each in reversed(table.inbox[ply % 3]) if type(each) is Accepted)
        turn = next(each for each in table.inbox[(ply + 1) % 3] if getattr(each, "ply", 0) > ply)
        assert isinstance(turn, Turn)
        assert running(turn.clocks) == running(answer.clocks) == [(ply + 1) % 3]
    updates = [each for each in table.inbox[2] if isinstance(each, Update)]
    assert [running(each.clocks) for each in updates] == [[1], [0], [1]]


def test_the_first_turn_shows_a_running_clock() -> None:
    table = Table(KuhnPoker())
    (turn,) = [each for each in table.inbox[0] if isinstance(each, Turn)]
    assert running(turn.clocks) == [0]


def test_a_clock_that_is_about_to_run_counts_as_running_in_snapshots() -> None:
    table = Table(Heap(), write_turns=False)
    assert running(table.match.snapshot(None, 0).clocks) == [0]
    table.match.server_paused(0)
    assert running(table.match.snapshot(None, 0).clocks) == [], "all clocks stand"
    table.match.server_resumed(SECOND)
    assert running(table.match.snapshot(None, SECOND).clocks) == [0]


def test_before_the_start_and_after_the_end_no_clock_runs() -> None:
    table = Table(Heap(coins=1), ready=False)
    assert running(table.match.snapshot(0, 0).clocks) == []
    table = Table(Heap(coins=1))
    answer = table.act("1")
    assert running(answer.clocks) == running(table.match.snapshot(0, table.now).clocks) == []


# -------------------------------------------------------------------------------- draw offers


def test_an_open_draw_offer_stands_in_every_snapshot() -> None:
    table = Table(Heap(seats=3))
    assert table.ask("sync", 0).snapshot.draw_offers == []
    table.ask("offer_draw", 2)
    table.ask("accept_draw", 0)
    assert table.ask("sync", 1).snapshot.draw_offers == [0, 2]
    assert table.match.snapshot(None, table.now).draw_offers == [0, 2]
    assert table.restored().snapshot(1, 0).draw_offers == [0, 2]
    table.ask("decline_draw", 1)
    assert table.ask("sync", 1).snapshot.draw_offers == []


def test_an_offer_is_not_open_any_more_when_the_match_is_over() -> None:
    table = Table(Heap())
    table.ask("offer_draw", 0)
    table.ask("accept_draw", 1)
    assert table.match.snapshot(0, table.now).draw_offers == []


def test_a_second_offer_in_a_ply_has_a_code_that_keeps_the_connection() -> None:
    table = Table(Heap())
    table.ask("offer_draw", 1)
    table.ask("decline_draw", 0)
    answer = table.ask("offer_draw", 1)
    assert (answer.code, answer.fatal) == ("match/draw_offered_already", False)
    assert not ERRORS[answer.code].fatal


# ----------------------------------------------------------------- where the match stands


def test_who_is_out_of_step_is_told_the_ply() -> None:
    table = Table(Heap())
    table.act("1")
    for seat, ply, code in (
        (0, 1, "match/not_your_turn"),
        (1, 0, "match/stale_ply"),
        (1, 7, "match/future_ply"),
    ):
        answer = table.act("1", seat=seat, ply=ply)
        assert (answer.code, answer.ply) == (code, 1)


def test_a_match_that_ended_otherwise_has_nobody_to_move() -> None:
    table = Table(TicTacToe())
    table.act("b2")
    table.do(table.match.resign(0, table.now))
    for viewer in (0, 1, None):
        snapshot = table.match.snapshot(viewer, table.now)
        assert snapshot.status == "finished"
        assert (snapshot.observation["to_move"], snapshot.observation["legal"]) == (TERMINAL, ())
        assert snapshot.observation["board"] == ("...", ".X.", "...")


def test_the_drawing_of_a_match_that_ended_otherwise_offers_no_action() -> None:
    def snapshot() -> MatchSnapshot:
        return table.match.snapshot(1, table.now)

    table = Table(TicTacToe())
    table.match.audience.subscribe(1, scenes=True)
    table.act("b2")
    scene = snapshot().scene
    assert scene is not None
    assert "'a1'" in str(scene)
    assert scene["seat_to_move"] == 1
    table.do(table.match.resign(0, table.now))
    scene = snapshot().scene
    assert scene is not None
    assert "'action': 'a1'" not in str(scene)
    assert scene.get("seat_to_move") is None


# ------------------------------------------------------------------------------- the ledger


@pytest.mark.parametrize(
    ("charged", "lag", "stall"),
    [(999_999, 999_999, 999_999), (41_700_000, 1_900_000, 0), (0, 0, 5), (3 * MS, 2 * MS, MS)],
)
def test_the_ledger_adds_up_in_the_milliseconds_shown(charged: int, lag: int, stall: int) -> None:
    entry = ledger_entry(3, 1, Ledger(charged + lag + stall, lag, stall, charged, SECOND))
    assert entry.charged_ms == entry.thought_ms - entry.stall_ms - entry.lag_refunded_ms
    assert entry.charged_ms == charged // MS, "the same as in the event"
    assert 0 <= (charged + lag + stall) // MS - entry.thought_ms <= 2
