"""Cheats who would think for nothing: during standstills they cause, or behind late pongs."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from tests.attack.conftest import FakeClock, Raw
from tests.harness.server import BotClient

from plyhouse.protocol.codec import MSGPACK
from plyhouse.protocol.liveness import NetworkTrip
from plyhouse.protocol.messages import (
    Accepted,
    Act,
    Error,
    Hello,
    Limits,
    Ping,
    Pong,
    Sync,
    Turn,
    Welcome,
)
from plyhouse.protocol.server_side import PONG_TOLERANCE_NS, ServerConnection
from plyhouse.server.match.clock import Clock
from plyhouse.server.match.time_control import MS, SECOND, LagPolicy, TimeControl
from plyhouse.server.table.watchdog import INTERVAL_NS

Dial = Callable[..., Awaitable[Raw]]


# ------------------------------------------------------------------------------ standstills


async def stand_still(house: Any, clock: FakeClock, busy: float, idle: float, by: Any) -> None:
    """Let the server be at work on somebody's frames, and then not run at all."""
    watchdog = house.hub.watchdog
    cpu = watchdog._cpu()
    watchdog._cpu = lambda: cpu
    watchdog.beat()
    clock.now += INTERVAL_NS
    clock.advance(busy + idle)
    watchdog._cpu = lambda: cpu + round(busy * 1e9)
    house.hub.spent(by, round(busy * 1e9))
    watchdog.beat()


def line_of(house: Any, match: Any, seat: int) -> Any:
    return house.hub.directory.own[match.match].holders[seat].line


