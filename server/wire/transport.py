"""The interface between a session and the transport that carries its frames.

Two transports exist: websockets (`plyhouse.server.wire.websocket`) and an in-memory pair
(`plyhouse.server.wire.memory`).  A transport pushes each incoming frame into the session the moment
it is read, with its time stamp.  So no queue or task switch lies between the wire and the clock.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple, Protocol

from plyhouse.protocol.liveness import NetworkTrip
from plyhouse.protocol.side import CLOSE_LOST

Frame = bytes | str
"""A binary or a text frame; the subprotocol decides which."""


class Upgrade(NamedTuple):
    """A browser's request for a websocket, which identifies people."""

    cookie: str
    """The header ``Cookie``: all cookies that the browser keeps for this server."""
    origin: str
    """The origin of the page that opened the websocket."""
    host: str
    """The host under which the browser knows this server."""
    secure: bool
    """True if the request came over TLS."""


class Transport(Protocol):
    """The outgoing half of a connection."""

    upgrade: Upgrade | None
    """The request that opened the websocket; None in this process."""

    peer: str
    """The origin of the connection for logs: an address or ``memory``."""
    remote: bool
    """True if the other end is outside of this process."""

    def send(self, frame: Frame) -> None:
        """Queue one frame; never waits and never raises.

        This holds even after the connection has closed.
        """

    def cork(self) -> None:
        """Keep frames back from now on, to write them in one piece: see `uncork`.

        Each frame that is written alone needs a call of the kernel, which costs as much as making
        the frame.
        """

    def uncork(self) -> None:
        """Write the frames kept back; does nothing if there are none."""

    def pending(self) -> int:
        """Return the approximate number of bytes that the other side has not taken yet.

        May be 0 while the backlog is too short to matter.
        """

    def network(self) -> NetworkTrip | None:
        """Return the kernel's round trips; None where it does not know all of them.

        Behind a proxy the kernel only knows the path to the proxy.
        """

    def trust(self) -> None:
        """Allow longer messages, because the client has logged in."""

    def close(self, code: int, reason: str) -> None:
        """Start closing; frames queued before are still delivered.  May be called twice."""

    def abort(self) -> None:
        """Drop the connection and everything queued at once."""


class FrameSink(Protocol):
    """The incoming half, which a transport calls."""

    payer: Hashable
    """For whom its work counts: an account, or an address before the login."""

    def received(self, frame: Frame, stamp: int) -> None:
        """Take one whole frame, read at ``stamp`` (monotonic nanoseconds)."""

    def counted(self, stamp: int) -> None:
        """Count a frame without a message (ping, pong or piece) against the limits."""

    def spent(self, nanoseconds: int) -> None:
        """Note the time that the server worked on one read; not called for short reads."""

    def lost(self, code: int = CLOSE_LOST) -> None:
        """Note that the connection has closed, with this code; called exactly once."""
