"""A client's side of a connection; see `plyhouse.protocol.connection` for the rules."""

from __future__ import annotations

from typing import Any, Final, TypeAlias, cast

from plyhouse.protocol.codec import MAX_SERVER_FRAME, Codec, Frame
from plyhouse.protocol.errors import (
    CLOSE_NORMAL,
    LocalProtocolError,
    RemoteProtocolError,
    close_code,
)
from plyhouse.protocol.liveness import SECOND, ConnectionLimits
from plyhouse.protocol.messages import (
    PROTOCOL_VERSION,
    Bye,
    ClientMessage,
    Error,
    Hello,
    Ping,
    Pong,
    Register,
    ServerMessage,
    Welcome,
)
from plyhouse.protocol.side import CLOSE_SILENT, Closing, Rejected, Side
from plyhouse.protocol.transitions import CLIENT, Input, State

ServerEvent: TypeAlias = "ServerMessage | Rejected"

_CLIENT_SAYS: Final[dict[type, Input]] = {
    Hello: Input.SEND_HELLO,
    Register: Input.SEND_REGISTER,
    Bye: Input.SEND_BYE,
}


class ClientConnection(Side):
    """The client's side of one connection."""

    _table = CLIENT

    def __init__(self, codec: Codec, now: int, limits: ConnectionLimits | None = None) -> None:
        super().__init__(codec, now, limits or ConnectionLimits())
        self._max_frame = self.limits.max_frame
        self._requests: dict[int, Any] = {}
        self._last_id = 0

    def next_id(self) -> int:
        """Return a fresh id for a request."""
        self._last_id += 1
        return self._last_id

    def request(self, message: ClientMessage) -> Frame:
        """Return the frame of a request and remember it until it is answered.

        Use `ping` for pings; `receive` sends the pongs.  Raises `LocalProtocolError` if the state
        does not allow the request, or if its id is in use.  It also raises it if the frame is
        longer than the server reads, or if a field cannot be encoded.
        """
        if isinstance(message, Ping | Pong):
            raise LocalProtocolError(
                "protocol/unexpected", "pings are sent by ping(), pongs by receive()"
            )
        if message.id < 1 or message.id in self._requests:
            raise LocalProtocolError(
                "protocol/unexpected",
                f"the request id {message.id} is not above 0 or still in use",
                re=message.id,
            )
        how = _CLIENT_SAYS.get(type(message), Input.SEND_REQUEST)
        if not isinstance(step := self._steps[how], State):
            raise self._misused(step, message)
        frame = self.codec.encode(message)
        if (size := _size(frame)) > self._max_frame:
            raise LocalProtocolError(
                "protocol/oversized",
                f"the frame of {size} bytes is longer than the {self._max_frame} allowed",
                re=message.id,
            )
        self._advance(how)
        self._requests[message.id] = message
        self._last_id = max(self._last_id, message.id)
        return frame

    def unanswered(self) -> list[ClientMessage]:
        """Return the requests without an answer, oldest first.

        After a reconnect, send them again with new ids.
        """
        return list(self._requests.values())

    def receive(self, frame: Frame, now: int) -> list[ServerEvent]:
        """Process one frame read at `now`; return the events that the program must handle.

        Pings and pongs are handled here; write `outgoing` afterwards.
        """
        if self.state is State.CLOSED:
            return []
        self._heartbeat.heard = now
        try:
            message = self.codec.decode_server(frame, MAX_SERVER_FRAME)
            how = self._peer_input(message)
        except RemoteProtocolError as error:
            return [self._reject(error)]
        step = self._steps[how]
        if not isinstance(step, State):
            kind = message.__struct_config__.tag
            return [
                self._reject(
                    RemoteProtocolError(
                        step, f"'{kind}' came while the connection is {self.state.name}."
                    )
                )
            ]
        if isinstance(message, Ping):
            self._outgoing.append(self.codec.encode(Pong(message.id)))
            return []
        if isinstance(message, Pong):
            unknown = self._take_pong(message, now)
            return [] if unknown is None else [self._reject(unknown)]
        re: int | None = getattr(message, "re", None)
        if re is not None:
            self._requests.pop(re, None)
        if isinstance(message, Welcome):
            if message.protocol != PROTOCOL_VERSION:
                return [
                    self._reject(
                        RemoteProtocolError(
                            "protocol/version",
                            f"The server speaks version {message.protocol[:20]!r} of the protocol, "
                            f"not {PROTOCOL_VERSION}.",
                        )
                    )
                ]
            self._max_frame = message.limits.max_frame
            # Two missed heartbeats and a second for the network: 9 s with the default of 4 s.
            self._heartbeat.expect(2 * message.heartbeat_ms * 1_000_000 + SECOND)
        self._enter(step)
        if how is Input.GOT_FATAL:
            told = cast(Error, message)
            self.closing = Closing(close_code(told.code), told.message)
        elif how is Input.GOT_FAREWELL:
            self.closing = Closing(CLOSE_NORMAL, "bye")
        return [message]

    def next_deadline(self) -> int | None:
        """Return when `tick` must be called next; None once the connection has ended."""
        return None if self.state is State.CLOSED else self._heartbeat.silent_at

    def tick(self, now: int) -> None:
        """Close the connection if the server has been silent for too long (see `closing`)."""
        if self.state is not State.CLOSED and now >= self._heartbeat.silent_at:
            self._end(Input.SILENCE, CLOSE_SILENT, "nothing was heard for too long")

    def _peer_input(self, message: ServerMessage) -> Input:
        if isinstance(message, Ping):
            return Input.GOT_PING
        if isinstance(message, Pong):
            return Input.GOT_PONG
        if isinstance(message, Error) and message.fatal:
            return Input.GOT_FATAL
        re: int | None = getattr(message, "re", None)
        if re is None:
            return Input.GOT_PUSH
        request = self._requests.get(re)
        if request is None:
            raise RemoteProtocolError(
                "protocol/unexpected", f"No open request has the id {re}.", re=re
            )
        if isinstance(request, Hello) and isinstance(message, Welcome | Error):
            return Input.GOT_WELCOME if isinstance(message, Welcome) else Input.GOT_REFUSAL
        if isinstance(request, Hello) or isinstance(message, Welcome):
            kind = message.__struct_config__.tag
            raise RemoteProtocolError("protocol/unexpected", f"'{kind}' does not answer that.")
        return Input.GOT_FAREWELL if isinstance(request, Bye) else Input.GOT_ANSWER

    def _reject(self, error: RemoteProtocolError) -> Rejected:
        if error.fatal:
            self._end(Input.GOT_FATAL_FRAME, error.close, error.message)
        else:
            self._advance(Input.GOT_BAD_FRAME)
        return Rejected(error)


def _size(frame: Frame) -> int:
    return len(frame) if isinstance(frame, bytes) else len(frame.encode())
