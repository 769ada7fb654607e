"""A direct path from socket to session, as an extension of uvicorn.

On the ordinary path a frame waits in a queue of ASGI and wakes a task before the session sees it.
Here it reaches the session inside ``data_received``, with the time at which it was read.  The clock
counts from that time.  ``benchmarks/hosting.py --wire`` measures the gain.

The work and memory that a client can cause are bounded:

1. One turn of the event loop handles at most `SLICE_FRAMES` frames of a connection, or as many
   as fit `SLICE_NS`.  All connections of an account together have `ACCOUNT_NS`.  The rest waits
   for the next turn, and nothing is read meanwhile.
2. Frames that carry no message (pings, pongs, pieces of a message) are reported to the session,
   which counts them like messages.
3. A ping is answered only while the client reads what it is sent.  If more pings arrive
   meanwhile, only the last one is answered.
4. After the end, whichever side ended the connection, nothing is interpreted any more.  Later
   data is discarded, and after `LINGER_BYTES` not even read.  The socket is closed after
   `DirectProtocol.close_seconds`, even if the client never reads the rest.

This module depends on internals of uvicorn.  `websocket_protocol` checks for them and uses the
ordinary path if a newer uvicorn lacks them: slower, and without these bounds.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import struct
import sys
from collections.abc import Callable, Hashable
from time import monotonic_ns
from typing import Any, ClassVar, Final, cast
from weakref import WeakKeyDictionary

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.http11 import Request

from plyhouse.protocol.errors import CLOSE_NORMAL
from plyhouse.protocol.liveness import NetworkTrip
from plyhouse.protocol.side import CLOSE_LOST, CLOSE_NO_CODE
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
from plyhouse.server.wire.transport import Frame, FrameSink, Transport, Upgrade
from plyhouse.server.wire.websocket import EARLY_WEBSOCKET_FRAME, EXTENSION, MAX_WEBSOCKET_FRAME

log = logging.getLogger("plyhouse.server.wire")

_RECENT: Final = 68
"""Offset of ``tcpi_rtt``: the smoothed round trip, in microseconds."""
_LEAST: Final = 148
"""Offset of ``tcpi_min_rtt``: the least of the last five minutes, since Linux 4.6."""
_UNKNOWN: Final = 0xFFFF_FFFF
_NUMBER: Final = struct.Struct("=I")


def network_trip(transport: asyncio.BaseTransport) -> NetworkTrip | None:
    """Return the round trips of a TCP connection.

    None where the kernel does not report them.

    Linux measures them from its own acknowledgements (``tcp_info`` in ``linux/tcp.h``, tcp(7)).
    They do not cover the path behind a proxy or a tunnel that ends here.
    """
    wire: socket.socket | None = transport.get_extra_info("socket")
    if wire is None or sys.platform != "linux":
        return None
    try:
        info = wire.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _LEAST + 4)
    except OSError:  # gone, or not a TCP socket
        return None
    if len(info) < _RECENT + 4:
        return None
    (recent,) = _NUMBER.unpack_from(info, _RECENT)
    least = _UNKNOWN
    if len(info) >= _LEAST + 4:
        (least,) = _NUMBER.unpack_from(info, _LEAST)
    return NetworkTrip(recent * 1000, 0 if least == _UNKNOWN else min(least, recent) * 1000)


WHOLE_BINARY: Final = FINAL | BINARY
"""First byte of a binary message in one frame, as nearly all messages are."""
WHOLE_TEXT: Final = FINAL | TEXT

SLICE_FRAMES: Final = 128
SLICE_NS: Final = 2_000_000
"""Nanoseconds after which a connection lets others run; less than what counts as a stall."""
ACCOUNT_NS: Final = 4_000_000
"""Nanoseconds after which all connections of an account together let others run."""
NOTED_NS: Final = 200_000
"""The session learns about reads that took more nanoseconds; see `FrameSink.spent`."""
EARLY_BYTES: Final = 65_536
"""Most bytes kept of a client that sends data before the handshake is answered."""
LINGER_BYTES: Final = 65_536
"""Bytes that are discarded after the end before reading stops."""

NEEDED: Final = ("handle_connect", "handle_events", "eof_received", "shutdown")
"""The internals of uvicorn that this module overrides or calls."""


def websocket_protocol(*, direct: bool = True) -> type[asyncio.Protocol]:
    """Return uvicorn's websocket protocol, with the direct path if possible."""
    missing = [name for name in NEEDED if not hasattr(WebSocketsSansIOProtocol, name)]
    if direct and missing:
        log.warning("frames take the longer way", extra={"missing": missing})
    return WebSocketsSansIOProtocol if missing or not direct else DirectProtocol


