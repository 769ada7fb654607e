"""Two transactions that meet at a chosen statement, without sleeping and without luck."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

from sqlalchemy import Connection, Engine, event
from sqlalchemy.util import await_only
from tests.harness.patience import PATIENCE

from plyhouse.storage.store import Store

__all__ = ["race"]


Work = Callable[[Store], Awaitable[Any]]


def _engine(store: Store) -> Engine:
    """Return the engine by which a store writes."""
    database = store._database
    if database._engine is not None:
        return database._engine.sync_engine
    assert database._writer is not None
    return database._writer.engine


class _Stop:
    """Stops a store's first transaction that runs a statement, in front of that statement."""

    def __init__(self, store: Store, statement: str) -> None:
        self.reached = asyncio.Event()
        self.passed = False
        self._statement = statement
        self._loop = asyncio.get_running_loop()
        self._go_on = asyncio.Event()
        self._thread_goes_on = threading.Event()
        event.listen(_engine(store), "before_cursor_execute", self._before)

    def release(self) -> None:
        self._go_on.set()
        self._thread_goes_on.set()

    def _before(self, connection: Connection, cursor: Any, statement: str, *_: Any) -> None:
        if self.passed or not statement.startswith(self._statement):
            return
        self.passed = True
        if connection.dialect.name == "postgresql":  # in the event loop, inside a greenlet
            self.reached.set()
            await_only(self._go_on.wait())
        else:  # in the thread that writes
            self._loop.call_soon_threadsafe(self.reached.set)
            assert self._thread_goes_on.wait(PATIENCE), "nobody released the transaction"


class _Blocked:
    """Tells when the transaction of a store waits for a lock."""

    def __init__(self, store: Store, watcher: Store) -> None:
        self._loop = asyncio.get_running_loop()
        self._begun = asyncio.Event()
        self._watcher = watcher
        self._pid = 0
        event.listen(_engine(store), "before_cursor_execute", self._before)

    def _before(self, connection: Connection, cursor: Any, statement: str, *_: Any) -> None:
        if connection.dialect.name == "postgresql":
            driver = connection.connection.driver_connection
            assert driver is not None
            self._pid = driver.get_server_pid()
        elif statement.startswith("BEGIN"):  # which waits for the other writer
            self._loop.call_soon_threadsafe(self._begun.set)

    async def wait(self) -> None:
        if self._watcher._database.target.kind != "postgresql":
            await self._begun.wait()
            return
        query = "SELECT cardinality(pg_blocking_pids({}))"
        while True:
            if self._pid:
                blocking = await self._watcher._database.read(
                    lambda c: c.exec_driver_sql(query.format(self._pid)).scalar_one()
                )
                if blocking:
                    return
            await asyncio.sleep(0)


async def race(url: str, first: Work, second: Work, *, at: str) -> list[Any]:
    """Let ``second`` come between a check of ``first`` and what it writes; return both outcomes.

    ``first`` stops in front of the statement that begins with ``at``, while ``second`` runs until
    it is over or waits for a lock; then ``first`` goes on.  An outcome is the result or the
    exception.  Fails if ``first`` never runs such a statement.
    """
    async with AsyncExitStack() as stack:
        stores = [await stack.enter_async_context(await Store.open(url)) for _ in range(3)]
        stop, blocked = _Stop(stores[0], at), _Blocked(stores[1], stores[2])
        async with asyncio.timeout(PATIENCE):
            one = asyncio.ensure_future(first(stores[0]))
            reached = asyncio.ensure_future(stop.reached.wait())
            await asyncio.wait([one, reached], return_when=asyncio.FIRST_COMPLETED)
            reached.cancel()
            if not stop.passed:
                raise AssertionError(f"{one} ended and never came to {at!r}")
            try:
                other = asyncio.ensure_future(second(stores[1]))
                waits = asyncio.ensure_future(blocked.wait())
                await asyncio.wait([other, waits], return_when=asyncio.FIRST_COMPLETED)
                waits.cancel()
            finally:
                stop.release()
            return list(await asyncio.gather(one, other, return_exceptions=True))
