"""The interface of a client's transport: a `Channel` for frames, and a way to open one.

Across networks that is `plyhouse.bots.client.websocket`.  In the local arena it is
`plyhouse.server.wire.memory.MemoryClient`, so its bots run the very client that crosses networks.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from plyhouse.protocol.codec import Frame

__all__ = ["Channel", "Connector", "NotAServer", "Unreachable"]


class Unreachable(Exception):  # noqa: N818 - a state of affairs
    """No connection now; trying again may help."""


class NotAServer(Exception):  # noqa: N818 - a state of affairs
    """The address is not a Plyhouse server; trying again does not help."""


class Channel(Protocol):
    """One open connection, seen from the client."""

    close_code: int | None
    """WebSocket close code, once it is closed."""
    close_reason: str

    def send(self, frame: Frame) -> None:
        """Queue a frame; ignored once the connection is closed."""

    async def recv(self) -> Frame | None:
        """Return the next frame; None when the connection is closed."""
        ...

    def close(self, code: int = 1000, reason: str = "") -> None:
        """Start to close; what was queued before is still sent."""


Connector = Callable[[], Awaitable[Channel]]
"""Opens a connection; raises `Unreachable` or `NotAServer`."""
