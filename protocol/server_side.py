"""The server's side of a connection; see `plyhouse.protocol.connection` for the rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias, cast

from plyhouse.protocol.codec import Codec, Frame
from plyhouse.protocol.errors import (
    CLOSE_NORMAL,
    LocalProtocolError,
    ProtocolError,
    RemoteProtocolError,
    close_code,
)
from plyhouse.protocol.liveness import ConnectionLimits, FloodLimit, NetworkTrip
from plyhouse.protocol.messages import (
    PROTOCOL_VERSION,
    Accepted,
    Bye,
    ClientMessage,
    Error,
    Hello,
    Notice,
    Ping,
    Pong,
    Register,
    ServerMessage,
    Turn,
    Update,
    Welcome,
)
from plyhouse.protocol.side import CLOSE_SILENT, Closing, Rejected, Side
from plyhouse.protocol.transitions import SERVER, Input, State

PONG_TOLERANCE_NS: Final = 5_000_000
"""Nanoseconds by which a ping's round trip may exceed the network's own, for an honest program."""

ClientEvent: TypeAlias = "ClientMessage | Rejected"

_SERVER_HEARS: Final[dict[type, Input]] = {
    Hello: Input.GOT_HELLO,
    Register: Input.GOT_REGISTER,
    Bye: Input.GOT_BYE,
    Ping: Input.GOT_PING,
    Pong: Input.GOT_PONG,
}
_SERVER_SAYS: Final[dict[type, Input]] = {
    Accepted: Input.SEND_ANSWER,
    Turn: Input.SEND_PUSH,
    Update: Input.SEND_PUSH,
    Welcome: Input.SEND_WELCOME,
}
"""Messages whose type alone determines the input; `_own_input` examines the others."""


class ServerConnection(Side):
    """The server's side of one connection."""

    _table = SERVER

    def __init__(self, codec: Codec, now: int, limits: ConnectionLimits | None = None) -> None:
        super().__init__(codec, now, limits or ConnectionLimits())
        limits = self.limits
        self._max_frame = min(limits.max_frame, limits.early_frame)
        self._hello_at = now + limits.hello_timeout_ns
        self._hello_id = 0
        self._bye_id = 0
        self._requests: set[int] = set()
        self._flood = _flood(
            min(limits.messages_per_second, limits.early_per_second),
            min(limits.message_burst, limits.early_burst),
        )
        self._mistakes = _flood(limits.mistakes_per_second, limits.mistake_burst)
        self.network: Callable[[], NetworkTrip | None] = _unknown
        """Returns the kernel's measurement of the network path; called at every pong, set by the
        caller. It bounds the round trip, since a program can delay its pong at will."""
        self.floor_ns = 0
        """The part of the round trip that the kernel vouches for; 0 if it cannot be asked."""

    def receive(self, frame: Frame, now: int) -> list[ClientEvent]:
        """Process one frame read at `now`; return the events that the program must handle.

        Pings and pongs are handled here. Each returned request needs one answer by `send`. For a
        refused frame the result has a `Rejected`, and `outgoing` has the answer.
        """
        if self.state is State.CLOSED:
            return []
        self._heartbeat.heard = now
        if self._flood is not None and not self._flood.allow(now):
            return [self._reject(RemoteProtocolError("protocol/rate"), now)]
        try:
            message = self.codec.decode_client(frame, self._max_frame)
        except RemoteProtocolError as error:
            return [self._reject(error, now)]
        how = _SERVER_HEARS.get(type(message), Input.GOT_REQUEST)
        step = self._steps[how]
        if not isinstance(step, State):
            return [self._reject(self._refusal(step, message), now)]
        if how is Input.GOT_PONG:
            unknown = self._take_pong(cast(Pong, message), now)
            return [] if unknown is None else [self._reject(unknown, now)]
        # Everything but a pong has a number; most of what is heard is an ``act``.
        act: Any = message
        number: int = act.id
        if how is Input.GOT_PING:
            self._outgoing.append(self.codec.encode(Pong(number)))
            return []
        requests = self._requests
        if number in requests:
            # Answered without `re`: the one answer with this id belongs to the open request.
            return [self._reject(_id_in_use(number), now)]
        if len(requests) >= self.limits.max_requests:
            return [self._reject(_too_many_open(number), now)]
        requests.add(number)
        if step is not self.state:
            self._enter(step)
        if how is Input.GOT_HELLO:
            self._hello_id = number
            if cast(Hello, message).protocol != PROTOCOL_VERSION:
                return [self._reject(_version(cast(Hello, message)), now)]
        elif how is Input.GOT_BYE:
            self._bye_id = number
        return [message]

    def _network_limit(self) -> int | None:
        trip = self.network()
        if trip is None:
            self.floor_ns = 0
            return None
        self.floor_ns = trip.least_ns
        return trip.recent_ns + PONG_TOLERANCE_NS

    def count(self, now: int) -> None:
        """Count a frame of the transport that carries no message, such as a WebSocket ping."""
        flood = self._flood
        if self.state is not State.CLOSED and flood is not None and not flood.allow(now):
            self._reject(RemoteProtocolError("protocol/rate"), now)

    def trust(self) -> None:
        """Raise the limits from those of a stranger to those of a logged-in client."""
        limits = self.limits
        self._max_frame = limits.max_frame
        self._flood = _flood(limits.messages_per_second, limits.message_burst)

    def send(self, message: ServerMessage, now: int) -> Frame:
        """Return the frame of `message`; write it at `now`, after the frames of `outgoing`.

        ``welcome`` also queues the first ping.  Raises `LocalProtocolError` if the state does not
        allow the message, if it answers no open request, or if it cannot be encoded.
        """
        re: int | None = getattr(message, "re", None)
        if re is not None and re not in self._requests:
            raise LocalProtocolError(
                "protocol/unexpected", f"no open request has the id {re}", re=re
            )
        how = _SERVER_SAYS.get(type(message)) or self._own_input(message, re)
        step = self._steps[how]
        if not isinstance(step, State):
            raise self._misused(step, message)
        frame = self.codec.encode(message)
        if step is not self.state:
            self._enter(step)
        if re is not None:
            self._requests.discard(re)
        if how is Input.SEND_WELCOME:
            self.ping(now)
        elif how is Input.SEND_FAREWELL:
            self.closing = Closing(CLOSE_NORMAL, "bye")
        elif how is Input.SEND_FATAL:
            error = cast(Error, message)
            self.closing = Closing(close_code(error.code), error.message)
        elif type(message) is Error and re is not None:
            self._mistaken(message, now)
        return frame

    def next_deadline(self) -> int | None:
        """Return when `tick` must be called next; None once the connection has ended."""
        if self.state is State.CLOSED:
            return None
        due = min(self._heartbeat.beat_at, self._heartbeat.silent_at)
        return min(due, self._hello_at) if self.state is State.GREETING else due

    def tick(self, now: int) -> None:
        """Do what is due at `now`: send a ping, or close the connection (see `closing`)."""
        if self.state is State.CLOSED:
            return
        if now >= self._hello_at and self.state is State.GREETING:
            self._fail(Input.HELLO_TIMEOUT, "auth/timeout")
        elif now >= self._heartbeat.silent_at:
            self._end(Input.SILENCE, CLOSE_SILENT, "nothing was heard for too long")
        elif now >= self._heartbeat.beat_at:
            self.ping(now)

    def forgive(self, nanoseconds: int) -> None:
        """Move the peer's deadlines by a time for which our own process was stalled."""
        super().forgive(nanoseconds)
        self._hello_at += nanoseconds

    def _own_input(self, message: ServerMessage, re: int | None) -> Input:
        if isinstance(message, Error) and message.fatal:
            return Input.SEND_FATAL
        if re is not None:
            if re == self._bye_id:
                return Input.SEND_FAREWELL
            return Input.SEND_REFUSAL if re == self._hello_id else Input.SEND_ANSWER
        if isinstance(message, Error | Notice):
            return Input.SEND_NOTICE
        return Input.SEND_PUSH

    def _refusal(self, code: str, message: ClientMessage) -> RemoteProtocolError:
        re = None if isinstance(message, Pong) or message.id in self._requests else message.id
        text, kind = "", message.__struct_config__.tag
        if code == "auth/required" and self.state is State.AUTHENTICATING:
            # A client that has sent `hello` would look for a mistake in it.
            text = f"Wait for 'welcome' before you send '{kind}'."
        if code == "protocol/unexpected":
            text = f"'{kind}' is not expected while the connection is {self.state.name}."
        return RemoteProtocolError(code, text, re=re)

    def _mistaken(self, refusal: Error, now: int) -> None:
        """Count a refused request; close the connection if there are too many."""
        if self._mistakes is not None and not self._mistakes.allow(now):
            text = "Too many refused requests: the last one was: " + refusal.message
            error = RemoteProtocolError("protocol/rate", text)
            self._outgoing.append(self.codec.encode(error.to_message()))
            self._end(Input.GOT_FATAL_FRAME, error.close, error.message)

    def _reject(self, error: RemoteProtocolError, now: int) -> Rejected:
        if not error.fatal and self._mistakes is not None and not self._mistakes.allow(now):
            error = RemoteProtocolError(
                "protocol/rate", "Too many wrong messages: the last one was: " + error.message
            )
        if error.fatal:
            self._outgoing.append(self.codec.encode(error.to_message()))
            self._end(Input.GOT_FATAL_FRAME, error.close, error.message)
        else:
            self._advance(Input.GOT_BAD_FRAME)
            self._outgoing.append(self.codec.encode(error.to_message()))
        return Rejected(error)

    def _fail(self, how: Input, code: str) -> None:
        error = ProtocolError(code)
        self._outgoing.append(self.codec.encode(error.to_message()))
        self._end(how, error.close, error.message)


def _unknown() -> NetworkTrip | None:
    return None


def _flood(per_second: int, burst: int) -> FloodLimit | None:
    return FloodLimit(per_second, burst) if per_second else None


def _id_in_use(number: int) -> RemoteProtocolError:
    return RemoteProtocolError(
        "protocol/unexpected", f"The request id {number} is still in use: choose another."
    )


def _too_many_open(number: int) -> RemoteProtocolError:
    return RemoteProtocolError(
        "protocol/rate",
        "Too many requests wait for their answers: wait for some of them.",
        fatal=False,
        re=number,
    )


def _version(hello: Hello) -> RemoteProtocolError:
    return RemoteProtocolError(
        "protocol/version",
        f"Version {hello.protocol[:20]!r} of the protocol is not spoken here: "
        f"use {PROTOCOL_VERSION!r}.",
        re=hello.id,
    )
