"""Timers of the server outlive every failure of what they run, and what they missed is done."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.harness.clocks import FakeClock
from tests.harness.log_lines import log_text
from tests.harness.patience import PATIENCE
from tests.harness.server import BotClient, MemoryServer
from tests.harness.stored_competitions import competition, three_bots
from tests.storage.failures import refuse
from tests.tournaments import add_competition, add_tournament

from plyhouse.protocol.codec import MSGPACK
from plyhouse.server.competitions import tournaments
from plyhouse.server.competitions.pairing_starts import PairingStarter
from plyhouse.server.competitions.tournaments import Tournaments
from plyhouse.server.config import ServerConfig
from plyhouse.server.gateway.hub import Hub
from plyhouse.server.jobs.periodic import Periodic
from plyhouse.server.table.watchdog import INTERVAL_NS, TOLERANCE_NS, Watchdog
from plyhouse.storage import competition_sql, people_changes, suspensions
from plyhouse.storage import tournaments as stored_tournaments
from plyhouse.storage.errors import PERSISTENT_ATTEMPTS, DatabaseFull, StorageError
from plyhouse.storage.rows import By
from plyhouse.storage.store import Store

OLGA = By("olga", "because")
log = logging.getLogger("plyhouse.server.test")


class Work:
    """Runs that fail a few times, and an event for each count of runs."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.runs = 0
        self.well = asyncio.Event()

    def __call__(self) -> None:
        self.runs += 1
        if self.errors:
            raise self.errors.pop(0)
        self.well.set()

    async def later(self) -> None:
        await asyncio.sleep(0)
        self()


@pytest.mark.parametrize("later", [False, True])
async def test_periodic_work_goes_on_after_failures_and_logs_their_traceback(
    later: bool, caplog: pytest.LogCaptureFixture
) -> None:
    work = Work(*[ValueError(f"number {number}") for number in range(1, 7)])
    timer = Periodic(work.later if later else work, 0.0, "the test", log)
    timer.start()
    async with asyncio.timeout(PATIENCE):
        await work.well.wait()
    await timer.close()
    assert work.runs >= 7
    told = [each for each in caplog.records if each.name == log.name]
    assert [each.levelname for each in told] == ["ERROR"] * 3, "the first, second and fourth"
    assert [str(each.exc_info[1]) for each in told if each.exc_info] == [
        "number 1", "number 2", "number 4"
    ]  # fmt: skip
    assert (told[-1].work, told[-1].in_a_row) == ("the test", 4)  # type: ignore[attr-defined]
    runs = work.runs
    for _ in range(20):
        await asyncio.sleep(0)
    assert work.runs == runs, "nothing runs after the end"


@pytest.mark.parametrize("again", [False, True])
async def test_periodic_work_that_stops_its_own_timer_runs_no_more_than_it_asked(
    again: bool,
) -> None:
    runs: list[int] = []

    def work() -> None:
        runs.append(len(runs))
        timer.stop()
        if again and len(runs) < 3:
            timer.start(at_once=True)

    timer = Periodic(work, 0.0, "the test", log)
    timer.start()
    for _ in range(50):
        await asyncio.sleep(0)
    assert len(runs) == (3 if again else 1)


async def test_periodic_work_that_a_database_fails_is_a_warning_without_traceback(
    caplog: pytest.LogCaptureFixture,
) -> None:
    work = Work(StorageError("no answer"))
    timer = Periodic(work.later, 0.0, "the test", log)
    timer.start(at_once=True)
    async with asyncio.timeout(PATIENCE):
        await work.well.wait()
    timer.stop()
    (told,) = [each for each in caplog.records if each.name == log.name]
    assert (told.levelname, told.exc_info) == ("WARNING", None)
    assert "no answer" in told.why  # type: ignore[attr-defined]


async def test_watchdog_goes_on_after_a_standstill_that_could_not_be_settled(
    clock: FakeClock,
) -> None:
    settled: list[int] = []

    def settle(begin: int, end: int, busy: int) -> None:
        settled.append(end - begin)
        raise ValueError("a bug")

    watchdog = Watchdog(clock, settle)
    watchdog.note("somebody", 5)
    for _ in range(2):
        clock.now += INTERVAL_NS + TOLERANCE_NS + 1
        watchdog.beat()
    assert settled == [TOLERANCE_NS + 1] * 2
    assert watchdog.spent == {}
    watchdog.start()
    async with asyncio.timeout(PATIENCE):
        while len(settled) < 4:
            clock.now += INTERVAL_NS + TOLERANCE_NS + 1
            await asyncio.sleep(INTERVAL_NS / 1e9)
    watchdog.stop()


