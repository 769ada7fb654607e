"""The common part of both sides of a connection: state, pings and queued frames."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from plyhouse.protocol.codec import Codec, Frame
from plyhouse.protocol.errors import CLOSE_NORMAL, LocalProtocolError, RemoteProtocolError
from plyhouse.protocol.liveness import ConnectionLimits, Heartbeat, RoundTrips
from plyhouse.protocol.messages import Message, Ping, Pong
from plyhouse.protocol.transitions import Input, State, Table

CLOSE_NO_CODE: Final = 1005
"""Close code that stands for a close frame without a code; it is never sent."""
CLOSE_LOST: Final = 1006
"""Close code that stands for an end without a close frame; it is never sent."""
CLOSE_STOPPED: Final = 1012
"""WebSocket close code of a server that stops."""
CLOSE_SILENT: Final = 4408
"""WebSocket close code for a peer that has been silent for too long."""
_CLOSED: Final = {
    **dict.fromkeys((CLOSE_NORMAL, 1001, CLOSE_NO_CODE), "the other side closed the connection"),
    CLOSE_LOST: "the connection was lost",
    CLOSE_STOPPED: "the server stopped",
}
"""Reasons by close code; pages that are left send 1001."""


@dataclass(frozen=True, slots=True)
class Rejected:
    """A refused frame of the peer; if the peer can be told, `outgoing` has the answer."""

    error: RemoteProtocolError


@dataclass(frozen=True, slots=True)
class Closing:
    """How to close the transport: a WebSocket close code and a reason for people."""

    code: int
    reason: str


class Side:
    """One side of a connection; see `plyhouse.protocol.connection` for the rules."""

    _table: Table

    def __init__(self, codec: Codec, now: int, limits: ConnectionLimits) -> None:
        self.codec = codec
        self.limits = limits
        self.state = State.GREETING
        self._steps = self._table[State.GREETING]
        self.closing: Closing | None = None
        """Set once the transport must be closed; write the outgoing frames first."""
        self._heartbeat = Heartbeat(now, limits.heartbeat_ns, limits.silence_ns)
        self._outgoing: list[Frame] = []

    @property
    def round_trips(self) -> RoundTrips:
        """The last measured round trips."""
        return self._heartbeat.round_trips

    @property
    def restless(self) -> bool:
        """True if frames must be written or the transport must be closed."""
        return bool(self._outgoing) or self.closing is not None

    def outgoing(self) -> list[Frame]:
        """Return the queued frames in order and clear the queue."""
        frames = self._outgoing
        if frames:
            self._outgoing = []
        return frames

    def ping(self, now: int) -> None:
        """Queue a ping; its pong adds to `round_trips`."""
        if self.state is State.CLOSED:
            raise LocalProtocolError("protocol/unexpected", "The connection is CLOSED.")
        self._outgoing.append(self.codec.encode(Ping(self._heartbeat.ping(now))))

    def close(self, code: int = CLOSE_NORMAL, reason: str = "") -> None:
        """End the connection from our side; does nothing if it has ended."""
        self._end(Input.CLOSE, code, reason)

    def lost(self, code: int = CLOSE_LOST) -> None:
        """Record the end of the transport; does nothing if the connection has ended.

        ``code`` is that of the close frame; without one, the connection was lost.
        """
        why = _CLOSED.get(code, f"the other side closed the connection with code {code}")
        self._end(Input.LOST, code, why)

    def forgive(self, nanoseconds: int) -> None:
        """Move the peer's deadlines by a time for which our own process was stalled."""
        self._heartbeat.forgive(nanoseconds)

    def _end(self, how: Input, code: int, reason: str) -> None:
        if self.state is not State.CLOSED:
            self._advance(how)
            self.closing = Closing(code, reason)

    def _advance(self, how: Input) -> str:
        """Follow the table; return "" if the input is allowed, else the code of its refusal."""
        step = self._steps[how]
        if isinstance(step, State):
            self._enter(step)
            return ""
        return step

    def _enter(self, state: State) -> None:
        """Enter a state and look up its row of the table."""
        self.state = state
        self._steps = self._table[state]

    def _misused(self, code: str, message: Message) -> LocalProtocolError:
        kind = message.__struct_config__.tag
        return LocalProtocolError(
            code, f"'{kind}' cannot be sent while the connection is {self.state.name}."
        )

    def _network_limit(self) -> int | None:
        """Return an upper bound of the round trip, in nanoseconds; None if unknown."""
        return None

    def _take_pong(self, pong: Pong, now: int) -> RemoteProtocolError | None:
        if self._heartbeat.pong(pong.re, now, self._network_limit):
            return None
        return RemoteProtocolError("protocol/unexpected", f"There was no ping {pong.re}.")