class Turn:
    """The time that each account has used in this turn of the event loop."""

    def __init__(self) -> None:
        self._spent: dict[Hashable, int] = {}

    def over(self, payer: Hashable) -> bool:
        """Return whether an account has used what it may."""
        return self._spent.get(payer, 0) > ACCOUNT_NS

    def note(self, payer: Hashable, spent: int, loop: asyncio.AbstractEventLoop) -> None:
        """Note that an account has used so many nanoseconds."""
        if not self._spent:  # the next turn begins with this, before what rests until then
            loop.call_soon(self._spent.clear)
        self._spent[payer] = self._spent.get(payer, 0) + spent


_TURNS: Final[WeakKeyDictionary[asyncio.AbstractEventLoop, Turn]] = WeakKeyDictionary()


class DirectProtocol(WebSocketsSansIOProtocol):
    """uvicorn's websocket protocol that passes frames to a sink where one is attached."""

    close_seconds: ClassVar[float] = 2.0
    """Seconds that a client has to read what is left for it and to close its side."""

    turn: Turn
    on_lost: Callable[[], None] | None = None
    """Called after the socket has closed."""
    sink: FrameSink | None = None
    """Takes the messages; None before a session is attached, and after the end."""
    direct: DirectTransport | None = None
    stamp = 0
    congested = False
    _reader: FrameReader
    _early = b""
    """Bytes that arrived between the request and its answer."""
    _told: FrameSink | None = None
    """The sink that must learn that the socket has closed."""
    _resting = False
    """True while the rest of a read waits for the next turn of the loop."""
    _ended = False
    _lingered = 0
    _owed: bytes | None = None
    """Payload of the last unanswered ping, while the client does not read."""

    def take(
        self, attach: Callable[[Transport], FrameSink], peer: str
    ) -> asyncio.Future[tuple[int, str] | None]:
        """Pass frames to the session that ``attach`` makes; see `ShortWay`."""
        self._reader = FrameReader(EARLY_WEBSOCKET_FRAME)
        self.turn = _TURNS.setdefault(self.loop, Turn())
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
        """Offer the direct path to the application, in the extensions of the ASGI scope."""
        super().handle_connect(event)
        if self.response.status_code == 101:
            cast(dict[str, Any], self.scope["extensions"])[EXTENSION] = self

    # -------------------------------------------------------------------------- incoming

    def data_received(self, data: bytes) -> None:
        """Note the time, and pass whole messages to the sink."""
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
            and not self.turn.over(sink.payer)
        ):
            # A single short message in one whole frame is how plies arrive.
            sink.received(apply_mask(data[6:], data[2:6]), stamp)
            spent = monotonic_ns() - stamp
            self.turn.note(sink.payer, spent, self.loop)
            if spent > NOTED_NS:
                sink.spent(spent)
            return
        self._reader.feed(data)
        self._cut()

    def _cut(self) -> None:
        """Pass on the reader's frames, for as long as one turn of the loop may take."""
        reader, begin, left = self._reader, monotonic_ns(), SLICE_FRAMES
        noted = self.sink
        spent = 0
        if noted is not None and self.turn.over(noted.payer):
            self._rest()
            return
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
        if noted is not None:
            self.turn.note(noted.payer, spent, self.loop)
            if spent > NOTED_NS:
                noted.spent(spent)

    def _rest(self) -> None:
        """Pause reading until the frames read so far have been handled in a later turn."""
        if not self._resting:
            self._resting = True
            if not self.transport.is_closing():
                self.transport.pause_reading()
        self.loop.call_soon(self._go_on)

    def _go_on(self) -> None:
        """Continue in the next turn; the time stamp remains that of the reading."""
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
            self.end(CLOSE_NORMAL if code == CLOSE_NO_CODE else code, "")
            self._tell_lost(code)

    def _pong(self, payload: bytes) -> None:
        self.transport.write(frame_header(FINAL | PONG, len(payload)) + payload)

    def _without_sink(self, data: bytes) -> None:
        """Handle data before a session is attached, or after the end."""
        if self._ended:
            self._lingered += len(data)
            if self._lingered > LINGER_BYTES and not self.transport.is_closing():
                self.transport.pause_reading()
        elif self.handshake_initiated and not self.handshake_complete:
            self._early += data
            if len(self._early) > EARLY_BYTES:
                self.transport.abort()
        else:  # the request itself, or an application without the direct path
            early, self._early = self._early, b""
            super().data_received(early + data)

    async def send(self, message: Any) -> None:
        """Answer the handshake, or close; a refusal is an answer as well.

        uvicorn would report a refusal as an error of the application, once for every stray
        connection.
        """
        await super().send(message)
        refused = message["type"] == "websocket.http.response.body"
        if refused and not message.get("more_body", False):
            self.handshake_complete = True
            self._leave_after()

    # --------------------------------------------------------------------------- the end

    def end(self, code: int, reason: str) -> None:
        """Write the close frame after all earlier frames, and stop listening.

        The sink may have ended the connection; it learns about the end only when the socket closes.
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
            self._reader = FrameReader(0)  # frees the kept bytes
            self.direct.gone()

    def _leave_after(self) -> None:
        """Drop the connection soon, whether or not the client has read everything."""
        if self.close_timer is not None:
            self.close_timer.cancel()
        self.close_timer = self.loop.call_later(self.close_seconds, self.transport.abort)

    def _tell_lost(self, code: int = CLOSE_LOST) -> None:
        sink, self._told = self._told, None
        if sink is not None:
            sink.lost(code)

    def eof_received(self) -> None:
        """End the connection after the client has ended its side."""
        self._stop()
        self._tell_lost()
        self._leave_after()

    def shutdown(self) -> None:
        """End the connection, because the server stops."""
        super().shutdown()
        self._leave_after()

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell the sink that the socket has closed."""
        self._stop()
        self._tell_lost()
        super().connection_lost(exc)
        if self.on_lost is not None:
            self.on_lost()

    def pause_writing(self) -> None:
        """Note that the peer reads too slowly for the kernel's buffers."""
        self.congested = True
        super().pause_writing()

    def resume_writing(self) -> None:
        """Note that the backlog is gone, and answer the last ping."""
        self.congested = False
        super().resume_writing()
        owed, self._owed = self._owed, None
        if owed is not None:
            self._pong(owed)