async def test_failing_match_keeps_no_other_from_its_time_after_a_standstill(
    still_house: MemoryServer,
) -> None:
    _, (start, _) = await still_house.pair("tic_tac_toe", "total:10")
    hub, clock = still_house.hub, still_house.clock
    fine = hub.directory.own[start.match]
    ended: list[str] = []

    class Broken:
        """A match whose engine has a bug."""

        id, suspended, holders = "broken", False, ()

        class match:  # noqa: N801
            class clock:  # noqa: N801
                running = None

            def abort(self) -> None: ...

            @staticmethod
            def server_stalled(*_: Any) -> Any:
                raise ValueError("a bug")

        @staticmethod
        def input(_: Any, reason: str, now: int, termination: str) -> None:
            ended.append(termination)

    rest = dict(hub.directory.own)
    hub.directory.own.clear()
    hub.directory.own |= {"broken": Broken(), **rest}  # type: ignore[dict-item]
    seat = fine.match.seat_to_move
    assert seat is not None
    still_house.move_to(clock.now)
    before = fine.match.clock.remaining(seat, clock.now)
    hub.watchdog.stop()
    clock.advance(2)
    hub.watchdog.beat()
    del hub.directory.own["broken"]
    assert ended == ["server_fault"]
    lost = before - fine.match.clock.remaining(seat, clock.now)
    assert lost <= INTERVAL_NS + TOLERANCE_NS


