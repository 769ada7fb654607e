"""Connections without a network: the local arena and the tests talk to a hub in the same process.

`connect` gives the client's end.  It behaves like a websocket client (``send``, ``recv``,
``close``), so a bot's client code cannot tell the difference; the server's end is the ordinary
`Session` that websockets use too: one referee everywhere.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from typing import Final

from plyhouse.server.wire.transport import Frame, FrameSink, Upgrade

__all__ = ["MemoryClient", "MemoryTransport", "link"]

GOING_AWAY: Final = 1001

BACKLOG: Final = 64
"""Unread frames that are not worth counting the bytes of."""


class MemoryClient:
    """The client's end of an in-memory connection."""

    def __init__(self, clock: Callable[[], int] = time.monotonic_ns) -> None:
        self._clock = clock
        self._frames: deque[Frame] = deque()
        self._waiter: asyncio.Future[None] | None = None
        self._sink: FrameSink | None = None
        self.close_code: int | None = None
        """The close code, once the connection is closed."""
        self.close_reason = ""

    def send(self, frame: Frame) -> None:
        """Hand one frame to the server; ignored once the connection is closed."""
        if self._sink is not None:
            self._sink.received(frame, self._clock())

    async def recv(self) -> Frame | None:
        """The next frame from the server, in order; ``None`` when the connection is closed."""
        while not self._frames:
            if self._sink is None:
                return None
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        return self._frames.popleft()

    def close(self, code: int = 1000, reason: str = "") -> None:
        """Leave; the server is told at once."""
        self._closed(code, reason)

    def _deliver(self, frame: Frame) -> None:
        self._frames.append(frame)
        self._wake()

    def _closed(self, code: int, reason: str) -> None:
        sink, self._sink = self._sink, None
        if sink is not None:
            self.close_code, self.close_reason = code, reason
            self._wake()
            sink.lost()

    def _wake(self) -> None:
        waiter, self._waiter = self._waiter, None
        if waiter is not None and not waiter.done():
            waiter.set_result(None)


class MemoryTransport:
    """The server's end of an in-memory connection; see
    `plyhouse.server.wire.transport.Transport`.
    """

    def __init__(self, client: MemoryClient) -> None:
        self._client = client
        self.peer = "memory"
        self.remote = False
        self.upgrade: Upgrade | None = None

    def send(self, frame: Frame) -> None:
        """Deliver a frame to the client's queue."""
        if self._client._sink is not None:
            self._client._deliver(frame)

    def cork(self) -> None:
        """Nothing is gained by delivering several frames at once."""

    def uncork(self) -> None:
        """Nothing was kept."""

    def pending(self) -> int:
        """Length of the frames that the client has not taken yet."""
        return sum(map(len, self._client._frames)) if len(self._client._frames) > BACKLOG else 0

    def network(self) -> None:
        """Nothing is known of the way."""

    def trust(self) -> None:
        """Nothing is kept from a client in memory."""

    def close(self, code: int, reason: str) -> None:
        """End the connection; the client still reads what was sent before."""
        # Not now but soon: the session may be in the middle of an input.
        asyncio.get_running_loop().call_soon(self._client._closed, code, reason)

    def abort(self) -> None:
        """End the connection and forget what the client has not read."""
        self._client._frames.clear()
        self.close(GOING_AWAY, "dropped")


def link(
    attach: Callable[[MemoryTransport], FrameSink],
    clock: Callable[[], int] = time.monotonic_ns,
) -> MemoryClient:
    """Connect a new client to the session that ``attach`` makes for the server's end."""
    client = MemoryClient(clock)
    client._sink = attach(MemoryTransport(client))
    return client
