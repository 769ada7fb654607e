"""A connection of protocol v1 without the network: frames in, frames out, time as an argument.

Rules
-----
1. A connection goes GREETING, AUTHENTICATING, OPEN, LEAVING, CLOSED; which input is allowed where
   is written down in `plyhouse.protocol.transitions` and nowhere else.
2. The client speaks first: ``hello`` within 10 s (``register`` may come before it).
3. Every request has an id above 0 that no other open request of this connection has. It is answered
   exactly once, by a message with that id in ``re``; then the id is free again. Pings are numbered
   apart, on each side.
4. Either side may ``ping``; the other answers at once with ``pong``. The server does so when the
   connection opens and every heartbeat (4 s), and the round trips measured thereby are what lag
   refunds are made of. A peer of which nothing was read for 9 s is given up: every dead peer is
   noticed within 10 s.
5. A frame that is wrong in itself or comes at the wrong moment is answered with ``error`` and
   changes nothing else. Only errors marked fatal end the connection; after a fatal one nothing is
   read or sent. A client, which has no ``error`` to send, notes and drops such frames.
6. Too many frames, or too many wrong ones, end the connection with ``protocol/rate``. Every frame
   of the transport counts, also those that carry no message; a request that is refused counts as
   wrong, whoever refuses it. Before a client has logged in its limits are narrower (`trust`).
7. What our own program does wrong is a `LocalProtocolError`, raised at once, with nothing sent and
   no change of state. What the peer does wrong is never raised: it is returned as `Rejected`.

A shell hands in every frame with the time at which it was read, and afterwards writes what
`outgoing` returns; calls `tick` when `next_deadline` is reached; and closes the transport when
`closing` is set. A frame read exactly at a deadline is in time if it is handed in before the tick.
All times are integer nanoseconds of one monotonic clock.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, cast

from plyhouse.protocol.codec import MAX_SERVER_FRAME, Codec, Frame
from plyhouse.protocol.errors import (
    CLOSE_NORMAL,
    LocalProtocolError,
    ProtocolError,
    RemoteProtocolError,
    close_code,
)
from plyhouse.protocol.liveness import (
    SECOND,
    ConnectionLimits,
    FloodLimit,
    Heartbeat,
    NetworkTrip,
    RoundTrips,
)
from plyhouse.protocol.messages import (
    PROTOCOL_VERSION,
    Accepted,
    Act,
    Bye,
    ClientMessage,
    Error,
    Hello,
    Message,
    Notice,
    Ping,
    Pong,
    Register,
    ServerMessage,
    Turn,
    Update,
    Welcome,
)
from plyhouse.protocol.transitions import CLIENT, SERVER, Input, State, Table

__all__ = [
    "ClientConnection",
    "Closing",
    "ConnectionLimits",
    "Rejected",
    "ServerConnection",
    "State",
]

PONG_TOLERANCE_NS: Final = 5_000_000
"""How much longer than the network's own a round trip may be: an honest program needs a moment."""

CLOSE_SILENT: Final = 4408
"""WebSocket close code for a peer that was not heard for too long; it will hardly read it."""


@dataclass(frozen=True, slots=True)
class Rejected:
    """A frame of the peer that was not acted on; the peer has been told where it can be."""

    error: RemoteProtocolError


@dataclass(frozen=True, slots=True)
class Closing:
    """How to close the transport: a WebSocket close code and a reason for people."""

    code: int
    reason: str


ClientEvent: TypeAlias = "ClientMessage | Rejected"
ServerEvent: TypeAlias = "ServerMessage | Rejected"

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
"""Messages that are one kind of input whatever they say; the others are looked at."""
_CLIENT_SAYS: Final[dict[type, Input]] = {
    Hello: Input.SEND_HELLO,
    Register: Input.SEND_REGISTER,
    Bye: Input.SEND_BYE,
}


class _Connection:
    """What both sides have in common."""

    _table: Table

    def __init__(self, codec: Codec, now: int, limits: ConnectionLimits) -> None:
        self.codec = codec
        self.limits = limits
        self.state = State.GREETING
        self._steps = self._table[State.GREETING]
        self.closing: Closing | None = None
        """Set once the transport has to be closed; outgoing frames are written first."""
        self._heartbeat = Heartbeat(now, limits.heartbeat_ns, limits.silence_ns)
        self._outgoing: list[Frame] = []

    @property
    def round_trips(self) -> RoundTrips:
        """The last measured round trips."""
        return self._heartbeat.round_trips

    @property
    def round_trip_ns(self) -> int:
        """Median of the last measured round trips, for lag refunds; 0 before the first."""
        return self._heartbeat.round_trips.median_ns

    @property
    def restless(self) -> bool:
        """Whether there are outgoing frames to be written, or the transport is to be closed."""
        return bool(self._outgoing) or self.closing is not None

    def outgoing(self) -> list[Frame]:
        """Return the frames that wait to be written, in order, and forget them."""
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

    def lost(self) -> None:
        """The transport is gone; does nothing if the connection has ended."""
        self._end(Input.LOST, 1006, "the connection was lost")

    def forgive(self, nanoseconds: int) -> None:
        """Our own process stood still for so long: move the peer's deadlines by as much."""
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
        """Be in a state: from now on its row of the table decides."""
        self.state = state
        self._steps = self._table[state]

    def _misused(self, code: str, message: Message) -> LocalProtocolError:
        kind = message.__struct_config__.tag
        return LocalProtocolError(
            code, f"'{kind}' cannot be sent while the connection is {self.state.name}."
        )

    def _network_limit(self) -> int | None:
        """What a round trip can have been at most; None if nobody knows."""
        return None

    def _take_pong(self, pong: Pong, now: int) -> RemoteProtocolError | None:
        if self._heartbeat.pong(pong.re, now, self._network_limit):
            return None
        return RemoteProtocolError("protocol/unexpected", f"There was no ping {pong.re}.")


