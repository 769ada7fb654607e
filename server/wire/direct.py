"""The short way from socket to session, as an extension of uvicorn's websocket protocol.

On the ordinary way a frame waits in a queue of ASGI's and wakes a task before the session sees
it.  Here it reaches the session inside ``data_received``, stamped when it was read, which is what
the clock is about; and whole unfragmented frames, which is nearly all there is, are cut here
instead of by the general parser.  What both give is measured by ``benchmarks/hosting.py --wire``.

This leans on uvicorn's inside.  `websocket_protocol` looks at what it needs and falls back to the
ordinary way if a newer uvicorn lacks it: slower, with the same behaviour.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Any, Final, cast

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.http11 import Request

from plyhouse.server.wire.transport import Frame, FrameSink, Transport
from plyhouse.server.wire.websocket import EXTENSION, MAX_WEBSOCKET_FRAME

try:
    from websockets.speedups import apply_mask
except ImportError:  # no compiler where websockets was installed
    from websockets.utils import apply_mask

__all__ = ["DirectProtocol", "websocket_protocol"]

log = logging.getLogger("plyhouse.server.wire")

BINARY, TEXT = 0x82, 0x81
FRAGMENTS: Final = (0x00, 0x01, 0x02, 0x80)
"""First bytes of frames that belong to a message in several frames."""
NEEDED: Final = (
    "handle_connect",
    "handle_close",
    "handle_parser_exception",
    "send_receive_event_to_app",
)
"""What is overridden here, besides the methods of every asyncio protocol."""


def websocket_protocol(*, direct: bool = True) -> type[asyncio.Protocol]:
    """Uvicorn's websocket protocol, with the short way where this uvicorn allows it."""
    missing = [name for name in NEEDED if not hasattr(WebSocketsSansIOProtocol, name)]
    if direct and missing:
        log.warning("this uvicorn has no %s: frames take the longer way", ", ".join(missing))
    return WebSocketsSansIOProtocol if missing or not direct else DirectProtocol


