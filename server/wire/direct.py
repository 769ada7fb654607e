"""The short way from socket to session, as an extension of uvicorn's websocket protocol.

On the ordinary way a frame waits in a queue of ASGI's and wakes a task before the session sees
it.  Here it reaches the session inside ``data_received``, stamped when it was read, which is what
the clock is about.  What that gives is measured by ``benchmarks/hosting.py --wire``.

What a client can make this side do is bounded:

1. One turn of the event loop handles at most `SLICE_FRAMES` frames of a connection, or as many
   as fit `SLICE_NS`.  The rest waits for the next turn, and nothing is read meanwhile.
2. Frames that carry no message (pings, pongs, pieces of a message) are reported to the session,
   which counts them like messages.
3. A ping is answered only while the client takes what it is sent; of those that come meanwhile
   the last is answered.
4. After the end, whoever ended it, nothing is interpreted any more: what still comes is thrown
   away, and after `LINGER_BYTES` not even read.  The socket is gone after
   `DirectProtocol.close_seconds`, also when the client never reads what is left for it.

This leans on uvicorn's inside.  `websocket_protocol` looks at what it needs and falls back to the
ordinary way if a newer uvicorn lacks it: slower, and without these bounds.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from time import monotonic_ns
from typing import Any, ClassVar, Final, cast

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.http11 import Request

from plyhouse.protocol.liveness import NetworkTrip
from plyhouse.server.wire.frames import (
    BAD_TEXT,
    BINARY,
    CLOSE,
    FINAL,
    PING,
    PONG,
    TEXT,
    FrameReader,
    InvalidFrame,
    apply_mask,
    close_code_of,
    close_frame,
    frame_header,
)
from plyhouse.server.wire.network import network_trip
from plyhouse.server.wire.transport import Frame, FrameSink, Transport, Upgrade
from plyhouse.server.wire.websocket import EARLY_WEBSOCKET_FRAME, EXTENSION, MAX_WEBSOCKET_FRAME

__all__ = ["DirectProtocol", "websocket_protocol"]

log = logging.getLogger("plyhouse.server.wire")

WHOLE_BINARY: Final = FINAL | BINARY
"""First byte of a binary message in one frame: nearly all there is."""
WHOLE_TEXT: Final = FINAL | TEXT

SLICE_FRAMES: Final = 128
SLICE_NS: Final = 2_000_000
"""Time after which a connection lets the others go on; less than what counts as a stall."""
NOTED_NS: Final = 200_000
"""Reads that took longer are told to the session; see `FrameSink.spent`."""
EARLY_BYTES: Final = 65_536
"""Bytes kept of a client that talks before the handshake is answered."""
LINGER_BYTES: Final = 65_536
"""Bytes that are thrown away after the end before the socket is left alone."""

NEEDED: Final = ("handle_connect", "handle_events", "eof_received", "shutdown")
"""What is overridden or called here, besides the methods of every asyncio protocol."""


def websocket_protocol(*, direct: bool = True) -> type[asyncio.Protocol]:
    """Uvicorn's websocket protocol, with the short way where this uvicorn allows it."""
    missing = [name for name in NEEDED if not hasattr(WebSocketsSansIOProtocol, name)]
    if direct and missing:
        log.warning("this uvicorn has no %s: frames take the longer way", ", ".join(missing))
    return WebSocketsSansIOProtocol if missing or not direct else DirectProtocol