_last: tuple[Frame, bytes] = "", b""
"""The last frame, as it was written: all spectators of a match get the same one, one by one.

So what waits for those who read slowly is in memory once.
"""


class DirectTransport:
    """Writes frames directly to the socket.

    See `plyhouse.server.wire.transport.Transport`.
    """

    def __init__(self, protocol: DirectProtocol, peer: str) -> None:
        self._protocol = protocol
        self._write = protocol.transport.write
        self._open = True
        self._corked: list[bytes] | None = None
        """Frames sent since `cork`; None if each frame is written at once."""
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
        global _last
        known, data = _last
        if known is not frame:
            if isinstance(frame, str):
                payload = frame.encode()
                data = frame_header(WHOLE_TEXT, len(payload)) + payload
            else:
                data = frame_header(WHOLE_BINARY, len(frame)) + frame
            _last = frame, data
        if self._corked is None:
            self._write(data)
        else:
            self._corked.append(data)

    def cork(self) -> None:
        """Keep frames back, because uvloop passes each write to the kernel separately."""
        if self._corked is None:
            self._corked = []

    def uncork(self) -> None:
        """Write all frames that were kept back, in one call."""
        corked, self._corked = self._corked, None
        if corked and self._open:
            self._write(b"".join(corked))

    def pending(self) -> int:
        """Return the bytes not yet taken by the kernel, once it has begun to push back."""
        return self._protocol.transport.get_write_buffer_size() if self._protocol.congested else 0

    def network(self) -> NetworkTrip | None:
        """Return Linux's data about the connection; None elsewhere, and behind a proxy."""
        return None if self._proxied else network_trip(self._protocol.transport)

    def trust(self) -> None:
        """Read longer messages, because the client has logged in."""
        if self._open:
            self._protocol._reader.limit = MAX_WEBSOCKET_FRAME

    def close(self, code: int, reason: str) -> None:
        """Send the close frame after all earlier frames, and stop listening."""
        if self._open:
            self.uncork()
            self._protocol.end(code, reason)

    def abort(self) -> None:
        """Drop the connection with everything that is queued."""
        self._protocol.transport.abort()
        self.gone()

    def gone(self) -> None:
        """Note that the connection is over, so that nothing more is written."""
        self._open = False
        if not self.closed.done():
            self.closed.set_result(None)


def _decoded(payload: bytes) -> str:
    try:
        return payload.decode()
    except UnicodeDecodeError:
        raise InvalidFrame(BAD_TEXT, "the text is not UTF-8") from None