@pytest.mark.parametrize("broken", ["hosting", "verdicts", "session"])
async def test_login_timeouts_come_whatever_else_fails(
    still_house: MemoryServer, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    hub = still_house.hub
    failures: list[int] = []

    def refuse_to_run(now: int) -> None:
        failures.append(now)
        raise ValueError("a bug")

    class Broken:
        """A connection whose timers have a bug."""

        peer = "10.0.0.1:5"
        closed = ""

        def tick(self, now: int) -> None:
            refuse_to_run(now)

        def fail(self, code: str, text: str = "") -> None:
            self.closed = code
            hub.sessions.discard(self)

    session = Broken()
    if broken == "hosting":
        monkeypatch.setattr(hub.hosting, "refund", refuse_to_run)
    elif broken == "verdicts":
        monkeypatch.setattr(hub.flag_reports, "look", refuse_to_run)
    else:
        hub.sessions.add(session)  # type: ignore[arg-type]
    async with asyncio.timeout(PATIENCE):
        while not failures:  # noqa: ASYNC110 (the server's own timer)
            await asyncio.sleep(0.01)
    client = BotClient(hub.connect(), MSGPACK)
    still_house.move_to(still_house.clock.now + round(hub.config.auth_timeout * 1e9) + 1)
    (error,) = await client.until_closed()
    assert error.code == "auth/timeout"
    assert session.closed == ("server/fault" if broken == "session" else "")


# ------------------------------------------------------------------------ organisers


@pytest.fixture
async def opened(tmp_path: Path) -> Any:
    """Open a server on a file with the competition ``cup``, and stop its periodic jobs."""
    url = f"sqlite:///{tmp_path / 'a.db'}"
    await three_bots(url)
    async with await Store.open(url) as store:
        await add_competition(store, competition("cup"), [1, 2])
    hub = await Hub.open(ServerConfig(database=url))
    await hub.audit_follower.close()
    await hub.competitions.close()
    yield hub
    await hub.close()


def organise(hub: Hub, work: Callable[[Store], Awaitable[Any]]) -> Awaitable[None]:
    """Do something beside the server, as the command line does."""

    async def beside() -> None:
        async with await Store.open(hub.config.database) as store:
            await work(store)

    return beside()


def pause(store: Store) -> Awaitable[Any]:
    return store.write(competition_sql.move, "cup", "pause", OLGA, store.now())


def is_paused(hub: Hub) -> bool:
    running = hub.tournaments.running("cup")
    return running is not None and running.paused


@pytest.mark.parametrize("full", [False, True])
async def test_failed_read_loses_no_pause_of_an_organiser(opened: Hub, full: bool) -> None:
    await organise(opened, pause)
    refused = refuse(opened.store, "FROM tournaments", full=full)
    with pytest.raises(StorageError):
        await opened.audit_follower.look()
    assert (len(refused), is_paused(opened)) == (1, False)
    await opened.audit_follower.look()
    assert is_paused(opened)


async def test_failed_read_loses_no_suspension_and_keeps_the_order(opened: Hub) -> None:
    client = BotClient(opened.connect(), MSGPACK)
    await client.hello(await opened.store.add_token("ada"), "", version="1")
    (ada,) = opened.directory.presences.values()

    async def both(store: Store) -> None:
        await store.write(suspensions.suspend, ada.version_id, "ten forfeits", store.now())
        await pause(store)
        await store.write(people_changes.disable_player, "bob", OLGA, store.now())

    await organise(opened, both)
    refuse(opened.store, "FROM suspensions")
    with pytest.raises(StorageError):
        await opened.audit_follower.look()
    assert not is_paused(opened), "what comes later waits"
    await opened.audit_follower.look()
    (ada,) = opened.directory.presences.values()
    assert ada.suspended == "ten forfeits"
    assert is_paused(opened)
    assert ("player", 2) in opened.audit_follower._banned


async def test_action_that_always_fails_keeps_no_other_back_for_ever(
    opened: Hub, caplog: pytest.LogCaptureFixture
) -> None:
    await organise(opened, pause)
    await organise(
        opened, lambda store: store.write(people_changes.disable_player, "bob", OLGA, store.now())
    )
    refuse(opened.store, "FROM tournaments", times=1000)
    for _ in range(PERSISTENT_ATTEMPTS - 1):
        with pytest.raises(StorageError):
            await opened.audit_follower.look()
        assert not opened.audit_follower._banned
    await opened.audit_follower.look()
    assert ("player", 2) in opened.audit_follower._banned
    assert "what='competition.pause' who='olga'" in log_text(caplog)


async def test_full_disk_is_waited_for_as_long_as_it_takes(opened: Hub) -> None:
    await organise(opened, pause)
    times = 2 * PERSISTENT_ATTEMPTS
    refuse(opened.store, "FROM tournaments", times, full=True)
    for _ in range(times):
        with pytest.raises(DatabaseFull):
            await opened.audit_follower.look()
    await opened.audit_follower.look()
    assert is_paused(opened)


async def test_pause_while_the_server_starts_is_not_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"sqlite:///{tmp_path / 'a.db'}"
    await three_bots(url)
    async with await Store.open(url) as store:
        await add_competition(store, competition("cup"), [1, 2])
    restore = Tournaments.restore

    async def restored(self: Tournaments) -> None:
        await restore(self)
        async with await Store.open(url) as store:
            await pause(store)

    monkeypatch.setattr(Tournaments, "restore", restored)
    hub = await Hub.open(ServerConfig(database=url))
    try:
        await hub.audit_follower.look()
        assert is_paused(hub)
    finally:
        await hub.close()


# --------------------------------------------------------------------- ends of finals


@pytest.mark.parametrize(("times", "full"), [(1, False), (1, True), (5, False)])
async def test_end_of_a_competition_is_stored_after_failed_writes(
    opened: Hub, monkeypatch: pytest.MonkeyPatch, times: int, full: bool
) -> None:
    monkeypatch.setattr(tournaments, "RETRIES", (0.0,))

    async def status() -> str:
        return (await opened.store.read(stored_tournaments.find_tournament, "cup")).status

    refused = refuse(opened.store, "UPDATE tournaments SET status", times, full=full)
    await opened.tournaments.withdraw("cup", 1, OLGA)
    async with asyncio.timeout(PATIENCE):
        while await status() != "finished":  # noqa: ASYNC110 (it is stored in a task of the server's)
            await asyncio.sleep(0)
    assert len(refused) == times


async def test_end_of_a_deleted_competition_is_not_tried_again(
    opened: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tournaments, "RETRIES", (0.0,))
    refused = refuse(opened.store, "UPDATE tournaments SET status", 10**9)
    await opened.tournaments.withdraw("cup", 1, OLGA)
    async with asyncio.timeout(PATIENCE):
        while len(refused) < 3:  # noqa: ASYNC110 (it is stored in a task of the server's)
            await asyncio.sleep(0)
    await organise(
        opened, lambda store: store.write(competition_sql.move, "cup", "delete", OLGA, store.now())
    )
    async with asyncio.timeout(PATIENCE):
        while opened.tournaments._tasks:  # noqa: ASYNC110
            await asyncio.sleep(0)


async def test_competition_that_fails_to_begin_keeps_no_other_back(
    opened: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tournaments, "LADDER_SECONDS", 0.0)
    row = competition("other")
    await add_tournament(opened.store, row, [2, 3])
    await opened.tournaments.begun([row])
    begin = PairingStarter.begin
    begun: list[str] = []

    def failing(self: PairingStarter, running: Any, freed: Any) -> bool:
        begun.append(running.row.id)
        if running.row.id == "cup" and begun.count("cup") < 3:
            raise ValueError("a bug")
        return begin(self, running, freed)

    monkeypatch.setattr(PairingStarter, "begin", failing)
    opened.tournaments.advance_soon()
    async with asyncio.timeout(PATIENCE):
        while begun.count("cup") < 3:  # noqa: ASYNC110 (the server's own timer)
            await asyncio.sleep(0)
    assert begun[:2] == ["cup", "other"]