class DirectProtocol(WebSocketsSansIOProtocol):
    """uvicorn's websocket protocol that hands frames to a sink where one is attached."""

    sink: FrameSink | None = None
    direct: DirectTransport | None = None
    stamp = 0
    congested = False
    _rest = b""
    """The beginning of a frame whose end has not come."""
    _parse_all = False
    """Whether everything goes through the parser, after the first fragment or a broken frame."""

    def take(
        self, attach: Callable[[Transport], FrameSink], peer: str
    ) -> asyncio.Future[tuple[int, str] | None]:
        """Hand frames to the session that ``attach`` makes; see `ShortWay`."""
        self.direct = DirectTransport(self, peer)
        self.sink = attach(self.direct)
        return self.direct.closed

    def handle_connect(self, event: Request) -> None:
        """Offer the short way to the application, in the ASGI scope's extensions."""
        super().handle_connect(event)
        if self.response.status_code == 101:
            cast(dict[str, Any], self.scope["extensions"])[EXTENSION] = self

    def data_received(self, data: bytes) -> None:
        """Note the time, and hand whole messages to the sink; all else is for the parser.

        The parser only ever sees whole frames (control frames, fragments) or what breaks the
        rules, so that it always stands at the beginning of a frame.
        """
        self.stamp = time.monotonic_ns()
        if self.sink is None or self._parse_all:
            super().data_received(data)
            return
        if self._rest:
            data = self._rest + data
            self._rest = b""
        at, size = 0, len(data)
        while size - at >= 6:
            first, length, start = data[at], data[at + 1] - 128, at + 6
            if length >= 126:
                wide = 2 if length == 126 else 8
                length, start = int.from_bytes(data[at + 2 : at + 2 + wide], "big"), start + wide
                if start > size:
                    break
            if not 0 <= length <= MAX_WEBSOCKET_FRAME or self._parse_all:
                self._parse_all = True
                break
            end = start + length
            if end > size:
                break
            if first == BINARY:
                sink = self.sink
                if sink is not None:
                    sink.received(apply_mask(data[start:end], data[start - 4 : start]), self.stamp)
            else:
                self._parse_all = first in FRAGMENTS
                super().data_received(data[at:end])
            at = end
        if self._parse_all:
            super().data_received(data[at:])
        elif at < size:
            self._rest = data[at:]

    async def send(self, message: Any) -> None:
        """Answer the handshake, or close; a refusal is an answer as well.

        uvicorn would report it as an error of the application, once for every stray connection.
        """
        await super().send(message)
        refused = message["type"] == "websocket.http.response.body"
        if refused and not message.get("more_body", False):
            self.handshake_complete = True

    def send_receive_event_to_app(self) -> None:
        """Deliver one whole message."""
        sink = self.sink
        if sink is None:
            super().send_receive_event_to_app()
            return
        frames = self.frames
        data = frames[0] if len(frames) == 1 else b"".join(frames)
        frame: Frame = data
        if self.curr_msg_data_type == "text":
            try:
                frame = data.decode()
            except UnicodeDecodeError:
                self._detach()
                super().send_receive_event_to_app()  # closes with code 1007
                return
        self.frames = []
        sink.received(frame, self.stamp)

    def handle_close(self, event: Any) -> None:
        """The peer says goodbye, or answers ours."""
        self._detach()
        super().handle_close(event)

    def handle_parser_exception(self) -> None:
        """The peer broke the websocket protocol: the close frame was prepared by the parser."""
        self._detach()
        super().handle_parser_exception()

    def connection_lost(self, exc: Exception | None) -> None:
        """The socket is gone."""
        self._detach()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """The peer reads too slowly for the kernel's buffers."""
        self.congested = True
        super().pause_writing()

    def resume_writing(self) -> None:
        """The backlog is gone."""
        self.congested = False
        super().resume_writing()

    def _detach(self) -> None:
        sink, self.sink = self.sink, None
        if sink is not None:
            sink.lost()
        if self.direct is not None:
            self.direct.gone()


class DirectTransport:
    """Frames straight into the socket; see `plyhouse.server.wire.transport.Transport`."""

    def __init__(self, protocol: DirectProtocol, peer: str) -> None:
        self._protocol = protocol
        self._write = protocol.transport.write
        self._open = True
        self.peer = peer
        self.remote = True
        self.closed: asyncio.Future[tuple[int, str] | None] = (
            asyncio.get_running_loop().create_future()
        )

    def send(self, frame: Frame) -> None:
        """Write one frame; the event loop joins what is written in one turn into one call."""
        if not self._open:
            return
        if isinstance(frame, str):
            self._write(frame_header(TEXT, len(data := frame.encode())) + data)
        else:
            self._write(frame_header(BINARY, len(frame)) + frame)

    def pending(self) -> int:
        """Bytes not yet taken by the kernel, once it has begun to push back."""
        return self._protocol.transport.get_write_buffer_size() if self._protocol.congested else 0

    def close(self, code: int, reason: str) -> None:
        """Send the close frame after what was written before; the endpoint does the rest."""
        self._open = False
        if not self.closed.done():
            self.closed.set_result((code, reason))

    def abort(self) -> None:
        """Drop the connection with whatever is queued."""
        self._protocol.transport.abort()
        self.gone()

    def gone(self) -> None:
        """Note that the connection is lost: nothing more is written."""
        self._open = False
        if not self.closed.done():
            self.closed.set_result(None)


def frame_header(first: int, length: int) -> bytes:
    """Header of an unfragmented, unmasked websocket frame; ``first`` is its first byte."""
    if length < 126:
        return SHORT_BINARY[length] if first == BINARY else bytes((first, length))
    if length < 65536:
        return bytes((first, 126)) + length.to_bytes(2, "big")
    return bytes((first, 127)) + length.to_bytes(8, "big")


SHORT_BINARY: Final = tuple(bytes((BINARY, length)) for length in range(126))
