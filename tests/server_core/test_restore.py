"""After a kill the engine is what it was, wherever the cut fell."""

from __future__ import annotations

import dataclasses
import random
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plyhouse.games.deterministic.connect_four.rules import ConnectFour
from plyhouse.games.deterministic.tic_tac_toe import TicTacToe
from plyhouse.games.hidden.coin_guess import CoinGuess
from plyhouse.games.hidden.kuhn_poker import KuhnPoker
from plyhouse.games.stochastic.pig import Pig
from plyhouse.protocol.messages import Accepted, Ok, SeatInfo
from plyhouse.server.match.effects import Finish, Send, Started
from plyhouse.server.match.engine import Match
from plyhouse.server.match.restore import RestoreError, restore
from plyhouse.server.match.terms import config_of, terms_data
from plyhouse.server.match.time_control import MS, SECOND, LagPolicy
from plyhouse.storage.rows import EventRow, MatchRow, SeatRow

from .harness import SEED, Heap, Table

GAMES = [TicTacToe(), ConnectFour(), Pig(), CoinGuess(), KuhnPoker(seats=3), Heap(seats=3)]
CONTROLS = ["move:1", "total:60+0.5", "byoyomi:0.2+3x0.1", "bank:0.01+5"]


def inside(match: Match) -> dict[str, Any]:
    """All of a match that must survive, the ply under way aside."""
    return {
        "status": match.status,
        "ply": match.ply,
        "outcome": match.outcome,
        "nonces": list(match.course.nonces),
        "plies": [(p.seat, p.text, p.ledger) for p in match.course.plies],
        "information": [
            match.game.information_state(match.state, seat) for seat in range(match.seats)
        ],
        "available": [match.clock.available(seat) for seat in range(match.seats)],
        "lag": list(match.clock._lag_left),
        "offers": set(match.course.offers),
        "retries": match.course.retries,
        "events": [match.views.events(viewer) for viewer in [*range(match.seats), None]],
        "observations": [
            match.views.observation(match.state, viewer) for viewer in [*range(match.seats), None]
        ],
        "rows": match.course.rows,
    }


def messy_match(game: Any, control: str, rng: random.Random) -> tuple[Table, list[Any]]:
    """Play with lag, refusals and offers; returns what was known after every request."""
    table = Table(
        game,
        control,
        write_turns=False,
        illegal_rule="retry",
        lag=LagPolicy(20 * MS, 200 * MS),
    )
    states = []
    match = table.match
    while True:
        states.append((len(table.rows), inside(match), match.snapshot(0, table.now)))
        if match.status != "running":
            return table, states
        mover = match.state.to_move
        match.turn_written(mover, match.ply, table.now, lag_ns=rng.randrange(30 * MS))
        if rng.random() < 0.1:
            table.act("no such action", think=0)
        elif rng.random() < 0.1 and game.info.draw_offers:
            table.ask(rng.choice(["offer_draw", "decline_draw"]), rng.randrange(game.seats))
        else:
            action = rng.choice(match.state.actions())
            text = game.format(match.state, action)
            table.act(text, think=rng.randrange(60 * MS), stall_ns=rng.randrange(20 * MS))


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(GAMES), st.sampled_from(CONTROLS), st.integers(0, 2**32))
def test_a_match_cut_anywhere_is_restored_exactly(game: Any, control: str, seed: int) -> None:
    rng = random.Random(seed)
    table, states = messy_match(game, control, rng)
    for rows, before, snapshot in rng.sample(states, min(4, len(states))):
        match = table.restored(table.rows[:rows], now=10**15)
        assert inside(match) == before
        again = match.snapshot(0, 10**15)
        for name in snapshot.__struct_fields__:
            if name not in ("clocks", "deadline_ms"):  # the ply under way is not charged
                assert getattr(again, name) == getattr(snapshot, name)


def test_a_cut_inside_a_list_of_rows_is_completed_by_resume() -> None:
    for game in (Pig(), KuhnPoker(), TicTacToe()):
        table = Table(game)
        table.play_randomly(random.Random(3))
        for cut in range(len(table.rows)):
            match = table.restored(table.rows[:cut])
            effects = match.resume(0)
            rows = [row for row in effects.rows if isinstance(row, EventRow)]
            wanted = []
            for row in table.rows[cut:]:
                if row.kind not in ("chance", "end") or cut < game.seats:
                    break
                wanted.append(row)
            assert rows == wanted
            assert any(isinstance(row, Finish) for row in effects.rows) == (
                match.status == "finished"
            )
            if cut == game.seats:
                continue
            assert not any(isinstance(row, Started) for row in effects.rows)


def test_a_match_that_waited_waits_again_and_knows_who_was_ready() -> None:
    table = Table(Heap(), ready=False)
    table.ask("ready", 1, "aa")
    match = table.restored(now=5)
    assert (match.status, match.course.nonces) == ("waiting", [None, "aa"])
    assert match.deadline() == 5 + table.config.disconnect_grace_ns
    assert not match.resume(5)
    assert any(isinstance(row, Started) for row in match.ready(0, "bb", 6, re=1).rows)


