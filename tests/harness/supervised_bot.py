"""A supervised bot process, driven by a test."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from tests.bots.conftest import ManualClock, snapshot
from tests.harness.patience import PATIENCE

from plyhouse.bots.process.author_log import AuthorLog
from plyhouse.bots.process.messages import (
    Begin,
)
from plyhouse.bots.process.supervisor import Request, Supervisor
from plyhouse.protocol.messages import Event

SECOND = 1_000_000_000


class Rig:
    """A supervisor with its log as lines."""

    def __init__(self, supervisor: Supervisor, clock: ManualClock, lines: list[str]) -> None:
        self.supervisor, self.clock, self.lines = supervisor, clock, lines
        self.events: dict[str, list[Event]] = {}

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def begin(self, match: str = "m1", *events: Event, **more: Any) -> None:
        self.events[match] = list(events)
        self.supervisor.begin(
            match,
            lambda: Begin(snapshot(match=match, events=tuple(self.events[match]), **more), "seed"),
            lambda: self.events[match],
        )

    def think(self, match: str = "m1", *, retry: bool = False) -> Request:
        now = self.clock.now()
        return self.supervisor.think(
            match,
            ply=sum(event.seat >= 0 for event in self.events[match]),
            soft_at=now + SECOND,
            hard_at=now + 2 * SECOND,
            flag_at=now + 3 * SECOND,
            observation={},
            clocks=[],
            retry=retry,
        )

    async def ask(self, match: str = "m1") -> Any:
        return await asyncio.wait_for(self.think(match).answer, PATIENCE)

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait for something that another process does."""
        async with asyncio.timeout(PATIENCE):
            while not condition():  # noqa: ASYNC110 - it happens in another process
                await asyncio.sleep(0.005)


@asynccontextmanager
async def supervised(spec: str, clock: ManualClock, **more: Any) -> AsyncIterator[Rig]:
    lines: list[str] = []
    supervisor = Supervisor(spec, AuthorLog("mybot", terminal=lines.append), clock=clock, **more)
    await supervisor.start()
    try:
        yield Rig(supervisor, clock, lines)
    finally:
        await supervisor.close()


WIRE = """
        import gc
        from plyhouse.bots.process.child import Wire

        def own_frame(length, body):
            wire = next(each for each in gc.get_objects() if isinstance(each, Wire))
            wire._end.sendall(length.to_bytes(4, "big") + body)
"""
