"""Random messages in random order: one answer each, one end, true rows, and no exception."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from plyhouse.games.hidden.coin_guess import CoinGuess
from plyhouse.games.hidden.kuhn_poker import KuhnPoker
from plyhouse.games.stochastic.pig import Pig
from plyhouse.server.match.effects import Effects, Send
from plyhouse.server.match.time_control import MS, SECOND, LagPolicy
from plyhouse.server.results.record import make_record
from plyhouse.server.results.verify import verify

from .harness import Heap, Table

GAMES = [Heap(), Heap(seats=3), Pig(target=10), KuhnPoker(seats=3), CoinGuess()]
SEAT = st.integers(0, 2)
STEP = st.one_of(
    st.tuples(st.just("play"), SEAT, st.integers(0, 4)),
    st.tuples(st.just("play"), SEAT, st.integers(0, 4)),
    st.tuples(st.just("play"), SEAT, st.integers(0, 4)),
    st.tuples(st.just("act"), SEAT, st.sampled_from(["1", "2", "roll", "x", "", "\0", "penny"])),
    st.tuples(st.just("old"), SEAT, st.sampled_from(["1", "2", "hold"])),
    st.tuples(st.just("ready"), SEAT, st.sampled_from(["", "aa", "zz"])),
    st.tuples(st.sampled_from(["offer_draw", "accept_draw", "decline_draw"]), SEAT, st.none()),
    st.tuples(st.sampled_from(["resign", "sync"]), SEAT, st.none()),
    st.tuples(st.sampled_from(["disconnected", "reconnected"]), SEAT, st.none()),
    st.tuples(st.sampled_from(["server_paused", "server_resumed", "tick"]), SEAT, st.none()),
)
WAIT = st.integers(0, 12).map(lambda n: (1 << n) * MS)


@settings(max_examples=250, deadline=None)
@given(
    st.sampled_from(GAMES),
    st.sampled_from(["move:1", "total:3+0.1", "byoyomi:1+2x0.5", "bank:0.1+2"]),
    st.sampled_from(["forfeit", "retry"]),
    st.booleans(),
    st.lists(st.tuples(STEP, WAIT), max_size=40),
)
def test_anything_may_arrive(game: Any, control: str, rule: str, ready: bool, steps: Any) -> None:
    table = Table(
        game,
        control,
        ready=ready,
        illegal_rule=rule,
        max_retries=2,
        disconnect_grace_ns=2 * SECOND,
        lag=LagPolicy(5 * MS, 20 * MS),
    )
    match = table.match
    match.audience.subscribe(None)
    for (name, seat, value), wait in steps:
        seat %= game.seats
        table.now += wait
        before = [len(inbox) for inbox in table.inbox]
        table.requests += 1
        number = table.requests
        answered = True
        if name == "play":
            mover = match.seat_to_move
            legal = match.state.actions()
            text = game.format(match.state, legal[value % len(legal)]) if legal else "x"
            seat = seat if mover is None else mover
            effects = match.act(seat, match.ply, text, table.now, lag_ns=MS, re=number)
        elif name in ("act", "old"):
            ply = match.ply if name == "act" else max(0, match.ply - 1)
            effects = match.act(seat, ply, value, table.now, re=number)
        elif name == "ready":
            effects = match.ready(seat, value, table.now, re=number)
        elif name in ("server_paused", "server_resumed"):
            answered = False
            effects = Effects([], [])
            getattr(match, name)(table.now)
        elif name == "tick":
            answered = False
            effects = match.tick(table.now)
        elif name in ("disconnected", "reconnected"):
            answered = False
            effects = getattr(match, name)(seat, table.now)
        else:
            effects = getattr(match, name)(seat, table.now, re=number)
        table.do(effects)
        if answered:
            table.answer(seat, number)
        told = sum(len(inbox) - old for inbox, old in zip(table.inbox, before, strict=True))
        assert told == sum(isinstance(outgoing, Send) for outgoing in effects.messages)
        due = match.deadline()
        if match.status == "finished":
            assert due is None
            assert table.finish is not None
        elif due is not None and name == "tick":
            assert due > table.now, "a tick has dealt with what was due"
    # The stored rows restore the match, and its record verifies.
    again = table.restored()
    assert (again.ply, again.status, again.outcome) == (match.ply, match.status, match.outcome)
    report = verify(make_record(table.config, table.rows, reveal=True), game)
    assert report.ok, str(report)
