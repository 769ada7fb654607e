"""SQLite's log is emptied beside the writer, so that no commit has to wait for it."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.harness.patience import PATIENCE

from plyhouse.storage import engines
from plyhouse.storage.rows import EventRow


def _without_the_log(path: Path) -> int:
    """How many events are in the database file itself."""
    connection = sqlite3.connect(f"file:{path}?immutable=1", uri=True)
    try:
        (count,) = connection.execute("SELECT count(*) FROM events").fetchone()
    except sqlite3.Error:  # read in the middle of a checkpoint
        return -1
    finally:
        connection.close()
    return int(count)


@pytest.fixture
def others() -> set[threading.Thread]:
    """The threads that another test left when its loop was closed."""
    return set(_threads())


def _threads() -> list[threading.Thread]:
    return [each for each in threading.enumerate() if each.name == "plyhouse-checkpoints"]


async def test_what_was_committed_soon_reaches_the_file_itself(
    tmp_path: Path,
    world_at: Callable[[str], Any],
    monkeypatch: pytest.MonkeyPatch,
    others: set[threading.Thread],
) -> None:
    monkeypatch.setattr(engines, "PAUSE_SECONDS", 0.001)
    path = tmp_path / "a.db"
    async with world_at(f"sqlite:///{path}") as world:
        match_id, ops = await world.new("ada", "bob")
        await world.store.apply(ops)
        await world.store.apply([EventRow(match_id, 0, "act", 0, 0, "a1")])
        async with asyncio.timeout(PATIENCE):
            while _without_the_log(path) != 1:  # noqa: ASYNC110 (another thread writes it)
                await asyncio.sleep(0.01)
        assert len({*_threads()} - others) == 1
    assert {*_threads()} <= others
    assert not path.with_name("a.db-wal").exists()


async def test_the_writer_begins_the_log_anew_when_nobody_else_does(
    tmp_path: Path, world_at: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The thread beside it does nothing here.  While that thread copies, the writer cannot, and the
    log grows by what is written meanwhile, so that no bound would hold with both of them.
    """
    monkeypatch.setattr(engines, "PAUSE_SECONDS", 3600)
    path = tmp_path / "a.db"
    async with world_at(f"sqlite:///{path}") as world:
        match_id, ops = await world.new("ada", "bob")
        await world.store.apply(ops)
        text = "x" * 1000
        for number in range(150):
            rows = [
                EventRow(match_id, 100 * number + each, "act", 0, 0, text) for each in range(100)
            ]
            await world.store.apply(rows)
        log = path.with_name("a.db-wal").stat().st_size
        # 15 MB of rows make 70 MB of log, because pages are written whole.
        assert log < 1.5 * engines.WRITER_PAGES * 4096


async def test_a_database_in_memory_has_no_log(
    world_at: Callable[[str], Any], others: set[threading.Thread]
) -> None:
    async with world_at("sqlite:///:memory:") as world:
        await world.play("ada", "bob", returns=(1, -1))
        assert {*_threads()} <= others


def test_an_end_is_not_missed_that_comes_just_before_the_wake_is_taken_back(tmp_path: Path) -> None:
    """The server would have waited for its thread for ever, as one run of these tests did."""
    connect = partial(sqlite3.connect, tmp_path / "a.db", check_same_thread=False)
    follower = engines.Checkpoints(connect)
    pausing, waited_for = threading.Event(), threading.Event()
    join = follower._thread.join

    def pause(_: float) -> bool:
        pausing.set()
        assert waited_for.wait(60)
        return False  # it ended without being told to stop, which happens right after

    def wait_for() -> None:
        waited_for.set()
        join(60)

    follower._stopped.wait = pause  # type: ignore[assignment, method-assign]
    follower._thread.join = wait_for  # type: ignore[assignment, method-assign]
    follower.written()
    assert pausing.wait(60)
    follower.stop()
    assert not follower._thread.is_alive()