class ServerConnection(_Connection):
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
        """Asked at every pong for what the kernel knows of the way; set by the shell. A program
        can answer a ping as late as it likes: its round trip counts for no more than this, and a
        small tolerance."""
        self.floor_ns = 0
        """The part of the round trip that the kernel vouches for; 0 if it cannot be asked."""

    def receive(self, frame: Frame, now: int) -> list[ClientEvent]:
        """Take in one frame read at `now`; return what the program has to act on.

        Pings and pongs are dealt with here. Requests come back as messages, each to be answered
        by one `send`; what was refused comes back as `Rejected`, with the answer in `outgoing`.
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
        number = cast(Act, message).id
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
        """The client has logged in: what a bot needs is allowed from now on."""
        limits = self.limits
        self._max_frame = limits.max_frame
        self._flood = _flood(limits.messages_per_second, limits.message_burst)

    def send(self, message: ServerMessage, now: int) -> Frame:
        """Return the frame of `message`, to be written at `now`, after what is in `outgoing`.

        Raises `LocalProtocolError` if the state does not allow it, if it answers a request that
        is not open, or if it cannot be encoded. ``welcome`` also queues the first ping.
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
        """When `tick` has to be called next; None once the connection has ended."""
        if self.state is State.CLOSED:
            return None
        due = min(self._heartbeat.beat_at, self._heartbeat.silent_at)
        return min(due, self._hello_at) if self.state is State.GREETING else due

    def tick(self, now: int) -> None:
        """Do what is due at `now`: ping, or give the peer up (see `closing`)."""
        if self.state is State.CLOSED:
            return
        if now >= self._hello_at and self.state is State.GREETING:
            self._fail(Input.HELLO_TIMEOUT, "auth/timeout")
        elif now >= self._heartbeat.silent_at:
            self._end(Input.SILENCE, CLOSE_SILENT, "nothing was heard for too long")
        elif now >= self._heartbeat.beat_at:
            self.ping(now)

    def forgive(self, nanoseconds: int) -> None:
        """Our own process stood still for so long: move the peer's deadlines by as much."""
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
            # Who did send `hello` would look for a fault in it.
            text = f"Wait for 'welcome' before you send '{kind}'."
        if code == "protocol/unexpected":
            text = f"'{kind}' is not expected while the connection is {self.state.name}."
        return RemoteProtocolError(code, text, re=re)

    def _mistaken(self, refusal: Error, now: int) -> None:
        """Count a request that was refused; beyond all measure it ends the connection."""
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


class ClientConnection(_Connection):
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

        Raises `LocalProtocolError` if the state does not allow it, the id is in use, the frame
        would be longer than the server reads, or a field cannot be encoded. Pings and pongs are
        not requests: see `ping`; pongs are sent by `receive`.
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
        """Requests still waiting for their answers, oldest first; to be sent again, with fresh
        ids, when a lost connection has been replaced.
        """
        return list(self._requests.values())

    def receive(self, frame: Frame, now: int) -> list[ServerEvent]:
        """Take in one frame read at `now`; return what the program has to act on.

        Pings and pongs are dealt with here; write `outgoing` afterwards.
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
            # Two heartbeats missed and a second for the way: 9 s with the usual 4 s.
            self._heartbeat.expect(2 * message.heartbeat_ms * 1_000_000 + SECOND)
        self._enter(step)
        if how is Input.GOT_FATAL:
            told = cast(Error, message)
            self.closing = Closing(close_code(told.code), told.message)
        elif how is Input.GOT_FAREWELL:
            self.closing = Closing(CLOSE_NORMAL, "bye")
        return [message]

    def next_deadline(self) -> int | None:
        """When `tick` has to be called next; None once the connection has ended."""
        return None if self.state is State.CLOSED else self._heartbeat.silent_at

    def tick(self, now: int) -> None:
        """Give the server up if nothing was read for too long (see `closing`)."""
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


def _unknown() -> NetworkTrip | None:
    return None


def _flood(per_second: int, burst: int) -> FloodLimit | None:
    return FloodLimit(per_second, burst) if per_second else None


def _size(frame: Frame) -> int:
    return len(frame) if isinstance(frame, bytes) else len(frame.encode())


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