async def test_a_bot_that_freezes_the_server_thinks_on_its_own_clock(
    still_house: Any, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    (cheat, _), (match, _) = await still_house.pair("tic_tac_toe", "move:4")
    await cheat.next(Turn)
    await stand_still(still_house, clock, 3.0, 0.0, line_of(still_house, match, 0))
    answer = await cheat.ask(Act, match.match, 0, "a1")
    assert isinstance(answer, Accepted)
    assert answer.ledger is not None
    assert answer.ledger.stall_ms == 0
    assert answer.ledger.charged_ms >= 3000
    (stall,) = (each for each in caplog.records if each.msg == "server stalled")
    fields = {name: getattr(stall, name) for name in ("stall_ms", "work_ms", "client_ms")}
    assert fields == {"stall_ms": 3000, "work_ms": 3000, "client_ms": 3000}
    assert "alice/one" in str(stall.client)  # type: ignore[attr-defined]
    (charged,) = (each for each in caplog.records if each.msg == "stall charged")
    fields = {name: getattr(charged, name) for name in ("match", "seat", "given_back_ms")}
    assert fields == {"match": match.match, "seat": 0, "given_back_ms": 0}


async def test_a_freeze_by_a_friend_is_worth_little(still_house: Any, clock: FakeClock) -> None:
    (cheat, _), (match, _) = await still_house.pair("tic_tac_toe", "move:4")
    friend = await still_house.bot("friend")
    await cheat.next(Turn)
    session = next(s for s in still_house.hub.sessions if s.name == "friend/bot")
    await stand_still(still_house, clock, 3.0, 0.0, session)
    answer = await cheat.ask(Act, match.match, 0, "a1")
    assert answer.ledger.stall_ms == LagPolicy().busy_per_move_ns // MS
    assert answer.ledger.charged_ms >= 2500
    await friend.close()


async def test_time_in_which_the_machine_did_not_let_the_server_run_is_nobodys(
    still_house: Any, clock: FakeClock
) -> None:
    (mover, _), (match, _) = await still_house.pair("tic_tac_toe", "move:4")
    await mover.next(Turn)
    await stand_still(still_house, clock, 0.1, 60.0, line_of(still_house, match, 0))
    answer = await mover.ask(Act, match.match, 0, "a1")
    assert answer.ledger.stall_ms == 60_000


async def test_a_standstill_in_which_nobody_was_served_names_nobody(
    still_house: Any, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    watchdog = still_house.hub.watchdog
    cpu = watchdog._cpu()
    watchdog._cpu = lambda: cpu
    watchdog.beat()
    clock.now += INTERVAL_NS
    clock.advance(60.0)
    watchdog.beat()
    (stall,) = (each for each in caplog.records if each.msg == "server stalled")
    assert (stall.stall_ms, stall.work_ms) == (60000, 0)  # type: ignore[attr-defined]
    assert not hasattr(stall, "client")


def test_standstills_at_work_are_given_back_up_to_a_cap_per_ply_and_match() -> None:
    watch = Clock(TimeControl.parse("move:9"), 2, LagPolicy(0, 0))
    now, refunds = 0, []
    for _ in range(12):
        watch.start(0, now)
        for _ in range(3):
            watch.stalled(now, now + SECOND, busy_ns=SECOND)
            now += SECOND
        refunds.append(watch.stop(0, now).stall_ns // MS)
    assert refunds == 10 * [500] + [0, 0]
    watch.start(1, now)
    assert watch.stalled(now, now + SECOND, busy_ns=SECOND) == 500 * MS, "its own account"


def test_many_small_standstills_are_given_back_up_to_the_same_caps() -> None:
    watch = Clock(TimeControl.parse("move:9"), 2, LagPolicy(0, 0, busy_total_ns=804 * MS))
    for given in (500, 304, 0):
        watch.start(0, 0)
        spans = [
            watch.stalled(now, now + 7 * MS, busy_ns=busy)
            for now, busy in ((n * 10 * MS, 7 * MS + n % 2) for n in range(100))
        ]
        whole, rest = divmod(given, 7)
        assert spans == whole * [7 * MS] + [rest * MS] + (99 - whole) * [0]
        assert watch.stop(0, SECOND).stall_ns == given * MS


def test_only_what_falls_into_the_ply_is_given_back() -> None:
    watch = Clock(TimeControl.parse("move:9"), 2, LagPolicy(0, 0))
    assert watch.stalled(0, SECOND) == 0, "no clock runs"
    watch.start(0, SECOND)
    assert watch.stalled(0, 3 * SECOND) == 2 * SECOND
    assert watch.stalled(3 * SECOND, 4 * SECOND, busy_ns=SECOND, own_ns=2 * SECOND) == 0
    assert watch.stop(0, 5 * SECOND).charged_ns == 2 * SECOND


# ----------------------------------------------------------------------------- late pongs


def test_a_late_pong_counts_for_no_more_than_the_network_needs() -> None:
    connection = ServerConnection(MSGPACK, 0)
    connection.network = lambda: NetworkTrip(2 * MS, MS)
    connection.receive(MSGPACK.encode(Hello(1, "token", "bot")), 0)
    connection.send(Welcome(1, "p", "b", "", "1", "s", 0, 4000, Limits(1 << 16, 1), []), 0)
    connection.receive(MSGPACK.encode(Pong(1)), 250 * MS)
    assert connection.round_trips.median_ns == 2 * MS + PONG_TOLERANCE_NS
    assert connection.floor_ns == MS


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells")
async def test_a_bot_that_delays_its_pongs_is_given_back_the_networks_time(
    house: Any, dial: Dial
) -> None:
    cheat = await dial(house)
    cheat.say(Hello(1, await house.token("mallory"), "bot"))
    number = (await cheat.answer(Ping)).id
    (session,) = house.hub.sessions
    pings = session.connection._heartbeat._pings
    pings[number] -= 10 * SECOND  # the cheat waited for so long
    cheat.say(Pong(number))
    cheat.say(Sync(2, "m"))
    await cheat.answer(Error)
    trip = session._transport.network()
    assert trip is not None
    assert 0 < session.lag_ns < SECOND


def test_honest_bots_far_away_are_not_starved_under_a_time_per_move() -> None:
    policy = LagPolicy(vouched_per_move_ns=200 * MS)

    def refunds(control: str, floor: int, plies: int = 60) -> list[int]:
        watch = Clock(TimeControl.parse(control), 2, policy)
        found = []
        for at in range(plies):
            watch.start(0, at * SECOND, 400 * MS, floor)
            found.append(watch.stop(0, at * SECOND + 450 * MS).lag_ns // MS)
        return found

    assert refunds("move:0.5", 390 * MS) == 60 * [200]
    assert refunds("move:0.5", 0) == 25 * [200] + 35 * [0], "unless nobody vouches for it"
    assert refunds("total:60", 390 * MS) == 25 * [200] + 35 * [0], "what is saved is kept there"
    # A cheat adds to what the kernel vouches for, and gains what it did before: 5 s in all.
    gained = [each - 10 for each in refunds("move:0.5", 10 * MS)]
    assert sum(each for each in gained if each > 0) == 5000
    assert gained[-1] == 0


def test_a_record_with_vouched_refunds_can_be_replayed() -> None:
    policy = LagPolicy(vouched_per_move_ns=200 * MS)
    watch = Clock(TimeControl.parse("move:1"), 2, policy)
    for _ in range(60):
        watch.replay(0, 100 * MS, 200 * MS)
    with pytest.raises(ValueError, match="caps"):
        watch.replay(0, 0, 201 * MS)
    watch = Clock(TimeControl.parse("total:60"), 2, policy)
    for _ in range(25):
        watch.replay(0, 0, 200 * MS)
    with pytest.raises(ValueError, match="caps"):
        watch.replay(0, 0, 1)


# --------------------------------------------------------------------------- reconnection


class SlowDisk:
    """Holds back a match's writes until they are released."""

    def __init__(self, house: Any, match: str) -> None:
        self._runner = house.hub.live_matches
        self._store = self._runner.store
        self._match = match
        self._kept: list[tuple[Any, Any]] = []
        self._runner.store = self._keep

    def _keep(self, ops: Any, done: Any) -> None:
        if ops[0].match_id == self._match:
            self._kept.append((ops, done))
        else:
            self._store(ops, done)

    def go_on(self) -> None:
        self._runner.store = self._store
        for ops, done in self._kept:
            self._store(ops, done)


async def come_back(house: Any, match: Any, seat: int) -> tuple[Any, asyncio.Task[Any]]:
    info = match.players[seat]
    client = BotClient(house.hub.connect(), MSGPACK)
    token = await house.hub.store.add_token(info.player)
    return client, asyncio.create_task(client.hello(token, info.bot))


async def settled(house: Any) -> None:
    """Until the login waits for the disk."""
    for _ in range(100_000):
        if any(session.holding for session in house.hub.sessions):
            return
        await asyncio.sleep(0)
    raise AssertionError("nobody logs in")


async def test_the_clock_of_a_bot_that_comes_back_starts_when_it_is_told(
    still_house: Any, clock: FakeClock
) -> None:
    (mover, other), (match, _) = await still_house.pair("tic_tac_toe", "move:5")
    await mover.next(Turn)
    await other.close()
    disk = SlowDisk(still_house, match.match)
    await mover.send(Act(99, match.match, 0, "b2"))
    back, login = await come_back(still_house, match, 1)
    await settled(still_house)
    still_house.move_to(clock.now + 3 * SECOND)  # the commit takes long
    disk.go_on()
    welcome = await login
    assert welcome.matches[0].your_turn
    still_house.move_to(clock.now + SECOND)
    answer = await back.ask(Act, match.match, 1, "a1")
    assert answer.ledger.thought_ms == 1000


async def test_a_turn_during_the_login_starts_the_clock_after_the_welcome(
    still_house: Any, clock: FakeClock
) -> None:
    hub = still_house.hub
    stays, goes = [await still_house.bot(name, max_matches=2) for name in ("alice", "bob")]
    for game in ("tic_tac_toe", "othello"):
        for client in (stays, goes):
            await client.seek(game, "move:5")
    starts = [await goes.start() for _ in range(2)]
    for _ in range(2):
        await stays.start()
    slow, quick = sorted(starts, key=lambda start: start.game)
    if quick.seat == 0:  # then it is the other's turn
        await goes.next(Turn, match=quick.match)
        await goes.ask(Act, quick.match, 0, "c3")
    turn = await stays.next(Turn, match=quick.match)
    disk = SlowDisk(still_house, slow.match)
    mover = goes if slow.seat == 0 else stays
    await mover.send(Act(99, slow.match, 0, "d3"))
    await goes.close()
    back, login = await come_back(still_house, slow, slow.seat)
    await settled(still_house)
    await stays.ask(Act, quick.match, turn.ply, "a1")
    live = hub.directory.own[quick.match]
    assert live.match.turn_open, "its turn is not written yet"
    still_house.move_to(clock.now + 3 * SECOND)
    disk.go_on()
    await login
    turn = await back.next(Turn, match=quick.match)
    still_house.move_to(clock.now + SECOND)
    answer = await back.ask(Act, quick.match, turn.ply, "b2")
    assert answer.ledger.thought_ms == 1000


async def test_a_bot_that_leaves_while_its_turn_waits_for_the_disk_pays_from_the_turn_on(
    still_house: Any, clock: FakeClock
) -> None:
    (mover, other), (match, _) = await still_house.pair("tic_tac_toe", "move:5")
    await mover.next(Turn)
    live = still_house.hub.directory.own[match.match]
    disk = SlowDisk(still_house, match.match)
    await mover.send(Act(99, match.match, 0, "b2"))
    await other.close()
    assert live.match.turn_open
    still_house.move_to(clock.now + 3 * SECOND)
    disk.go_on()
    await mover.next(Accepted)
    assert live.match.clock.running == 1
    assert live.match.clock.remaining(1, clock.now) == 5 * SECOND
