"""What a session needs of the thing that carries its frames.

Two transports exist: websockets (`plyhouse.server.wire.websocket`) and an in-memory pair
(`plyhouse.server.wire.memory`).  Incoming frames are pushed into the session the moment they are
read, with their time stamp, so that no queue or task switch lies between the wire and the clock.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from plyhouse.protocol.liveness import NetworkTrip

__all__ = ["Frame", "FrameSink", "Transport", "Upgrade"]

Frame = bytes | str
"""A binary or a text frame; the subprotocol decides which."""


class Upgrade(NamedTuple):
    """What a browser said when it asked for the websocket: by it people are recognised."""

    cookie: str
    """The header of that name: everything that the browser keeps for this server."""
    origin: str
    """Where the page comes from that opened it."""
    host: str
    """What the browser took this server for."""
    secure: bool
    """Whether it came over TLS."""


class Transport(Protocol):
    """The outgoing half of a connection."""

    upgrade: Upgrade | None
    """What the websocket was asked for with; None in this process."""

    peer: str
    """Where the connection comes from, for logs: an address or ``memory``."""
    remote: bool
    """Whether the other end is outside of this process."""

    def send(self, frame: Frame) -> None:
        """Queue one frame; never waits and never raises, also after the connection is gone."""

    def cork(self) -> None:
        """Keep what is sent from now on, to write it in one piece: see `uncork`.

        Every frame that is written alone is a call of the kernel's, which costs as much as all
        that the server does to make the frame.
        """

    def uncork(self) -> None:
        """Write what was kept back; does nothing if nothing was."""

    def pending(self) -> int:
        """Bytes (about) accepted by `send` that the other side has not taken yet.

        May be 0 while the backlog is too short to matter.
        """

    def network(self) -> NetworkTrip | None:
        """Round trips as the kernel knows them; None where it cannot, or does not know them all.

        Behind a proxy the kernel knows the way to the proxy only.
        """

    def trust(self) -> None:
        """The client has logged in: longer messages may be read."""

    def close(self, code: int, reason: str) -> None:
        """Start closing; what was queued before is still delivered.  May be called twice."""

    def abort(self) -> None:
        """Drop the connection and whatever is queued at once."""


class FrameSink(Protocol):
    """The incoming half: what a transport calls."""

    def received(self, frame: Frame, stamp: int) -> None:
        """One whole frame, read at ``stamp`` (monotonic nanoseconds)."""

    def counted(self, stamp: int) -> None:
        """A frame without a message: a ping, a pong, a piece.  It counts against the limits."""

    def spent(self, nanoseconds: int) -> None:
        """So long did the server work on what was read at once; not told of short reads."""

    def lost(self) -> None:
        """The connection is gone; called exactly once."""
