"""Time that the server spends on commits, also those of a login, is never the bot's."""

from __future__ import annotations

import sqlite3
import threading
import unicodedata
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, Literal

import httpx
import pytest
from tests.harness.server import BotClient, MemoryServer, Server

from plyhouse.protocol.codec import MSGPACK
from plyhouse.protocol.messages import Accepted, Act, Error, Turn, Welcome

COMMIT_MS = 30


class SlowStorage:
    """Lets each transaction of a real database take a known time of the injected clock."""

    def __init__(self, house: MemoryServer) -> None:
        self._house = house
        database: Any = house.hub.store._database
        self._write, self._read = database.write, database.read
        self._behind = database._write_behind
        self.commit_ms, self.read_ms = COMMIT_MS, 0
        self.commits = 0
        """Commits that somebody waited for."""
        database.write, database.read = self.write, self.read
        database._write_behind = self.behind
        self._quiet = False

    def _pass(self, milliseconds: int) -> None:
        if milliseconds:
            self._house.move_to(self._house.clock.now + milliseconds * 1_000_000)

    async def write(self, work: Any) -> Any:
        done = await self._write(work)
        if not self._quiet:
            self.commits += 1
            self._pass(self.commit_ms)
        return done

    async def read(self, work: Any) -> Any:
        done = await self._read(work)
        self._pass(self.read_ms)
        return done

    async def behind(self, work: Any) -> None:
        self._quiet = True  # it commits while the bot goes on
        try:
            await self._behind(work)
        finally:
            self._quiet = False


async def back(house: MemoryServer, player: str, bot: str, **hello: Any) -> tuple[BotClient, Any]:
    """Log in again, over a new connection."""
    client = BotClient(house.hub.connect(), MSGPACK)
    token = await house.hub.store.add_token(player)
    return client, lambda: client.hello(token, bot, **hello)


async def mover_of(
    house: MemoryServer, control: str, bots: tuple[str, str] = ("one", "two")
) -> tuple[BotClient, Any, Any]:
    """A match in which seat 0 is to move and has thought for 100 ms, then loses its connection."""
    (mover, _), (match, _) = await house.pair("tic_tac_toe", control, bots)
    await mover.next(Turn)
    house.move_to(house.clock.now + 100_000_000)
    await mover.close()
    return mover, match, match.players[0]


async def test_a_bot_that_comes_back_waits_for_no_commit(still_house: MemoryServer) -> None:
    _, match, info = await mover_of(still_house, "move:5")
    client, login = await back(still_house, info.player, info.bot)
    storage = SlowStorage(still_house)
    assert isinstance(await login(), Welcome)
    assert storage.commits == 0
    answer = await client.ask(Act, match.match, 0, "a1")
    assert answer.ledger.charged_ms == 100


async def test_the_commits_of_a_login_are_not_charged(still_house: MemoryServer) -> None:
    _, match, info = await mover_of(still_house, "move:5")
    client, login = await back(still_house, info.player, info.bot, version="mended")
    storage = SlowStorage(still_house)
    storage.read_ms = 7
    assert isinstance(await login(), Welcome)
    assert storage.commits > 0, "the version is new"
    answer = await client.ask(Act, match.match, 0, "a1")
    ledger = answer.ledger
    assert ledger.charged_ms == 100
    assert ledger.stall_ms >= COMMIT_MS * storage.commits + 7
    assert ledger.thought_ms == ledger.charged_ms + ledger.stall_ms


async def test_logins_give_back_no_more_than_standstills_do(still_house: MemoryServer) -> None:
    """A bot that thinks on while it logs in again and again."""
    _, match, info = await mover_of(still_house, "move:60")
    taken = 0
    for turn in range(21):
        client, login = await back(still_house, info.player, info.bot)
        if not turn:
            storage = SlowStorage(still_house)
            storage.read_ms = 50
        begun = still_house.clock.now
        await login()
        taken += still_house.clock.now - begun
        if turn < 20:
            await client.close()
    assert taken > 1_000_000_000
    answer = await client.ask(Act, match.match, 0, "a1")
    assert answer.ledger.stall_ms == 500


