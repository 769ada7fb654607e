"""Websocket connections: the ASGI endpoint ``/ws`` and the short way from socket to session.

The endpoint is an ordinary ASGI application: it negotiates the subprotocol, refuses others with
a reason, and then pumps frames.  Served by `DirectProtocol` (uvicorn's own websocket protocol,
slightly extended) frames skip ASGI's queue and the task switch behind it: they reach the session
inside ``data_received``, stamped when they were read, which is what the clock is about.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, MutableMapping, Sequence
from typing import Any, Final, cast

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.http11 import Request

from plyhouse.server.wire.transport import Frame, FrameSink, Transport

try:
    from websockets.speedups import apply_mask
except ImportError:  # no compiler where websockets was installed
    from websockets.utils import apply_mask

__all__ = ["MAX_WEBSOCKET_FRAME", "DirectProtocol", "refuse", "websocket_endpoint"]

MAX_WEBSOCKET_FRAME: Final = 1 << 20
"""Longest frame the websocket layer reads; between this and the protocol's own, lower limit a
sender is told by an error message, beyond it only by the close code."""

EXTENSION: Final = "plyhouse.direct"
BINARY, TEXT = 0x82, 0x81
FRAGMENTS: Final = (0x00, 0x01, 0x02, 0x80)
"""First bytes of frames that belong to a message in several frames."""

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Attach = Callable[[Transport, str], FrameSink]
"""Makes the session for a transport that speaks the given subprotocol."""


def websocket_endpoint(
    subprotocols: Sequence[str], attach: Attach
) -> Callable[[Scope, Receive, Send], Coroutine[Any, Any, None]]:
    """Return the ASGI application for websocket connections to the sessions of ``attach``.

    ``subprotocols`` are those on offer, the server's favourite first.
    """

    async def endpoint(scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        offered = scope.get("subprotocols", ())
        chosen = next((name for name in offered if name in subprotocols), None)
        if chosen is None:
            detail = f"Ask for one of the subprotocols {' or '.join(subprotocols)}."
            await refuse(scope, send, 400, "protocol/version", detail)
            return
        await send({"type": "websocket.accept", "subprotocol": chosen})
        client = scope.get("client")
        peer = f"{client[0]}:{client[1]}" if client else "unknown"
        protocol = scope.get("extensions", {}).get(EXTENSION)
        if protocol is not None:
            direct = protocol.direct = DirectTransport(protocol, peer)
            protocol.sink = attach(direct, chosen)
            closing = await direct.closed
        else:
            queued = QueuedTransport(peer)
            closing = await queued.pump(attach(queued, chosen), receive, send)
        if closing is not None:
            code, reason = closing
            await send({"type": "websocket.close", "code": code, "reason": reason[:120]})

    return endpoint


async def refuse(scope: Scope, send: Send, status: int, code: str, detail: str) -> None:
    """Refuse a websocket before it opens, with an HTTP answer that says why."""
    if "websocket.http.response" not in scope.get("extensions", {}):
        await send({"type": "websocket.close", "code": 4000 + status, "reason": detail})
        return
    body = json.dumps({"status": status, "code": code, "detail": detail}).encode()
    headers = [(b"content-type", b"application/problem+json")]
    await send({"type": "websocket.http.response.start", "status": status, "headers": headers})
    await send({"type": "websocket.http.response.body", "body": body})


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


class QueuedTransport:
    """The ordinary ASGI way, for servers other than ours: a queue and a task that empties it."""

    def __init__(self, peer: str) -> None:
        self.peer = peer
        self._frames: deque[Frame] = deque()
        self._size = 0
        self._wanted = asyncio.Event()
        self._closing: tuple[int, str] | None = None
        self._reader: asyncio.Task[None] | None = None
        self._gone = False

    def send(self, frame: Frame) -> None:
        """Queue one frame for the writing task."""
        if self._closing is None and not self._gone:
            self._frames.append(frame)
            self._size += len(frame)
            self._wanted.set()

    def pending(self) -> int:
        """Length of what waits in the queue."""
        return self._size

    def close(self, code: int, reason: str) -> None:
        """Close once the queue is empty."""
        if self._closing is None:
            self._closing = (code, reason)
            self._wanted.set()

    def abort(self) -> None:
        """Forget the queue and close."""
        self._frames.clear()
        self.close(1001, "dropped")

    async def pump(self, sink: FrameSink, receive: Receive, send: Send) -> tuple[int, str] | None:
        """Move frames both ways until either side closes; return our close code, if it was us."""
        self._reader = asyncio.ensure_future(self._read(sink, receive))
        try:
            while not self._gone:
                while self._frames:
                    frame = self._frames.popleft()
                    self._size -= len(frame)
                    kind = "text" if isinstance(frame, str) else "bytes"
                    await send({"type": "websocket.send", kind: frame})
                if self._closing is not None:
                    return self._closing
                self._wanted.clear()
                await self._wanted.wait()
            return None
        finally:
            self._reader.cancel()
            sink.lost()

    async def _read(self, sink: FrameSink, receive: Receive) -> None:
        while True:
            message = await receive()
            if message["type"] == "websocket.disconnect":
                break
            text = message.get("text")
            sink.received(message["bytes"] if text is None else text, time.monotonic_ns())
        self._gone = True
        self._wanted.set()


def frame_header(first: int, length: int) -> bytes:
    """Header of an unfragmented, unmasked websocket frame; ``first`` is its first byte."""
    if length < 126:
        return SHORT_BINARY[length] if first == BINARY else bytes((first, length))
    if length < 65536:
        return bytes((first, 126)) + length.to_bytes(2, "big")
    return bytes((first, 127)) + length.to_bytes(8, "big")


SHORT_BINARY: Final = tuple(bytes((BINARY, length)) for length in range(126))
