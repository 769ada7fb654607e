"""Connections without a network, for the local arena and for tests.

`link` returns the client's end.  It behaves like a websocket client (``send``, ``recv``,
``close``), so a bot's client code cannot tell the difference.  The server's end is the ordinary
`Session` that websockets use too.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from typing import Final

from plyhouse.server.wire.transport import Frame, FrameSink, Upgrade

GOING_AWAY: Final = 1001

BACKLOG: Final = 64
"""Unread frames whose bytes are not worth counting."""


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
        """Send one frame to the server; ignored once the connection is closed."""
        if self._sink is not None:
            self._sink.received(frame, self._clock())

    async def recv(self) -> Frame | None:
        """Return the next frame from the server; ``None`` when the connection is closed."""
        while not self._frames:
            if self._sink is None:
                return None
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        return self._frames.popleft()

    def close(self, code: int = 1000, reason: str = "") -> None:
        """Close the connection; the server learns about it at once."""
        self._closed(code, reason)

    def _deliver(self, frame: Frame) -> None:
        self._frames.append(frame)
        self._wake()

    def _closed(self, code: int, reason: str) -> None:
        sink, self._sink = self._sink, None
        if sink is not None:
            self.close_code, self.close_reason = code, reason
            self._wake()
            sink.lost(code)

    def _wake(self) -> None:
        waiter, self._waiter = self._waiter, None
        if waiter is not None and not waiter.done():
            waiter.set_result(None)


class MemoryTransport:
    """The server's end; see `plyhouse.server.wire.transport.Transport`."""

    def __init__(self, client: MemoryClient, peer: str = "memory") -> None:
        self._client = client
        self.peer = peer
        self.remote = False
        self.upgrade: Upgrade | None = None

    def send(self, frame: Frame) -> None:
        """Deliver a frame to the client's queue."""
        if self._client._sink is not None:
            self._client._deliver(frame)

    def cork(self) -> None:
        """Do nothing: delivering several frames at once gains nothing."""

    def uncork(self) -> None:
        """Do nothing: no frame was kept back."""

    def pending(self) -> int:
        """Return the length of the frames that the client has not taken yet."""
        return sum(map(len, self._client._frames)) if len(self._client._frames) > BACKLOG else 0

    def network(self) -> None:
        """Return nothing: there is no network."""

    def trust(self) -> None:
        """Do nothing: clients in memory have no limit."""

    def close(self, code: int, reason: str) -> None:
        """End the connection; the client still reads what was sent before."""
        # Close later, because the session may be processing an input.
        asyncio.get_running_loop().call_soon(self._client._closed, code, reason)

    def abort(self) -> None:
        """End the connection and drop the frames that the client has not read."""
        self._client._frames.clear()
        self.close(GOING_AWAY, "dropped")


def link(
    attach: Callable[[MemoryTransport], FrameSink],
    clock: Callable[[], int] = time.monotonic_ns,
    peer: str = "memory",
) -> MemoryClient:
    """Connect a new client to the session that ``attach`` makes for the server's end.

    ``peer`` is the address and port of the program that the client acts for, if it is elsewhere.
    """
    client = MemoryClient(clock)
    client._sink = attach(MemoryTransport(client, peer))
    return client