async def test_a_login_that_is_refused_gives_nothing_back(still_house: MemoryServer) -> None:
    (mover, _), (match, _) = await still_house.pair("tic_tac_toe", "move:5")
    await mover.next(Turn)
    info = match.players[0]
    _, login = await back(still_house, info.player, info.bot)
    storage = SlowStorage(still_house)
    storage.read_ms = 100
    before = still_house.clock.now
    answer = await login()
    assert isinstance(answer, Error)
    assert answer.code == "auth/already_connected"
    waited = (still_house.clock.now - before) // 1_000_000
    answer = await mover.ask(Act, match.match, 0, "a1")
    assert answer.ledger.charged_ms == waited > 0
    assert answer.ledger.stall_ms == 0


@pytest.mark.parametrize("form", ["NFC", "NFD"])
async def test_no_flag_falls_while_the_server_lets_the_bot_in(
    still_house: MemoryServer, form: Literal["NFC", "NFD"]
) -> None:
    _, match, info = await mover_of(still_house, "move:0.15", ("\u00f6ne", "tw\u00f6"))
    live = still_house.hub.directory.own[match.match]
    name = unicodedata.normalize(form, info.bot)
    client, login = await back(still_house, info.player, name, version="mended")
    storage = SlowStorage(still_house)
    storage.commit_ms = 80
    write = still_house.hub.store._database.write

    async def alarmed(work: Any) -> Any:
        done = await write(work)
        live.cancel_alarm()
        live.check_time()
        return done

    still_house.hub.store._database.write = alarmed  # type: ignore[method-assign]
    assert isinstance(await login(), Welcome)
    assert storage.commits == 1, "its time would have been up"
    answer = await client.ask(Act, match.match, 0, "a1")
    assert isinstance(answer, Accepted), answer
    assert answer.ledger is not None
    assert answer.ledger.charged_ms == 100


async def test_standstills_during_a_login_are_given_back_once(still_house: MemoryServer) -> None:
    _, match, info = await mover_of(still_house, "move:5")
    client, login = await back(still_house, info.player, info.bot)
    database: Any = still_house.hub.store._database
    read, watchdog = database.read, still_house.hub.watchdog

    async def stuck(work: Any) -> Any:
        done = await read(work)
        watchdog.beat()
        still_house.clock.now += 10_000_000
        still_house.clock.now += 40_000_000
        watchdog.beat()
        return done

    database.read = stuck
    begun = still_house.clock.now
    await login()
    database.read = read
    taken = (still_house.clock.now - begun) // 1_000_000
    still_house.move_to(still_house.clock.now + 1_000_000_000)
    answer = await client.ask(Act, match.match, 0, "a1")
    assert answer.ledger.stall_ms == taken
    assert answer.ledger.charged_ms == 1100


# ------------------------------------------------------------------------------ health


@pytest.fixture
async def locked(
    open_house: Callable[..., Awaitable[Server]], tmp_path: Path
) -> AsyncIterator[tuple[Server, sqlite3.Connection]]:
    """A server whose SQLite file another program has locked."""
    file = tmp_path / "locked.db"
    # A trial of the database waits for the lock for as long as the test has it.
    house = await open_house(database=f"sqlite:///{file}?busy_timeout_ms=600000")
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    yield house, other
    if other.in_transaction:
        other.execute("ROLLBACK")
    other.close()


async def test_health_answers_while_sqlite_is_locked(
    locked: tuple[Server, sqlite3.Connection], monkeypatch: pytest.MonkeyPatch
) -> None:
    house, other = locked
    probes = 0
    probe = house.hub.store.probe

    async def counted() -> None:
        nonlocal probes
        probes += 1
        await probe()

    monkeypatch.setattr(house.hub.store, "probe", counted)
    # The lock lasts until the test ends it, so answers that wait for it never come.
    monkeypatch.setattr("plyhouse.server.administration.health.ANSWER_SECONDS", 0.05)
    threads = threading.active_count()
    async with httpx.AsyncClient(base_url=house.server.url) as api:
        for _ in range(30):
            answer = await api.get("/readyz")
            assert (answer.status_code, answer.json()["ready"]) == (503, False)
            assert answer.json()["why"] in (
                "The database does not answer.",
                "The database is locked by another program.",
            )
        answer = await api.get("/api/v1/health")
        assert (answer.status_code, answer.json()["status"]) == (503, "degraded")
        assert answer.json()["why"]
        assert probes == 1, "all who ask share one trial"
        assert threading.active_count() <= threads + 1, "the writer's thread, if it is new"
        other.execute("ROLLBACK")
        trial = house.hub.health._trial
        if trial is not None:
            await trial
        monkeypatch.undo()  # its success may be too old to count, and the next one has its time
        assert (await api.get("/readyz")).status_code == 200