class DirectProtocol(WebSocketsSansIOProtocol):
    """uvicorn's websocket protocol that hands frames to a sink where one is attached."""

    close_seconds: ClassVar[float] = 2.0
    """Seconds that a client has to take what is left for it and to close its side."""

    on_lost: Callable[[], None] | None = None
    """Called when the socket is gone."""
    sink: FrameSink | None = None
    """Takes the messages; None before a session is attached, and after the end."""
    direct: DirectTransport | None = None
    stamp = 0
    congested = False
    _reader: FrameReader
    _early = b""
    """What came between the request and its answer."""
    _told: FrameSink | None = None
    """The sink that has to be told, once the socket is gone, that it is."""
    _resting = False
    """Whether the rest of a read waits for the next turn of the loop."""
    _ended = False
    _lingered = 0
    _owed: bytes | None = None
    """Payload of the last ping that is not answered yet, because the client does not read."""

    def take(
        self, attach: Callable[[Transport], FrameSink], peer: str
    ) -> asyncio.Future[tuple[int, str] | None]:
        """Hand frames to the session that ``attach`` makes; see `ShortWay`."""
        self._reader = FrameReader(EARLY_WEBSOCKET_FRAME)
        self.direct = DirectTransport(self, peer)
        sink = attach(self.direct)
        if not self._ended:
            self.sink = sink
        self._told = sink
        if self._early:
            early, self._early = self._early, b""
            self._rest()
            self._reader.feed(early)
        return self.direct.closed

    def handle_connect(self, event: Request) -> None:
        """Offer the short way to the application, in the ASGI scope's extensions."""
        super().handle_connect(event)
        if self.response.status_code == 101:
            cast(dict[str, Any], self.scope["extensions"])[EXTENSION] = self

    # -------------------------------------------------------------------------- incoming

    def data_received(self, data: bytes) -> None:
        """Note the time, and hand whole messages to the sink."""
        self.stamp = stamp = monotonic_ns()
        sink = self.sink
        if sink is None:
            self._without_sink(data)
            return
        size = len(data)
        if (
            5 < size < 132
            and data[0] == WHOLE_BINARY
            and data[1] == size + 122
            and self._reader.idle
        ):
            # One message, whole, alone and short: the way of a ply.
            sink.received(apply_mask(data[6:], data[2:6]), stamp)
            spent = monotonic_ns() - stamp
            if spent > NOTED_NS:
                sink.spent(spent)
            return
        self._reader.feed(data)
        self._cut()

    def _cut(self) -> None:
        """Hand out what the reader has, for as long as one turn of the loop may take."""
        reader, begin, left = self._reader, monotonic_ns(), SLICE_FRAMES
        noted = self.sink
        spent = 0
        try:
            while (sink := self.sink) is not None:
                frame = reader.next()
                if frame is None:
                    break
                kind, payload = frame
                if kind == BINARY:
                    sink.received(payload, self.stamp)
                elif kind == TEXT:
                    sink.received(_decoded(payload), self.stamp)
                else:
                    sink.counted(self.stamp)
                    if self.sink is not None:
                        self._control(kind, payload)
                left -= 1
                spent = monotonic_ns() - begin
                if (not left or spent > SLICE_NS) and reader.ready:
                    self._rest()
                    break
        except InvalidFrame as error:
            self.end(error.code, error.reason)
            self._tell_lost()
        if spent > NOTED_NS and noted is not None:
            noted.spent(spent)

    def _rest(self) -> None:
        """Let others go first: no more is read until what was read has been dealt with."""
        if not self._resting:
            self._resting = True
            if not self.transport.is_closing():
                self.transport.pause_reading()
        self.loop.call_soon(self._go_on)

    def _go_on(self) -> None:
        """The next turn: the stamp stays that of the reading."""
        self._resting = False
        if self.sink is not None:
            self._cut()
        if not self._resting and not self.transport.is_closing():
            self.transport.resume_reading()

    def _control(self, kind: int, payload: bytes) -> None:
        if kind == PING:
            if self.congested:
                self._owed = payload
            else:
                self._pong(payload)
        elif kind == CLOSE:
            code = close_code_of(payload)
            self.end(1000 if code == 1005 else code, "")
            self._tell_lost()

    def _pong(self, payload: bytes) -> None:
        self.transport.write(frame_header(FINAL | PONG, len(payload)) + payload)

    def _without_sink(self, data: bytes) -> None:
        """Before a session is attached, or after the end."""
        if self._ended:
            self._lingered += len(data)
            if self._lingered > LINGER_BYTES and not self.transport.is_closing():
                self.transport.pause_reading()
        elif self.handshake_initiated and not self.handshake_complete:
            self._early += data
            if len(self._early) > EARLY_BYTES:
                self.transport.abort()
        else:  # the request itself; or an application that does without the short way
            early, self._early = self._early, b""
            super().data_received(early + data)

    async def send(self, message: Any) -> None:
        """Answer the handshake, or close; a refusal is an answer as well.

        uvicorn would report it as an error of the application, once for every stray connection.
        """
        await super().send(message)
        refused = message["type"] == "websocket.http.response.body"
        if refused and not message.get("more_body", False):
            self.handshake_complete = True
            self._leave_after()

    # --------------------------------------------------------------------------- the end

    def end(self, code: int, reason: str) -> None:
        """Write the close frame after what was written before; from now on nothing is heard.

        The sink is not told before the socket is gone; it may have been the one who ended it.
        """
        if self._ended:
            return
        self._stop()
        transport = self.transport
        self.close_sent = True
        if not transport.is_closing():
            transport.write(close_frame(code, reason))
            if transport.can_write_eof():
                # The write above fails at once if the client has closed its socket meanwhile.
                with contextlib.suppress(OSError):
                    transport.write_eof()
            if self._resting:
                transport.resume_reading()
        self._leave_after()

    def _stop(self) -> None:
        self._ended = True
        self.sink = None
        self._owed = None
        if self.direct is not None:
            self._reader = FrameReader(0)  # whatever was kept is of no use any more
            self.direct.gone()

    def _leave_after(self) -> None:
        """Drop the connection soon, whether or not the client has taken everything."""
        if self.close_timer is not None:
            self.close_timer.cancel()
        self.close_timer = self.loop.call_later(self.close_seconds, self.transport.abort)

    def _tell_lost(self) -> None:
        sink, self._told = self._told, None
        if sink is not None:
            sink.lost()

    def eof_received(self) -> None:
        """The client says no more: so do we."""
        self._stop()
        self._tell_lost()
        self._leave_after()

    def shutdown(self) -> None:
        """The server stops."""
        super().shutdown()
        self._leave_after()

    def connection_lost(self, exc: Exception | None) -> None:
        """The socket is gone."""
        self._stop()
        self._tell_lost()
        super().connection_lost(exc)
        if self.on_lost is not None:
            self.on_lost()

    def pause_writing(self) -> None:
        """The peer reads too slowly for the kernel's buffers."""
        self.congested = True
        super().pause_writing()

    def resume_writing(self) -> None:
        """The backlog is gone."""
        self.congested = False
        super().resume_writing()
        owed, self._owed = self._owed, None
        if owed is not None:
            self._pong(owed)