def test_the_time_before_the_kill_and_of_the_absence_is_not_charged() -> None:
    table = Table(Heap(), "total:60+0")
    table.act("1", think=3 * SECOND)
    match = table.restored(now=10**15)
    match.resume(10**15)
    match.reconnected(1, 10**15)
    assert match.turn_open
    later = 10**15 + 7 * SECOND
    assert match.sync(1, later, re=1).messages[0].turn_ply == 1  # type: ignore[union-attr]
    match.turn_written(1, 1, later)
    answer = match.act(1, 1, "2", later + SECOND, re=2).messages[0]
    assert isinstance(answer, Send)
    assert isinstance(answer.message, Accepted)
    assert [state.remaining_ms for state in answer.message.clocks] == [57_000, 59_000]


def test_an_action_sent_again_after_the_kill_is_known() -> None:
    table = Table(TicTacToe())
    table.act("B2")
    match = table.restored()
    for text in ("B2", "b2"):
        [answer] = match.act(0, 0, text, 0, re=3).messages
        assert isinstance(answer, Send)
        assert isinstance(answer.message, Accepted)
        assert answer.message.duplicate


def test_who_does_not_come_back_forfeits_and_if_nobody_does_the_match_is_void() -> None:
    table = Table(Heap(), "total:600+0", disconnect_grace_ns=20 * SECOND)
    match = table.restored()
    assert match.deadline() == 20 * SECOND
    match.tick(20 * SECOND)
    assert match.outcome is not None
    assert (match.outcome.termination, match.outcome.seat) == ("aborted", None)
    match = table.restored()
    match.reconnected(0, SECOND)
    match.tick(20 * SECOND)
    assert match.outcome is not None
    assert (match.outcome.termination, match.outcome.seat) == ("disconnect", 1)


def test_a_seat_that_comes_back_and_leaves_again_runs_on_its_own_clock() -> None:
    table = Table(Heap(), "move:1")
    match = table.restored()
    match.disconnected(0, 1)
    assert match.turn_open, "it had not come back: the server's absence is not its fault"
    match.reconnected(0, 2)
    match.disconnected(0, 3)
    assert not match.turn_open


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"index": 9}, "should be number 3"),
        ({"text": "7"}, "does not fit"),
        ({"seat": 0}, "seat 1 is to move"),
        ({"ply": 4}, "should be at ply 1"),
        ({"kind": "magic"}, "unknown kind"),
        ({"kind": "ready"}, "after the start"),
        ({"kind": "chance"}, "nothing to do"),
        ({"charged_ns": 10**12}, "does not fit"),
        ({"remaining_ns": 5}, "on the clock"),
        ({"kind": "end", "data": "{"}, "cannot be read"),
    ],
)
def test_damaged_events_are_named(change: dict[str, Any], problem: str) -> None:
    table = Table(Heap(), "total:60+0")
    table.act("1")
    rows = table.rows
    table.act("1")
    rows = [*rows[:3], msgspec.structs.replace(rows[3], **change)]
    with pytest.raises(RestoreError, match=problem) as caught:
        table.restored(rows)
    assert caught.value.match == "m1"


def test_another_seed_is_noticed() -> None:
    table = Table(Pig())
    for _ in range(12):
        table.act("roll")
    other = dataclasses.replace(table.config, seed=b"other" * 6)
    with pytest.raises(RestoreError, match="where the seed gives"):
        restore(other, table.rows, 0)


def test_nothing_comes_after_the_end() -> None:
    table = Table(Heap(coins=1))
    table.act("1")
    extra = EventRow("m1", len(table.rows), "action", 1, 0, "1")
    with pytest.raises(RestoreError, match="after the end"):
        table.restored([*table.rows, extra])


def test_the_terms_are_found_in_the_stored_header() -> None:
    table = Table(Heap(), "byoyomi:1+2x3", ready_timeout_ns=7, max_retries=3, rated=True)
    seats = tuple(SeatRow(n, f"player{n}", "bot", "", n, n, n) for n in (0, 1))
    header = MatchRow(
        id="m1",
        pairing_id="p1",
        game="heap",
        time_control="byoyomi:1+2x3",
        rated=True,
        illegal_rule="forfeit",
        stream="",
        commitment="",
        seed=SEED,
        seats=seats,
        created_ms=0,
        data=terms_data(table.config),
    )
    assert config_of(header, table.config.game) == table.config
    plain = config_of(msgspec.structs.replace(header, data=None), table.config.game)
    assert plain.max_retries == 10
    guest = msgspec.structs.replace(seats[1], player="guest-1", bot="Guest-1")
    seated = config_of(msgspec.structs.replace(header, seats=(seats[0], guest)), plain.game)
    assert seated.players[1] == SeatInfo("guest-1", kind="human"), "as in the live match"


def test_a_message_after_the_restore_is_answered_as_ever() -> None:
    match = Table(Heap()).restored()
    [answer] = match.ready(0, "00", 0, re=4).messages
    assert isinstance(answer, Send)
    assert answer.message == Ok(4)
