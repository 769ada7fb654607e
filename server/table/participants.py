"""Participants: bots that are connected, or that still hold a seat.

A `Participant` outlives its connections.  A bot that comes back finds its matches here: with its
session key at any time, without it after the old connection has ended.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Protocol

from plyhouse.protocol.codec import Codec, Frame
from plyhouse.protocol.messages import ServerMessage
from plyhouse.server.match.presence import Presence


class Line(Protocol):
    """An open connection, as far as matches need it (`plyhouse.server.wire.session`)."""

    codec: Codec
    remote: bool
    """True for a connection over the network: its peer may remember and pass on what it learns."""
    scenes: bool
    """True if its spectator wants drawings."""
    watching: set[str]
    """Matches that it follows as a spectator."""

    @property
    def lag_ns(self) -> int:
        """The measured round trip time to the client, in nanoseconds."""

    @property
    def floor_ns(self) -> int:
        """The part of the round trip that the kernel vouches for, in nanoseconds."""

    @property
    def holding(self) -> bool:
        """True while messages are kept back until the welcome has been written."""

    on_other_server: bool
    """True if another server of the cluster holds the socket."""

    @property
    def patience_ns(self) -> int:
        """How long an action may take from the server with the socket, in nanoseconds."""

    def report_turn(self, match: str, seat: int, ply: int) -> None:
        """Have the server with the socket report when it has written the turn sent last."""

    def after(self, call: Callable[[], None]) -> None:
        """Run ``call`` when everything that was sent or kept back so far has been written."""

    def send(self, message: ServerMessage) -> None:
        """Send a message; never raises."""

    def send_together(self, messages: Iterable[ServerMessage]) -> None:
        """Send messages in one piece; never raises."""

    def send_frame(self, frame: Frame) -> None:
        """Send a frame that was encoded with `codec`."""

    def fail(self, code: str, text: str = "") -> None:
        """End the connection with a fatal error."""


def send_encoded(lines: Iterable[Line], message: ServerMessage) -> None:
    """Send a message to many connections of this server; encode it once for each codec."""
    frames: dict[str, Frame] = {}
    for line in lines:
        codec = line.codec
        frame = frames.get(codec.name)
        if frame is None:
            frame = frames[codec.name] = codec.encode(message)
        line.send_frame(frame)


@dataclass(eq=False, slots=True)
class Participant:
    """A bot (or a person playing in person) with its connection and its session key."""

    presence: Presence
    """The record that other packages see; only the directory replaces it."""
    line: Line | None = None
    """Its connection; None while it is offline."""
    key: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    """Session key: a client that knows it may replace the connection."""