class DirectTransport:
    """Frames straight into the socket; see `plyhouse.server.wire.transport.Transport`."""

    def __init__(self, protocol: DirectProtocol, peer: str) -> None:
        self._protocol = protocol
        self._write = protocol.transport.write
        self._open = True
        self._corked: list[bytes] | None = None
        """What was sent since `cork`; None if each frame is written at once."""
        self._proxied = peer != "{}:{}".format(*(protocol.client or ("unknown", "")))
        self.peer = peer
        self.remote = True
        self.upgrade: Upgrade | None = None
        self.closed: asyncio.Future[tuple[int, str] | None] = (
            asyncio.get_running_loop().create_future()
        )

    def send(self, frame: Frame) -> None:
        """Write one frame, at once unless the transport is corked."""
        if not self._open:
            return
        if isinstance(frame, str):
            payload = frame.encode()
            data = frame_header(WHOLE_TEXT, len(payload)) + payload
        else:
            data = frame_header(WHOLE_BINARY, len(frame)) + frame
        if self._corked is None:
            self._write(data)
        else:
            self._corked.append(data)

    def cork(self) -> None:
        """Keep frames back; uvloop hands each write to the kernel by itself."""
        if self._corked is None:
            self._corked = []

    def uncork(self) -> None:
        """Write all frames that were kept back, in one call."""
        corked, self._corked = self._corked, None
        if corked and self._open:
            self._write(b"".join(corked))

    def pending(self) -> int:
        """Bytes not yet taken by the kernel, once it has begun to push back."""
        return self._protocol.transport.get_write_buffer_size() if self._protocol.congested else 0

    def network(self) -> NetworkTrip | None:
        """What Linux knows of the connection; None elsewhere, and behind a proxy."""
        return None if self._proxied else network_trip(self._protocol.transport)

    def trust(self) -> None:
        """Whoever it is has logged in: longer messages are read."""
        if self._open:
            self._protocol._reader.limit = MAX_WEBSOCKET_FRAME

    def close(self, code: int, reason: str) -> None:
        """Send the close frame after what was written before, and stop listening."""
        if self._open:
            self.uncork()
            self._protocol.end(code, reason)

    def abort(self) -> None:
        """Drop the connection with whatever is queued."""
        self._protocol.transport.abort()
        self.gone()

    def gone(self) -> None:
        """Note that the connection is over: nothing more is written."""
        self._open = False
        if not self.closed.done():
            self.closed.set_result(None)


def _decoded(payload: bytes) -> str:
    try:
        return payload.decode()
    except UnicodeDecodeError:
        raise InvalidFrame(BAD_TEXT, "the text is not UTF-8") from None
